"""What every engine does: read reports, take each id once, count, and give the same integers as any other engine.

An engine decides where the work runs, and nothing else. What a row must be is `rows.sift`'s business. Of the rows with
one report id the one with the least bytes counts, whatever order they are met in: so the result is a function of the
set of rows, and neither files, partitions nor retries can change it.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, final, get_args

from sottovoce.aggregate_file import AggregateFile, write_aggregate
from sottovoce.engines.tally import Tally
from sottovoce.errors import CapacityError, ReportError
from sottovoce.sharded import ShardedAggregate
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = ["MEMORY_BYTES", "Counted", "Engine", "Faults", "Progress", "check_choice", "check_faults"]

Faults: TypeAlias = Literal["refuse", "skip"]
"""What to do about rows and files that are no reports of the survey: refuse them all, or leave those out and say so."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with how much is done, and of how much, in rows or in whatever steps the engine has."""


MEMORY_BYTES: Final = 1 << 30
"""About how much memory an engine uses on this machine unless told otherwise, the survey's own counters on top."""


class Counted(ShardedAggregate):
    """Reports that were counted; close it, or use it in a with-block, to let go of what it holds."""

    tally: Tally
    """What became of every row."""

    @property
    @final
    def n_reports(self) -> int:
        """Those that were counted."""
        return self.tally.counted

    def close(self) -> None:
        """Let go of temporary files or cached data, if there are any."""
        return

    @final
    def save(self, path: str | os.PathLike[str]) -> AggregateFile:
        """Write an aggregate file, a shard at a time."""
        return write_aggregate(path, self.survey, self.n_reports, self.shards())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Engine(abc.ABC):
    """Where reports are counted."""

    name: ClassVar[str]

    @abc.abstractmethod
    def count(
        self, survey: Survey, reports: Any, *, faults: Faults = "refuse", progress: Progress | None = None
    ) -> Counted:
        """Count reports at rest: a path, a glob or several of them, or what the engine itself calls a table.

        Raises
        ------
        ReportError
            If there is nothing to read, or, unless `faults` is "skip", if anything is no report of the survey. It says
            how many rows and which files; nothing is half done.
        """

    @final
    def aggregate(
        self, survey: Survey, reports: Any, *, faults: Faults = "refuse", progress: Progress | None = None
    ) -> Aggregate:
        """The aggregate of reports at rest, as if `survey.aggregate().add` had been given each of them once."""
        with self.count(survey, reports, faults=faults, progress=progress) as counted:
            return counted.aggregate()


def check_choice(faults: object) -> None:
    """Refuse a misspelt choice before any work: it must not be taken for leave to skip."""
    if faults not in get_args(Faults):
        raise ReportError(f"faults must be 'refuse' or 'skip', not {faults!r}")


def check_faults(survey: Survey, tally: Tally, faults: Faults) -> None:
    """Refuse what must be refused once everything has been read."""
    if faults == "refuse" and tally.faults:
        raise ReportError(
            f"not everything is a report of survey {survey.id[:12]}: {tally.fault_words()}. Nothing was counted; "
            "faults='skip' (--skip-faults) leaves them out and counts the rest"
        )
    if tally.counted > survey.mechanism.max_reports:
        raise CapacityError(
            f"{tally.counted:,} reports could overflow 64-bit sums; {survey.mechanism.name} counts at most "
            f"{survey.mechanism.max_reports:,} in one aggregate: aggregate parts"
        )
