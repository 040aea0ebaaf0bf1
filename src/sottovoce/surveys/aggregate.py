"""Batches of reports, and the aggregate they are counted into: integers that merge by addition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from sottovoce.core.errors import CapacityError, MismatchError, ReportError
from sottovoce.core.words import plural
from sottovoce.kernels.threads import uninitialized
from sottovoce.mechanisms.base import Batch, Counts
from sottovoce.mechanisms.codecs import Payloads
from sottovoce.surveys.terms import Terms

__all__ = ["Aggregate", "Reports"]

_ROWS_AT_ONCE = 1 << 16


@final
@dataclass(frozen=True, eq=False, repr=False)
class Reports:
    """Many reports of one survey as an array; iterating gives the bytes of each, as a device sends them."""

    survey: Terms
    batch: Batch

    def __len__(self) -> int:
        return len(self.batch)

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            rows = self.survey.mechanism.codec.encode_many(self.batch[start : start + _ROWS_AT_ONCE])
            for row in rows:
                yield self.survey.tag + row.tobytes()

    def __repr__(self) -> str:
        return f"<{plural(len(self), 'report')} of survey {self.survey.id[:12]}>"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    """Integer counts of reports, and the number of reports: all that an estimate needs.

    Aggregates of one survey form a commutative monoid: `merge` is addition, the empty aggregate is
    neutral, and any order of adding and merging gives the same integers.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> morning = survey.aggregate().add([survey.randomize("yes") for _ in range(10)])
    >>> evening = survey.aggregate().add([survey.randomize("no") for _ in range(5)])
    >>> (morning + evening).n_reports
    15
    """

    survey: Terms
    n_reports: int
    counts: Counts = field(repr=False)

    def __post_init__(self) -> None:
        self._check()
        # A copy: the caller could change the array later.
        copy = uninitialized(len(self.counts), np.int64)
        copy[:] = self.counts
        object.__setattr__(self, "counts", copy)
        self.counts.flags.writeable = False

    @classmethod
    def owning(cls, survey: Terms, n_reports: int, counts: Counts) -> Aggregate:
        """An aggregate that takes over these counts without a copy; nobody else may hold or change them."""
        made = object.__new__(cls)
        for name, value in (("survey", survey), ("n_reports", n_reports), ("counts", counts)):
            object.__setattr__(made, name, value)
        made._check()
        counts.flags.writeable = False
        return made

    def _check(self) -> None:
        # Compiled code relies on the shape, so it is checked here.
        cells = self.survey.mechanism.cells
        if self.counts.shape != (cells,) or self.counts.dtype != np.int64:
            raise MismatchError(f"counts must be {cells:,} 64-bit integers for this survey").at("counts")
        if type(self.n_reports) is not int or self.n_reports < 0:
            raise MismatchError("n_reports must be a non-negative integer").at("n_reports")

    def add(self, reports: Reports | bytes | Iterable[bytes]) -> Aggregate:
        """A new aggregate with these reports counted too.

        Accepts a batch, one report's bytes, or any iterable of them (streamed, in bounded memory).
        If one report is malformed or of another survey, none is counted.
        """
        mechanism, counts = self.survey.mechanism, self.counts.copy()
        if isinstance(reports, Reports):
            _check_same(self.survey, reports.survey, "batch of reports")
            mechanism.codec.check_many(reports.batch)
            self._check_room(self.n_reports + len(reports))
            mechanism.count_into(counts, reports.batch)
            return Aggregate.owning(self.survey, self.n_reports + len(reports), counts)
        added = 0
        for payloads in self._payloads(reports):
            added += len(payloads)
            self._check_room(self.n_reports + added)
            mechanism.count_encoded(counts, payloads)
        return Aggregate.owning(self.survey, self.n_reports + added, counts)

    def merge(self, other: Aggregate) -> Aggregate:
        """The sum of two aggregates of the same survey."""
        if not isinstance(other, Aggregate):
            raise MismatchError(f"only an aggregate can be merged, not {type(other).__name__}; use add for reports").at(
                "other"
            )
        other.check_of(self.survey)
        self._check_room(self.n_reports + other.n_reports)
        return Aggregate.owning(self.survey, self.n_reports + other.n_reports, self.counts + other.counts)

    def check_of(self, survey: Terms) -> None:
        """Raise `MismatchError` unless this is an aggregate of that survey."""
        _check_same(survey, self.survey, "aggregate")

    def _check_room(self, n_reports: int) -> None:
        if n_reports > self.survey.mechanism.max_reports:
            raise CapacityError(
                f"{n_reports:,} reports could overflow 64-bit sums; {self.survey.mechanism.name} counts at most "
                f"{self.survey.mechanism.max_reports:,} in one aggregate: estimate parts and average them"
            )

    def __add__(self, other: Aggregate) -> Aggregate:
        return self.merge(other)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Aggregate)
            and self.survey.id == other.survey.id
            and self.n_reports == other.n_reports
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy's counts are read-only too.
        return Aggregate, (self.survey, self.n_reports, self.counts)

    def __repr__(self) -> str:
        return f"<aggregate of {plural(self.n_reports, 'report')} of survey {self.survey.id[:12]}>"

    def _payloads(self, reports: bytes | Iterable[bytes]) -> Iterator[Payloads]:
        """The reports without the survey's tag, in rows."""
        encoded = [reports] if isinstance(reports, (bytes, bytearray, memoryview)) else reports
        if not hasattr(encoded, "__iter__") or isinstance(encoded, (Set, Mapping)):
            # Two people may send equal bytes, which a set would count once.
            raise ReportError(
                f"reports must be bytes, or a sequence or stream of bytes, not {type(reports).__name__}"
            ).at("reports")
        rows: list[bytes] = []
        for position, report in enumerate(encoded):
            rows.append(self._payload(report, position))
            if len(rows) == _ROWS_AT_ONCE:
                yield _rows(rows)
                rows = []
        if rows:
            yield _rows(rows)

    def _payload(self, report: object, position: int) -> bytes:
        if not isinstance(report, (bytes, bytearray, memoryview)):
            raise ReportError(f"report {position} has type {type(report).__name__}; reports must be bytes").at(
                "reports"
            )
        report, tag = bytes(report), self.survey.tag
        width = len(tag) + self.survey.mechanism.report_bytes
        if len(report) != width:
            raise ReportError(
                f"report {position} has {len(report)} bytes, this survey's reports have {width}: it is truncated, "
                "too long, or of another survey"
            )
        if report[: len(tag)] != tag:
            raise MismatchError(f"report {position} belongs to another survey; this is {self.survey.id[:12]}")
        return report[len(tag) :]


def _rows(payloads: list[bytes]) -> Payloads:
    return np.frombuffer(b"".join(payloads), dtype=np.uint8).reshape(len(payloads), -1)


def _check_same(ours: Terms, theirs: Terms, what: str) -> None:
    if ours.id != theirs.id:
        raise MismatchError(
            f"the {what} belongs to survey {theirs.id[:12]}, not to {ours.id[:12]}; the surveys must be the same"
        )
