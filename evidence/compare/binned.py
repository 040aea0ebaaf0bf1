"""Columns of numbers: put in the order of numbers, and into bins of equal width where there are many."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from evidence.compare.column_data import Column
from sottovoce.core.errors import SimulationError
from sottovoce.core.words import plural

__all__ = ["MOST_BINS", "EqualBins", "in_bins"]

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
