"""What all projections share: the check of a vector, and the result, a feasible point with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError

__all__ = ["Projected", "checked_vector", "not_finite", "real_vector"]


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


def real_vector(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return raw as contiguous float64, not yet checked to be finite; the caller's array is not modified.

    Raises
    ------
    ProjectionError
        If raw is empty, not one-dimensional, or not real numbers.
    """
    given = np.asarray(raw)
    if given.dtype.kind not in "fiu":
        raise ProjectionError(
            f"The vector's entries are of type {given.dtype}; a projection needs real numbers; "
            "convert the vector to float64 first."
        ).at("raw")
    if given.ndim != 1:
        raise ProjectionError(
            f"The array has {given.ndim} dimensions; a projection takes one vector; "
            "project row by row, or flatten the array first."
        ).at("raw")
    if given.size == 0:
        raise ProjectionError("The vector is empty; pass one entry or more.").at("raw")
    return np.ascontiguousarray(given, dtype=np.float64)


def not_finite() -> ProjectionError:
    """The error for a vector that is not finite."""
    return ProjectionError(
        "The vector has infinite entries or entries that are not numbers; only finite vectors can be projected."
    ).at("raw")


def checked_vector(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return raw as contiguous float64, checked to be finite.

    Raises
    ------
    ProjectionError
        If raw is empty, not one-dimensional, not real numbers, or not finite.
    """
    floats = real_vector(raw)
    if not np.isfinite(floats).all():
        raise not_finite()
    return floats
