"""Simulated people: their number, and the values of any slice of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import SimulationError

__all__ = ["MAX_SIMULATED", "People", "check_histogram"]

MAX_SIMULATED = 10**12
"""Maximum number of people of one simulation, about a day's work."""


@dataclass(frozen=True)
class People:
    """The number of people, and a function for the values of those from `start` to `stop`."""

    n: int
    between: Callable[[int, int], NDArray[Any]]

    @staticmethod
    def with_values(indices: NDArray[np.int64]) -> People:
        """One person per entry."""
        # Copied, because kernels are compiled again for every memory layout.
        return People(len(indices), lambda start, stop: indices[start:stop].copy())

    @staticmethod
    def with_histogram(histogram: NDArray[np.int64]) -> People:
        """histogram[v] people with value v, in the order of values, never all listed."""
        ends = np.cumsum(histogram)

        def between(start: int, stop: int) -> NDArray[np.int64]:
            first = int(np.searchsorted(ends, start, side="right"))
            last = int(np.searchsorted(ends, stop - 1, side="right"))
            edges = np.clip(ends[first : last + 1], start, stop)
            return np.repeat(np.arange(first, last + 1), np.diff(edges, prepend=start))

        return People(int(ends[-1]), between)


def check_histogram(histogram: ArrayLike, size: int) -> NDArray[np.int64]:
    """Return the number of people per value if it is valid."""
    try:
        array = np.asarray(histogram)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape != (size,) or array.dtype.kind not in "iu" or (array < 0).any():
        raise SimulationError(
            f"histogram must hold {size} non-negative integers, the number of people with each value"
        ).at("histogram")
    if array.sum(dtype=np.float64) > MAX_SIMULATED:
        raise SimulationError(f"histogram holds too many people: at most {MAX_SIMULATED:,} can be simulated").at(
            "histogram"
        )
    return array.astype(np.int64)
