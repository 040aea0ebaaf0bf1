"""RecordTables: the tables of up to a few attributes of a record, for records too many to list."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, product
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import SottovoceError, SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.core.limits import check_integer
from sottovoce.domain import Domain, ProductDomain
from sottovoce.domain.number import STEPS, NumberGrid
from sottovoce.workloads.base import MAX_ENTRIES, Body, Floats, Indices
from sottovoce.workloads.naming import find_record, record_name
from sottovoce.workloads.tabulated import MOST_HELD, HeldPairs, TableCells

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Field", "RecordTables", "checked_fields"]

Field: TypeAlias = Domain | NumberGrid
"""An attribute of a record: one of the values of a domain, or a number."""

MAX_ATTRIBUTES: Final = 256
USUAL_ORDER: Final = 2
"""Attributes of the largest table where nothing else is asked for: all pairs."""

MAX_ORDER: Final = 4


@final
@dataclass(frozen=True, eq=False)
class _Cells:
    """The attributes of records with their cells."""

    attributes: tuple[tuple[str, Domain], ...]


@final
@dataclass(frozen=True)
class RecordTables(Body):
    """The share of people in every cell of every table of 1 to `order` attributes.

    Tables stand by the number of their attributes, then in lexicographic order of these; the cells of one with its last
    attribute fastest. A number's cells are its grid points: a person between two counts partly for each.

    Examples
    --------
    >>> fields = {"country": ["DE", "FR"], "plan": ["free", "pro"], "minutes": NumberGrid(0, 600)}
    >>> tables = RecordTables(checked_fields(fields), order=2)
    >>> tables.n_queries, tables.name(8), tables.find("plan=pro, country=DE")
    (23, 'country=DE, plan=pro', 8)
    """

    fields: tuple[tuple[str, Field], ...]
    order: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", checked_fields(dict(self.fields)))
        most = min(MAX_ORDER, len(self.fields))
        object.__setattr__(self, "order", check_integer("tables", self.order, 1, most))
        if self.n_queries > MAX_ENTRIES:
            raise WorkloadError(
                f"the tables have {self.n_queries:,} cells; at most {MAX_ENTRIES:,} are allowed: ask for tables of "
                "fewer attributes, or merge values"
            ).at("tables")

    @cached_property
    def cells(self) -> _Cells:
        """Names, and the cells of each attribute as a domain."""
        return _Cells(tuple((name, _cells(field)) for name, field in self.fields))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(name for name, _ in self.fields)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The cells of each attribute."""
        return tuple(_size(field) for _, field in self.fields)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """How many inputs of a device lie between two cells: 1, or the positions between two grid points."""
        return tuple(STEPS if isinstance(field, NumberGrid) else 1 for _, field in self.fields)

    @cached_property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The positions of every table's attributes."""
        places = range(len(self.fields))
        return tuple(table for order in range(1, self.order + 1) for table in combinations(places, order))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of each table's first answer, then the number of answers."""
        return tuple(accumulate((math.prod(self.shape(table)) for table in self.tables), initial=0))

    def shape(self, table: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of a table."""
        return tuple(self.sizes[attribute] for attribute in table)

    @cached_property
    def n_queries(self) -> int:
        """The cells of all tables: elementary symmetric sums of the sizes."""
        cells = [1] + [0] * self.order
        for size in self.sizes:
            for kept in range(self.order, 0, -1):
                cells[kept] += size * cells[kept - 1]
        return sum(cells[1:])

    @property
    def radius(self) -> float:
        """A record lies in one cell of every table."""
        return math.sqrt(len(self.tables))

    @property
    def diameter(self) -> float:
        """Two records can differ in every table."""
        return math.sqrt(2 * len(self.tables))

    @property
    def answer_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def columns(self, records: ArrayLike) -> Floats:
        """The answers of many people, from rows of a device's inputs; a number between grid points is in two cells."""
        rows = np.asarray(records, dtype=np.int64)
        parts = []
        for attribute, (size, steps) in enumerate(zip(self.sizes, self.steps, strict=True)):
            low, rest = np.divmod(rows[:, attribute], steps)
            part = np.zeros((len(rows), size + 1))
            np.put_along_axis(part, low[:, None], (1 - rest / steps)[:, None], axis=1)
            np.put_along_axis(part, low[:, None] + 1, (rest / steps)[:, None], axis=1)
            parts.append(part[:, :size])
        columns = []
        for table in self.tables:
            cells = np.ones((len(rows), 1))
            for attribute in table:
                cells = (cells[:, :, None] * parts[attribute][:, None, :]).reshape(len(rows), -1)
            columns.append(cells)
        return np.concatenate(columns, axis=1)

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """The number of every table."""
        return {table: number for number, table in enumerate(self.tables)}

    def table(self, answers: ArrayLike, *names: str) -> Floats:
        """One table of the answers, with axes in the order of the attributes given."""
        attributes = [self.place(name) for name in names]
        if not 1 <= len(attributes) <= self.order or len(set(attributes)) < len(attributes):
            raise WorkloadError(f"give from 1 to {self.order} different attributes out of {', '.join(self.names)}")
        inside = sorted(attributes)
        number = self.numbers[tuple(inside)]
        cells = np.asarray(answers)[self.starts[number] : self.starts[number + 1]].reshape(self.shape(tuple(inside)))
        return cells.transpose([inside.index(attribute) for attribute in attributes]).copy()

    @property
    def has_tables(self) -> bool:
        return True

    def table_cells(self, names: tuple[str, ...]) -> TableCells | None:
        for name in names:
            self.place(name)
        if len(names) > self.order:
            return None
        numbers = self.table(np.arange(self.n_queries), *names).astype(np.int64)
        return TableCells(self.cells.attributes, numbers[..., None])

    def number_field(self, name: str) -> NumberGrid | None:
        field = dict(self.fields)[name]
        return field if isinstance(field, NumberGrid) else None

    def held_pairs(self, over: Floats, under: Floats) -> HeldPairs | None:
        """The pairs of one table's cells; None where several tables are combined."""
        used = np.flatnonzero((over != 0) | (under != 0))
        tables = np.unique(np.searchsorted(self.starts, used, "right") - 1)
        if len(tables) != 1:
            return None
        cells = slice(self.starts[tables[0]], self.starts[tables[0] + 1])
        return HeldPairs(over[cells], under[cells])

    def changes(self, rows: Floats) -> Floats | None:
        """By the records that differ from the first one in no more attributes than a table has: these span all.

        Examples
        --------
        >>> tables = RecordTables(checked_fields({"country": ["DE", "FR"], "plan": ["free", "pro", "team"]}), order=2)
        >>> tables.changes(np.eye(tables.n_queries)).shape  # 1 + 2 + 1 * 2 directions of 11 answers
        (11, 5)
        """
        count = sum(math.prod(self.sizes[attribute] - 1 for attribute in table) for table in self.tables)
        if count * self.n_queries > MOST_HELD:
            return None
        records = [
            {attribute: cell + 1 for attribute, cell in zip(table, cells, strict=True)}
            for table in self.tables
            for cells in product(*(range(self.sizes[attribute] - 1) for attribute in table))
        ]
        inputs = np.zeros((len(records) + 1, len(self.fields)), dtype=np.int64)
        for place, record in enumerate(records, start=1):
            for attribute, cell in record.items():
                inputs[place, attribute] = cell * self.steps[attribute]
        columns = self.columns(inputs)
        return np.asarray(rows @ (columns[1:] - columns[0]).T)

    def place(self, name: object) -> int:
        """The position of an attribute."""
        if not isinstance(name, str) or name not in self.names:
            raise SurveyError(f"records have no attribute of that name; they have {', '.join(self.names)}").at("names")
        return self.names.index(name)

    def panels(self) -> Iterator[Panel]:
        from sottovoce.workloads.pictures import table_panels

        for table, start in zip(self.tables, self.starts, strict=False):
            yield from table_panels([self.cells.attributes[attribute] for attribute in table], start, "")

    def name(self, query: int) -> str:
        """The name of a cell, such as "country=DE, plan=pro"."""
        index = as_integer(query)
        if index is None or not 0 <= index < self.n_queries:
            raise WorkloadError(f"query must be an integer from 0 to {self.n_queries - 1}")
        number = bisect_right(self.starts, index) - 1
        cell, parts = index - self.starts[number], []
        for attribute in reversed(self.tables[number]):
            cell, value = divmod(cell, self.sizes[attribute])
            parts.append((attribute, value))
        return record_name(self.cells, parts[::-1])

    def find(self, name: str) -> int:
        """The number of the cell with that name; its attributes may stand in any order."""
        record = find_record(self.cells, name) if isinstance(name, str) else None
        if not record or len(record) > self.order:
            raise WorkloadError(f"no cell of a table is named so; names look like {self.name(self.n_queries - 1)!r}")
        table, cell = tuple(sorted(record)), 0
        for attribute in table:
            cell = cell * self.sizes[attribute] + record[attribute]
        return self.starts[self.numbers[table]] + cell


def checked_fields(given: object) -> tuple[tuple[str, Field], ...]:
    """Names and fields of records, from a mapping of names to domains or numbers; each is checked."""
    if not isinstance(given, Mapping) or not given:
        raise SurveyError("attributes must map names to values, such as {'plan': ['free', 'pro']}").at("attributes")
    if len(given) > MAX_ATTRIBUTES:
        raise SurveyError(f"there are {len(given)} attributes; at most {MAX_ATTRIBUTES} are allowed").at("attributes")
    fields: list[tuple[str, Field]] = []
    for name, field in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise SurveyError(f"attribute name {name!r} must be a plain identifier such as 'age'").at("attributes")
        if as_integer(field) == 1 or (isinstance(field, Sized) and len(field) == 1 and not isinstance(field, Mapping)):
            raise SurveyError(
                f"attribute {name!r} has one value, which everybody has: leave it out, or give it two values or more"
            ).at("attributes")
        try:
            made = field if isinstance(field, NumberGrid) else Domain.of(field)
        except SottovoceError as error:
            raise SurveyError(f"attribute {name!r}: {error}").at("attributes") from None
        if isinstance(made, ProductDomain):
            raise SurveyError(f"attribute {name!r} is itself a record; give its attributes directly").at("attributes")
        fields.append((name, made))
    return tuple(fields)


def _size(field: Field) -> int:
    return field.points if isinstance(field, NumberGrid) else field.size


def _cells(field: Field) -> Domain:
    if isinstance(field, Domain):
        return field
    return Domain.of([field.label(point) for point in range(field.points)])


def input_columns(fields: tuple[tuple[str, Field], ...], columns: Any) -> NDArray[np.int64]:
    """A device's inputs for many records, one row each, from columns of values."""
    parts: list[Indices] = []
    for name, field in fields:
        try:
            column = columns[name]
            parts.append(field.positions_of(column) if isinstance(field, NumberGrid) else field.indices(column))
        except ValueOutsideDomainError as error:
            raise ValueOutsideDomainError(f"column {name!r}: {error}") from None
    if len({len(part) for part in parts}) != 1:
        raise SurveyError("the columns have different lengths; give one entry per person in each")
    return np.stack(parts, axis=1)
