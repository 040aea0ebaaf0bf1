"""The local engine: all cores of this machine, in bounded memory, resumable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, final

from sottovoce.core.limits import check_integer
from sottovoce.core.progress import stepping
from sottovoce.engines import files
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
)
from sottovoce.engines.local_counts import Counters, fits_memory
from sottovoce.engines.local_resume import WorkFolder
from sottovoce.engines.local_run import Run
from sottovoce.engines.tally import Tally
from sottovoce.kernels.threads import cores as all_cores
from sottovoce.mechanisms.shards import Shard
from sottovoce.surveys.survey import Survey

__all__ = ["LEAST_MEMORY", "LocalCounted", "LocalEngine"]

LEAST_MEMORY: Final = 2**16
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
        self.memory_bytes = check_integer("memory_bytes", given, LEAST_MEMORY, 2**60)
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
        found = files.scan_files(survey, files.find_files(reports))
        ids = ids_trusted(ids_unique, found.ids_unique)
        if found.bad:
            check_faults(survey, Tally(files=len(found.files), bad_files=found.bad), faults)
        fits_memory(survey.mechanism, self.memory_bytes)
        work = WorkFolder(self.work)
        if self.restart and work.begun:
            work.claim()
            work.clear()
        with stepping(progress, "counting") as tell:
            run = Run(survey, found, work, ids=ids, memory_bytes=self.memory_bytes, cores=self.cores, progress=tell)
            try:
                tally, cells = run.count(faults)
            except BaseException:
                run.at_end.close()
                work.let_go() if work.named else work.clear()
                raise
        return LocalCounted(survey, tally, ids, cells, work)
