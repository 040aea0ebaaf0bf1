"""Compiled loops over simulated people. Each mirrors, line by line, the device code of its mechanism."""

import numpy as np

from sottovoce.kernels.compiled.cached import njit


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


@njit(cache=True, nogil=True, inline="always")
def _below(n, word, rng):  # type: ignore[no-untyped-def]
    """Uniform over 0 .. n-1, exactly: Lemire's product of a 32-bit word, or a fresh draw where it would be biased."""
    product = np.uint64(word) * np.uint64(n)
    if (product & np.uint64(0xFFFFFFFF)) < np.uint64((2**32 - n) % n):
        return rng.integers(0, n)
    return np.int64(product >> np.uint64(32))


@njit(cache=True, nogil=True)
def subsets(values, contains, words, domain_size, rng, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.subset_selection`."""
    taken = np.zeros(domain_size, dtype=np.bool_)
    size = out.shape[1]
    last = domain_size - 1
    scan = 16 * size > domain_size  # reading the members off `taken` beats sorting them
    for i in range(values.shape[0]):
        row, value = out[i], values[i]
        for k in range(size):
            bound = last - size + k
            drawn = _below(bound + 1, words[i, k], rng)
            if taken[drawn]:
                drawn = bound
            taken[drawn] = True
            row[k] = drawn
        # Members are exchangeable, so the one drawn in a uniform place is a uniform member.
        replaced = _below(size, words[i, size], rng)
        for k in range(size):
            taken[row[k]] = False
        for k in range(size):
            row[k] = value if contains[i] and k == replaced else row[k] + (row[k] >= value)
            taken[row[k]] = scan
        if scan:
            k = 0
            for member in range(domain_size):
                if taken[member]:
                    row[k] = member
                    k += 1
                    taken[member] = False
        else:
            row.sort()
