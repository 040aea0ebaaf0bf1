"""The loops that count reports.

Encoded reports are read where they stand: an array of words, one for a row of bytes or for eight bytes of rows, that
may begin anywhere in memory. Each thread counts into a table of its own that fits a cache.
"""

import numpy as np
from numba import boolean, int64, types, uint8, uint32, uint64, void

from sottovoce.kernels.compiled.cached import njit

__all__ = [
    "add_signed_table",
    "add_table",
    "all_below",
    "count_into",
    "count_rows",
    "count_signed_rows",
    "tally_pairs",
    "tally_rows",
]

_COUNTS = types.Array(int64, 1, "A")
_SHORT, _LONG = (types.Array(word, 1, "A", readonly=True, aligned=False) for word in (uint32, uint64))
_PACKED = types.Array(uint64, 1, "C", readonly=True, aligned=False)
_TABLE, _CARRIES = types.Array(uint8, 1, "C"), types.Array(uint32, 1, "C")
_SUMS = types.Array(int64, 1, "C")
_ADDITIONS = [void(_SUMS, _TABLE, int64), void(_SUMS, _CARRIES, int64)]
_LOW16 = np.uint64(0xFFFF)
_ONE = np.uint32(1)


@njit(cache=True, nogil=True)
def count_into(counts, outputs):  # type: ignore[no-untyped-def]
    """counts[outputs[i]] += 1 for every i."""
    for i in range(outputs.shape[0]):
        counts[outputs[i]] += 1


@njit([boolean(_SHORT, uint32, uint64), boolean(_LONG, uint64, uint64)], cache=True, nogil=True)
def all_below(words, mask, outputs):  # type: ignore[no-untyped-def]
    """Whether every row is an integer below `outputs`."""
    largest = np.uint64(0)
    for i in range(words.shape[0]):
        largest = max(largest, np.uint64(words[i] & mask))
    return largest < outputs


@njit([void(_COUNTS, _SHORT, uint32), void(_COUNTS, _LONG, uint64)], cache=True, nogil=True)
def count_rows(counts, words, mask):  # type: ignore[no-untyped-def]
    """counts[row] += 1 for every row."""
    for i in range(words.shape[0]):
        counts[words[i] & mask] += 1


@njit([void(_COUNTS, _SHORT, uint32), void(_COUNTS, _LONG, uint64)], cache=True, nogil=True)
def count_signed_rows(counts, words, mask):  # type: ignore[no-untyped-def]
    """counts[row div 2] += 1 for an even row, -= 1 for an odd one."""
    for i in range(words.shape[0]):
        row = np.uint64(words[i] & mask)
        counts[row >> np.uint64(1)] += 1 - 2 * np.int64(row & np.uint64(1))


@njit(nogil=True, inline="always")
def _count_four(word, first, second, third, fourth):  # type: ignore[no-untyped-def]
    first[word & _LOW16] += _ONE
    second[(word >> np.uint64(16)) & _LOW16] += _ONE
    third[(word >> np.uint64(32)) & _LOW16] += _ONE
    fourth[word >> np.uint64(48)] += _ONE


@njit([void(types.Array(uint32, 2, "C"), _PACKED)], cache=True, nogil=True)
def tally_pairs(tables, words):  # type: ignore[no-untyped-def]
    """Count the four pairs of bytes of every word, in one table or each in a table of its own.

    Tables hold every pair there can be, so that nothing need be checked on the way. An increment that finds its
    counter still on the way to the cache waits for it, and of four tables this is less often true.
    """
    last = tables.shape[0] - 1
    first, second, third, fourth = tables[0], tables[min(1, last)], tables[min(2, last)], tables[last]
    whole = words.shape[0] // 4 * 4
    for four in range(whole // 4):
        i = np.uint64(4 * four)
        a, b, c, d = words[i], words[i + np.uint64(1)], words[i + np.uint64(2)], words[i + np.uint64(3)]
        _count_four(a, first, second, third, fourth)
        _count_four(b, first, second, third, fourth)
        _count_four(c, first, second, third, fourth)
        _count_four(d, first, second, third, fourth)
    for rest in range(whole, words.shape[0]):
        _count_four(words[rest], first, second, third, fourth)


@njit(nogil=True, inline="always")
def _count_byte(row, table, carries):  # type: ignore[no-untyped-def]
    count = np.uint8(table[row] + np.uint8(1))
    table[row] = count
    if count == 0:
        carries[row] += _ONE
        carries[carries.shape[0] - 1] = _ONE


@njit([void(_TABLE, _CARRIES, _SHORT, uint32), void(_TABLE, _CARRIES, _LONG, uint64)], cache=True, nogil=True)
def tally_rows(table, carries, words, mask):  # type: ignore[no-untyped-def]
    """Count rows in bytes, and in `carries` how often each byte went round; one entry more says that any did.

    Bytes, because a counter that is not in the second-level cache costs more than all the rest. The last entry
    of the table takes every row that is none of the others.
    """
    # No row is above the mask, and so no more than a mask's width is needed.
    last = words.dtype.type(min(np.uint64(table.shape[0] - 1), np.uint64(mask)))
    whole = words.shape[0] // 4 * 4
    for four in range(whole // 4):
        i = np.uint64(4 * four)
        a, b = min(words[i] & mask, last), min(words[i + np.uint64(1)] & mask, last)
        c, d = min(words[i + np.uint64(2)] & mask, last), min(words[i + np.uint64(3)] & mask, last)
        _count_byte(a, table, carries)
        _count_byte(b, table, carries)
        _count_byte(c, table, carries)
        _count_byte(d, table, carries)
    for rest in range(whole, words.shape[0]):
        _count_byte(min(words[rest] & mask, last), table, carries)


@njit(_ADDITIONS, cache=True, nogil=True)
def add_table(counts, table, bits):  # type: ignore[no-untyped-def]
    """Add 2^bits times the first entries of a table to the counts."""
    for i in range(counts.shape[0]):
        counts[i] += np.int64(table[i]) << bits


@njit(_ADDITIONS, cache=True, nogil=True)
def add_signed_table(counts, table, bits):  # type: ignore[no-untyped-def]
    """Add 2^bits times the first entries of a table to the counts, or take them off: entries 2 i and 2 i + 1."""
    for i in range(counts.shape[0]):
        counts[i] += (np.int64(table[2 * i]) - np.int64(table[2 * i + 1])) << bits
