"""Where reports are counted: on this machine, or on Spark. The same reports give the same integers on either."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sottovoce.engines.base import Counted, Engine, Faults
from sottovoce.engines.tally import BadFile, Tally

if TYPE_CHECKING:
    from sottovoce.engines.local import LocalEngine
    from sottovoce.engines.spark import SparkEngine

__all__ = ["BadFile", "Counted", "Engine", "Faults", "Tally", "local", "spark"]


def local(
    *, work: str | os.PathLike[str] | None = None, memory_bytes: int | None = None, cores: int | None = None
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
    """
    from sottovoce.engines.local import LocalEngine

    return LocalEngine(work=work, memory_bytes=memory_bytes, cores=cores)


def spark(session: Any) -> SparkEngine:
    """The cluster of a `pyspark.sql.SparkSession`."""
    from sottovoce.engines.spark import SparkEngine

    return SparkEngine(session)
