"""Bins: the share of people in each of several disjoint ranges of one integer attribute."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, LabelDomain, ProductDomain, RangeDomain
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Indices, Workload, check_integer_parameter
from sottovoce.workloads.naming import find_label
from sottovoce.workloads.ranges import is_increasing

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Bins"]

_EXACT_IN_JSON: Final = 2**53 - 1


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Bins(Workload):
    """The share of people in each range edges[i] <= value < edges[i + 1] of an integer attribute.

    Values outside all ranges are not counted. Names show the smallest and the largest value of a range, both
    included. A value lies in at most one range, so the radius is 1.

    Parameters
    ----------
    domain
        Increasing integers, or records with an attribute of increasing integers.
    edges
        Increasing integers, one more than bins, with at least one value per range; or one integer, the width of bins
        that start at the smallest value and cover all values.
    attribute
        The attribute to bin, for a domain of records.

    Examples
    --------
    >>> people = Domain.product(age=range(100), country=["DE", "FR"])
    >>> ages = Bins(people, [0, 18, 30, 65, 100], attribute="age")
    >>> list(ages.names())
    ['age:0-17', 'age:18-29', 'age:30-64', 'age:65-99']
    >>> ages.column(people.index({"age": 30, "country": "FR"}))
    array([0., 0., 1., 0.])
    >>> Bins(range(100), 10).name(3)
    '30-39'
    """

    attribute: str | None
    edges: tuple[int, ...]

    kind: ClassVar[str] = "bins"

    def __init__(self, domain: object, edges: int | Iterable[int], attribute: str | None = None) -> None:
        whole = Domain.of(domain)
        axis = _axis(whole, attribute)
        self._freeze(whole, attribute=attribute, edges=_edges(axis, edges))

    @cached_property
    def _place(self) -> tuple[int, Domain, int]:
        """The product of the sizes before the attribute, its domain, and the product of the sizes after it."""
        if not isinstance(self.domain, ProductDomain):
            return 1, self.domain, 1
        names = [name for name, _ in self.domain.attributes]
        index = names.index(str(self.attribute))
        sizes = [inner.size for _, inner in self.domain.attributes]
        return math.prod(sizes[:index]), self.domain.attributes[index][1], math.prod(sizes[index + 1 :])

    @cached_property
    def _bounds(self) -> Indices:
        """The number of each bin's first value, and of the first value after the last bin."""
        return _starts(self._place[1], self.edges)

    @property
    def n_queries(self) -> int:
        return len(self.edges) - 1

    @property
    def radius(self) -> float:
        """1: a value lies in one bin or in none."""
        return 1.0

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return 0.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return bool(self._bounds[0] == 0 and self._bounds[-1] == self._place[1].size)

    def _bin(self, indices: Indices) -> Indices:
        """The bin of each value; -1 or the number of bins if it is in none."""
        _, axis, after = self._place
        bins: Indices = np.searchsorted(self._bounds, indices // after % axis.size, "right") - 1
        return bins

    def _squared_norms(self, indices: Indices) -> Floats:
        bins = self._bin(indices)
        return ((bins >= 0) & (bins < self.n_queries)).astype(np.float64)

    def _columns(self, indices: Indices) -> Floats:
        inside: NDArray[np.bool_] = self._bin(indices)[:, None] == np.arange(self.n_queries)
        return inside.astype(np.float64)

    def _matvec(self, x: Floats) -> Floats:
        before, axis, after = self._place
        shares = x.reshape(before, axis.size, after).sum(axis=(0, 2))
        answers: Floats = np.add.reduceat(shares[: self._bounds[-1]], self._bounds[:-1])
        return answers

    def _rmatvec(self, y: Floats) -> Floats:
        before, axis, after = self._place
        totals = np.zeros(axis.size)
        totals[self._bounds[0] : self._bounds[-1]] = np.repeat(y, np.diff(self._bounds))
        return np.tile(np.repeat(totals, after), before)

    @property
    def _prefix(self) -> str:
        return "" if self.attribute is None else f"{self.attribute}:"

    @cached_property
    def _between(self) -> str:
        """The separator of two integers; "-" would be unclear next to a minus sign."""
        return " to " if int(self._place[1].label(0)) < 0 else "-"

    def _name(self, query: int) -> str:
        axis = self._place[1]
        first, last = int(self._bounds[query]), int(self._bounds[query + 1]) - 1
        ends = [first] if first == last else [first, last]
        return self._prefix + self._between.join(axis.label(index) for index in ends)

    def _find(self, name: str) -> int:
        low = name.removeprefix(self._prefix).partition(self._between)[0]
        first = find_label(self._place[1], low)
        query = int(np.searchsorted(self._bounds, first)) if first >= 0 else self.n_queries
        return query if query < self.n_queries and self._name(query) == name else -1

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        from sottovoce.workloads.pictures import Bars

        yield Bars(f"{self.kind}{times}", start, start + self.n_queries, shares=not times)

    def _parameters(self) -> dict[str, Any]:
        named = {} if self.attribute is None else {"attribute": self.attribute}
        return {"edges": list(self.edges), **named}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"edges": list(edges), **rest} if not set(rest) - {"attribute"}:
                return cls(domain, edges, **rest)
        raise WorkloadError("a bins workload must have the fields domain and edges, and optionally attribute")


