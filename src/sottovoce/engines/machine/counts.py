"""Counters in memory, or, if they do not fit, in files by ranges of cells."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np

from sottovoce.core.errors import CapacityError, ReportError
from sottovoce.core.limits import MAX_CELLS, SHARD_CELLS
from sottovoce.engines.machine.spill import Bytes, Spill, parts_for, writing
from sottovoce.formats.sharded import in_shards
from sottovoce.mechanisms.base import Counts, Mechanism
from sottovoce.mechanisms.shards import Shard, shard_length

__all__ = ["Counters", "InFiles", "InMemory", "fits_memory"]

_BYTES_EACH: Final = 8


def fits_memory(mechanism: Mechanism, memory_bytes: int) -> bool:
    """Whether all counters fit in memory; raises if they must and do not."""
    if mechanism.cells <= MAX_CELLS and _BYTES_EACH * mechanism.cells <= memory_bytes:
        return True
    if mechanism.counted_as != "batch":
        return False
    needed = -(-_BYTES_EACH * mechanism.cells // 2**20)
    raise CapacityError(
        f"counting {mechanism.name} reports takes {mechanism.cells:,} counters, {needed:,} MiB, and a report touches "
        f"many of them, so they must fit in memory. Allow that much (memory_bytes, --memory {needed}MiB), or use Spark"
    )


class Counters(abc.ABC):
    """Counters to which reports are added and from which duplicates are subtracted."""

    @abc.abstractmethod
    def add(self, payloads: Bytes) -> None:
        """Count reports, one per row; thread-safe."""

    @abc.abstractmethod
    def take_off(self, payloads: Bytes) -> None:
        """Subtract these reports."""

    @abc.abstractmethod
    def keep(self, folder: Path, number: int) -> dict[str, object]:
        """Write the counts so far to disk; returns what is needed to find them again."""

    @abc.abstractmethod
    def shards(self) -> Iterator[Shard]:
        """The shards that are not empty, in order."""

    def close(self, *, remove: bool) -> None:
        """Close files."""
        return


class InMemory(Counters):
    """One array, and one more per thread if memory allows."""

    def __init__(self, mechanism: Mechanism, spare_bytes: int, cores: int, kept: Path | None = None) -> None:
        self._mechanism = mechanism
        self._counts = mechanism.empty() if kept is None else _read(kept, mechanism.cells)
        self._own: list[Counts] = []
        self._free: list[Counts] = []
        self._shared = _BYTES_EACH * mechanism.cells * cores > spare_bytes
        self._lock = Lock()

    def add(self, payloads: Bytes) -> None:
        if self._shared:
            with self._lock:
                self._mechanism.count_encoded(self._counts, payloads)
            return
        # Pooled: every group has new threads, and arrays of their own would add up.
        with self._lock:
            if not self._free:
                self._own.append(self._mechanism.empty())
                self._free.append(self._own[-1])
            counts = self._free.pop()
        self._mechanism.count_encoded(counts, payloads)
        with self._lock:
            self._free.append(counts)

    def take_off(self, payloads: Bytes) -> None:
        # Counting is addition: adding to the negated counts subtracts.
        counts = self._gathered()
        np.negative(counts, out=counts)
        self._mechanism.count_encoded(counts, payloads)
        np.negative(counts, out=counts)

    def _gathered(self) -> Counts:
        """The sum of all threads' counts; no thread may be adding."""
        for counts in self._own:
            self._counts += counts
            counts[:] = 0
        return self._counts

    def keep(self, folder: Path, number: int) -> dict[str, object]:
        from sottovoce.core.files import sync

        path = folder / f"counts-{number:06d}.npy"
        with writing(folder):
            np.save(path, self._gathered(), allow_pickle=False)
            sync(path)
        return {"counts": path.name}

    def shards(self) -> Iterator[Shard]:
        return in_shards(self._gathered())


