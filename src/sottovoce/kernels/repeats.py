"""Which 64-bit words occur more than once: exactly, in time linear in their number, whatever they are."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece

__all__ = [
    "WordMarks",
    "bucket_numbers",
    "repeated_words",
    "sample_bits",
    "sampled",
    "secret_multiplier",
    "spread_words",
]

Words = NDArray[np.uint64]

_IN_A_BUCKET: Final = 1 << 11
"""Words a bucket should have: its table, at most half full, then fits the first-level cache."""

_MOST_BUCKETS: Final = 1 << 13
"""Most positions that are written to at once: with more, each write would miss the cache of addresses."""

_FEW: Final = 1 << 12

_MARKS_A_WORD: Final = 16
"""Bits per known word; one is set, so one in sixteen other words looks known and is looked up."""

_LEAST_MARK_BITS: Final = 10

_SAMPLE_ROWS: Final = 1 << 22
_MOST_SAMPLE_BITS: Final = 6

_MOST_PARTS: Final = 64
"""Parts that are spread at once: more than any machine's cores keep busy would not be faster."""


def secret_multiplier() -> int:
    """An odd number that nobody knows beforehand, so that nobody can choose the bucket of a word."""
    return secrets.randbits(64) | 1


def bucket_numbers(words: Words, multiplier: int, bits: int) -> NDArray[np.int64]:
    """Which of 2^bits buckets each word belongs to: the highest bits of its product with the multiplier.

    Two different words share a bucket with a probability of at most 2/2^bits (Dietzfelbinger et al. 1997).
    """
    return (words * np.uint64(multiplier) >> np.uint64(64 - bits)).astype(np.int64)


