"""The channel of least worst variance for a number's mean: a linear program.

A number is x in [-1, 1], on a grid or rounded at random to it. A channel q(k | i) whose report k stands for y_k is
unbiased if sum_k y_k q(k | i) = x_i. For given y its worst variance is least where

    minimise M  subject to  t_k <= q(k | i) <= e^epsilon t_k,  sum_k q(k | i) = 1,  sum_k y_k q(k | i) = x_i,
                            S(x) - x^2 <= M at every grid point and at three points between each two,

S being sum_k y_k^2 q(k | i), and linear between grid points. By the symmetry (x, y) -> (-x, -y) half of it suffices.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.core.errors import MechanismError
from sottovoce.core.extras import full_install
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.strategies.search.quantise import quantise
from sottovoce.workloads.base import Floats

__all__ = ["MOST_POINTS", "SearchedChannel", "least_worst_channel", "worst_between", "worst_noise"]

MOST_POINTS: Final = 129
"""Most grid points for which the program is solved, in a few seconds."""

_OUTPUTS: Final = 49
"""Evenly spaced values that a report can stand for, in one byte. More gain less than half a percent."""

_MANY_OUTPUTS: Final = 81
"""Values from `_LARGE_EPSILON` on, where the noise is as small as their distance."""

_LARGE_EPSILON: Final = 5.0

_PARTS: Final = 4
"""Parts of a cell between two grid points at whose borders the variance is bounded."""

_APART: Final = 1e-3
"""Outputs that are closer than this, relative to the largest, would be one to the solver."""

_LEAST_OUTPUT: Final = 1.05
"""At large epsilon outputs go a little beyond the ends, so that numbers near these are unbiased too."""

_RANK: Final = 1e-7
"""Singular values of the channel below this fraction of the largest are not used to correct what reports stand for."""


class SearchedChannel(NamedTuple):
    """A channel over a grid on [-1, 1], and what each of its reports stands for."""

    matrix: ChannelMatrix
    estimates: Floats


@lru_cache(maxsize=256)
def least_worst_channel(points: int, epsilon: float) -> SearchedChannel:
    """The channel of the linear program, in integers, and estimates that are unbiased for those integers.

    Raises
    ------
    MechanismError
        If there are too many grid points, or epsilon is too small for integers out of 2^32.

    Examples
    --------
    >>> channel = least_worst_channel(17, 1.0)
    >>> channel.matrix.reports <= 256, round(worst_noise(channel), 2)
    (True, 3.99)
    """
    if points > MOST_POINTS:
        raise MechanismError(
            f"a channel for the mean is searched over at most {MOST_POINTS} grid points; the number has {points:,}"
        ).at("points")
    x = np.linspace(-1.0, 1.0, points)
    y = _outputs(epsilon)
    channel = _solve(x, y, epsilon)
    matrix = quantise(channel, epsilon)
    # Rounding removes the outputs that are practically never sent.
    sent = np.sort(np.argsort(-channel.min(axis=1), kind="stable")[: matrix.reports])
    estimates = _unbiased(matrix, y[sent], x)
    estimates.flags.writeable = False
    return SearchedChannel(matrix, estimates)


def worst_noise(channel: SearchedChannel) -> float:
    """The largest variance of one report's estimate over all numbers in [-1, 1], also between grid points."""
    moments = np.square(channel.estimates) @ (channel.matrix.integers / float(1 << channel.matrix.bits))
    return worst_between(np.linspace(-1.0, 1.0, channel.matrix.values), moments)


def worst_between(values: Floats, moments: Floats) -> float:
    """The largest S(x) - x^2, S being linear between the given points."""
    slopes = np.diff(moments) / np.diff(values)
    x = np.clip(slopes / 2, values[:-1], values[1:])
    return float((moments[:-1] + slopes * (x - values[:-1]) - x**2).max())


