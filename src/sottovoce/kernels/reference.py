"""The kernels' computations in plain NumPy: slow, short, what the tests hold the compiled ones against."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["simplex_threshold_by_sorting", "walsh_hadamard"]


def walsh_hadamard(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Walsh-Hadamard transform of x, whose length is a power of two: one level after another.

    Examples
    --------
    >>> walsh_hadamard(np.array([1.0, 0.0, 2.0, 0.0]))
    array([ 3.,  3., -1., -1.])
    """
    stride = 1
    while stride < x.size:
        pairs = x.reshape(-1, 2, stride)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    return x.copy()


def simplex_threshold_by_sorting(raw: NDArray[np.float64]) -> float:
    """Return tau such that sum_j max(raw_j - tau, 0) = 1, in O(J log J).

    Of the k largest entries the threshold would be t_k = (their sum - 1)/k, were these the active ones; they
    are for the largest k whose k-th entry is above t_k. Entries more than 1 below the largest never are; the
    others are shifted so that the largest is zero.

    Examples
    --------
    >>> simplex_threshold_by_sorting(np.array([0.75, 0.5, -0.25]))
    0.125
    """
    largest = raw.max()
    descending = np.sort(raw[raw >= largest - 1] - largest)[::-1]
    thresholds = (np.cumsum(descending) - 1) / np.arange(1, descending.size + 1)
    active = np.flatnonzero(descending > thresholds)[-1]
    return float(largest + thresholds[active])
