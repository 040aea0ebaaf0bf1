"""Simulated people with sets, and counts of the wheel folded back: NumPy outside, compiled loops inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.philox import Key
from sottovoce.randomness.thresholds import ONE

__all__ = ["selected_subsets", "wheel_reports", "wheel_supports"]

Integers = NDArray[np.int64]


def selected_subsets(
    rows: Integers, thresholds: Sequence[int], subset_size: int, options: int, rng: np.random.Generator
) -> Integers:
    """Sorted subsets, one row per person; see `mechanisms.set_selection`."""
    from sottovoce.kernels.compiled.sets import selected_subsets as compiled

    n, most = rows.shape
    coins = rng.integers(0, ONE - 1, size=(n, most), dtype=np.uint64, endpoint=True)
    falls = coins < np.array(thresholds, dtype=np.uint64)
    words = rng.integers(0, 2**32 - 1, size=(n, most + subset_size), dtype=np.uint32, endpoint=True)
    out = np.empty((n, subset_size), dtype=np.int64)
    compiled(np.ascontiguousarray(rows), falls, words, options, rng, out)
    return out


def wheel_reports(
    rows: Integers, threshold: int, options: int, bins: int, seeds: int, key: Key, rng: np.random.Generator
) -> Integers:
    """Seeds and bins, as one number per person; see `mechanisms.wheel`."""
    from sottovoce.kernels.channels import below_threshold
    from sottovoce.kernels.compiled.sets import wheel_reports as compiled

    n, most = rows.shape
    drawn = rng.integers(0, seeds, size=n)
    inside = below_threshold(threshold, n, rng)
    places = rng.integers(0, most, size=n)
    words = rng.integers(0, 2**32 - 1, size=n, dtype=np.uint32, endpoint=True)
    k0, k1 = (np.uint64(word) for word in key)
    out = np.empty(n, dtype=np.int64)
    compiled(np.ascontiguousarray(rows), drawn, inside, places, words, options, bins, k0, k1, rng, out)
    return out


def wheel_supports(counts: Integers, key: Key, options: int) -> Integers:
    """How many reports name the bin of each option: rows of counts are seeds. On all cores; sums of integers."""
    from sottovoce.kernels.compiled.sets import wheel_supports as compiled
    from sottovoce.kernels.threads import for_each_piece

    pieces = min(len(counts), 16)
    edges = np.linspace(0, len(counts), pieces + 1).astype(np.int64)
    sums = np.zeros((pieces, -(-options // 4) * 4), dtype=np.int64)
    k0, k1 = (np.uint64(word) for word in key)

    def work(piece: int) -> None:
        compiled(counts, k0, k1, edges[piece], edges[piece + 1], sums[piece])

    for_each_piece(work, pieces)
    return np.asarray(sums.sum(axis=0)[:options])
