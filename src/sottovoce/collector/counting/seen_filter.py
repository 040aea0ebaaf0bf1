"""Says of an id that it is not in a long run, or that it may be: 16 bits an id, wrong for about one new id in 200.

A Bloom filter whose bits for one id lie in one 64-bit word: looking an id up reads one place of memory. Ids are hashed
by secret numbers, so that nobody can choose ids that fill it up.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.formats.report_ids import IdRun, Words

__all__ = ["IdHash", "IdMarks", "WordFilter"]

_IDS_A_WORD: Final = 4
"""64 bits for as many ids."""

_BITS: Final = 4
"""Set for one id; each is told by six bits of its hash."""


class IdMarks(NamedTuple):
    """What the filters of all runs have to know of some ids."""

    point: Words
    """Where in a filter, as a fraction of 2^32."""
    mask: Words
    """Which bits of the word there."""


@final
class IdHash:
    """A keyed hash of ids. Both words are mixed in, so that ids which differ in any few bits have unlike marks."""

    def __init__(self) -> None:
        self._keys = tuple(np.uint64(secrets.randbits(64) | 1) for _ in range(4))

    def marks(self, ids: IdRun) -> IdMarks:
        """Where the ids stand in every filter."""
        first, second, third, fourth = self._keys
        # A product carries bits upwards only: its upper half is folded onto the lower one each time.
        mixed = _folded(ids.high * first) + ids.low
        for factor in (second, third, fourth):
            mixed = _folded(mixed) * factor
        mixed = _folded(mixed)
        mask = np.zeros_like(mixed)
        for place in range(0, 6 * _BITS, 6):
            mask |= np.uint64(1) << (mixed >> np.uint64(place) & np.uint64(63))
        return IdMarks(mixed >> np.uint64(32), mask)


def _folded(words: Words) -> Words:
    return words ^ (words >> np.uint64(32))


@final
class WordFilter:
    """A filter for up to `ids` ids."""

    def __init__(self, ids: int) -> None:
        self._words = np.zeros(ids // _IDS_A_WORD + 1, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self._words.nbytes

    def add(self, marks: IdMarks) -> None:
        """Know these from now on."""
        at, mask = self._at(marks), marks.mask
        while len(at):
            # Of ids that share a word one is written here, and the others in the next turns; NumPy's own way to do
            # this, `bitwise_or.at`, takes several times as long.
            self._words[at] |= mask
            lost = np.flatnonzero(self._words[at] & mask != mask)
            at, mask = at[lost], mask[lost]

    def may_hold(self, marks: IdMarks) -> NDArray[np.bool_]:
        """False only for ids that were never added."""
        found: NDArray[np.bool_] = self._words[self._at(marks)] & marks.mask == marks.mask
        return found

    def _at(self, marks: IdMarks) -> NDArray[np.int64]:
        at = marks.point * np.uint64(len(self._words))
        at >>= np.uint64(32)
        return at.view(np.int64)
