"""Queries over an ordered domain: the share of people in every interval, and at or below every value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, LabelDomain, ProductDomain, RangeDomain
from sottovoce.workloads.base import Floats, Indices, Workload
from sottovoce.workloads.naming import find_label, is_text_labelled, quote_label, split_label

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Prefix", "Ranges", "is_increasing", "ordered_domain"]


def ordered_domain(domain: object, asked: str) -> Domain:
    """The domain, if it has an order: sorted integers, or labels in the order given."""
    values = Domain.of(domain)
    if isinstance(values, ProductDomain):
        raise WorkloadError(
            f"records have no order, so {asked} cannot be asked of them; "
            "give a range or a list of labels, or use Marginals, or Bins of one attribute"
        )
    if (
        not is_increasing(values)
        and not _is_decreasing(values)
        and isinstance(values, LabelDomain)
        and isinstance(values.names[0], int)
    ):
        raise WorkloadError(f"the integer labels are not sorted, so {asked} would be misleading; sort them first")
    return values


def is_increasing(domain: Domain) -> bool:
    """Whether the values are strictly increasing integers."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step > 0


def _is_decreasing(domain: Domain) -> bool:
    """Whether the values are strictly decreasing integers."""
    if isinstance(domain, LabelDomain):
        return all(isinstance(a, int) and isinstance(b, int) and a > b for a, b in pairwise(domain.names))
    return isinstance(domain, RangeDomain) and domain.step < 0


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Prefix(Workload):
    """The cumulative distribution: row k is 1 for the values numbered 0 to k. The last row is all ones.

    Integers must be sorted; other labels have the order given. For decreasing integers, names start with ">= ".
    The column of value v holds J - v ones, so the radius is sqrt(J).

    Examples
    --------
    >>> ages = Prefix(range(16, 20))
    >>> ages.column(1), ages.find("<= 17"), ages.radius
    (array([0., 1., 1., 1.]), 1, 2.0)
    """

    kind: ClassVar[str] = "prefix"

    def __init__(self, domain: object) -> None:
        self._freeze(ordered_domain(domain, "prefix sums"))

    @property
    def n_queries(self) -> int:
        return self.domain.size

    @property
    def radius(self) -> float:
        """sqrt(J), the norm of the first value's column."""
        return math.sqrt(self.domain.size)

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return 0.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return False

    def _squared_norms(self, indices: Indices) -> Floats:
        return (self.domain.size - indices).astype(np.float64)

    def gram(self, first: Indices, second: Indices) -> Floats:
        """Inner products of columns: J less the larger of two values' numbers."""
        return (self.domain.size - np.maximum.outer(first, second)).astype(np.float64)

    def _columns(self, indices: Indices) -> Floats:
        return (indices[:, None] <= np.arange(self.n_queries)).astype(np.float64)

    def _matvec(self, x: Floats) -> Floats:
        return np.cumsum(x)

    def _rmatvec(self, y: Floats) -> Floats:
        return np.ascontiguousarray(np.cumsum(y[::-1])[::-1])

    @cached_property
    def _sign(self) -> str:
        return ">= " if _is_decreasing(self.domain) else "<= "

    def _name(self, query: int) -> str:
        return self._sign + self.domain.label(query)

    def _find(self, name: str) -> int:
        return find_label(self.domain, name[3:]) if name.startswith(self._sign) else -1

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        from sottovoce.workloads.pictures import Cdf, line_of

        side = "or above" if _is_decreasing(self.domain) else "or below"
        title = f"share of people at {side} each value{times}"
        yield Cdf(title, start, start + self.n_queries, not times, line_of(self.domain))

    def _parameters(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        if parameters:
            raise WorkloadError("a prefix workload must have a domain and no other field")
        return cls(domain)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Ranges(Workload):
    """All J (J + 1) / 2 intervals [i, j], i <= j, of J ordered values, both ends included.

    Order: by left end, then by right end: [0, 0], [0, 1], .., [0, J-1], [1, 1], .., [J-1, J-1]; the interval [i, j]
    is row ``i J - i (i - 1) / 2 + j - i``. Value v lies in (v + 1)(J - v) of them, most in the middle, so
    the radius is sqrt(floor((J + 1)**2 / 4)).

    Examples
    --------
    >>> hours = Ranges(24)
    >>> hours.n_queries, hours.name(23), hours.find("9-17"), hours.row(9, 17)
    (300, '0-23', 188, 188)
    >>> float(hours.radius**2)
    156.0
    """

    kind: ClassVar[str] = "ranges"

    def __init__(self, domain: object) -> None:
        self._freeze(ordered_domain(domain, "ranges"))

    @property
    def n_queries(self) -> int:
        return self.domain.size * (self.domain.size + 1) // 2

    @property
    def radius(self) -> float:
        """sqrt(floor((J + 1)**2 / 4)), the norm of the middle value's column."""
        return math.sqrt((self.domain.size + 1) ** 2 // 4)

    def row(self, first: int, last: int) -> int:
        """The number of the interval from the value numbered `first` to the one numbered `last`."""
        left, right = as_integer(first), as_integer(last)
        if left is None or right is None or not 0 <= left <= right < self.domain.size:
            raise WorkloadError(f"first and last must be integers with 0 <= first <= last <= {self.domain.size - 1}")
        return self._start(left) + right - left

    def ends(self, query: int) -> tuple[int, int]:
        """The numbers of an interval's first and last value; the inverse of `row`."""
        number = as_integer(query)
        if number is None or not 0 <= number < self.n_queries:
            raise WorkloadError(f"query number must be an integer from 0 to {self.n_queries - 1}")
        # Counted from the end, left ends J-1, J-2, ... have 1, 2, ... intervals: invert a triangular number exactly.
        below = self.n_queries - 1 - number
        first = self.domain.size - 1 - (math.isqrt(8 * below + 1) - 1) // 2
        return first, first + number - self._start(first)

    def _start(self, first: int) -> int:
        return first * self.domain.size - first * (first - 1) // 2

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return 0.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return False

    def _squared_norms(self, indices: Indices) -> Floats:
        return ((indices + 1) * (self.domain.size - indices)).astype(np.float64)

    def gram(self, first: Indices, second: Indices) -> Floats:
        """Inner products of columns: the number of intervals that hold both values."""
        before, after = np.minimum.outer(first, second) + 1, self.domain.size - np.maximum.outer(first, second)
        return np.asarray(before * after, dtype=np.float64)

    def _columns(self, indices: Indices) -> Floats:
        size = self.domain.size
        answers = np.empty((len(indices), self.n_queries))
        reached = indices[:, None] <= np.arange(size)
        for first in range(size):
            start = self._start(first)
            answers[:, start : start + size - first] = reached[:, first:] & (indices[:, None] >= first)
        return answers

    # Both products sum separately for each left end: no difference of large sums, so no cancellation.

    def _matvec(self, x: Floats) -> Floats:
        size = self.domain.size
        answers = np.empty(self.n_queries)
        for first in range(size):
            start = self._start(first)
            np.cumsum(x[first:], out=answers[start : start + size - first])
        return answers

    def _rmatvec(self, y: Floats) -> Floats:
        size = self.domain.size
        totals = np.zeros(size)
        for first in range(size):
            start = self._start(first)
            totals[first:] += np.cumsum(y[start : start + size - first][::-1])[::-1]
        return totals

    @cached_property
    def _between(self) -> str:
        """The separator of two labels; "-" would be unclear next to a minus sign."""
        ends = self.domain.label(0), self.domain.label(self.domain.size - 1)
        return " to " if not is_text_labelled(self.domain) and min(map(int, ends)) < 0 else "-"

    def _name(self, query: int) -> str:
        first, last = self.ends(query)
        between = self._between
        ends = [first] if first == last else [first, last]
        return between.join(quote_label(self.domain.label(index), between) for index in ends)

    def _find(self, name: str) -> int:
        between = self._between
        taken = split_label(name, between)
        if taken is None:
            return -1
        label, rest = taken
        first = last = find_label(self.domain, label)
        if rest is not None:
            taken = split_label(rest, between)
            if taken is None or taken[1] is not None:
                return -1
            last = find_label(self.domain, taken[0])
        # The name of an interval of one value is its label.
        single = rest is None
        return self.row(first, last) if 0 <= first <= last and single == (first == last) else -1

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        from sottovoce.workloads.pictures import Intervals, line_of

        size, line = self.domain.size, line_of(self.domain)
        positions = [label for label in line if isinstance(label, int)] or list(range(size))
        yield Intervals(
            title=f"share of people within each range{times}",
            start=start,
            stop=start + self.n_queries,
            shares=not times,
            lows=[positions[first] for first in range(size) for _ in range(first, size)],
            highs=[positions[last] for first in range(size) for last in range(first, size)],
            ends=[positions[0], positions[-1]],
            names=[str(name) for name in line] if is_text_labelled(self.domain) else None,
        )

    def _parameters(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        if parameters:
            raise WorkloadError("a ranges workload must have a domain and no other field")
        return cls(domain)
