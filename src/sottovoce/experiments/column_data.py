"""One column of a table of the user's own: which values there are, and who has which."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SimulationError

__all__ = ["MAX_CELL", "Column", "read_column"]

MAX_CELL: Final = 1000
"""Longest value, in characters: beyond it a column holds no answers but texts."""


@dataclass(frozen=True, repr=False)
class Column:
    """People by the index of their value; `labels` are sorted. Its repr shows no value."""

    labels: tuple[str, ...]
    values: NDArray[np.int64]
    left_out: int
    """Rows without a value."""

    def __repr__(self) -> str:
        return f"Column(people={len(self.values):,}, values={len(self.labels):,}, left_out={self.left_out:,})"


def read_column(path: Path, column: str) -> Column:
    """The named column of a CSV file with a heading; no message quotes what the file holds."""
    cells: list[str] = []
    left_out = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            heading = next(reader, [])
            at = _position(heading, column, path)
            for row in reader:
                cell = row[at].strip() if at < len(row) else ""
                if len(cell) > MAX_CELL:
                    raise SimulationError(
                        f"{str(path)!r}, line {reader.line_num}: a value of {len(cell):,} characters; values have at "
                        f"most {MAX_CELL:,}: is {column!r} the right column?"
                    )
                if cell:
                    cells.append(cell)
                elif row:
                    left_out += 1
    except OSError as error:
        raise SimulationError(f"{str(path)!r} cannot be read: {error.strerror or 'no such file'}") from None
    except (csv.Error, UnicodeDecodeError):
        raise SimulationError(f"{str(path)!r} is no CSV file in UTF-8; export it again as one") from None
    labels, values = np.unique(np.array(cells, dtype=object).astype(str), return_inverse=True)
    if len(labels) < 2:
        raise SimulationError(
            f"column {column!r} holds {len(labels)} different values; there must be two or more to tell apart"
        )
    return Column(tuple(labels.tolist()), values.astype(np.int64), left_out)


def _position(heading: list[str], column: str, path: Path) -> int:
    names = [name.strip() for name in heading]
    if names.count(column) == 1:
        return names.index(column)
    if column in names:
        raise SimulationError(f"{str(path)!r} has {names.count(column)} columns called {column!r}; rename one of them")
    # Which ones it names is not said: where the heading is missing, the first line is somebody's.
    raise SimulationError(f"{str(path)!r} has no column {column!r} among the {len(names)} that its first line names")
