"""Engines that count reports, on this machine or on Spark, with identical results."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sottovoce.engines.base import Counted, Engine, Faults
from sottovoce.engines.reports.rows import BadFile, Tally
from sottovoce.surveys.survey import Survey

# No module is called as its function: an import of engines.local would hide that.
if TYPE_CHECKING:
    from sottovoce.engines.cluster.engine import SparkEngine
    from sottovoce.engines.machine.engine import LocalEngine
    from sottovoce.engines.streams.stream import ReportStream

__all__ = ["BadFile", "Counted", "Engine", "Faults", "Tally", "follow", "local", "spark"]


def follow(
    session: Any,
    survey: Survey,
    reports: Any,
    *,
    state: str | os.PathLike[str],
    horizon: str | timedelta | None = None,
    faults: Faults = "refuse",
    files_per_batch: int = 1000,
    buckets: int | None = None,
) -> ReportStream:
    """A stream of reports, each counted once as it comes, on the cluster of a `pyspark.sql.SparkSession`.

    Parameters
    ----------
    reports
        A folder that Parquet files and raw segments (``.svr``) are put into, whole, by renaming; or a streaming table
        with binary columns `report_id` and `report`.
    state
        A folder for what was counted and for the ids that are remembered, which the driver and all workers share.
    horizon
        For how long an id is remembered: "7 days", "500 batches" or a `timedelta`. An id that comes again within it is
        a duplicate. May be left out, or lengthened, where `state` has a stream already.
    faults
        "refuse" stops at a batch with a row or file that is not a report of the survey, and leaves it pending; "skip"
        skips and tallies them.
    files_per_batch
        Most files of one batch.
    buckets
        Parts of the state, a power of two; 64 by default. A task holds the rows of one bucket of a batch.
    """
    from sottovoce.engines.streams.stream import ReportStream

    return ReportStream(
        session,
        survey,
        reports,
        state=state,
        horizon=horizon,
        faults=faults,
        files_per_batch=files_per_batch,
        buckets=buckets,
    )


def local(
    *,
    work: str | os.PathLike[str] | None = None,
    memory_bytes: int | None = None,
    cores: int | None = None,
    restart: bool = False,
) -> LocalEngine:
    """An engine on all cores of this machine, in bounded memory.

    Parameters
    ----------
    work
        A folder for temporary files and for resuming an interrupted run; a temporary one by default.
    memory_bytes
        Memory to use, about, in addition to the survey's counters.
    cores
        Number of threads; by default all cores of the process.
    restart
        Start again instead of resuming an interrupted run in `work`.
    """
    from sottovoce.engines.machine.engine import LocalEngine

    return LocalEngine(work=work, memory_bytes=memory_bytes, cores=cores, restart=restart)


def spark(session: Any, *, task_memory_bytes: int | None = None) -> SparkEngine:
    """An engine on the cluster of a `pyspark.sql.SparkSession`.

    Parameters
    ----------
    session
        A session of any kind, on Spark Connect too.
    task_memory_bytes
        Memory that each task may use, about, beside Python itself; 256 MiB by default.
    """
    from sottovoce.engines.cluster.engine import SparkEngine

    return SparkEngine(session, task_memory_bytes=task_memory_bytes)
