"""A column of a CSV file as people's answers, and its numbers in bins of equal width."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.core.words import plural

__all__ = ["MAX_CELL", "MOST_BINS", "Column", "EqualBins", "in_bins", "read_column"]

MAX_CELL: Final = 1000
"""Longest value, in characters."""

_GZIP: Final = b"\x1f\x8b"
_SEPARATORS: Final = ",;\t|"
"""Separators of cells, the most common first."""


@dataclass(frozen=True, repr=False)
class Column:
    """Everybody's value as an index into the sorted `labels`. The repr shows no value."""

    labels: tuple[str, ...]
    values: NDArray[np.int64]
    left_out: int
    """Rows without a value."""

    @property
    def alone(self) -> int:
        """Number of values that occur once."""
        return int(np.count_nonzero(np.bincount(self.values) == 1))

    def __repr__(self) -> str:
        return f"Column(people={len(self.values):,}, values={len(self.labels):,}, left_out={self.left_out:,})"


def read_column(path: Path, column: str) -> Column:
    """Read a column of a CSV file with a heading, plain or gzipped; no message quotes its content.

    Cells are separated by commas, semicolons, tabs or bars, whichever makes the heading contain the column.

    Raises
    ------
    SimulationError
        For a file that cannot be read as such, a column that is not there, or one with fewer than two values.
    """
    with _opened(path) as file:
        reader, at = _find_column(file, column, path)
        numbers, people, left_out = _cells(reader, at, path, column)
    labels = tuple(sorted(numbers))
    if len(labels) < 2:
        number = "only one value" if labels else "no values"
        raise SimulationError(f"column {column!r} of {str(path)!r} has {number}; at least two are needed: name another")
    place = np.empty(len(labels), np.int64)
    place[[numbers[label] for label in labels]] = np.arange(len(labels))
    return Column(labels, place[np.frombuffer(people, np.int64)], left_out)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open the file as seekable text; errors do not quote its content."""
    problem = ""
    try:
        with path.open("rb") as plain:
            packed = plain.peek(2)[:2] == _GZIP
            # A pipe cannot be rewound, memory can.
            whole = plain if plain.seekable() else io.BytesIO(plain.read())
            unpacked = gzip.GzipFile(fileobj=whole) if packed else whole
            with io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="") as text:
                yield text
    except (gzip.BadGzipFile, zlib.error, EOFError):
        problem = "is a damaged or truncated gzip file; compress it again"
    except OSError as error:
        why = error.strerror or "unknown system error"
        problem = f"cannot be read: {why}; --data must name a readable CSV file"
    except UnicodeDecodeError:
        problem = "is not text in UTF-8; export it again as CSV in UTF-8"
    except csv.Error:
        problem = "is not a valid CSV file: a quote is not closed, or a cell is too long; export it again"
    if problem:
        raise SimulationError(f"{str(path)!r} {problem}")


def _find_column(file: TextIO, column: str, path: Path) -> tuple[Iterator[list[str]], int]:
    """A reader after the heading, and the column's position in a row."""
    most = 0
    spelled_otherwise = False
    for separator in _SEPARATORS:
        file.seek(0)
        reader = csv.reader(file, strict=True, delimiter=separator)
        names = [name.strip() for name in next(reader, [])]
        if names.count(column) == 1:
            return reader, names.index(column)
        if column in names:
            times = names.count(column)
            raise SimulationError(f"{str(path)!r} has {times} columns called {column!r}; rename all but one of them")
        most = max(most, len(names))
        spelled_otherwise |= column.strip().casefold() in map(str.casefold, names)
    if not most:
        raise SimulationError(f"{str(path)!r} is empty; its first line must name the columns, {column!r} among them")
    # The names are not quoted: without a heading, the first line is a person's data.
    hint = "; one differs only in capitals or spaces" if spelled_otherwise else ""
    if most == 1:
        raise SimulationError(
            f"{str(path)!r} has no column {column!r} but a single other one{hint}; write the name as in the first "
            "line, with commas, semicolons, tabs or bars between cells"
        )
    raise SimulationError(
        f"{str(path)!r} has no column {column!r} among the {most} of its first line{hint}; write the name as in "
        "that line"
    )


