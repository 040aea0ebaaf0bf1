"""Public rotations applied to vectors: layers of random signs and Walsh-Hadamard transforms."""

import numpy as np

from sottovoce.kernels.compiled.cached import njit
from sottovoce.kernels.compiled.normals import philox4x32
from sottovoce.kernels.compiled.walsh import transform_rows
from sottovoce.randomness.philox import ROTATION_SIGNS

_PURPOSE = np.uint64(ROTATION_SIGNS)


@njit(cache=True, nogil=True)
def flip_signs(x, k0, k1, rotation, layer):  # type: ignore[no-untyped-def]
    """Negate x[i] where bit i of the stream (layer, rotation) is set; the length is a multiple of 32."""
    size = x.shape[0]
    bits = x.view(np.uint64)
    for block in range((size + 127) // 128):
        words = philox4x32(k0, k1, np.uint64(block), np.uint64(layer), np.uint64(rotation), _PURPOSE)
        for w in range(4):
            first = 128 * block + 32 * w
            if first >= size:
                break
            word = words[w]
            part = bits[first : first + 32]
            for i in range(32):
                # A double's sign is its highest bit.
                part[i] ^= ((word >> np.uint64(i)) & np.uint64(1)) << np.uint64(63)


@njit(cache=True, nogil=True)
def rotate(x, k0, k1, rotation, layers):  # type: ignore[no-untyped-def]
    """x <- Q x, Q = (H S_k/sqrt D) .. (H S_1/sqrt D), in place."""
    size = x.shape[0]
    for layer in range(layers):
        flip_signs(x, k0, k1, rotation, layer)
        transform_rows(x, size, 0, 1)
    x *= float(size) ** (-0.5 * layers)


@njit(cache=True, nogil=True)
def rotate_back(x, k0, k1, rotation, layers):  # type: ignore[no-untyped-def]
    """x <- Q^T x, in place."""
    size = x.shape[0]
    for layer in range(layers - 1, -1, -1):
        transform_rows(x, size, 0, 1)
        flip_signs(x, k0, k1, rotation, layer)
    x *= float(size) ** (-0.5 * layers)


@njit(cache=True, nogil=True)
def fold(counts, k0, k1, layers, begin, first, last, out):  # type: ignore[no-untyped-def]
    """out += sum over rows first .. last-1 of Q^T counts[row], row i being rotation begin + i; empty ones are free."""
    size = counts.shape[1]
    work = np.empty(size)
    for row in range(first, last):
        empty = True
        for i in range(size):
            work[i] = counts[row, i]
            empty &= counts[row, i] == 0
        if empty:
            continue
        rotate_back(work, k0, k1, begin + row, layers)
        out += work


@njit(cache=True, nogil=True)
def count_signed(counts, reports):  # type: ignore[no-untyped-def]
    """Even reports add one to their cell, odd ones take one off."""
    for i in range(reports.shape[0]):
        counts[reports[i] >> 1] += 1 - 2 * (reports[i] & 1)


@njit(cache=True, nogil=True)
def _candidate(scores, marked, inside, rank, keys, top):  # type: ignore[no-untyped-def]
    """The candidate of this rank inside or outside the `marked` highest; see `mechanisms.codebook.mark`."""
    h = scores.shape[0]
    for k in range(h):
        if scores[k] != scores[k]:
            scores[k] = 0.0
        keys[k] = -abs(scores[k])
    order = np.argsort(keys, kind="mergesort")
    top[:] = False
    for k in range(marked):
        row = order[k]
        top[2 * row + (scores[row] < 0)] = True
    for candidate in range(2 * h):
        if top[candidate] == inside:
            if rank == 0:
                return candidate
            rank -= 1
    return -1


@njit(cache=True, nogil=True)
def codebook_reports(vectors, rotations, blocks, inside, ranks, h, marked, k0, k1, layers, out):  # type: ignore[no-untyped-def]
    """One simulated report a row: rotate, score the block's rows, pick the candidate."""
    size = vectors.shape[1]
    scores, keys, top = np.empty(h), np.empty(h), np.empty(2 * h, dtype=np.bool_)
    for i in range(vectors.shape[0]):
        rotate(vectors[i], k0, k1, rotations[i], layers)
        first = blocks[i] * h
        scores[:] = vectors[i, first : first + h]
        candidate = _candidate(scores, marked, inside[i], ranks[i], keys, top)
        out[i] = 2 * (rotations[i] * size + first) + candidate
