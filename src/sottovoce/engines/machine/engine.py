"""The local engine: all cores of this machine, in bounded memory, resumable.

One run reads everything once and counts it, finds repeated ids, and takes the repeats off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from types import TracebackType
from typing import Any, ClassVar, Final, final

from sottovoce.core.errors import ReportError
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import stepping
from sottovoce.engines.base import (
    MEMORY_BYTES,
    Counted,
    Engine,
    Faults,
    Ids,
    Progress,
    check_choice,
    check_faults,
    ids_trusted,
    not_unique,
)
from sottovoce.engines.machine.counts import Counters, InFiles, InMemory, fits_memory
from sottovoce.engines.machine.repeats import Halves, Suspects
from sottovoce.engines.machine.resume import WorkFolder
from sottovoce.engines.machine.spill import Spill, parts_for
from sottovoce.engines.reports import files
from sottovoce.engines.reports.files import ReportFile, ScannedFiles, check_unchanged, why_bad
from sottovoce.engines.reports.reading import FilePiece, columns, in_pieces, rows_at_once
from sottovoce.engines.reports.remote import absolute
from sottovoce.engines.reports.rows import BadFile, Sifted, Tally, sift
from sottovoce.kernels.repeats import sample_bits, secret_multiplier
from sottovoce.kernels.threads import cores as all_cores
from sottovoce.mechanisms.shards import Shard
from sottovoce.surveys.survey import Survey

__all__ = ["LocalCounted", "LocalEngine", "Run"]


Take = Callable[[Sifted], object]

_GROUP_SHARE = 32
"""Bytes of memory per row of a group: half an id, twice, in half of the memory."""

_PIECE_ROWS = 1 << 20
_READING = "reading and counting"


class Run:
    """Counting some files for one survey."""

    def __init__(
        self,
        survey: Survey,
        scanned: ScannedFiles,
        work: WorkFolder,
        *,
        memory_bytes: int,
        cores: int,
        progress: Progress | None,
        ids: Ids = "removed",
    ) -> None:
        self.survey, self.scanned, self.work, self.ids = survey, scanned, work, ids
        self.memory, self.cores = memory_bytes, cores
        self._tell = progress or (lambda done, total, step: None)
        self._step = _READING
        self._done, self._total = 0, max(1, sum(file.rows for file in scanned.files))
        self._lock = Lock()
        self.at_end = ExitStack()
        """Closes what the run has open, if it ends before its time; files stay."""

    def count(self, faults: Faults) -> tuple[Tally, Counters]:
        """What became of all rows, and the counters."""
        damaged: tuple[BadFile, ...] = ()
        while True:
            settings = self._settings()
            damaged = tuple(sorted({*damaged, *self.work.damaged()}))
            names = {absolute(bad.path) for bad in damaged}
            # In an order that does not depend on what the files are called this time: groups are counted off by it.
            real = sorted((absolute(file.path), file) for file in self.scanned.files)
            files = [file for path, file in real if path not in names]
            pass_ = _FirstPass(self, files, settings)
            more = pass_.read()
            left_out = self.scanned.bad + damaged + more
            tally = Tally(files=len(files) - len(more), bad_files=tuple(sorted(left_out))) + pass_.tally
            if faults == "refuse":
                check_faults(self.survey, replace(tally, counted=0), faults)
            if not more:
                break
            # Part of a damaged file may have been counted: begin again without it.
            damaged += more
            self.at_end.close()
            self.work.leave_out(damaged)
            self._done = 0
        check_unchanged(files)
        lost = self._second_pass(files, pass_)
        tally += Tally(counted=-lost, duplicates=lost)
        check_faults(self.survey, tally, faults)
        return tally, pass_.cells

    def _settings(self) -> dict[str, int]:
        """How the work is cut up: as it was begun, where it was."""
        rows = sum(file.rows for file in self.scanned.files)
        unique = self.ids != "removed"
        bits = sample_bits(rows) if unique else 0
        group = max(1 << 12, self.memory // _GROUP_SHARE)
        settings = {
            "group_rows": group,
            "half_parts": parts_for(8 * rows >> bits, self.memory // 8) if rows > group else 0,
            "ids_unique": int(unique),
            "multiplier": secret_multiplier(),
            "sample_bits": bits,
            "memory": self.memory,
        }
        large = rows > group or not fits_memory(self.survey.mechanism, self.memory)
        if self.work.named and (large or self.work.begun):
            return self.work.begin(self.survey, self.scanned.files, settings)
        return settings

    def _second_pass(self, files: Sequence[ReportFile], first: _FirstPass) -> int:
        """Take repeats off; returns how many there were."""
        self._tell(self._done, self._total, "looking for repeated ids")
        suspected = first.halves.repeated(self.memory // 128)
        first.halves.close()
        if suspected is not None and not len(suspected):
            return 0
        self._total += self._done
        self._step = "reading repeated ids again"
        width = self.survey.mechanism.report_bytes
        suspects = Suspects(suspected, width, self.memory // 8, self.work.claimed)
        if self.read(in_pieces(files, _PIECE_ROWS), lambda rows: suspects.add(rows.ids, rows.payloads)):
            raise ReportError("a file changed while it was counted; nothing was counted: run it again")
        check_unchanged(files)
        lost = 0

        def lose(payloads: Any) -> None:
            nonlocal lost
            lost += len(payloads)
            first.cells.take_off(payloads)

        suspects.settle(lose)
        if lost and self.ids != "removed":
            # What is kept of the ids is a sample, of no use to a run that removes duplicates.
            self.at_end.close()
            self.work.clear()
            raise not_unique(self.ids, lost)
        return lost

    def read(self, pieces: Sequence[FilePiece], take: Take) -> tuple[BadFile, ...]:
        """Hand every batch of good rows to `take`, on all cores; returns the files that turned out to be damaged."""
        damaged: set[BadFile] = set()
        stop, queue = Event(), iter(pieces)
        at_once = rows_at_once(self.survey, self.memory, self.cores)

        def work() -> None:
            try:
                while not stop.is_set():
                    with self._lock:
                        piece = next(queue, None)
                    if piece is None:
                        return
                    try:
                        for ids, reports in columns(self.survey, piece, at_once):
                            if stop.is_set():
                                return
                            take(sift(self.survey, ids, reports))
                            self._advance(len(ids))
                    except Exception as error:
                        reason = why_bad(error)
                        if reason is None:
                            raise
                        with self._lock:
                            damaged.add(BadFile(piece.file.path, reason))
            except BaseException:
                stop.set()
                raise

        with ThreadPoolExecutor(self.cores, thread_name_prefix="sottovoce-count") as threads:
            working = [threads.submit(work) for _ in range(min(self.cores, len(pieces)))]
            try:
                for future in working:
                    future.result()
            finally:
                stop.set()
        return tuple(sorted({bad.path: bad for bad in sorted(damaged)}.values()))

    def _advance(self, rows: int) -> None:
        with self._lock:
            self._done += rows
            self._tell(self._done, self._total, self._step)


class _FirstPass:
    """Every good row counted, half of its id kept, progress recorded group by group."""

    def __init__(self, run: Run, files: Sequence[ReportFile], settings: dict[str, int]) -> None:
        self._run, self._lock = run, Lock()
        mechanism, memory, folder = run.survey.mechanism, settings["memory"], run.work.folder
        held = run.work.progress() or {}
        self._groups = _in_groups(in_pieces(files, min(_PIECE_ROWS, settings["group_rows"])), settings["group_rows"])
        self._first = held.get("groups", 0)
        self.tally = Tally(**held.get("tally", {}))
        self._spill: Spill | None = None
        if settings["half_parts"]:
            self._spill = Spill(folder(), "halves", 8, settings["half_parts"], held.get("halves"))
            run.at_end.callback(self._spill.close)
        self.halves = Halves(memory, self._spill, settings["multiplier"], settings["sample_bits"])
        self.cells: Counters
        if fits_memory(mechanism, memory):
            kept = folder() / held["counts"] if "counts" in held else None
            self.cells = InMemory(mechanism, memory // 4, run.cores, kept)
        else:
            self.cells = InFiles(mechanism, memory // 4, folder, held.get("cells"))
        run.at_end.callback(self.cells.close, remove=False)

    def read(self) -> tuple[BadFile, ...]:
        """Read what is not yet read; returns the files that turned out to be damaged."""
        run = self._run
        damaged: set[BadFile] = set()
        for number, pieces in enumerate(self._groups):
            if number < self._first:
                run._advance(sum(piece.rows for piece in pieces))
                continue
            damaged.update(run.read(pieces, self._take))
            if run.work.named and run.work.begun and not damaged:
                kept = self.cells.keep(run.work.folder(), number + 1)
                if self._spill is not None:
                    kept["halves"] = self._spill.kept()
                run.work.advance(number + 1, self.tally, kept)
        return tuple(sorted(damaged))

    def _take(self, rows: Sifted) -> None:
        if len(rows.ids):
            self.cells.add(rows.payloads)
            self.halves.add(rows.ids)
        with self._lock:
            self.tally += rows.tally


def _in_groups(pieces: Sequence[FilePiece], rows: int) -> list[list[FilePiece]]:
    """Groups of consecutive pieces with about `rows` rows each."""
    groups: list[list[FilePiece]] = [[]]
    held = 0
    for piece in pieces:
        if held >= rows:
            groups.append([])
            held = 0
        groups[-1].append(piece)
        held += piece.rows
    return groups


_LEAST_MEMORY: Final = 2**16
"""Smallest memory limit."""


@final
class LocalCounted(Counted):
    """Counts in memory, or in the files of a working folder, which `close` removes."""

    def __init__(self, survey: Survey, tally: Tally, ids: Ids, cells: Counters, work: WorkFolder) -> None:
        self.survey, self.tally, self.ids, self._cells, self._work = survey, tally, ids, cells, work

    def shards(self) -> Iterator[Shard]:
        """The shards that are not empty, in order."""
        return self._cells.shards()

    def close(self) -> None:
        """Remove the working files."""
        self._cells.close(remove=True)
        self._work.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # If saving failed, the work is kept so that the run can be resumed.
        if kind is None or not self._work.named:
            self.close()
        else:
            self._cells.close(remove=False)
            self._work.let_go()


@final
class LocalEngine(Engine):
    """Counts files on all cores of this machine; made by `sottovoce.engines.local`."""

    name: ClassVar[str] = "local"

    def __init__(
        self,
        *,
        work: str | os.PathLike[str] | None = None,
        memory_bytes: int | None = None,
        cores: int | None = None,
        restart: bool = False,
    ) -> None:
        self.work = None if work is None else Path(work)
        given = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self.memory_bytes = check_integer("memory_bytes", given, _LEAST_MEMORY, 2**60)
        self.cores = check_integer("cores", all_cores() if cores is None else cores, 1, 4096)
        self.restart = restart

    def count(
        self,
        survey: Survey,
        reports: Any,
        *,
        faults: Faults = "refuse",
        ids_unique: bool | None = None,
        progress: Progress | None = None,
    ) -> LocalCounted:
        """Count files of reports: a path, a folder, a glob or several of them."""
        check_choice(faults)
        ids_trusted(ids_unique, stated=False)  # fails before files are looked at
        scanned = files.scan_files(survey, files.find_files(reports))
        ids = ids_trusted(ids_unique, scanned.ids_unique)
        if scanned.bad:
            check_faults(survey, Tally(files=len(scanned.files), bad_files=scanned.bad), faults)
        fits_memory(survey.mechanism, self.memory_bytes)
        work = WorkFolder(self.work)
        if self.restart and work.begun:
            work.claim()
            work.clear()
        with stepping(progress, "counting") as tell:
            run = Run(survey, scanned, work, ids=ids, memory_bytes=self.memory_bytes, cores=self.cores, progress=tell)
            try:
                tally, cells = run.count(faults)
            except BaseException:
                run.at_end.close()
                work.let_go() if work.named else work.clear()
                raise
        return LocalCounted(survey, tally, ids, cells, work)
