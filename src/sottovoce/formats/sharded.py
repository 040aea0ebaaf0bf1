"""Aggregates that are read shard by shard, from a file or from an engine."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from sottovoce.core.errors import CapacityError, MismatchError, NoReportsError, ReportError
from sottovoce.core.limits import DEFAULT_COUNTERS, SHARD_CELLS
from sottovoce.mechanisms.base import Counts, Mechanism
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.shards import Shard
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

if TYPE_CHECKING:
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.words.search import SearchRule

__all__ = ["ShardedAggregate", "check_possible", "in_parts", "in_shards"]


def in_parts(mechanism: Mechanism) -> bool:
    """Whether counts of this mechanism can be made and folded shard by shard."""
    return isinstance(mechanism, Codebook)


class ShardedAggregate(abc.ABC):
    """Counts of one survey's reports; can be added and estimated from like an `Aggregate`."""

    survey: Survey
    """The survey whose reports were counted."""

    @property
    @abc.abstractmethod
    def n_reports(self) -> int:
        """Number of reports counted."""

    @abc.abstractmethod
    def shards(self) -> Iterator[Shard]:
        """The shards that are not empty, in order."""

    @final
    def aggregate(self) -> Aggregate:
        """All counts in memory; `CapacityError` where one process cannot hold them."""
        counts = self.survey.mechanism.empty()
        for number, part in self.shards():
            counts[number * SHARD_CELLS : number * SHARD_CELLS + len(part)] = part
        return Aggregate(self.survey, self.n_reports, counts)

    @final
    def estimate(self, rule: SearchRule | None = None) -> Estimate:
        """The estimate, identical to that of `survey.estimate` for the same reports.

        A codebook's counts are folded shard by shard and need not fit into memory. `rule` is how words are searched.
        """
        survey, mechanism = self.survey, self.survey.mechanism
        if self.n_reports == 0:
            raise NoReportsError("there is nothing to estimate from: the aggregate has no reports")
        if mechanism.cells <= DEFAULT_COUNTERS or not in_parts(mechanism):
            return survey.estimate(self.aggregate(), rule=rule)
        # Only codebooks get here, and their estimate takes counts in either form.
        return survey.estimate_counts(cast(Counts, self), self.n_reports)

    @final
    def __add__(self, other: ShardedAggregate) -> ShardedAggregate:
        return _Sum(self, other)


@final
class _Sum(ShardedAggregate):
    """The sum of two aggregates, computed shard by shard."""

    def __init__(self, first: ShardedAggregate, second: ShardedAggregate) -> None:
        if first.survey.id != second.survey.id:
            raise MismatchError(
                f"one aggregate is of survey {second.survey.id[:12]}, another of {first.survey.id[:12]}; only those of "
                "one survey can be added"
            )
        self.survey, self._parts = first.survey, (first, second)
        n = self.n_reports
        if n > first.survey.mechanism.max_reports:
            raise CapacityError(f"{n:,} reports could overflow 64-bit sums: estimate parts and average them")

    @property
    def n_reports(self) -> int:
        return sum(part.n_reports for part in self._parts)

    def shards(self) -> Iterator[Shard]:
        by_number: Any = attrgetter("number")
        both = merge(*(part.shards() for part in self._parts), key=by_number)
        for number, shards in groupby(both, key=by_number):
            counts = np.sum([shard.counts for shard in shards], axis=0)
            if counts.any():
                yield Shard(number, counts)


def in_shards(counts: Counts) -> Iterator[Shard]:
    """Split counts into shards; empty ones are left out.

    Examples
    --------
    >>> counts = np.zeros(3 * SHARD_CELLS, dtype=np.int64)
    >>> counts[-1] = 7
    >>> [(shard.number, int(shard.counts.sum())) for shard in in_shards(counts)]
    [(2, 7)]
    """
    for first in range(0, len(counts), SHARD_CELLS):
        part = counts[first : first + SHARD_CELLS]
        if part.any():
            yield Shard(first // SHARD_CELLS, part)


def check_possible(survey: Survey, n_reports: int, shards: Iterable[Shard]) -> None:
    """Refuse counts that no set of `n_reports` reports can have.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> check_possible(survey, 5, in_shards(np.array([3, 1])))
    Traceback (most recent call last):
    sottovoce.core.errors.ReportError: these counts cannot be those of 5 reports of survey ...; count the reports again
    """
    mechanism = survey.mechanism
    step, total, moved, possible = n_reports * mechanism.largest_step, 0, 0, True
    for _, counts in shards:
        low, high = int(counts.min()), int(counts.max())
        possible &= -step <= low and high <= step
        if not possible:
            break
        total += _exact_sum(counts)
        moved += _exact_sum(np.abs(counts))
    if mechanism.counted_as == "number":
        possible &= total == moved == n_reports
    elif mechanism.counted_as == "signed number":
        possible &= moved <= n_reports and (n_reports - moved) % 2 == 0
    if not possible:
        raise ReportError(
            f"these counts cannot be those of {n_reports:,} reports of survey {survey.id[:12]}; count the reports again"
        )


def _exact_sum(counts: Counts) -> int:
    """A sum that may exceed 64 bits, from upper and lower halves."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
