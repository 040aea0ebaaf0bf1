"""Compiled work on an upper triangular matrix R stored by rows: multiply, solve, factor, and absorb more rows.

Loops and not LAPACK: these are small matrices many times over. SciPy's LAPACK comes with threads of its own that go
on spinning when they are done, and keep the cores from NumPy's, which have the large products to do. Sums may be
reordered, which vectorises them.
"""

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from sottovoce.kernels.compiled.cached import njit

__all__ = ["absorb", "multiply", "multiply_transposed", "pivoted_root", "solve_normal", "solve_transposed", "split"]

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


@njit([(MATRIX, MATRIX)], cache=True, nogil=True, fastmath=REORDERED)
def solve_transposed(upper: NDArray[np.float64], right: NDArray[np.float64]) -> None:
    """Replace the matrix `right` by R^-T right."""
    n = upper.shape[0]
    for i in range(n):
        solved = right[i]
        scale = 1.0 / upper[i, i]
        for c in range(solved.size):
            solved[c] *= scale
        for j in range(i + 1, n):
            row, factor = right[j], upper[i, j]
            for c in range(solved.size):
                row[c] -= factor * solved[c]


@njit([types.Tuple((types.Array(int64, 1, "C"), int64))(MATRIX, float64)], cache=True, nogil=True, fastmath=REORDERED)
def pivoted_root(matrix: NDArray[np.float64], least: float) -> tuple[NDArray[np.int64], int]:
    """Replace a symmetric matrix by the rows of its Cholesky factor, the largest pivot first.

    Returns the order in which the matrix's rows were taken, and how many had a pivot above `least`. So many rows are
    right, at the columns of the matrix: row i's entries for pivots taken before it are meaningless.
    """
    n = matrix.shape[0]
    order = np.arange(n)
    pivots = np.empty(n)
    for i in range(n):
        pivots[i] = matrix[i, i]
    for step in range(n):
        best = step
        for i in range(step + 1, n):
            if pivots[order[i]] > pivots[order[best]]:
                best = i
        order[step], order[best] = order[best], order[step]
        p = order[step]
        if not pivots[p] > least:
            return order, step
        row = matrix[p]
        for earlier in range(step):
            above = matrix[order[earlier]]
            factor = above[p]
            for j in range(n):
                row[j] -= factor * above[j]
        scale = 1.0 / np.sqrt(pivots[p])
        for j in range(n):
            row[j] *= scale
        for i in range(step + 1, n):
            j = order[i]
            pivots[j] -= row[j] * row[j]
    return order, n


@njit([types.Tuple((MATRIX, MATRIX))(MATRIX, types.Array(types.boolean, 1, "C"))], cache=True, nogil=True)
def split(upper: NDArray[np.float64], kept: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of R that are kept, and the others, both without the columns that are not kept."""
    n = kept.sum()
    stay, leave = np.zeros((n, n)), np.zeros((kept.size - n, n))
    s = 0
    for i in range(kept.size):
        row, target = upper[i], stay[s] if kept[i] else leave[i - s]
        t = s
        for j in range(i, kept.size):
            if kept[j]:
                target[t] = row[j]
                t += 1
        s += kept[i]
    return stay, leave


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
