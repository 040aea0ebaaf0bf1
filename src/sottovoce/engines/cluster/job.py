"""The description that every task of a Spark job gets: the survey as it is stated, and how the work is cut."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final, NamedTuple, cast
from zipimport import zipimporter

from sottovoce.engines.cluster.rows import has_one_cell
from sottovoce.kernels.threads import use_cores
from sottovoce.mechanisms.base import Mechanism
from sottovoce.surveys.survey import Survey

__all__ = [
    "CHUNK_CELLS",
    "HALF_BYTES",
    "HELD_SHARE",
    "MAX_TASK_ROWS",
    "RANGE_CELLS",
    "TASKS_A_CORE",
    "TASK_MEMORY",
    "Job",
    "is_wide",
    "prepare_worker",
]


TASK_MEMORY: Final = 1 << 28
"""Default memory of one task, about, beside Python itself."""

TASKS_A_CORE: Final = 3
"""Tasks per core: with several, no core waits long for the last task."""

MAX_TASK_ROWS: Final = 1 << 24
"""Most rows of one task, where row groups are small enough."""

HALF_BYTES: Final = 8
"""Bytes of each id that are shuffled."""

HELD_SHARE: Final = 8
"""Rows that a task has gathered are there as they came, in the order of buckets, and as bytes on their way."""

_CELLS_SHARE: Final = 64
"""Cells that every task counts into take an eighth of its memory at most; of more, tasks hold those that are moved."""

CHUNK_CELLS: Final = 1 << 14
"""Cells that are merged by one task, where all tasks count all cells: so few that many tasks share the work."""

RANGE_CELLS: Final = 1 << 17
"""Cells whose counts travel as one row, where tasks hold only cells that are moved; a shard has whole ones of both."""


class Job(NamedTuple):
    """How a job is cut; the same for all its tasks, also for those that are run again."""

    statement: str
    attachments: tuple[tuple[str, bytes], ...]
    multipliers: tuple[int, int]
    """Secret and odd: an attacker who chooses report ids cannot choose their buckets."""
    buckets: int
    """A power of two."""
    ranges: int
    """Into how many ranges of cells reports go; 0 where every task counts all cells."""
    sample_bits: int
    """One of 2**sample_bits ids is looked at: all of them, unless they are declared to be unique."""
    most_suspects: int
    """Halves that a task tells at a time; where more are repeated, all rows count as suspected."""
    held_bytes: int
    """Rows that a task gathers before it sends them or looks for repeated ones."""

    @property
    def survey(self) -> Survey:
        """The survey, made once in each process."""
        return _survey(self.statement, self.attachments)

    @property
    def wide(self) -> bool:
        """Whether reports travel to the cells they move; otherwise every task counts into all cells."""
        return self.ranges > 0

    @property
    def chunk_cells(self) -> int:
        """Cells whose counts travel as one row."""
        return RANGE_CELLS if self.wide else CHUNK_CELLS

    @property
    def range_cells(self) -> int:
        """Cells of a range: whole chunks of them."""
        return RANGE_CELLS * -(-self.survey.mechanism.cells // (RANGE_CELLS * self.ranges))


def is_wide(mechanism: Mechanism, memory: int) -> bool:
    """Whether reports travel to the cells they move, since there are too many for a task of so much memory."""
    return mechanism.cells > memory // _CELLS_SHARE and has_one_cell(mechanism)


@lru_cache(maxsize=4)
def _survey(statement: str, attachments: tuple[tuple[str, bytes], ...]) -> Survey:
    return cast(Survey, Survey.from_json(statement, dict(attachments)))


_OWN: Final = ("pyspark", "py4j", "spark-core")


def prepare_worker() -> None:
    """Use one core, for Spark runs as many tasks as there are; nothing where no cluster runs this.

    Before each task Spark has Python forget what it knows of the import path, and of archives Python reads the whole
    directory again: for Spark's own that is a quarter of a second a task. They do not change while it runs.
    """
    from pyspark import TaskContext

    if TaskContext.get() is None:
        return
    use_cores(1)
    for finder in sys.path_importer_cache.values():
        if isinstance(finder, zipimporter) and PurePath(finder.archive).name.startswith(_OWN):
            unchanging: Any = finder  # one for each package in the archive
            unchanging.invalidate_caches = _nothing


def _nothing() -> None:
    return
