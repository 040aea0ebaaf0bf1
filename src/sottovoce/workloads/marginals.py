"""Marginals: every table of k attributes, one query per cell."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, ProductDomain
from sottovoce.workloads.base import Floats, Indices, Workload, check_integer_parameter, check_vector
from sottovoce.workloads.naming import find_record, record_name
from sottovoce.workloads.tabulated import TableCells

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Marginals"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Marginals(Workload):
    """All k-way tables: for every k of the attributes, the share of people in each cell.

    Tables come in the lexicographic order of their attributes, the cells of one with its last attribute fastest.
    A record lies in one cell of each, so every column has norm sqrt(C(attributes, k)). Products with A
    share partial sums between tables: far fewer passes over the J records than there are tables.

    Parameters
    ----------
    domain
        A product domain or a mapping of attributes; alternatively, give the attributes by keyword.
    k
        The number of attributes of a table.

    Examples
    --------
    >>> people = Marginals(k=2, age=10, sex=["F", "M"], country=30)
    >>> people.shape, round(people.radius**2)
    ((380, 600), 3)
    >>> people.find("age=3, sex=F"), people.name(6)
    (6, 'age=3, sex=F')
    >>> people.table(people.column(0), "sex", "age").shape
    (2, 10)
    """

    domain: ProductDomain
    k: int

    kind: ClassVar[str] = "marginals"

    def __init__(self, domain: object = None, k: int = 2, **attributes: object) -> None:
        if (domain is None) == (not attributes):
            raise WorkloadError("give either a product domain or attributes by keyword, for example age=10, sex=2")
        records = Domain.of(attributes if domain is None else domain)
        if not isinstance(records, ProductDomain):
            raise WorkloadError("tables need named attributes: give Domain.product(age=range(100), ...)")
        order = check_integer_parameter("k, the number of attributes of a table,", k, 1, len(records.attributes))
        self._freeze(records, k=order)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(inner.size for _, inner in self.domain.attributes)

    @cached_property
    def _tables(self) -> tuple[tuple[int, ...], ...]:
        """The attributes of each table, by position."""
        return tuple(combinations(range(len(self._sizes)), self.k))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The row of each table's first cell, then the number of rows."""
        cells = (math.prod(self._sizes[attribute] for attribute in table) for table in self._tables)
        return tuple(accumulate(cells, initial=0))

    @cached_property
    def n_queries(self) -> int:
        """The cells of all tables: the sum over k attributes of the product of their sizes."""
        cells = [1] + [0] * self.k
        for size in self._sizes:
            for kept in range(self.k, 0, -1):
                cells[kept] += size * cells[kept - 1]
        return cells[self.k]

    @property
    def radius(self) -> float:
        """sqrt(C(attributes, k)): a record lies in one cell of every table."""
        return math.sqrt(math.comb(len(self._sizes), self.k))

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return 0.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return True

    def _squared_norms(self, indices: Indices) -> Floats:
        return np.full(len(indices), float(math.comb(len(self._sizes), self.k)))

    def _columns(self, indices: Indices) -> Floats:
        digits = np.empty((len(self._sizes), len(indices)), dtype=np.int64)
        rest = indices
        for attribute in range(len(self._sizes) - 1, -1, -1):
            rest, digits[attribute] = np.divmod(rest, self._sizes[attribute])
        sizes, tables, starts = self._layout
        cells = np.zeros((len(starts), len(indices)), dtype=np.int64)
        for places in tables.T:
            cells = cells * sizes[places, None] + digits[places]
        answers = np.zeros((len(indices), self.n_queries))
        answers[np.arange(len(indices)), cells + starts[:, None]] = 1
        return answers

    @cached_property
    def _layout(self) -> tuple[Indices, Indices, Indices]:
        """Sizes, tables and their first rows as arrays."""
        return np.array(self._sizes), np.array(self._tables), np.array(self._starts[:-1])

    def _matvec(self, x: Floats) -> Floats:
        return np.concatenate(list(self._sums(x.reshape(1, -1), 0, 0)))

    def _sums(self, partial: Floats, attribute: int, kept: int) -> Iterator[Floats]:
        """All tables with the attributes kept so far; rows of `partial` are cells, columns the other attributes."""
        cells = len(partial)
        if kept == self.k:
            yield partial.sum(axis=1)
            return
        size = self._sizes[attribute]
        yield from self._sums(partial.reshape(cells * size, -1), attribute + 1, kept + 1)
        if self.k - kept < len(self._sizes) - attribute:
            yield from self._sums(partial.reshape(cells, size, -1).sum(axis=1), attribute + 1, kept)

    def _rmatvec(self, y: Floats) -> Floats:
        tables = (y[start:stop] for start, stop in zip(self._starts, self._starts[1:], strict=False))
        return self._spread(tables, 1, 0, 0).reshape(-1).copy()

    def _spread(self, tables: Iterator[Floats], cells: int, attribute: int, kept: int) -> Floats:
        """The transpose of `_sums`, with tables in the same order; one column if all remaining attributes share it."""
        if kept == self.k:
            return next(tables).reshape(cells, 1)
        size = self._sizes[attribute]
        spread = self._spread(tables, cells * size, attribute + 1, kept + 1).reshape(cells, size, -1)
        if self.k - kept < len(self._sizes) - attribute:
            spread = spread + self._spread(tables, cells, attribute + 1, kept)[:, None, :]
        return spread.reshape(cells, -1)

    def table(self, answers: ArrayLike | Any, *attributes: str) -> Floats:
        """One table of the answers, with axes in the order of the attributes given.

        Parameters
        ----------
        answers
            A vector of `n_queries` numbers, or an estimate whose `values` is one.
        attributes
            The k attributes of the table.
        """
        vector = check_vector(answers, self.n_queries, "one number for every query")
        names = [name for name, _ in self.domain.attributes]
        if len(attributes) != self.k or len(set(attributes)) != self.k or not set(attributes) <= set(names):
            raise WorkloadError(f"give {self.k} different attributes out of {', '.join(names)}").at("attributes")
        positions = [names.index(attribute) for attribute in attributes]
        number = self._numbers[tuple(sorted(positions))]
        stored = vector[self._starts[number] : self._starts[number + 1]]
        axes = [sorted(positions).index(position) for position in positions]
        return stored.reshape([self._sizes[position] for position in sorted(positions)]).transpose(axes).copy()

    @property
    def has_tables(self) -> bool:
        return True

    def table_cells(self, names: tuple[str, ...]) -> TableCells | None:
        sizes = {name: inner.size for name, inner in self.domain.attributes}
        if not set(names) <= set(sizes) or len(names) > self.k:
            return None
        spare = sorted((name for name in sizes if name not in names), key=lambda name: sizes[name])
        order = [*names, *spare[: self.k - len(names)]]
        numbers = self.table(np.arange(self.n_queries, dtype=np.float64), *order).astype(np.int64)
        return TableCells(self.domain.attributes, numbers.reshape(*numbers.shape[: len(names)], -1))

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {table: number for number, table in enumerate(self._tables)}

    def _name(self, query: int) -> str:
        number = bisect_right(self._starts, query) - 1
        cell, parts = query - self._starts[number], []
        for attribute in reversed(self._tables[number]):
            cell, index = divmod(cell, self._sizes[attribute])
            parts.append((attribute, index))
        return record_name(self.domain, parts[::-1])

    def _find(self, name: str) -> int:
        record = find_record(self.domain, name)
        if record is None or len(record) != self.k:
            return -1
        table, cell = tuple(sorted(record)), 0
        for attribute in table:
            cell = cell * self._sizes[attribute] + record[attribute]
        return self._starts[self._numbers[table]] + cell

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        """One for each table, in the order of the answers: lexicographic in the attributes."""
        from sottovoce.workloads.pictures import table_panels

        for attributes in combinations(self.domain.attributes, self.k):
            yield from table_panels(attributes, start, times)
            start += math.prod(inner.size for _, inner in attributes)

    def _parameters(self) -> dict[str, Any]:
        return {"k": self.k}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"k": int(k), **rest} if not rest:
                return cls(domain, k)
        raise WorkloadError(
            "a marginals workload must have a domain with attributes and the integer k, and no other field"
        )
