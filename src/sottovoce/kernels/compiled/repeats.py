"""The loops that find words which occur twice: spread over buckets by a hash, then a table in the cache a bucket."""

import numpy as np
from numba import int64, types, uint8, uint64, void
from numpy.typing import NDArray

from sottovoce.kernels.compiled.cached import njit

__all__ = ["mark", "marked", "measure", "repeated", "sample", "spread"]

_WORDS = types.Array(uint64, 1, "A", readonly=True, aligned=False)
_PLACES = types.Array(int64, 1, "C")
_HELD = types.Array(uint64, 1, "C")
_MARKS = types.Array(uint8, 1, "C")


@njit([void(_PLACES, _WORDS, uint64, uint64)], cache=True, nogil=True)
def measure(sizes: NDArray[np.int64], words: NDArray[np.uint64], multiplier: int, shift: int) -> None:
    """Add to `sizes` how many words each bucket takes."""
    for i in range(words.shape[0]):
        sizes[(words[i] * multiplier) >> shift] += 1


@njit([int64(_HELD, _WORDS, uint64, uint64, uint64)], cache=True, nogil=True)
def sample(out: NDArray[np.uint64], words: NDArray[np.uint64], multiplier: int, summand: int, shift: int) -> int:
    """Put words to `out` whose hash is below 2^shift; returns how many."""
    n = 0
    for i in range(words.shape[0]):
        out[n] = words[i]
        # Added up rather than branched on: no processor foresees which words are taken.
        n += int((words[i] * multiplier + summand) >> shift == 0)
    return n


@njit([void(_HELD, _PLACES, _WORDS, uint64, uint64)], cache=True, nogil=True)
def spread(
    out: NDArray[np.uint64], places: NDArray[np.int64], words: NDArray[np.uint64], multiplier: int, shift: int
) -> None:
    """Write each word to its bucket's next position in `out`."""
    for i in range(words.shape[0]):
        bucket = (words[i] * multiplier) >> shift
        index = places[bucket]
        out[index] = words[i]
        places[bucket] = index + 1


@njit([int64(_HELD, _PLACES, int64, int64, _HELD, uint64, uint64)], cache=True, nogil=True)
def repeated(
    words: NDArray[np.uint64],
    starts: NDArray[np.int64],
    first: int,
    last: int,
    table: NDArray[np.uint64],
    multiplier: int,
    shift: int,
) -> int:
    """Words that occur twice in a bucket, for buckets `first` to `last`; those too large for the table are passed over.

    They are written over the words from ``starts[first]`` on, once for every time after the first; returns how many.
    An entry of the table that holds 0 is free: the word 0 has a flag of its own.
    """
    end = starts[first]
    mask = np.uint64(table.shape[0] - 1)
    for bucket in range(first, last):
        if 2 * (starts[bucket + 1] - starts[bucket]) > table.shape[0]:
            continue
        for entry in range(table.shape[0]):
            table[entry] = 0
        zero_seen = False
        for i in range(starts[bucket], starts[bucket + 1]):
            word = words[i]
            slot = ((word * multiplier) >> shift) & mask
            while table[slot] != 0 and table[slot] != word:
                slot = (slot + np.uint64(1)) & mask
            if word == 0:
                again, zero_seen = zero_seen, True
            else:
                again = table[slot] == word
                table[slot] = word
            if again:
                words[end] = word
                end += 1
    return int(end - starts[first])


@njit([void(_MARKS, _WORDS, uint64, uint64)], cache=True, nogil=True)
def mark(marks: NDArray[np.uint8], words: NDArray[np.uint64], multiplier: int, shift: int) -> None:
    """Set the bit of each word's hash."""
    for i in range(words.shape[0]):
        bit = (words[i] * multiplier) >> shift
        marks[bit >> np.uint64(3)] |= np.uint8(1) << np.uint8(bit & np.uint64(7))


@njit([int64(_PLACES, _MARKS, _WORDS, uint64, uint64)], cache=True, nogil=True)
def marked(
    out: NDArray[np.int64], marks: NDArray[np.uint8], words: NDArray[np.uint64], multiplier: int, shift: int
) -> int:
    """Put the positions of words whose bit is set to `out`; returns how many."""
    n = 0
    for i in range(words.shape[0]):
        bit = (words[i] * multiplier) >> shift
        out[n] = i
        n += int((marks[bit >> np.uint64(3)] >> np.uint8(bit & np.uint64(7))) & np.uint8(1))
    return n
