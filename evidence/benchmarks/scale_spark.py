"""Spark per core against the local engine per core: the same files, the same number of cores, in one run.

Three questions for each number of counters: ids with repeats removed, the same where one row in a hundred is a repeat,
and ids that are declared to be unique. Turns alternate and the best of each counts. Starting Java, and a first job,
are told apart and not in the ratios: they cost the same for ten reports and for ten billion. Shuffled bytes are Spark's
own figure. `python -m evidence.benchmarks.scale_spark --quick` counts a tenth of the reports.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]

import sottovoce as sv
from evidence.benchmarks.scale_files import write
from sottovoce import engines
from sottovoce.core.errors import MissingExtraError, ServiceError
from sottovoce.engines.cluster.session import session
from sottovoce.formats.report_files import LAYOUT
from sottovoce.kernels.threads import cores

__all__ = ["run", "write_files"]

Row = dict[str, object]

OUTPUTS = (2**11, 2**20)
SURVEY = sv.Survey(sv.shares(OUTPUTS[0] - 1), epsilon=1.0, mechanism="hadamard")
REPORTS = 100_000_000
QUICK = 10_000_000
_FILES = 16
_REPEATED = 100
"""One row of so many comes again."""

_TURNS = 2
_ANSWER_SECONDS = 300.0


def run(reports: int = REPORTS) -> list[Row]:
    """Four rows for every number of counters."""
    rows: list[Row] = []
    try:
        with session(f"local[{cores()}]", answer_seconds=_ANSWER_SECONDS) as spark:
            for outputs in OUTPUTS:
                with tempfile.TemporaryDirectory() as folder:
                    survey = sv.Survey(sv.shares(outputs - 1), epsilon=1.0, mechanism="hadamard")
                    rows += _measured(spark, survey, Path(folder), reports)
    except (ServiceError, MissingExtraError) as error:
        rows.append({"name": "Spark", "note": f"not measured: {error}"})
    return rows


def _measured(spark: Any, survey: sv.Survey, folder: Path, reports: int) -> list[Row]:
    write_files(folder / "once", reports, survey)
    _write_again(folder / "once", folder / "again")
    once, again = folder / "once", [folder / "once", folder / "again"]
    here, there = engines.local(), engines.spark(spark)
    began = perf_counter()
    there.aggregate(survey, again[1])
    _say(f"first small job: {perf_counter() - began:.1f} s")
    rows: list[Row] = []
    name = f"Spark per core, {reports:.0e} reports, K = {survey.mechanism.cells:,}"
    for what, files, unique, target in (
        ("duplicates removed", once, False, 0.5),
        ("one in a hundred a duplicate", again, False, 0.5),
        ("ids unique", once, True, 0.8),
    ):
        if there.aggregate(survey, files, ids_unique=unique) != here.aggregate(survey, files, ids_unique=unique):
            raise RuntimeError("the engines do not agree")
        before = _shuffled(spark)
        there.aggregate(survey, files, ids_unique=unique)
        moved = _shuffled(spark) - before
        ours, theirs = _alternating(
            partial(there.aggregate, survey, files, ids_unique=unique),
            partial(here.aggregate, survey, files, ids_unique=unique),
        )
        rows.append(
            {
                "name": f"{name}, {what}",
                "against": "the local engine on as many cores",
                "ratio": theirs / ours,
                "target": f">= {target}",
                "met": theirs / ours >= target,
                "seconds": ours,
                "local_seconds": theirs,
                "shuffled_bytes": moved,
            }
        )
        _say(f"{what}: {reports / ours / 1e6:.1f} million a second, {theirs / ours:.2f} of the local engine")
        if what == "duplicates removed":
            packed = reports * (16 + survey.mechanism.report_bytes)
            ratio = moved / packed
            rows.append(
                {
                    "name": f"{name}, bytes shuffled",
                    "against": "ids plus payloads",
                    "ratio": ratio,
                    "target": "<= 1.15",
                    "met": ratio <= 1.15,
                }
            )
    return rows


def write_files(folder: Path, reports: int, survey: sv.Survey = SURVEY) -> None:
    """Reports in 16 files as exports are."""
    folder.mkdir()
    for number in range(_FILES):
        write(survey, folder / f"{number:02}.parquet", reports // _FILES, number, "exported")


def _write_again(folder: Path, copies: Path) -> None:
    """Some rows of every file once more."""
    copies.mkdir()
    for file in folder.iterdir():
        rows = pq.read_table(file)
        pq.write_table(rows.slice(0, len(rows) // _REPEATED), copies / file.name, **LAYOUT)


def _shuffled(spark: Any) -> int:
    """Bytes that the session's tasks have written for others to fetch."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    executors = context.statusStore().executorList(False)
    return sum(int(executors.apply(i).totalShuffleWrite()) for i in range(executors.size()))


def _alternating(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Best seconds of each, in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_TURNS):
        for work, taken in zip((one, other), times, strict=True):
            began = perf_counter()
            work()
            taken.append(perf_counter() - began)
    return min(times[0]), min(times[1])


def _say(message: str) -> None:
    print(f"    {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks.scale_spark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports")
    for found in run(QUICK if parser.parse_args().quick else REPORTS):
        print(found)
