"""Spark's overhead: the same reports counted by one core of this machine's engine, and by Spark with 1, 2 and 4 tasks.

All in one run over one set of Parquet files; of several turns the best counts. Starting Java, and a first small job,
are told apart and not in the ratios: they cost the same for ten reports and for ten billion.
`python -m benchmarks.scale_spark --quick` counts a tenth of the reports.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce import engines
from sottovoce.core.errors import MissingExtraError, ServiceError
from sottovoce.engines.spark_session import session

__all__ = ["run"]

Row = dict[str, object]

SURVEY = sv.Survey.distribution(1024, 1.0, title="benchmark")
TASKS = (1, 2, 4)
REPORTS = 10_000_000
QUICK = 1_000_000
_FILES = 16
_TURNS = 2
_ANSWER_SECONDS = 300.0


def run(reports: int = REPORTS) -> list[Row]:
    """One row for every number of tasks, and one for the usual way to take duplicates out."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        _write(small, 1000)
        _write(large, reports)
        ours = _best(lambda: engines.local(cores=1).aggregate(SURVEY, large))
        wanted = engines.local(cores=1).aggregate(SURVEY, large)
        _say(f"local, one core: {reports / ours / 1e6:.2f} million reports a second")
        rows: list[Row] = []
        try:
            for tasks in TASKS:
                rows.append(_on_spark(tasks, small, large, wanted, ours))
        except (ServiceError, MissingExtraError) as error:
            rows.append({"name": "Spark", "note": f"not measured: {error}"})
    return rows


def _on_spark(tasks: int, small: Path, large: Path, wanted: sv.Aggregate, ours: float) -> Row:
    began = perf_counter()
    with session(f"local[{tasks}]", answer_seconds=_ANSWER_SECONDS) as spark:
        started = perf_counter() - began
        engine = engines.spark(spark)
        began = perf_counter()
        engine.aggregate(SURVEY, small)
        first = perf_counter() - began
        if engine.aggregate(SURVEY, large) != wanted:
            raise RuntimeError("the engines do not agree")
        seconds = _best(lambda: engine.aggregate(SURVEY, large))
        table = spark.read.parquet(str(large))
        through_java = _best(lambda: engine.aggregate(SURVEY, table))
        grouped = _best(lambda: _grouped(table)) if tasks == 1 else None
    n = wanted.n_reports
    shown = f"{n / seconds / 1e6:.2f} million reports a second from files, {n / through_java / 1e6:.2f} from a table"
    _say(f"Spark, {tasks} at a time: {shown}; {started:.1f} s to start, {first:.1f} s for a first job")
    more: Row = {
        "seconds": seconds,
        "local_seconds": ours,
        "table_seconds": through_java,
        "start_seconds": started,
        "first_job_seconds": first,
    }
    if grouped is not None:
        _say(f"groupBy(report_id).agg(min(report)) alone: {grouped / through_java:.2f} of the time from a table")
        more["group_by_seconds"] = grouped
    return {
        "name": f"reports/s on Spark, {tasks} at a time",
        "against": "local, one core",
        "ratio": ours / seconds,
    } | more


def _grouped(table: Any) -> None:
    """Only take duplicates out, as one would in SQL; nothing is sifted or counted."""
    table.groupBy("report_id").agg({"report": "min"}).write.format("noop").mode("overwrite").save()


def _write(folder: Path, reports: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng = np.random.default_rng(reports)
    width = len(SURVEY.tag) + SURVEY.mechanism.report_bytes
    for number, n in enumerate(np.diff(np.linspace(0, reports, _FILES + 1).astype(int)).tolist()):
        batch = SURVEY.simulate(rng.integers(0, 1024, n), seed=number).batch
        bodies = np.empty((n, width), dtype=np.uint8)
        bodies[:, : len(SURVEY.tag)] = np.frombuffer(SURVEY.tag, dtype=np.uint8)
        bodies[:, len(SURVEY.tag) :] = SURVEY.mechanism.codec.encode_many(batch)
        columns = {"report_id": rng.integers(0, 256, (n, 16), dtype=np.uint8), "report": bodies}
        arrays = [
            pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), n, [None, pa.py_buffer(rows.tobytes())])
            for rows in columns.values()
        ]
        pq.write_table(pa.table(arrays, names=list(columns)), folder / f"{number:02}.parquet", use_dictionary=False)


def _best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_TURNS):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


def _say(message: str) -> None:
    print(f"    {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_spark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports")
    for found in run(QUICK if parser.parse_args().quick else REPORTS):
        print(found)
