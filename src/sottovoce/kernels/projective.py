"""Decoding projective geometry response: how many reports lie on every hyperplane, by one correlation.

Take a matrix A over F_q whose powers move one point through all K points (a Singer cycle).
Number points by x_i = A^i x_0 and directions by v_j = (A^T)^j v_0. Then
<x_i, v_j> = <A^(i+j) x_0, v_0>, so x_i lies on v_j's hyperplane exactly when i + j is in
D = {k : <x_k, v_0> = 0}: all K hyperplane sums are one cyclic correlation with D.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install
from sottovoce.kernels.finite_field import kernel_tables

__all__ = ["hyperplane_sums", "orthogonal_points", "singer_polynomial", "weighted_hyperplane_sums"]


def hyperplane_sums(counts: NDArray[np.int64], order: int, dimension: int) -> NDArray[np.int64]:
    """For every point v of the space of that dimension over F_order, the sum of `counts` over those orthogonal to v.

    The sums are integers, so the transform's rounding error (below 1e-3 for 10^10 reports) is rounded away.
    """
    return np.rint(weighted_hyperplane_sums(counts, order, dimension)).astype(np.int64)


def weighted_hyperplane_sums(weights: NDArray[Any], order: int, dimension: int) -> NDArray[np.float64]:
    """For every point v, the sum of `weights` over the points orthogonal to v; along the last axis.

    The cycle is unrolled: K often has large prime factors, and a transform of a good length beyond 2 K is several times
    faster than one of length K then. The error of each sum is about log2(K) 2^-53 times the L2 norm of the weights and
    the square root of the hyperplane's size, so weights that have a large mean had better be given without it.
    """
    with full_install:
        from scipy import fft

    points, directions, hits = _cycle(order, dimension)
    size = len(points)
    length = fft.next_fast_len(2 * size - 1, real=True)
    along = fft.rfft(weights[..., points], n=length, workers=-1)
    sums = fft.irfft(np.conj(along) * hits, n=length, workers=-1)
    sums[..., 1:size] += sums[..., length - size + 1 :]
    out = np.empty((*sums.shape[:-1], size))
    out[..., directions] = sums[..., :size]
    return out


def orthogonal_points(
    points: NDArray[np.int64], others: NDArray[np.int64], order: int, dimension: int
) -> NDArray[np.bool_]:
    """Whether each of some points (rows) is orthogonal to each of others (columns).

    Examples
    --------
    >>> orthogonal_points(np.arange(7), np.arange(7), 2, 3).sum(axis=0)  # the Fano plane: three points on every line
    array([3, 3, 3, 3, 3, 3, 3])
    """
    along, across, hits = _walk(order, dimension)
    place, direction = np.empty_like(along), np.empty_like(across)
    place[along], direction[across] = np.arange(len(along)), np.arange(len(across))
    return np.asarray(hits[(place[points][:, None] + direction[others][None]) % len(hits)] > 0)


@lru_cache(maxsize=4)
def _walk(order: int, dimension: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of x_0, x_1, .., of v_0, v_1, .., and the indicator of D."""
    from sottovoce.kernels.compiled.projective import singer_walk

    size = _points(order, dimension)
    coefficients = np.array(singer_polynomial(order, dimension), dtype=np.int64)
    points = np.empty(size, dtype=np.int64)
    directions = np.empty(size, dtype=np.int64)
    hits = np.empty(size, dtype=np.float64)
    singer_walk(coefficients, order, kernel_tables(order), points, directions, hits)
    return points, directions, hits


@lru_cache(maxsize=4)
def _cycle(order: int, dimension: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.complex128]]:
    """Numbers of x_0, x_1, .., of v_0, v_1, .., and the transform of the indicator of D."""
    with full_install:
        from scipy import fft

    points, directions, hits = _walk(order, dimension)
    length = fft.next_fast_len(2 * len(points) - 1, real=True)
    return points, directions, fft.rfft(hits, n=length, workers=-1)


@lru_cache(maxsize=64)
def singer_polynomial(order: int, dimension: int) -> tuple[int, ...]:
    """Coefficients a_0 .. a_(t-1) of some f = x^t + .. + a_0 over F_q modulo which x walks all K points.

    That is: x^K is a constant modulo f and no x^(K/r), r a prime factor of K, is one. Then
    x^0, .., x^(K-1) span K different points, which are all there are. Candidates come from a
    fixed stream so that runs repeat; any f would do, since both tables are derived from it.

    Examples
    --------
    >>> singer_polynomial(2, 2)  # x^2 + x + 1, the only one
    (1, 1)
    """
    from sottovoce.kernels.compiled.projective import power_is_constant

    points = _points(order, dimension)
    checks = [points // r for r in _prime_factors(points)]
    tables = kernel_tables(order)
    stream = np.random.default_rng((order, dimension))
    while True:
        candidate = stream.integers(0, order, size=dimension)
        if not candidate[0] or not power_is_constant(points, candidate, order, tables):
            continue
        if not any(power_is_constant(k, candidate, order, tables) for k in checks):
            return tuple(candidate.tolist())


def _points(order: int, dimension: int) -> int:
    return int(order**dimension - 1) // (order - 1)


def _prime_factors(n: int) -> list[int]:
    factors, divisor = [], 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            factors.append(divisor)
            while n % divisor == 0:
                n //= divisor
        divisor += 1
    return factors + ([n] if n > 1 else [])
