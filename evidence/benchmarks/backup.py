"""A backup beside a service that takes reports: the longest time without an acknowledgment, with and without it.

The database holds a gigabyte of counted reports of another survey. Requests come at a fixed rate whatever the service
does, and go on for a while after the backup, when the database catches up on what it could not do meanwhile.
`python -m evidence.benchmarks.backup --quick` takes a database of 200 MB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

import sottovoce as sv
from evidence.benchmarks.collector_servers import Target, collector, drive
from evidence.benchmarks.load import Outcome
from sottovoce.collector.store import open_store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.store.sql import SqlStore

__all__ = ["run"]

Row = dict[str, object]

SURVEY = sv.Survey(sv.shares(1024), epsilon=1.0, title="benchmark")
COUNTED = sv.Survey(sv.shares(1024), epsilon=1.0, title="counted before")

_RATE = 200.0
_BATCH = 100
_SEGMENT = 1 << 18
_LIMIT = 0.5
"""Seconds that nobody should wait for longer."""


@dataclass(frozen=True)
class Size:
    """How much there is to copy, and for how long the load goes on before and after."""

    megabytes: int = 1000
    quiet_seconds: float = 15.0
    after_seconds: float = 15.0


QUICK = Size(megabytes=200, quiet_seconds=8.0, after_seconds=12.0)


def run(size: Size = Size()) -> list[Row]:  # noqa: B008 - frozen
    """One row: the longest gap during a backup, beside the limit and beside that of an undisturbed service."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with collector(SURVEY, data) as ours:
            _fill(data, size.megabytes)
            drive(ours, _BATCH, seconds=30, requests=200)
            quiet = _longest_gap(_drive(ours, size.quiet_seconds))
            seconds, gap = _beside_a_backup(ours, data, Path(folder) / "copy.zip", size)
    print(
        f"longest time without an acknowledgment: {1000 * gap:.0f} ms during a backup of {size.megabytes} MB that took "
        f"{seconds:.1f} s, {1000 * quiet:.0f} ms without",
        file=sys.stderr,
    )
    row = {"name": "longest gap during a backup", "against": "0.5 s", "ratio": gap / _LIMIT}
    more = {"gap_seconds": gap, "undisturbed_seconds": quiet, "backup_seconds": seconds, "megabytes": size.megabytes}
    return [{**row, **more, "target": "<= 1", "met": gap <= _LIMIT}]


def _fill(data: Path, megabytes: int) -> None:
    """Segments of another survey, as large as the counting makes them."""
    rng = np.random.default_rng(1)
    width = COUNTED.mechanism.report_bytes
    each = _SEGMENT * (16 + width)
    with closing(cast(SqlStore, open_store("", data))) as store:
        record = SurveyRecord(COUNTED.id, COUNTED.canonical, bytes(64), "", COUNTED.kind, 1.0, 1, 0, state="sealed")
        store.publish(record, {})
        for _ in range(max(1, megabytes * 10**6 // each)):
            with store.write() as transaction:
                ((number,),) = transaction.rows(
                    "INSERT INTO segments (survey, epoch, n, checkpointed) "
                    "VALUES ((SELECT number FROM surveys WHERE id = ?), 0, ?, 0) RETURNING number",
                    (COUNTED.id, _SEGMENT),
                )
                for field, length in (("ids", 16), ("payloads", width)):
                    transaction.run(
                        "INSERT INTO segment_parts VALUES (?, ?, 0, ?)", (number, field, rng.bytes(length * _SEGMENT))
                    )
        while not store.forget():
            time.sleep(0.1)


def _drive(ours: Target, seconds: float) -> Outcome:
    return drive(ours, _BATCH, seconds=seconds, rate=_RATE, mark_every=1)


def _longest_gap(outcome: Outcome) -> float:
    return float(np.diff([0.0, *outcome.marks]).max())


def _beside_a_backup(ours: Target, data: Path, archive: Path, size: Size) -> tuple[float, float]:
    """How long the backup took, and the longest gap from before it until well after it."""
    command = [sys.executable, "-m", "sottovoce", "backup", str(archive), "--data", str(data)]
    gaps: list[float] = []
    over = threading.Event()

    def load() -> None:
        while True:
            last = over.is_set()
            gaps.append(_longest_gap(_drive(ours, size.after_seconds if last else 5.0)))
            if last:
                return

    thread = threading.Thread(target=load)
    thread.start()
    time.sleep(2.0)
    began = time.perf_counter()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=clean)
    seconds = time.perf_counter() - began
    over.set()
    thread.join()
    return seconds, max(gaps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller database")
    for row in run(QUICK if parser.parse_args().quick else Size()):
        print(row)