def sample_bits(rows: int) -> int:
    """Words that should be unique are checked in a sample of 1 in 2^bits: all of up to 2^22, and never under 1 in 64.

    Examples
    --------
    >>> [sample_bits(rows) for rows in (0, 2**22, 2**22 + 1, 10**8, 10**12)]
    [0, 0, 1, 5, 6]
    """
    return min(_MOST_SAMPLE_BITS, (max(0, rows - 1) // _SAMPLE_ROWS).bit_length())


def sampled(words: Words, multiplier: int, bits: int) -> Words:
    """The words, in their order, whose secret hash has its highest `bits` bits zero.

    Any word, also one chosen by an attacker, is in the sample with a probability of 2^-bits, and then wherever it
    occurs. The hash is not that of `bucket_numbers` with the same multiplier: a sample fills all buckets.
    """
    if not bits:
        return np.array(words)
    from sottovoce.kernels.compiled.repeats import sample

    key = np.frombuffer(hashlib.blake2b(multiplier.to_bytes(8, "little"), digest_size=16).digest(), dtype="<u8")
    out = np.empty(len(words), dtype=np.uint64)
    # The summand makes up for words that end in many zeros, which no multiplication moves.
    n = sample(out, words, key[0] | np.uint64(1), key[1], np.uint64(64 - bits))
    return out[:n].copy()


def spread_words(words: Words, multiplier: int, bits: int) -> tuple[Words, NDArray[np.int64]]:
    """The words in the order of their buckets, those of `bucket_numbers`, and the size of each bucket.

    Examples
    --------
    >>> spread_words(np.array([2**63, 1, 2**63 + 1], dtype=np.uint64), 1, 1)[1]
    array([1, 2])
    """
    from sottovoce.kernels.compiled.repeats import measure, spread

    sizes = np.zeros(1 << bits, dtype=np.int64)
    factor, shift = np.uint64(multiplier), np.uint64(64 - bits)
    measure(sizes, words, factor, shift)
    out = np.empty(len(words), dtype=np.uint64)
    spread(out, np.cumsum(sizes) - sizes, words, factor, shift)
    return out, sizes


class WordMarks:
    """Some words; of many others it tells quickly which are among them, and most are not.

    Examples
    --------
    >>> known = WordMarks(np.array([3, 7], dtype=np.uint64))
    >>> known.positions(np.array([7, 1, 3, 7], dtype=np.uint64))
    array([0, 2, 3])
    """

    def __init__(self, words: Words) -> None:
        from sottovoce.kernels.compiled.repeats import mark

        self._sorted = np.unique(words)
        bits = max(_LEAST_MARK_BITS, (_MARKS_A_WORD * len(words)).bit_length())
        self._multiplier, self._shift = np.uint64(secret_multiplier()), np.uint64(64 - bits)
        self._marks = np.zeros(1 << (bits - 3), dtype=np.uint8)
        mark(self._marks, self._sorted, self._multiplier, self._shift)

    def positions(self, words: Words) -> NDArray[np.int64]:
        """Where those among them stand, in order; any thread may ask."""
        from sottovoce.kernels.compiled.repeats import marked

        places = np.empty(len(words), dtype=np.int64)
        places = places[: marked(places, self._marks, words, self._multiplier, self._shift)]
        likely = words[places]
        index = np.searchsorted(self._sorted, likely)
        known: NDArray[np.int64] = places[self._sorted[np.minimum(index, len(self._sorted) - 1)] == likely]
        return known


def repeated_words(parts: list[Words]) -> Words:
    """The words that occur twice or more in all parts together, sorted; `parts` is emptied on the way.

    Examples
    --------
    >>> repeated_words([np.array([3, 1, 2], dtype=np.uint64), np.array([7, 3, 3], dtype=np.uint64)])
    array([3], dtype=uint64)
    """
    n = sum(map(len, parts))
    if n <= _FEW:
        every = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
        parts.clear()
        return _by_sorting(every)
    from sottovoce.kernels.compiled.repeats import measure, spread

    _join_small(parts, n)
    bits = min(_MOST_BUCKETS, max(2, n // _IN_A_BUCKET)).bit_length() - 1
    multiplier, shift = np.uint64(secret_multiplier()), np.uint64(64 - bits)
    each = np.zeros((len(parts), 1 << bits), dtype=np.int64)
    for_each_piece(lambda part: measure(each[part], parts[part], multiplier, shift), len(parts))
    starts = np.concatenate([[0], np.cumsum(each.sum(axis=0))])
    places = starts[:-1] + np.cumsum(each, axis=0) - each
    spread_out = np.empty(n, dtype=np.uint64)

    def move(part: int) -> None:
        spread(spread_out, places[part], parts[part], multiplier, shift)
        parts[part] = np.empty(0, dtype=np.uint64)

    for_each_piece(move, len(parts))
    parts.clear()
    return _in_buckets(spread_out, starts, int(multiplier), bits)


def _join_small(parts: list[Words], n: int) -> None:
    """Make one part of several short ones: each part has a table of places, and many would outweigh the words."""
    every = parts[:]
    parts.clear()
    while every:
        held = [every.pop()]
        length = len(held[0])
        while every and length * _MOST_PARTS < n:
            held.append(every.pop())
            length += len(held[-1])
        parts.append(np.concatenate(held) if len(held) > 1 else held[0])


def _in_buckets(words: Words, starts: NDArray[np.int64], multiplier: int, bits: int) -> Words:
    from sottovoce.kernels.compiled.repeats import repeated

    buckets = 1 << bits
    table_bits = max(12, (4 * len(words) // buckets).bit_length())
    # A bucket that one word floods is sorted: first, since the others' findings are written over words.
    flooded = np.flatnonzero(2 * np.diff(starts) > 1 << table_bits)
    repeats = [_by_sorting(words[starts[bucket] : starts[bucket + 1]]) for bucket in flooded]
    each = max(1, buckets // 64)

    def look(piece: int) -> None:
        first, last = piece * each, min(buckets, (piece + 1) * each)
        table = np.empty(1 << table_bits, dtype=np.uint64)
        shift = np.uint64(64 - bits - table_bits)
        n = repeated(words, starts, first, last, table, np.uint64(multiplier), shift)
        if n:
            repeats.append(np.unique(words[starts[first] : starts[first] + n]))

    for_each_piece(look, -(-buckets // each))
    return np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *repeats]))


def _by_sorting(words: Words) -> Words:
    words.sort()
    again = words[1:][words[1:] == words[:-1]]
    return np.unique(again)
