"""Prefix: one query per value, the share of people at or below it: the cumulative distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain
from sottovoce.workloads.base import Floats, Indices, Workload
from sottovoce.workloads.naming import find_label
from sottovoce.workloads.order import is_decreasing, ordered_domain
from sottovoce.workloads.pictures import Cdf, Panel, line_of

__all__ = ["Prefix"]


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
        return ">= " if is_decreasing(self.domain) else "<= "

    def _name(self, query: int) -> str:
        return self._sign + self.domain.label(query)

    def _find(self, name: str) -> int:
        return find_label(self.domain, name[3:]) if name.startswith(self._sign) else -1

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        side = "or above" if is_decreasing(self.domain) else "or below"
        title = f"share of people at {side} each value{times}"
        yield Cdf(title, start, start + self.n_queries, not times, line_of(self.domain))

    def _parameters(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        if parameters:
            raise WorkloadError("a prefix workload must have a domain and no other field")
        return cls(domain)
