"""Compiled work on an upper triangular matrix R stored by rows: multiply, solve, and absorb more rows.

Loops and not BLAS: these are small matrices many times over, and handing each of them to BLAS threads takes longer
than the work where other processes want the cores too. Sums may be reordered, which vectorises them.
"""

import numpy as np
from numba import float64, int64, njit, types
from numpy.typing import NDArray

__all__ = ["absorb", "multiply", "multiply_transposed", "solve_normal"]

MATRIX = types.Array(float64, 2, "C")
VECTOR = types.Array(float64, 1, "C")
REORDERED = {"reassoc", "contract"}
NOTHING = 1e-40
"""A square of this part of another adds nothing to it, nor does its root."""


@njit([VECTOR(MATRIX, VECTOR)], cache=True, nogil=True, fastmath=REORDERED)
def multiply(upper: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R z."""
    n = z.size
    product = np.empty(n)
    for i in range(n):
        row = upper[i]
        total = 0.0
        for j in range(i, n):
            total += row[j] * z[j]
        product[i] = total
    return product


@njit([VECTOR(MATRIX, VECTOR)], cache=True, nogil=True, fastmath=REORDERED)
def multiply_transposed(upper: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R^T z."""
    n = z.size
    product = np.zeros(n)
    for i in range(n):
        row = upper[i]
        for j in range(i, n):
            product[j] += row[j] * z[i]
    return product


@njit([(MATRIX, VECTOR)], cache=True, nogil=True, fastmath=REORDERED)
def solve_normal(upper: NDArray[np.float64], z: NDArray[np.float64]) -> None:
    """Replace z by (R^T R)^-1 z."""
    n = z.size
    for i in range(n):
        row = upper[i]
        z[i] /= row[i]
        for j in range(i + 1, n):
            z[j] -= row[j] * z[i]
    for i in range(n - 1, -1, -1):
        row = upper[i]
        total = 0.0
        for j in range(i + 1, n):
            total += row[j] * z[j]
        z[i] = (z[i] - total) / row[i]


@njit([(MATRIX, MATRIX, types.Array(int64, 1, "C"))], cache=True, nogil=True, fastmath=REORDERED)
def absorb(upper: NDArray[np.float64], rows: NDArray[np.float64], starts: NDArray[np.int64]) -> None:
    """Replace R by the triangle S with S^T S = R^T R + rows^T rows; overwrites the rows.

    A Householder reflection for each column of R takes that column's entries in all rows into its diagonal entry.

    Parameters
    ----------
    rows : numpy.ndarray
        The rows to absorb, in ascending order of their first entry that is not zero.
    starts : numpy.ndarray
        Where that first entry is, for each row.
    """
    n = upper.shape[0]
    inner = np.empty(n)
    begun = 0
    for i in range(starts[0], n):
        while begun < starts.size and starts[begun] <= i:
            begun += 1
        square = 0.0
        for r in range(begun):
            square += rows[r, i] * rows[r, i]
        top = upper[i]
        if square <= NOTHING * top[i] * top[i]:
            continue
        norm = np.sqrt(top[i] * top[i] + square)
        # The reflection is along (head, entries). R's diagonal is positive, and this form of top[i] - norm exact.
        head = -square / (top[i] + norm)
        scale = -1.0 / (head * norm)
        top[i] = norm
        for j in range(i + 1, n):
            inner[j] = head * top[j]
        for r in range(begun):
            row = rows[r]
            factor = row[i]
            for j in range(i + 1, n):
                inner[j] += factor * row[j]
        for j in range(i + 1, n):
            inner[j] *= scale
            top[j] -= head * inner[j]
        for r in range(begun):
            row = rows[r]
            factor = row[i]
            for j in range(i + 1, n):
                row[j] -= factor * inner[j]
