"""Slopes of error curves in doubly logarithmic scale, with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evidence.reproduce.records import Case, Measured

__all__ = ["Slope", "slope"]


class Slope(NamedTuple):
    """d log error / d log x, by least squares; the standard error is that of the repeats, with its degrees of freedom.

    The degrees of freedom are Welch's and Satterthwaite's.
    """

    value: float
    standard_error: float
    freedom: float


def slope(
    points: Sequence[Measured], of: str = "error", against: Callable[[Case], float] = lambda case: case.at
) -> Slope:
    """Of two points or more, against what their figure varies or a shape of it.

    An error e with standard error s has a logarithm with standard error s/e (first order). Points count alike: weights
    would have to come from the same few repeats.
    """
    x = np.log([against(point.case) for point in points])
    errors = np.array([getattr(point, of) for point in points], dtype=np.float64)
    suffix = "standard_error" if of == "error" else f"{of}_standard_error"
    spread = np.array([getattr(point, suffix) for point in points], dtype=np.float64) / errors
    centred = x - x.mean()
    weights = centred / (centred**2).sum()
    parts = (weights * spread) ** 2
    each = np.array([point.repeats - 1 for point in points], dtype=np.float64)
    total = float(parts.sum())
    freedom = total**2 / float((parts**2 / each).sum()) if total > 0 else float(each.min())
    return Slope(float(weights @ np.log(errors)), math.sqrt(total), freedom)
