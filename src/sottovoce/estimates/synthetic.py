"""Made-up records that agree with the estimated tables of a form.

They are computed from the estimate alone, so that nobody's privacy is touched: epsilon stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.domain.number import NumberGrid
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.largest_entropy import SharesTable, crowd_of_pairs, listed_shares, table_of
from sottovoce.workloads.naming import value_at

__all__ = ["MOST_RECORDS", "FormTables", "Synthetic", "TableError", "synthesized"]

MOST_RECORDS: Final = 1_000_000
"""Most records that are made up at once."""

_MOST_LISTED: Final = 2**16
"""Possible records up to which all are listed."""

_LISTED_ROUNDS: Final = 100
_CROWD_ROUNDS: Final = 30

_CROWD: Final = 2**12, 2**16
"""Fewest and most records that are drawn together: the fewest whose tables can be near, the most for memory."""

_BETWEEN: Final = 4
"""Steps from one grid point of a number to the next."""


class TableError(NamedTuple):
    """How far a table of made-up records is from the estimate.

    Attributes
    ----------
    names
        The attributes of the table.
    distance
        Half the sum of the absolute differences: the share of people who would have to move.
    largest
        The largest difference of a cell.
    """

    names: tuple[str, ...]
    distance: float
    largest: float


@final
@dataclass(frozen=True, eq=False)
class FormTables:
    """The projected tables of a form.

    Attributes
    ----------
    names, axes, numbers
        The attributes, their cells, and for numbers their grids.
    order
        Attributes of the largest tables that are known.
    table
        The shares of people in the table of some attributes.
    """

    names: tuple[str, ...]
    axes: tuple[Domain, ...]
    numbers: tuple[NumberGrid | None, ...]
    order: int
    table: Callable[[tuple[str, ...]], Floats]

    def shares(self, places: Sequence[int]) -> Floats:
        """One table, without negative shares, with a sum of one."""
        shares = np.maximum(self.table(tuple(self.names[place] for place in places)), 0.0)
        return np.asarray(shares / shares.sum())

    def parts(self) -> list[Floats]:
        """For every attribute how much each position counts for each cell."""
        return [
            np.eye(axis.size) if grid is None else _between_points(grid.points)
            for axis, grid in zip(self.axes, self.numbers, strict=True)
        ]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Synthetic:
    """Made-up records; `estimate.synthesize` makes them.

    Attributes
    ----------
    columns
        The records by attribute: values of lists, and numbers.
    errors
        How far every table of one attribute and of two is from the estimate.
    label
        What they are, in words that should stay with them.
    """

    columns: dict[str, list[Any]]
    errors: tuple[TableError, ...]
    label: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records one by one."""
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """A DataFrame with one row per made-up record; its `attrs["label"]` says what it is. Needs pandas."""
        frame = import_pandas().DataFrame(self.columns)
        frame.attrs["label"] = self.label
        return frame

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __str__(self) -> str:
        lines = [self.label]
        for order, name in ((1, "attributes alone"), (2, "pairs")):
            off = [error.distance for error in self.errors if len(error.names) == order]
            if off:
                lines.append(
                    f"{name}: {100 * float(np.mean(off)):.2g} % of people off the estimate on average, "
                    f"{100 * max(off):.2g} % at most"
                )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{plural(len(self), 'made-up record')} of {', '.join(self.columns)}>"


