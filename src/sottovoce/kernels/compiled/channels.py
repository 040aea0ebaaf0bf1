"""Compiled loops over simulated people. Each mirrors, line by line, the device code of its mechanism."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _parity(word):  # type: ignore[no-untyped-def]
    """popcount(word) mod 2."""
    word ^= word >> 32
    word ^= word >> 16
    word ^= word >> 8
    word ^= word >> 4
    # The parities of all sixteen nibbles, as one 16-bit table.
    return (0x6996 >> (word & 15)) & 1


@njit(cache=True, nogil=True)
def hadamard_positions(values, signs, words, threshold, mask, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.hadamard`."""
    for i in range(values.shape[0]):
        row = values[i] + 1
        position = np.int64(words[i]) & mask
        disagrees = _parity(row & position)
        flip = np.int64(signs[i] < threshold) == disagrees
        out[i] = position ^ ((row & -row) * flip)


@njit(cache=True, nogil=True)
def block_positions(values, inside, favoured, rest, blocks, b, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.hadamard_blocks`."""
    elsewhere = (blocks - 1) * b
    for i in range(values.shape[0]):
        block, row = values[i] // (b - 1), values[i] % (b - 1) + 1
        low = row & -row
        if inside[i]:
            position = favoured[i]
            out[i] = block * b + (position ^ (low * _parity(row & position)))
        elif rest[i] < elsewhere:
            other, position = rest[i] // b, rest[i] % b
            out[i] = (other + (other >= block)) * b + position
        else:
            rank = rest[i] - elsewhere
            position = (rank & (low - 1)) | ((rank & ~(low - 1)) << 1)
            out[i] = block * b + (position ^ (low * (1 - _parity(row & position))))


@njit(cache=True, nogil=True)
def randomized_response_values(values, words, others, threshold, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.randomized_response`."""
    for i in range(values.shape[0]):
        value = values[i]
        other = others[i] + (others[i] >= value)
        out[i] = value if words[i] < threshold else other


@njit(cache=True, nogil=True)
def subsets(values, contains, domain_size, rng, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.subset_selection`."""
    taken = np.zeros(domain_size, dtype=np.bool_)
    size = out.shape[1]
    last = domain_size - 1
    for i in range(values.shape[0]):
        row = out[i]
        for k in range(size):
            bound = last - size + k
            drawn = rng.integers(0, bound + 1)
            if taken[drawn]:
                drawn = bound
            taken[drawn] = True
            row[k] = drawn
        replaced = rng.integers(0, size)
        for k in range(size):
            taken[row[k]] = False
            row[k] += row[k] >= values[i]
        # The members are exchangeable, so replacing the one drawn replaced-th is as good as any.
        if contains[i]:
            row[replaced] = values[i]
        row.sort()
