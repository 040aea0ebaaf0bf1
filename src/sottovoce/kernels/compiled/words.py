"""Compiled loops over hashed prefixes: simulated people, and candidates looked up row by row."""

import numpy as np

from sottovoce.kernels.compiled.cached import njit

_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True)
def buckets(tables, codes, drawn, size, out):  # type: ignore[no-untyped-def]
    """The bucket of every person's code in the row that the person drew."""
    for person in range(len(codes)):
        row = tables[drawn[person]]
        word = np.uint32(0)
        for column in range(codes.shape[1]):
            word ^= row[column, codes[person, column]]
        out[person] = np.int64((np.uint64(word) * np.uint64(size)) >> _SHIFT)


@njit(cache=True, nogil=True)
def add_scores(supporting, start, high, low, bits, low_bits, out):  # type: ignore[no-untyped-def]
    """Add to `out`, for every way `bits` to go on from a prefix, the support of its bucket in every row.

    The hash of a candidate is that of the prefix, `start`, XOR those of the two halves of what follows.
    """
    rows, size = supporting.shape
    mask = (1 << low_bits) - 1
    for row in range(rows):
        own, first, upper, lower = supporting[row], start[row], high[row], low[row]
        for index in range(len(bits)):
            word = first ^ upper[bits[index] >> low_bits] ^ lower[bits[index] & mask]
            out[index] += own[np.int64((np.uint64(word) * np.uint64(size)) >> _SHIFT)]


@njit(cache=True, nogil=True)
def add_free_scores(supporting, trials, owners, tables, codes, used, numbers, hits, reports):  # type: ignore[no-untyped-def]
    """Add to `hits` and `reports` those of every row in whose bucket nobody is entered but the code itself.

    Only the first `used` bytes of a code are other than zero.
    """
    size = supporting.shape[1]
    for row in range(len(supporting)):
        own, table, owner, n = supporting[row], tables[row], owners[row], trials[row]
        for person in range(len(codes)):
            word = np.uint32(0)
            for column in range(used[person]):
                word ^= table[column, codes[person, column]]
            bucket = np.int64((np.uint64(word) * np.uint64(size)) >> _SHIFT)
            if owner[bucket] == -1 or owner[bucket] == numbers[person]:
                hits[person] += own[bucket]
                reports[person] += n
