"""The result of a projection: the feasible point, and a certificate of its distance from the exact one."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Projected"]


@dataclass(frozen=True, eq=False)
class Projected:
    """A projected vector with its duality gap.

    Let C be the convex hull of points c_j, x in C the vector returned, x* the true projection of ``raw`` on C
    and g = x - raw. Then the distance to the truth is certified by the gap alone:

    1. x* minimises a smooth convex function over C, so <x* - raw, x - x*> >= 0 (first-order optimality).
    2. Hence <g, x - x*> = ||x - x*||^2 + <x* - raw, x - x*> >= ||x - x*||^2.
    3. x* is an average of the c_j, so <g, x - x*> <= <g, x> - min_j <g, c_j> = gap.

    Together ||x - x*|| <= sqrt(gap). For the simplex c_j is the j-th unit vector and <g, c_j> = g_j.

    Attributes
    ----------
    values : numpy.ndarray
        The projected vector; float64, read-only.
    gap : float
        <g, x> - min_j <g, c_j>: zero at the true projection; where only rounding is left it is a few times
        1e-16 at most, and may fall below zero by even less.
    """

    values: NDArray[np.float64]
    gap: float

    @property
    def error_bound(self) -> float:
        """sqrt(max(gap, 0)): no less than the L2 distance from `values` to the true projection."""
        return sqrt(max(self.gap, 0.0))
