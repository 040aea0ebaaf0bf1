"""Closed-form channels as starts of the search and for comparison with its result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.workloads.base import Floats

__all__ = ["StartChannel", "analytic_starts"]

Marks = NDArray[np.bool_]


class StartChannel(NamedTuple):
    """A two-level channel: `marks` are the entries that are e^epsilon times as likely as the others.

    Every column marks the same share of all rows, by their relative `sizes`.
    """

    name: str
    marks: Marks
    sizes: Floats | float = 1.0

    def channel(self, epsilon: float) -> Floats:
        """The m x J probabilities."""
        minima = self.minima(epsilon)[:, None]
        probabilities: Floats = np.where(self.marks, math.exp(epsilon) * minima, minima)
        probabilities /= probabilities.sum(axis=0)
        return probabilities

    def minima(self, epsilon: float) -> Floats:
        """The probability of an unmarked report, once for each row."""
        sizes = np.broadcast_to(np.float64(self.sizes), len(self.marks))
        return np.asarray(sizes / (sizes @ np.where(self.marks[:, 0], math.exp(epsilon), 1.0)))

    def padded(self, epsilon: float, rows: int) -> tuple[Marks, Floats]:
        """Rows split into equal copies, `rows` in total: the marks, and the smaller probabilities."""
        minima = self.minima(epsilon)
        copies = np.full(len(minima), rows // len(minima))
        copies[np.argsort(-minima, kind="stable")[: rows % len(minima)]] += 1
        return np.repeat(self.marks, copies, axis=0), np.repeat(minima / copies, copies)


def analytic_starts(values: int, epsilon: float, rows: int) -> Iterator[StartChannel]:
    """Every closed-form channel over that many values that fits into `rows` rows, by its mechanism's name.

    Examples
    --------
    >>> [(start.name, len(start.marks)) for start in analytic_starts(7, 1.0, 21)]
    [('randomized_response', 7), ('hadamard', 8), ('projective_geometry', 7), ('subset_selection', 21)]
    """
    for name, kind in serving(FiniteMechanism).items():
        try:
            marks = kind.best(values, epsilon).favoured(rows)
        except (MechanismError, ValueError):
            continue
        if marks is not None:
            yield StartChannel(name, marks)
