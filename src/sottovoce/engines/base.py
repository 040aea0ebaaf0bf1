"""The interface of engines: read reports, count each id once, with the same result on any engine.

An engine decides only where the work runs; `rows.sift` validates rows. Of the rows with one report id the smallest by
bytes counts, so the result is a function of the set of rows: files, partitions and retries do not change it.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, final, get_args

from sottovoce.core.errors import CapacityError, ReportError
from sottovoce.engines.reports.rows import Tally
from sottovoce.formats.aggregate_file import AggregateFile, write_aggregate
from sottovoce.formats.sharded import ShardedAggregate
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = [
    "MEMORY_BYTES",
    "Counted",
    "Engine",
    "Faults",
    "Ids",
    "Progress",
    "check_choice",
    "check_faults",
    "ids_trusted",
    "not_unique",
]

Ids: TypeAlias = Literal["removed", "declared", "stated"]
"""Why each id counts once: duplicates were removed, or ids are unique, as the caller declared or the files state."""

Faults: TypeAlias = Literal["refuse", "skip"]
"""What to do about rows and files that are not reports of the survey: raise, or skip and count them."""

Progress: TypeAlias = Callable[[int, int, str], object]
"""A function of the work done, the total as known so far, both in rows or tasks, and the name of the step."""


MEMORY_BYTES: Final = 1 << 30
"""Default memory of an engine on this machine, in addition to the survey's counters."""


class Counted(ShardedAggregate):
    """Counted reports; close it, or use it in a with-block, to release its resources."""

    tally: Tally
    """What became of every row."""
    ids: Ids = "removed"
    """Why each id counts once."""

    @property
    @final
    def n_reports(self) -> int:
        """Number of reports counted."""
        return self.tally.counted

    def close(self) -> None:
        """Release temporary files or cached data."""
        return

    @final
    def save(self, path: str | os.PathLike[str]) -> AggregateFile:
        """Write an aggregate file, shard by shard."""
        return write_aggregate(path, self.survey, self.n_reports, self.shards())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Engine(abc.ABC):
    """Counts reports."""

    name: ClassVar[str]

    @abc.abstractmethod
    def count(
        self,
        survey: Survey,
        reports: Any,
        *,
        faults: Faults = "refuse",
        ids_unique: bool | None = None,
        progress: Progress | None = None,
    ) -> Counted:
        """Count reports in files (a path, a glob or several of them), or in a table of the engine.

        Parameters
        ----------
        ids_unique
            True: no two rows have one id, so that only a sample of the ids is checked. False: duplicates are removed.
            By default True if the metadata of all files state it, as those of one export do.

        Raises
        ------
        ReportError
            If there is nothing to read, or, unless `faults` is "skip", if any row or file is not a report of the
            survey; it says how many rows and which files. Also if ids should be unique and are not.
        """

    @final
    def aggregate(
        self,
        survey: Survey,
        reports: Any,
        *,
        faults: Faults = "refuse",
        ids_unique: bool | None = None,
        progress: Progress | None = None,
    ) -> Aggregate:
        """The aggregate of the reports, as if `survey.aggregate().add` had been given each of them once."""
        with self.count(survey, reports, faults=faults, ids_unique=ids_unique, progress=progress) as counted:
            return counted.aggregate()


def check_choice(faults: object) -> None:
    """Check the value of `faults`."""
    if faults not in get_args(Faults):
        raise ReportError(f"faults must be 'refuse' or 'skip', not {faults!r}").at("faults")


def ids_trusted(ids_unique: object, stated: bool) -> Ids:
    """Why each id will count once, by the value of `ids_unique` and by what the files state; checks the value."""
    if ids_unique is not None and not isinstance(ids_unique, bool):
        raise ReportError(f"ids_unique must be True, False or None, not {ids_unique!r}").at("ids_unique")
    if ids_unique is None:
        return "stated" if stated else "removed"
    return "declared" if ids_unique else "removed"


def not_unique(ids: Ids, repeats: int) -> ReportError:
    """The error for ids that should be unique, if `repeats` rows of a sample have the id of another."""
    said = "ids were declared unique" if ids == "declared" else "the files' metadata state that ids are unique"
    rows = "1 row has" if repeats == 1 else f"{repeats:,} rows have"
    return ReportError(
        f"{said}, but {rows} the id of another row, in a sample of the ids. Nothing was counted; ids_unique=False "
        "(--no-ids-unique) looks at all ids and counts each once"
    )


def check_faults(survey: Survey, tally: Tally, faults: Faults) -> None:
    """Raise for faults that are not skipped, and for too many reports."""
    if faults == "refuse" and tally.faults:
        raise ReportError(
            f"not everything is a report of survey {survey.id[:12]}: {tally.fault_words()}. Nothing was counted; "
            "faults='skip' (--skip-faults) skips them and counts the rest"
        )
    if tally.counted > survey.mechanism.max_reports:
        raise CapacityError(
            f"{tally.counted:,} reports could overflow 64-bit sums; {survey.mechanism.name} counts at most "
            f"{survey.mechanism.max_reports:,} in one aggregate: aggregate parts"
        )
