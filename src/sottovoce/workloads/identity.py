"""Identity: one query per value, the share of people with that value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np

from sottovoce.core.errors import WorkloadError
from sottovoce.core.limits import MAX_PRODUCT_SIZE
from sottovoce.domain import Domain, ProductDomain
from sottovoce.workloads.base import Floats, Indices, Workload
from sottovoce.workloads.naming import find_label, find_record, record_name
from sottovoce.workloads.tabulated import TableCells

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Identity"]


_WIDEST: Final = 512
"""Most rows or columns of a heat map of records whose cells can still be distinguished."""


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Identity(Workload):
    """The share of people with each value: A is the identity. Columns have norm 1.

    Examples
    --------
    >>> colours = Identity(["red", "green", "blue"])
    >>> colours.column(1), colours.find("blue"), colours.radius
    (array([0., 1., 0.]), 2, 1.0)
    """

    kind: ClassVar[str] = "identity"
    max_queries: ClassVar[int] = MAX_PRODUCT_SIZE
    """All values of any domain: shares are listed only on request."""

    def __init__(self, domain: object) -> None:
        self._freeze(Domain.of(domain))

    @property
    def n_queries(self) -> int:
        return self.domain.size

    @property
    def radius(self) -> float:
        """1: every column has a single 1."""
        return 1.0

    @property
    def diameter(self) -> float:
        """sqrt(2): between two single values."""
        return math.sqrt(2)

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return 0.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return True

    def _squared_norms(self, indices: Indices) -> Floats:
        return np.ones(len(indices))

    def _columns(self, indices: Indices) -> Floats:
        answers = np.zeros((len(indices), self.n_queries))
        answers[np.arange(len(indices)), indices] = 1
        return answers

    def _matvec(self, x: Floats) -> Floats:
        return x.copy()

    def _rmatvec(self, y: Floats) -> Floats:
        return y.copy()

    def _name(self, query: int) -> str:
        if not isinstance(self.domain, ProductDomain):
            return self.domain.label(query)
        parts = []
        for attribute in range(len(self.domain.attributes) - 1, -1, -1):
            query, index = divmod(query, self.domain.attributes[attribute][1].size)
            parts.append((attribute, index))
        return record_name(self.domain, parts[::-1])

    def _find(self, name: str) -> int:
        if not isinstance(self.domain, ProductDomain):
            return find_label(self.domain, name)
        record = find_record(self.domain, name)
        if record is None or len(record) < len(self.domain.attributes):
            return -1
        query = 0
        for attribute, (_, inner) in enumerate(self.domain.attributes):
            query = query * inner.size + record[attribute]
        return query

    @property
    def has_tables(self) -> bool:
        return isinstance(self.domain, ProductDomain)

    def table_cells(self, names: tuple[str, ...]) -> TableCells | None:
        attributes = self.domain.attributes if isinstance(self.domain, ProductDomain) else ()
        known = [name for name, _ in attributes]
        if not set(names) <= set(known):
            return None
        order = [*names, *(name for name in known if name not in names)]
        numbers = np.arange(self.n_values).reshape([inner.size for _, inner in attributes])
        numbers = numbers.transpose([known.index(name) for name in order])
        return TableCells(attributes, numbers.reshape(*numbers.shape[: len(names)], -1))

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        """Bars; for two attributes also a heat map, if its cells can be distinguished."""
        from sottovoce.workloads.pictures import Bars, table_panels

        yield Bars(f"share of each value{times}", start, start + self.n_queries, not times)
        pair = self.domain.attributes if isinstance(self.domain, ProductDomain) else ()
        if len(pair) == 2 and max(inner.size for _, inner in pair) <= _WIDEST:
            yield from table_panels(pair, start, times)

    def _parameters(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        if parameters:
            raise WorkloadError("an identity workload must have a domain and no other field")
        return cls(domain)
