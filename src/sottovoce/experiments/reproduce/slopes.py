"""Slopes of error curves in doubly logarithmic scale, with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.experiments.reproduce.records import Measured

__all__ = ["Slope", "slope"]


class Slope(NamedTuple):
    """d log error / d log x, by weighted least squares; the standard error is that of the repeats."""

    value: float
    standard_error: float


def slope(points: Sequence[Measured], of: str = "error") -> Slope:
    """Of two points or more along what their figure varies.

    An error e with standard error s has a logarithm with standard error s/e (first order).
    """
    x = np.log([point.case.at for point in points])
    errors = np.array([getattr(point, of) for point in points], dtype=np.float64)
    suffix = "standard_error" if of == "error" else f"{of}_standard_error"
    spread = np.array([getattr(point, suffix) for point in points], dtype=np.float64) / errors
    weights = 1 / np.maximum(spread, 1e-12) ** 2
    centred = x - np.average(x, weights=weights)
    total = float((weights * centred**2).sum())
    return Slope(float((weights * centred * np.log(errors)).sum() / total), 1 / math.sqrt(total))
