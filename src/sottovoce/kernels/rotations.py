"""Public rotations: NumPy for a device, compiled loops for simulations and for folding counts back.

A rotation is k layers of random signs and the normalised Walsh-Hadamard transform; the signs are bits of the
survey's Philox stream (layer, rotation): bit b of word j belongs to position 32 j + b, and a set bit is -1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.philox import ROTATION_SIGNS, Key, words

__all__ = ["count_signed", "fold_counts", "rotate", "rotate_rows", "signs", "simulate_codebook"]

Floats = NDArray[np.float64]

_SIDE_BY_SIDE: Final = 1 << 12
"""Largest size at which eight vectors in single precision fit in a core's cache."""


def signs(key: Key, size: int, rotation: int, layers: int) -> Floats:
    """The signs of a rotation, +1 or -1, one row per layer."""
    streams = words(key, size // 32, layers=layers, rotation=rotation, purpose=ROTATION_SIGNS)
    bits = np.unpackbits(streams.astype("<u4").view(np.uint8), axis=1, bitorder="little")
    return 1.0 - 2.0 * bits.astype(np.float64)


def rotate(vector: Floats, key: Key, rotation: int, layers: int) -> Floats:
    """Q vector, without compiled code: what a device runs.

    Examples
    --------
    >>> x = np.eye(64)[3]
    >>> float(np.round(np.linalg.norm(rotate(x, (1, 2), rotation=5, layers=4)), 12))
    1.0
    """
    from sottovoce.kernels.reference import walsh_hadamard

    x = vector
    for layer in signs(key, len(x), rotation, layers):
        x = walsh_hadamard(x * layer)
    return np.asarray(x * float(len(x)) ** (-0.5 * layers))


def rotate_rows(rows: Floats, key: Key, rotation: int, layers: int) -> None:
    """Q times each row, in place, by compiled code.

    Examples
    --------
    >>> rows = np.eye(64)[:2]
    >>> rotate_rows(rows, (1, 2), rotation=5, layers=4)
    >>> np.allclose(rows[1], rotate(np.eye(64)[1], (1, 2), rotation=5, layers=4))
    True
    """
    from sottovoce.kernels.compiled.rotations import rotate as compiled

    k0, k1 = (np.uint64(word) for word in key)
    for row in rows:
        compiled(row, k0, k1, rotation, layers)


def simulate_codebook(
    vectors: Floats,
    radius: float,
    size: int,
    key: Key,
    layers: int,
    h: int,
    marked: int,
    rotations: NDArray[np.int64],
    blocks: NDArray[np.int64],
    inside: NDArray[np.bool_],
    ranks: NDArray[np.int64],
    lifted: Callable[[Floats], Floats],
) -> NDArray[np.int64]:
    """Reports of many people, one vector a row: each the one that the device's code sends after these draws.

    Single precision, eight people at a time, decides nearly all of them, and says of whom it could be wrong; those
    are gone through one by one, in the device's own order of operations; `lifted` is its own map of vectors (rows) to
    the unit sphere.
    """
    from sottovoce.kernels.compiled import rotations as one_by_one
    from sottovoce.kernels.compiled import side_by_side

    out = np.full(len(vectors), side_by_side.OPEN)
    drawn = rotations, blocks, inside, ranks
    if size <= _SIDE_BY_SIDE:
        words = (np.uint32(word) for word in key)
        side_by_side.codebook_reports(vectors, radius, size, *drawn, h, marked, *words, layers, out)
    left = np.flatnonzero(out == side_by_side.OPEN)
    if len(left):
        units, reports = lifted(vectors[left]), np.empty(len(left), dtype=np.int64)
        k0, k1 = (np.uint64(word) for word in key)
        one_by_one.codebook_reports(units, *(array[left] for array in drawn), h, marked, k0, k1, layers, reports)
        out[left] = reports
    return out


def count_signed(counts: NDArray[np.int64], reports: NDArray[np.int64]) -> None:
    """counts[report div 2] += 1 for an even report, -= 1 for an odd one."""
    from sottovoce.kernels.compiled.rotations import count_signed as compiled

    compiled(counts, reports)


def fold_counts(counts: NDArray[np.int64], key: Key, layers: int, begin: int = 0) -> Floats:
    """Sum over rotations of Q^T counts, row i being rotation begin + i: one pass over the counts, on all cores.

    The rotations are cut into a fixed number of pieces, summed in a fixed order, so that the result does not depend
    on the number of cores.
    """
    from sottovoce.kernels.compiled.rotations import fold
    from sottovoce.kernels.threads import for_each_piece

    pieces = min(len(counts), 64)
    edges = np.linspace(0, len(counts), pieces + 1).astype(np.int64)
    sums = np.zeros((pieces, counts.shape[1]))
    k0, k1 = (np.uint64(word) for word in key)

    def work(piece: int) -> None:
        fold(counts, k0, k1, layers, begin, edges[piece], edges[piece + 1], sums[piece])

    for_each_piece(work, pieces)
    return np.asarray(sums.sum(axis=0))
