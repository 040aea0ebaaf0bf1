"""Report ids in memory: an exact set that only grows, 18 to 20 bytes an id.

Ids are kept in sorted runs, eight runs of about one size merged into one (a log-structured merge tree), behind a filter
that knows most new ids at a glance. An id is moved O(log n) times, and looked for in O(log n) runs.
"""

from __future__ import annotations

import secrets
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.formats.report_ids import IdRun, Words, find_ids, merge_runs

__all__ = ["MemoryIds"]

_FAN_IN: Final = 8
"""How many runs of about one size are merged."""

_BITS_AN_ID: Final = 16
"""Of the filter, at least: one in as many new ids is looked for in vain."""


@final
class _BitFilter:
    """Says of an id that it is new, or that it may not be. Hashed by secret numbers, so that nobody can fill it up."""

    def __init__(self, ids: int, runs: list[IdRun]) -> None:
        self._log_bits = max(9, (_BITS_AN_ID * ids - 1).bit_length())
        self.bits = np.zeros(1 << (self._log_bits - 3), dtype=np.uint8)
        self._first, self._second = (np.uint64(secrets.randbits(64) | 1) for _ in range(2))
        for run in runs:
            self.add(run)

    @property
    def ids(self) -> int:
        """How many it is made for."""
        return (1 << self._log_bits) // _BITS_AN_ID

    def add(self, ids: IdRun) -> None:
        at = self._at(ids)
        np.bitwise_or.at(self.bits, at >> np.uint64(3), _bit(at))

    def may_hold(self, ids: IdRun) -> NDArray[np.bool_]:
        at = self._at(ids)
        found: NDArray[np.bool_] = self.bits[at >> np.uint64(3)] & _bit(at) != 0
        return found

    def _at(self, ids: IdRun) -> Words:
        at: Words = ids.high * self._first + ids.low * self._second
        at >>= np.uint64(64 - self._log_bits)
        return at


def _bit(at: Words) -> NDArray[np.uint8]:
    return np.left_shift(np.uint8(1), (at & np.uint64(7)).astype(np.uint8))


@final
class MemoryIds:
    """A set of ids in memory."""

    def __init__(self) -> None:
        self._runs: list[IdRun] = []
        self._filter = _BitFilter(0, [])

    def __len__(self) -> int:
        return sum(len(run.high) for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Memory the ids take."""
        return 2 * 8 * len(self) + self._filter.bits.nbytes

    def doubtful(self, ids: IdRun) -> NDArray[np.bool_]:
        """Which of them may be in the set: all that are, and a few others."""
        return self._filter.may_hold(ids)

    def holds(self, ids: IdRun) -> NDArray[np.bool_]:
        """Which of them are in the set."""
        held = np.zeros(len(ids.high), dtype=bool)
        for run in self._runs:
            held |= find_ids(run, ids)[1]
        return held

    def add(self, run: IdRun) -> None:
        """Put these into the set. They must be in order, and none of them in the set."""
        self._runs.append(run)
        if len(self) > self._filter.ids:
            self._filter = _BitFilter(len(self), self._runs)
        else:
            self._filter.add(run)
        while len(self._runs) >= _FAN_IN:
            last = self._runs[-_FAN_IN:]
            if len(last[0].high) >= _FAN_IN * len(last[-1].high):
                return
            self._runs[-_FAN_IN:] = [merge_runs(last)]

    def in_order(self) -> IdRun:
        """All of them as one run; there must be some."""
        return merge_runs(self._runs)
