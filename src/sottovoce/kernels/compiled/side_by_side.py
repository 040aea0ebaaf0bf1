"""Eight simulated codebook devices at a time, side by side in memory, in single precision with a certificate.

Entry 32 j + b of person p is x[b, j, p], so that every step is the same arithmetic on a run of neighbours, whatever
their rotations: all entries that bit b of a word of signs belongs to lie together, and a Walsh-Hadamard transform
does not care in which order the binary digits of positions are read. Single precision decides who is marked only
where no rounding error can have mattered: a report is left open where the last score that is marked and the first
that is not are nearer to each other than twice the bound.

The bound: each of the T = layers log2(D) levels of additions, and the conversion, adds to the vector an error of at
most 2^-24 of its length (a level's rounding errors are at most 2^-24 of its results, entry by entry). That is
(T + 1) 2^-24 of it in all, for every entry; twice as much is allowed, which also covers vectors a little longer than
one and the device's own errors in double precision.
"""

import numpy as np
from numba import boolean, float64, int64, types, uint32, void

from sottovoce.kernels.compiled.cached import njit
from sottovoce.kernels.compiled.walsh import _four_levels, _one_level_at, _two_levels_at
from sottovoce.randomness.philox import MULTIPLIERS, ROTATION_SIGNS, ROUNDS, WEYL

__all__ = ["LANES", "OPEN", "codebook_reports"]

LANES = 8
OPEN = -1
"""The report of a person whom single precision cannot decide."""

_M0, _M1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_W0, _W1 = np.uint32(WEYL[0]), np.uint32(WEYL[1])
_SIGN = np.uint32(1 << 31)
_SHIFT = np.uint64(32)
_STEPS = 30
_NUMBERS = types.Array(int64, 1, "C")
_SIGNATURE = void(
    types.Array(float64, 2, "A", readonly=True),
    float64,
    int64,
    _NUMBERS,
    _NUMBERS,
    types.Array(boolean, 1, "C"),
    _NUMBERS,
    int64,
    int64,
    uint32,
    uint32,
    int64,
    _NUMBERS,
)


@njit(cache=True, nogil=True)
def _philox(k0, k1, block, layer, rotations, words):  # type: ignore[no-untyped-def]
    """words[8 w + p] becomes word 4 block + w of the stream (layer, rotations[p]); see `philox4x32`."""
    c0, c1, c2, c3 = words[:LANES], words[LANES : 2 * LANES], words[2 * LANES : 3 * LANES], words[3 * LANES :]
    for p in range(LANES):
        c0[p], c1[p], c2[p], c3[p] = np.uint32(block), np.uint32(layer), rotations[p], np.uint32(ROTATION_SIGNS)
    for _ in range(ROUNDS):
        for p in range(LANES):
            p0, p1 = _M0 * np.uint64(c0[p]), _M1 * np.uint64(c2[p])
            c0[p] = np.uint32(p1 >> _SHIFT) ^ c1[p] ^ k0
            c2[p] = np.uint32(p0 >> _SHIFT) ^ c3[p] ^ k1
            c1[p], c3[p] = np.uint32(p1), np.uint32(p0)
        k0, k1 = np.uint32(k0 + _W0), np.uint32(k1 + _W1)


