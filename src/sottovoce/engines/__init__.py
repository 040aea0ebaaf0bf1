"""Where reports are counted: on this machine, or on Spark. The same reports give the same integers on either."""

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
    """All cores of this machine, in bounded memory.

    Parameters
    ----------
    work
        A folder for what does not fit into memory, and for taking up an interrupted run; a temporary one by default.
    memory_bytes
        About how much memory to use, the survey's own counters on top.
    cores
        How many threads; all the process may use by default.
    restart
        Begin anew where `work` holds an interrupted run.
    """
    from sottovoce.engines.local_engine import LocalEngine

    return LocalEngine(work=work, memory_bytes=memory_bytes, cores=cores, restart=restart)


def spark(session: Any) -> SparkEngine:
    """The cluster of a `pyspark.sql.SparkSession`."""
    from sottovoce.engines.spark_engine import SparkEngine

    return SparkEngine(session)