def synthesized(tables: FormTables, n: object, seed: object, epsilon: float, delta: float, n_reports: int) -> Synthetic:
    """Records drawn from the distribution of largest entropy with these tables, or from one near it."""
    count = check_integer("n", n, 1, MOST_RECORDS)
    rng = np.random.default_rng(check_integer("seed", seed, 0, 2**63 - 1))
    parts = tables.parts()
    possible = 1
    for part in parts:
        possible = min(possible * len(part), 2 * _MOST_LISTED)
    if possible <= _MOST_LISTED:
        with steps("making up records"):
            positions = _from_list(tables, parts, count, rng)
    else:
        crowds = -(-count // _CROWD[1])
        with steps("making up records", crowds * _CROWD_ROUNDS * len(parts), "steps") as shown:
            positions = _from_crowd(tables, parts, count, rng, shown.advance)
    pairs = [*combinations(range(len(parts)), 2)] if tables.order > 1 else []
    errors = tuple(
        _error(tables, places, table_of(positions, parts, places))
        for places in ((place,) for place in range(len(parts)))
    ) + tuple(_error(tables, places, table_of(positions, parts, places)) for places in pairs)
    columns = {
        name: _values(axis, grid, positions[:, place], rng)
        for place, (name, axis, grid) in enumerate(zip(tables.names, tables.axes, tables.numbers, strict=True))
    }
    label = (
        f"{plural(count, 'made-up record')}, nobody's: drawn to agree with tables that were estimated from "
        f"{plural(n_reports, 'report')}; {guarantee(epsilon, delta)} as before"
    )
    return Synthetic(columns, errors, label)


def _from_list(tables: FormTables, parts: list[Floats], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Every possible record by its share, but for rounding at random."""
    order = min(tables.order, len(parts))
    targets = [SharesTable(places, tables.shares(places)) for places in combinations(range(len(parts)), order)]
    records, shares = listed_shares(parts, targets, _LISTED_ROUNDS)
    places = (np.arange(count) + rng.random()) / count
    drawn = np.minimum(np.searchsorted(np.cumsum(shares), places, side="right"), len(records) - 1)
    return np.asarray(records[rng.permutation(drawn)])


def _from_crowd(
    tables: FormTables,
    parts: list[Floats],
    count: int,
    rng: np.random.Generator,
    advance: Callable[[int], object],
) -> NDArray[np.int64]:
    """Many attributes: crowds whose tables of pairs are near."""
    singles = [tables.shares((place,)) for place in range(len(parts))]
    known = combinations(range(len(parts)), 2) if tables.order > 1 else ()
    pairs = {places: tables.shares(places) for places in known}
    drawn: list[NDArray[np.int64]] = []
    while (left := count - sum(len(crowd) for crowd in drawn)) > 0:
        people = min(max(left, _CROWD[0]), _CROWD[1])
        crowd = crowd_of_pairs(parts, singles, pairs, people, _CROWD_ROUNDS, rng, advance)
        drawn.append(crowd[rng.permutation(people)[:left]])
    return np.concatenate(drawn)


def _error(tables: FormTables, places: tuple[int, ...], made: Floats) -> TableError:
    off = np.abs(made - tables.shares(places))
    return TableError(tuple(tables.names[place] for place in places), float(off.sum()) / 2, float(off.max()))


def _between_points(points: int) -> Floats:
    """Positions between grid points: each counts for its two neighbours, the more the nearer."""
    positions = np.arange((points - 1) * _BETWEEN + 1) / _BETWEEN
    return np.asarray(np.maximum(0.0, 1 - np.abs(positions[:, None] - np.arange(points))))


def _values(axis: Domain, grid: NumberGrid | None, positions: NDArray[np.int64], rng: np.random.Generator) -> list[Any]:
    """Values of lists; numbers evenly about their positions."""
    if grid is None:
        known = [value_at(axis, index) for index in range(axis.size)]
        return [known[index] for index in positions.tolist()]
    away = positions + rng.uniform(-0.5, 0.5, len(positions))
    numbers = grid.low + away * grid.spacing / _BETWEEN
    return list(np.clip(numbers, grid.low, grid.high).tolist())


def no_tables() -> SurveyError:
    """The refusal of an estimate that has no tables of attributes."""
    return SurveyError(
        "records are made up from the tables of a form; this survey has none: ask for records, such as "
        "records({'plan': ['free', 'pro'], 'age': range(100)})"
    ).at("kind")
