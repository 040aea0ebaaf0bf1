"""Public rotations: NumPy for a device, compiled loops for simulations and for folding counts back.

A rotation is k layers of random signs and the normalised Walsh-Hadamard transform; the signs are bits of the
survey's Philox stream (layer, rotation): bit b of word j belongs to position 32 j + b, and a set bit is -1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.philox import ROTATION_SIGNS, Key, words

__all__ = ["count_signed", "fold_counts", "rotate", "signs", "simulate_codebook"]

Floats = NDArray[np.float64]


def signs(key: Key, size: int, rotation: int, layers: int) -> Floats:
    """The signs of a rotation, +1 or -1, one row a layer."""
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


def simulate_codebook(
    vectors: Floats,
    key: Key,
    layers: int,
    h: int,
    marked: int,
    rotations: NDArray[np.int64],
    blocks: NDArray[np.int64],
    inside: NDArray[np.bool_],
    ranks: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Reports of many people; `vectors` (unit rows) is overwritten."""
    from sottovoce.kernels.compiled.rotations import codebook_reports

    out = np.empty(len(vectors), dtype=np.int64)
    k0, k1 = (np.uint64(word) for word in key)
    codebook_reports(vectors, rotations, blocks, inside, ranks, h, marked, k0, k1, layers, out)
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
