"""Checks of a vector before it is projected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError

__all__ = ["checked_vector", "not_finite", "real_vector"]


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
        )
    if given.ndim != 1:
        raise ProjectionError(
            f"The array has {given.ndim} dimensions; a projection takes one vector; "
            "project row by row, or flatten the array first."
        )
    if given.size == 0:
        raise ProjectionError("The vector is empty; pass one entry or more.")
    return np.ascontiguousarray(given, dtype=np.float64)


def not_finite() -> ProjectionError:
    """The error for a vector that is not finite."""
    return ProjectionError(
        "The vector has infinite entries or entries that are not numbers; only finite vectors can be projected."
    )


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
