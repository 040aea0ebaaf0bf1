"""Means with standard errors over repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sottovoce.errors import SimulationError

__all__ = ["check_repeats", "mean_and_error"]


def check_repeats(repeats: int) -> int:
    """Return `repeats` if it gives a standard error."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 2 <= repeats <= 10_000:
        raise SimulationError("repeats must be an integer from 2 to 10,000: one alone has no standard error")
    return repeats


def mean_and_error(errors: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    return float(np.mean(errors)), float(np.std(errors, ddof=1) / math.sqrt(len(errors)))