def _axis(domain: Domain, attribute: object) -> Domain:
    """The integers that are binned."""
    axis, where = domain, "the domain"
    if isinstance(domain, ProductDomain):
        inner = dict(domain.attributes)
        if not isinstance(attribute, str) or attribute not in inner:
            raise WorkloadError(f"attribute must be one of the domain's attributes: {', '.join(inner)}")
        axis, where = inner[attribute], f"attribute {attribute!r}"
    elif attribute is not None:
        raise WorkloadError("this domain has no attributes; leave attribute out, or give Domain.product(age=...)")
    if not is_increasing(axis):
        raise WorkloadError(f"{where} cannot be binned: its values must be increasing integers").at("domain")
    return axis


def _edges(axis: Domain, edges: object) -> tuple[int, ...]:
    smallest, largest = int(axis.label(0)), int(axis.label(axis.size - 1))
    width = as_integer(edges)
    if width is not None:
        width = check_integer_parameter("edges, the width of a bin,", width, 1, largest - smallest + 1)
        if (largest - smallest) // width >= MAX_ENTRIES:
            raise WorkloadError(f"there would be more than {MAX_ENTRIES:,} bins; make them wider").at("edges")
        checked = (*range(smallest, largest + 1, width), largest + 1)
    else:
        listed = [as_integer(edge) for edge in edges] if isinstance(edges, Iterable) else []
        checked = tuple(edge for edge in listed if edge is not None)
        if len(checked) < 2 or len(checked) < len(listed):
            raise WorkloadError("edges must be a width, or a list of two or more integers, one more than bins")
    if max(map(abs, checked)) > _EXACT_IN_JSON:
        raise WorkloadError(f"edges must lie within +-{_EXACT_IN_JSON}")
    if (np.diff(_starts(axis, checked)) <= 0).any():
        raise WorkloadError(
            f"edges must increase and leave no bin empty; the values run from {smallest} to {largest}, "
            "and a bin contains those from one edge to below the next"
        )
    return checked


def _starts(axis: Domain, edges: tuple[int, ...]) -> Indices:
    """For each edge, the number of the first value that is not below it, or the size."""
    places = np.array(edges, dtype=np.int64)
    if isinstance(axis, RangeDomain):
        return (-((axis.start - places) // axis.step)).clip(0, axis.size)
    names = axis.names if isinstance(axis, LabelDomain) else ()
    starts: Indices = np.searchsorted(np.array(names, dtype=np.int64), places)
    return starts
