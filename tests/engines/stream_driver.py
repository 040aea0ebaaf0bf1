"""Counts what has come on a Spark of its own, and dies by SIGKILL where it is told to: arguments are the survey's
statement, the folders, and the place.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.engines.cluster.session import session
from sottovoce.engines.streams import batches as stream_batches

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(statement: str, incoming: str, state: str, place: str) -> None:
    survey: Any = sv.Survey.from_json(Path(statement).read_text())
    match place:
        case "before it is counted":
            stream_batches.BatchCounter._run = die  # type: ignore[method-assign,assignment]
        case "after its ids are written":
            stream_batches.write_aggregate = die  # type: ignore[assignment]
        case "before Spark takes note":
            stream_batches.BatchCounter.tidy = die  # type: ignore[method-assign]
    with session("local[2]", settings=SETTINGS, answer_seconds=300.0) as spark:
        sv.engines.follow(spark, survey, incoming, state=state, horizon="7 days").run_once()


if __name__ == "__main__":
    main(*sys.argv[1:])