def _cells(reader: Iterator[list[str]], at: int, path: Path, column: str) -> tuple[dict[str, int], array[int], int]:
    """The column's values, numbered in order of appearance; everybody's number; the number of rows without a value.

    Numbers are kept instead of text: eight bytes per person.
    """
    numbers: dict[str, int] = {}
    people = array("q")
    left_out = 0
    for number, row in enumerate(reader, start=1):
        cell = row[at].strip() if at < len(row) else ""
        if len(cell) > MAX_CELL:
            raise SimulationError(
                f"{str(path)!r}, row {number:,} below the heading: a value of {len(cell):,} characters in column "
                f"{column!r}; values have at most {MAX_CELL:,}: name another column"
            )
        if cell:
            people.append(numbers.setdefault(cell, len(numbers)))
        elif row:
            left_out += 1
    return numbers, people, left_out


MOST_BINS: Final = 2**20

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


_STEPS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""First digits of a bin's width."""


@final
@dataclass(frozen=True)
class EqualBins:
    """Bins of equal width with round ends, so that they show nobody's number."""

    low: float
    width: float
    number: int

    @classmethod
    def over(cls, smallest: float, largest: float, most: int, *, exactly: bool) -> EqualBins | None:
        """Up to `most` bins of the least round width, or exactly so many; None where numbers are too far apart.

        Examples
        --------
        >>> print(EqualBins.over(138.6, 204.4, 16, exactly=False))
        14 bins from 135 to 205, each 5 wide
        """
        power = math.floor(math.log10((largest - smallest) / most)) if 0 < largest - smallest < math.inf else 400
        if not -300 < power < 300:
            return None
        for width in (step * 10.0**exponent for exponent in (power, power + 1) for step in _STEPS):
            low = math.floor(smallest / width) * width
            needed = math.floor((largest - low) / width) + 1
            if needed <= most:
                return cls(low, width, most if exactly else max(2, needed))
        return None

    @property
    def high(self) -> float:
        """The end of the last bin."""
        return self.low + self.number * self.width

    def __str__(self) -> str:
        return f"{plural(self.number, 'bin')} from {self.low:g} to {self.high:g}, each {self.width:g} wide"

    def to_dict(self) -> dict[str, Any]:
        """The ends and the number of bins."""
        return {"low": self.low, "high": self.high, "number": self.number}


def in_bins(column: Column, most: int, *, exactly: bool = False) -> tuple[Column, EqualBins | None]:
    """The column with its numbers in order, and in bins if they are more than `most`; other columns as they are.

    Parameters
    ----------
    exactly
        Make `most` bins also of fewer numbers, because queries are over so many; a column that has exactly so many
        values needs none.

    Examples
    --------
    >>> ages = Column(("10", "30", "9"), np.array([0, 1, 2, 2]), 0)
    >>> ordered, bins = in_bins(ages, 64)
    >>> ordered.labels, ordered.values, bins
    (('9', '10', '30'), array([1, 2, 0, 0]), None)
    >>> binned, bins = in_bins(ages, 2)
    >>> binned.values, str(bins)
    (array([0, 1, 0, 0]), '2 bins from 0 to 40, each 20 wide')
    """
    if not 2 <= most <= MOST_BINS:
        raise SimulationError(f"bins is {most:,}: it must be from 2 to {MOST_BINS:,}")
    if not all(_NUMBER.fullmatch(label) for label in column.labels):
        return column, None
    numbers = np.array([float(label) for label in column.labels])
    if not np.isfinite(numbers).all():
        return column, None
    order = np.argsort(numbers, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    if len(numbers) == most or (len(numbers) < most and not exactly):
        labels = tuple(column.labels[number] for number in order)
        return Column(labels, place[column.values], column.left_out), None
    bins = EqualBins.over(float(numbers.min()), float(numbers.max()), most, exactly=exactly)
    if bins is None:
        return column, None
    found = np.minimum(np.floor((numbers - bins.low) / bins.width), bins.number - 1).astype(np.int64)
    return Column(tuple(f"bin {number}" for number in range(bins.number)), found[column.values], column.left_out), bins
