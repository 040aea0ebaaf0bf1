"""Simulated people: every channel vectorised, by the same law as the device's code.

Random words and exact uniform integers come from the NumPy generator that is handed in;
the compiled loops are pure functions of them. Thresholds are the device's own 64-bit ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.thresholds import ONE

__all__ = [
    "below_threshold",
    "block_positions",
    "hadamard_positions",
    "projective_points",
    "randomized_response_values",
    "subsets",
]

Values = NDArray[np.int64]


def _words(rng: np.random.Generator, n: int) -> NDArray[np.uint64]:
    return rng.integers(0, ONE - 1, size=n, dtype=np.uint64, endpoint=True)


def below_threshold(threshold: int, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """n draws that are True with probability exactly threshold / 2**64."""
    return _words(rng, n) < np.uint64(threshold)


def hadamard_positions(values: Values, threshold: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Positions of the values' Hadamard rows."""
    from sottovoce.kernels.compiled.channels import hadamard_positions as compiled

    out = np.empty(len(values), dtype=np.int64)
    compiled(values, _words(rng, len(values)), _words(rng, len(values)), np.uint64(threshold), size - 1, out)
    return out


def block_positions(
    values: Values, threshold: int, blocks: int, block_size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of the values' rows, inside their block or anywhere else."""
    from sottovoce.kernels.compiled.channels import block_positions as compiled

    n = len(values)
    inside = below_threshold(threshold, n, rng)
    favoured = rng.integers(0, block_size, size=n)
    rest = rng.integers(0, blocks * block_size - block_size // 2, size=n)
    out = np.empty(n, dtype=np.int64)
    compiled(values, inside, favoured, rest, blocks, block_size, out)
    return out


def randomized_response_values(
    values: Values, threshold: int, domain_size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The values themselves or uniform others."""
    from sottovoce.kernels.compiled.channels import randomized_response_values as compiled

    n = len(values)
    out = np.empty(n, dtype=np.int64)
    compiled(values, _words(rng, n), rng.integers(0, domain_size - 1, size=n), np.uint64(threshold), out)
    return out


def subsets(
    values: Values, threshold: int, subset_size: int, domain_size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Sorted sets, one row per person."""
    from sottovoce.kernels.compiled.channels import subsets as compiled

    n = len(values)
    contains = below_threshold(threshold, n, rng)
    words = rng.integers(0, 2**32 - 1, size=(n, subset_size + 1), dtype=np.uint32, endpoint=True)
    out = np.empty((n, subset_size), dtype=np.int64)
    compiled(values, contains, words, domain_size, rng, out)
    return out


def projective_points(
    values: Values, threshold: int, order: int, dimension: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Points on or off the values' hyperplanes."""
    from sottovoce.kernels.compiled.projective import projective_points as compiled

    n = len(values)
    orthogonal = below_threshold(threshold, n, rng)
    hyperplane = (order ** (dimension - 1) - 1) // (order - 1)
    inside = rng.integers(0, hyperplane, size=n)
    outside = rng.integers(0, order ** (dimension - 1), size=n)
    out = np.empty(n, dtype=np.int64)
    compiled(values, orthogonal, inside, outside, order, dimension, out)
    return out
