"""Taking each report id once, exactly, in bounded memory and in time linear in the rows, whatever the ids are.

Reading once, an engine counts every good row and keeps half of each id, 8 bytes. Only rows whose half occurs twice can
be repeats: if there are any, those rows are read again, and the counts of all but the least of each id are taken off.
Where ids should be unique, halves of a sample of them are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.machine.spill import Bytes, Spill, parts_for
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.kernels.repeats import WordMarks, Words, repeated_words, sampled, secret_multiplier, spread_words

__all__ = ["Halves", "Suspects", "halves", "settle"]

_LEAST: Final = 1 << 12
"""Bytes below which nothing is spread further, however small the memory."""

_PIECES: Final = 8
"""Pieces of the halves that are looked through at once, for as many threads."""

Lose = Callable[[Bytes], object]
"""A function that is called with payloads that must not count, one a row."""


def halves(ids: Bytes) -> Words:
    """The first eight bytes of each id, where they stand."""
    return np.ascontiguousarray(ids).view(np.uint64)[:, 0]


class Halves:
    """Half of every id that was read, or of 1 in 2^bits: in memory, or in files once there are too many."""

    def __init__(self, memory_bytes: int, spill: Spill | None, multiplier: int, bits: int) -> None:
        self._memory, self._spill, self._multiplier, self._bits = memory_bytes, spill, multiplier, bits
        self._held: list[Words] = []

    def add(self, ids: Bytes) -> None:
        """Keep half of these too; any thread may."""
        words = sampled(halves(ids), self._multiplier, self._bits)
        if self._spill is None:
            self._held.append(words)
        else:
            _spread(words, self._spill, self._multiplier)

    def repeated(self, most: int) -> Words | None:
        """Those that occur twice, sorted; None if they are more than `most`."""
        if self._spill is None:
            repeated = repeated_words(self._held)
            return repeated if len(repeated) <= most else None
        every: list[Words] = []
        n = 0
        for words in _repeated_in(self._spill, max(_LEAST, self._memory // 2)):
            every.append(words)
            n += len(words)
            if n > most:
                return None
        return np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *every]))

    def close(self) -> None:
        """Let go of memory; files stay, for a run that is interrupted later."""
        self._held.clear()
        if self._spill is not None:
            self._spill.close()


def _repeated_in(spill: Spill, limit: int) -> Iterator[Words]:
    for part in range(spill.parts):
        if spill.size(part) <= limit // 2:
            chunks = (rows.view(np.uint64)[:, 0] for rows in spill.read(part, limit // 2))
            yield repeated_words([piece for words in chunks for piece in np.array_split(words, _PIECES)])
            continue
        # Spread again by another hash. What occurs twice in a piece is found now and goes no further: so words that
        # no hash can part, because they are equal, vanish.
        multiplier, parts = secret_multiplier(), parts_for(spill.size(part), limit // 2)
        finer = Spill(spill.folder, f"{spill.name}-{part:03d}", 8, parts)
        try:
            for rows in spill.read(part, limit // 2):
                words = rows.view(np.uint64)[:, 0]
                again = repeated_words([words.copy()])
                if len(again):
                    yield again
                _spread(np.unique(words), finer, multiplier)
            yield from _repeated_in(finer, limit)
        finally:
            finer.close(remove=True)


def _spread(words: Words, spill: Spill, multiplier: int) -> None:
    ordered, sizes = spread_words(words, multiplier, spill.parts.bit_length() - 1)
    spill.append(ordered.view(np.uint8).reshape(-1, 8), sizes)


def settle(records: Bytes) -> tuple[Bytes, Bytes]:
    """Records of id and payload: the least of each id, and all others."""
    width = records.shape[1]
    ordered = np.ascontiguousarray(records).view(f"V{width}")[:, 0]
    rows = np.sort(ordered).view(np.uint8).reshape(-1, width)
    ids = np.ascontiguousarray(rows[:, :REPORT_ID_BYTES]).view(np.uint64)
    again = np.zeros(len(rows), dtype=bool)
    again[1:] = (ids[1:] == ids[:-1]).all(axis=1)
    return rows[~again], rows[again]


class Suspects:
    """Rows that may be repeats, gathered to be settled: in memory, or in files once there are too many."""

    def __init__(self, suspected: Words | None, width: int, memory_bytes: int, folder: Callable[[], Path]) -> None:
        self._suspected = None if suspected is None else WordMarks(suspected)
        self._width, self._folder = REPORT_ID_BYTES + width, folder
        self._limit = max(_LEAST, memory_bytes, 64 * self._width)
        self._multipliers = secret_multiplier(), secret_multiplier()
        self._held: list[Bytes] = []
        self._held_bytes = 0
        self._spill: Spill | None = None
        self._lock = Lock()

    def add(self, ids: Bytes, payloads: Bytes) -> None:
        """Take the suspects among these rows; any thread may."""
        if self._suspected is not None:
            mine = self._suspected.positions(halves(ids))
            ids, payloads = ids[mine], payloads[mine]
        records = np.concatenate([ids, payloads], axis=1)
        with self._lock:
            self._held.append(records)
            self._held_bytes += records.size
            if self._held_bytes > self._limit:
                self._spread()

    def _spread(self) -> None:
        if self._spill is None:
            self._spill = Spill(self._folder(), "suspects", self._width, 64)
        for records in self._held:
            self._spill.add(records, _numbers(records, self._multipliers, self._spill.parts))
        self._held, self._held_bytes = [], 0

    def settle(self, lose: Lose) -> None:
        """Hand over the payload of every row that must not count."""
        if self._spill is None:
            nothing = np.empty((0, self._width), dtype=np.uint8)
            _lose(lose, settle(np.concatenate([nothing, *self._held]))[1])
            return
        self._spread()
        try:
            _settle_spill(self._spill, self._limit, lose)
        finally:
            self._spill.close(remove=True)


def _settle_spill(spill: Spill, limit: int, lose: Lose) -> None:
    for part in range(spill.parts):
        if spill.size(part) <= limit:
            for records in spill.read(part, limit):
                _lose(lose, settle(records)[1])
            spill.drop(part)
            continue
        # As with halves: of a piece only the least record of each id goes on, so equal ids vanish.
        multipliers, parts = (secret_multiplier(), secret_multiplier()), parts_for(spill.size(part), limit)
        finer = Spill(spill.folder, f"{spill.name}-{part:03d}", spill.width, parts)
        try:
            for records in spill.read(part, limit):
                least, others = settle(records)
                _lose(lose, others)
                finer.add(least, _numbers(least, multipliers, parts))
            spill.drop(part)
            _settle_spill(finer, limit, lose)
        finally:
            finer.close(remove=True)


def _numbers(records: Bytes, multipliers: tuple[int, int], parts: int) -> NDArray[np.int64]:
    """A bucket for each id, by a secret hash of all of its bytes."""
    ids = np.ascontiguousarray(records[:, :REPORT_ID_BYTES]).view(np.uint64)
    mixed = ids[:, 0] * np.uint64(multipliers[0]) + ids[:, 1] * np.uint64(multipliers[1])
    return (mixed >> np.uint64(64 - (parts.bit_length() - 1))).astype(np.int64)


def _lose(lose: Lose, records: Bytes) -> None:
    if len(records):
        lose(records[:, REPORT_ID_BYTES:])
