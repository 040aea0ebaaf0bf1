"""Read one column of a user's CSV file."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError

__all__ = ["MAX_CELL", "Column", "read_column"]

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