@njit(cache=True, nogil=True)
def _draw_signs(k0, k1, rotations, layer, words, signs):  # type: ignore[no-untyped-def]
    """signs[8 j + p] becomes word j of the stream (layer, rotations[p])."""
    for first in range(0, signs.shape[0], words.shape[0]):
        _philox(k0, k1, first // words.shape[0], layer, rotations, words)
        last = min(words.shape[0], signs.shape[0] - first)
        signs[first : first + last] = words[:last]


@njit(cache=True, nogil=True)
def _flip(x, signs):  # type: ignore[no-untyped-def]
    """Negate everybody's entries where their words have a set bit."""
    bits, run = x.view(np.uint32), signs.shape[0]
    for b in range(32):
        entries, shift = bits[run * b : run * (b + 1)], np.uint32(31 - b)
        for k in range(run):
            entries[k] ^= (signs[k] << shift) & _SIGN


@njit(cache=True, nogil=True)
def _transform(x):  # type: ignore[no-untyped-def]
    """Everybody's Walsh-Hadamard transform."""
    h = LANES
    if x.size >= 16 * LANES:
        _four_levels(x, LANES)
        h = 16 * LANES
    if x.size >= 256 * LANES:
        _four_levels(x, 16 * LANES)
        h = 256 * LANES
    while 4 * h <= x.size:
        for first in range(0, x.size, 4 * h):
            _two_levels_at(x, first, h, h)
        h *= 4
    if h < x.size:
        _one_level_at(x, 0, h, h)


@njit(cache=True, nogil=True)
def _odd(number):  # type: ignore[no-untyped-def]
    """Whether an odd number of its (up to 32) bits are set."""
    number ^= number >> 16
    number ^= number >> 8
    number ^= number >> 4
    return (0x6996 >> (number & 15)) & 1


@njit(cache=True, nogil=True)
def _add_signs_of_blocks(signs, first_rows):  # type: ignore[no-untyped-def]
    """Flip also the entries whose sign differs between row 0 of the transform and row first_rows[p]."""
    for p in range(LANES):
        within = np.uint32(0)
        for b in range(32):
            within |= np.uint32(_odd(b & first_rows[p])) << np.uint32(b)
        above = first_rows[p] // 32
        for j in range(signs.shape[0] // LANES):
            signs[LANES * j + p] ^= ~within if _odd(j & above) else within


@njit(cache=True, nogil=True)
def _scores(x, h, scores):  # type: ignore[no-untyped-def]
    """The first h entries of everybody's transform, as scores[row, p].

    The transform's levels in descending order: of each, only the half that the entries lie in is computed. With the
    signs of a block flipped beforehand, these are that block's.
    """
    run = x.shape[0] // 32
    low = min(h, 32)
    half = 16 * run
    while half >= low * run:
        here, there = x[:half], x[half : 2 * half]
        for k in range(half):
            here[k] += there[k]
        half //= 2
    wide = LANES * max(1, h // 32)
    for b in range(low):
        half = run // 2
        while half >= wide:
            here, there = x[run * b : run * b + half], x[run * b + half : run * b + 2 * half]
            for k in range(half):
                here[k] += there[k]
            half //= 2
        for k in range(0, wide, LANES):
            scores[low * k + LANES * b : low * k + LANES * b + LANES] = x[run * b + k : run * b + k + LANES]
    _transform(scores)


@njit(cache=True, nogil=True)
def _thresholds(scores, marked, largest, thresholds, counts, lows, highs):  # type: ignore[no-untyped-def]
    """For everybody a number that `marked` of their scores exceed, where bisection finds one."""
    lows[:], highs[:] = np.float32(0), np.float32(largest)
    for _ in range(_STEPS):
        for p in range(LANES):
            thresholds[p] = np.float32(0.5) * (lows[p] + highs[p])
        counts[:] = 0
        for k in range(0, scores.shape[0], LANES):
            row = scores[k : k + LANES]
            for p in range(LANES):
                counts[p] += abs(row[p]) > thresholds[p]
        settled = 0
        for p in range(LANES):
            lows[p] = thresholds[p] if counts[p] >= marked else lows[p]
            highs[p] = thresholds[p] if counts[p] <= marked else highs[p]
            settled += counts[p] == marked
        if settled == LANES:
            break


@njit(cache=True, nogil=True)
def _decided(scores, p, marked, threshold, margin):  # type: ignore[no-untyped-def]
    """Whether the scores above the threshold are `marked` and would be, with their signs, in exact arithmetic."""
    number, lowest, highest = 0, np.float32(np.inf), np.float32(-0.5) * margin
    for k in range(p, scores.shape[0], LANES):
        score = abs(scores[k])
        if score > threshold:
            number += 1
            lowest = min(lowest, score)
        elif score <= threshold:
            highest = max(highest, score)
    return number == marked and lowest - highest > margin


@njit(cache=True, nogil=True)
def _candidate(scores, p, threshold, inside, rank):  # type: ignore[no-untyped-def]
    """The candidate of this rank inside or outside those above the threshold; see `mechanisms.codebook.mark`."""
    for row in range(scores.shape[0] // LANES):
        k = LANES * row + p
        negative = np.int64(scores[k] < 0)
        if abs(scores[k]) > threshold:
            if rank == 0:
                return 2 * row + (negative if inside else 1 - negative)
            rank -= 1
        elif not inside:
            if rank < 2:
                return 2 * row + rank
            rank -= 2
    return OPEN


@njit(cache=True, nogil=True)
def _load(vectors, first, radius, run, squares, x):  # type: ignore[no-untyped-def]
    """Everybody's vector over the radius, lifted to length one."""
    dimension = vectors.shape[1]
    scale = 1.0 / radius
    x[:], squares[:] = np.float32(0), 0.0
    for i in range(dimension):
        at = run * (i % 32) + LANES * (i // 32)
        for p in range(LANES):
            entry = scale * vectors[first + p, i]
            squares[p] += entry * entry
            x[at + p] = np.float32(entry)
    at = run * (dimension % 32) + LANES * (dimension // 32)
    for p in range(LANES):
        x[at + p] = np.float32(np.sqrt(max(0.0, 1.0 - squares[p])))


@njit([_SIGNATURE], cache=True, nogil=True)
def codebook_reports(vectors, radius, size, rotations, blocks, inside, ranks, h, marked, k0, k1, layers, out):  # type: ignore[no-untyped-def]
    """The reports of as many people, from the first on, as fill all lanes; `OPEN` where this is not precise enough."""
    run = LANES * (size // 32)
    x, scores = np.empty(LANES * size, dtype=np.float32), np.empty(LANES * h, dtype=np.float32)
    words, signs = np.empty(4 * LANES, dtype=np.uint32), np.empty(run, dtype=np.uint32)
    turns, first_rows = np.empty(LANES, dtype=np.uint32), np.empty(LANES, dtype=np.int64)
    counts, squares = np.empty(LANES, dtype=np.int32), np.empty(LANES)
    thresholds, lows, highs = np.empty((3, LANES), dtype=np.float32)
    # Scores in the units of unnormalised transforms: eight standard deviations, and twice the bound.
    largest = 8.0 * float(size) ** (0.5 * (layers - 1))
    margin = np.float32(2.0**-22 * (layers * np.log2(float(size)) + 1) * float(size) ** (0.5 * layers))
    for first in range(0, vectors.shape[0] - LANES + 1, LANES):
        for p in range(LANES):
            turns[p], first_rows[p] = np.uint32(rotations[first + p]), blocks[first + p] * h
        _load(vectors, first, radius, run, squares, x)
        for layer in range(layers):
            _draw_signs(k0, k1, turns, layer, words, signs)
            if layer == layers - 1:
                _add_signs_of_blocks(signs, first_rows)
            _flip(x, signs)
            if layer < layers - 1:
                _transform(x)
        _scores(x, h, scores)
        _thresholds(scores, marked, largest, thresholds, counts, lows, highs)
        for p in range(LANES):
            i = first + p
            out[i] = OPEN
            if _decided(scores, p, marked, thresholds[p], margin):
                candidate = _candidate(scores, p, thresholds[p], inside[i], ranks[i])
                out[i] = 2 * (rotations[i] * size + first_rows[p]) + candidate
