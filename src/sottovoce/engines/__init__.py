"""Engines that count reports, on this machine or on Spark, with identical results."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sottovoce.engines.base import Counted, Engine, Faults
from sottovoce.engines.tally import BadFile, Tally

# The modules are called local_engine and spark_engine: an import of engines.local would hide the function of that name.
if TYPE_CHECKING:
    from sottovoce.engines.local_engine import LocalEngine
    from sottovoce.engines.spark_engine import SparkEngine

__all__ = ["BadFile", "Counted", "Engine", "Faults", "Tally", "local", "spark"]


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
    from sottovoce.engines.local_engine import LocalEngine

    return LocalEngine(work=work, memory_bytes=memory_bytes, cores=cores, restart=restart)


def spark(session: Any) -> SparkEngine:
    """An engine on the cluster of a `pyspark.sql.SparkSession`."""
    from sottovoce.engines.spark_engine import SparkEngine

    return SparkEngine(session)