def _outputs(epsilon: float) -> Floats:
    """What reports can stand for: evenly, farther out than unbiasedness needs but no farther than is of use, by trial.

    And the two outputs of randomized response, so that the channel is never worse.
    """
    needed, useful = 1 / math.tanh(epsilon / 2), 1 / math.tanh(epsilon / 4)
    largest = max(_LEAST_OUTPUT, min(1.5 * needed, useful))
    number = _OUTPUTS if epsilon < _LARGE_EPSILON else _MANY_OUTPUTS
    positive = np.linspace(0.0, largest, number // 2 + 1)[1:]
    others = positive[np.abs(positive - needed) > _APART * largest]
    positive = np.sort(np.append(others, needed))
    return np.concatenate([-positive[::-1], [0.0], positive])


def _unbiased(matrix: ChannelMatrix, estimates: Floats, x: Floats) -> Floats:
    """The estimates, moved as little as possible so that their means are the grid points for these very integers."""
    channel = matrix.integers.T / float(1 << matrix.bits)
    for _ in range(3):  # a step's own rounding is corrected by the next
        missing = x - channel @ estimates
        estimates = estimates + np.linalg.lstsq(channel, missing, rcond=_RANK)[0]
    return np.asarray(estimates)


# --- the linear program -----------------------------------------------------------------------


def _solve(x: Floats, y: Floats, epsilon: float) -> Floats:
    """The channel: one row per output, one column per grid point.

    Variables are r and t, both times `scale`, with q = t + (e^epsilon - 1) r; the sum of r, which is the same for every
    grid point; and M. So none is very small or very large, whatever epsilon is. Outputs are divided by the largest.
    """
    with full_install:
        from scipy.optimize import linprog
        from scipy.sparse import block_array, csr_array, eye_array, kron

    reach = math.expm1(epsilon)
    scale = max(1.0, reach)
    gain, unit = reach / scale, (y / y[-1])[None]
    half = len(x) // 2  # grid points that are mirror images of later ones
    n, K = len(x) - half, len(y)
    fold = csr_array((np.ones(K), (np.arange(K), np.minimum(np.arange(K), K - 1 - np.arange(K)))))
    shares, places = _places(x[half:])

    def empty(rows: int, columns: int = 1) -> Any:
        return csr_array((rows, columns))

    # r <= t; variances at most M.
    below = [
        [eye_array(n * K), -kron(np.ones((n, 1)), fold), empty(n * K), empty(n * K)],
        [kron(shares, gain * unit**2), kron(_ones(len(places)), unit**2 @ fold / scale), None, -_ones(len(places))],
    ]
    # Probabilities sum to one; the sum of r; means.
    equal = [
        [None, np.ones((1, K)) @ fold / scale, np.array([[gain]]), empty(1)],
        [kron(eye_array(n), np.ones((1, K))), None, -_ones(n), None],
        [kron(eye_array(n), unit), None, None, None],
    ]
    sides = [np.ones(1), np.zeros(n), x[half:] / (y[-1] * gain)]
    if len(x) % 2:  # the middle column is its own mirror image
        mirrored = csr_array(np.eye(K) - np.eye(K)[::-1])
        equal.append([kron(np.eye(1, n), mirrored), None, None, None])
        sides.append(np.zeros(K))
    solution = linprog(
        np.append(np.zeros(n * K + fold.shape[1] + 1), 1.0),
        block_array(below, format="csr"),
        np.concatenate([np.zeros(n * K), (places / y[-1]) ** 2]),
        block_array(equal, format="csr"),
        np.concatenate(sides),
    ).x
    if solution is None:
        raise MechanismError(f"no unbiased channel was found at epsilon {epsilon:g}; use another epsilon")
    least = fold @ solution[n * K : -2] / scale
    more = np.clip(solution[: n * K].reshape(n, K) / scale, 0.0, least)
    columns = (least + reach * more).T
    return np.asarray(np.concatenate([columns[::-1, ::-1][:, :half], columns], axis=1))


def _places(right: Floats) -> tuple[Floats, Floats]:
    """Where the variance is bounded: numbers from 0 on, and the shares of grid points that they are rounded to."""
    n = len(right)
    steps = np.arange((n - 1) * _PARTS + 1) / _PARTS
    point = np.minimum(steps.astype(np.int64), n - 2)
    shares = np.zeros((len(steps), n))
    rows = np.arange(len(steps))
    shares[rows, point + 1] = steps - point
    shares[rows, point] += 1 - (steps - point)
    places = shares @ right
    if right[0] > 0:  # between the two middle grid points S is constant
        shares, places = np.concatenate([np.eye(1, n), shares]), np.append(0.0, places)
    return shares, places


def _ones(rows: int) -> Floats:
    return np.ones((rows, 1))