def _read(kept: Path, cells: int) -> Counts:
    try:
        counts: Counts = np.load(kept, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ReportError(f"{kept} is damaged; delete {kept.parent} and start again") from error
    if counts.shape != (cells,) or counts.dtype != np.int64:
        raise ReportError(f"{kept} is damaged; delete {kept.parent} and start again")
    return counts


class InFiles(Counters):
    """Reports as numbers, in one file per range of cells; a range is counted when it is read."""

    def __init__(
        self, mechanism: Mechanism, memory_bytes: int, folder: Callable[[], Path], kept: list[int] | None = None
    ) -> None:
        self._mechanism, self._memory = mechanism, max(memory_bytes, 1 << 12)
        self._step = 2 if mechanism.counted_as == "signed number" else 1
        self._range = _range(mechanism.cells, parts_for(_BYTES_EACH * mechanism.cells, memory_bytes))
        self._folder = folder()
        parts = -(-mechanism.cells // self._range)
        self._added = Spill(self._folder, "cells", 8, parts, kept)
        self._taken = Spill(self._folder, "taken", 8, parts)

    def add(self, payloads: Bytes) -> None:
        self._put(self._added, payloads)

    def take_off(self, payloads: Bytes) -> None:
        self._put(self._taken, payloads)

    def _put(self, spill: Spill, payloads: Bytes) -> None:
        numbers = self._mechanism.codec.decode_many(payloads)
        spill.add(_as_rows(numbers), numbers // (self._step * self._range))

    def keep(self, folder: Path, number: int) -> dict[str, object]:
        return {"cells": self._added.kept()}

    def shards(self) -> Iterator[Shard]:
        yield from self._in_parts(self._added, self._taken, 0, self._range)

    def _in_parts(self, added: Spill, taken: Spill, first: int, each: int) -> Iterator[Shard]:
        """Shards of two spills of the same ranges, `each` cells long; the first range begins at cell `first`."""
        for part in range(added.parts):
            start = first + part * each
            if not added.size(part):
                continue
            if each == SHARD_CELLS:
                yield from self._one_shard(added, taken, part, start)
            elif added.size(part) + taken.size(part) <= self._memory:
                yield from self._sorted_shards(added, taken, part)
            else:
                yield from self._finer(added, taken, part, start, each)

    def _one_shard(self, added: Spill, taken: Spill, part: int, start: int) -> Iterator[Shard]:
        counts = np.zeros(shard_length(self._mechanism.cells, start // SHARD_CELLS), dtype=np.int64)
        less = np.zeros_like(counts)
        for into, spill in ((counts, added), (less, taken)):
            for rows in spill.read(part, self._memory):
                self._mechanism.count_into(into, _as_numbers(rows) - self._step * start)
        counts -= less
        if counts.any():
            yield Shard(start // SHARD_CELLS, counts)

    def _sorted_shards(self, added: Spill, taken: Spill, part: int) -> Iterator[Shard]:
        more, less = (
            np.sort(np.concatenate([np.empty(0, dtype=np.int64), *map(_as_numbers, spill.read(part, self._memory))]))
            for spill in (added, taken)
        )
        of_a_shard = self._step * SHARD_CELLS
        for number in np.unique(more // of_a_shard):
            counts = np.zeros(shard_length(self._mechanism.cells, int(number)), dtype=np.int64)
            off = np.zeros_like(counts)
            for into, numbers in ((counts, more), (off, less)):
                begin, end = np.searchsorted(numbers, [number * of_a_shard, (number + 1) * of_a_shard])
                self._mechanism.count_into(into, numbers[begin:end] - number * of_a_shard)
            counts -= off
            if counts.any():
                yield Shard(int(number), counts)

    def _finer(self, added: Spill, taken: Spill, part: int, start: int, each: int) -> Iterator[Shard]:
        """Split a range that does not fit in memory into shorter ones."""
        length = min(each, self._mechanism.cells - start)
        shorter = _range(length, parts_for(_BYTES_EACH * length, self._memory))
        parts = -(-length // shorter)
        both = [Spill(self._folder, f"{spill.name}-{part:03d}", 8, parts) for spill in (added, taken)]
        try:
            for spill, finer in zip((added, taken), both, strict=True):
                for rows in spill.read(part, self._memory):
                    finer.add(rows, (_as_numbers(rows) // self._step - start) // shorter)
            yield from self._in_parts(both[0], both[1], start, shorter)
        finally:
            for finer in both:
                finer.close(remove=True)

    def close(self, *, remove: bool) -> None:
        for spill in (self._added, self._taken):
            spill.close(remove=remove)


def _range(cells: int, parts: int) -> int:
    """Cells in a part: whole shards."""
    shards = -(-cells // SHARD_CELLS)
    return SHARD_CELLS * -(-shards // parts)


def _as_rows(numbers: Counts) -> Bytes:
    return np.ascontiguousarray(numbers, dtype="<i8").view(np.uint8).reshape(-1, 8)


def _as_numbers(rows: Bytes) -> Counts:
    return rows.view("<i8")[:, 0].astype(np.int64)
