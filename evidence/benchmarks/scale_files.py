"""Parquet files to counts, against DuckDB's GROUP BY over the same files: processor time, best of several, in one run.

DuckDB reads the reports and counts equal ones; we check every row, take each report id once, and count. DuckDB is asked
for the same as well: the least report of each id, then the counts; and for the counts with the greatest id of each,
since otherwise it never opens that column. It runs in the peers' environment, in a process of its own; processor time
and not a clock, because other work on the machine then changes either side less.

Files are as exports are, and as other pipelines write them: values of any length, snappy, dictionaries.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import sottovoce as sv
from evidence.benchmarks.peers import ENVIRONMENT, REQUIREMENTS, PeersUnavailable, prepared_environment, run_step
from sottovoce import engines
from sottovoce.engines.machine.counts import InMemory
from sottovoce.engines.machine.engine import Run
from sottovoce.engines.machine.resume import WorkFolder
from sottovoce.engines.reports.files import find_files, scan_files
from sottovoce.engines.reports.reading import in_pieces
from sottovoce.formats.report_files import LAYOUT

__all__ = ["run"]

REPORTS = 20_000_000
FILES = 16
REPEATS = 3
TARGET = 2.0
OUTPUTS = (2**11, 2**20)
LAYOUTS: dict[str, dict[str, object]] = {"exported": LAYOUT, "dictionaries": {"use_dictionary": True}}
WORKER = Path(__file__).parent / "scale_files_duckdb.py"

Row = dict[str, object]


def run() -> list[Row]:
    """One set of files for every number of outputs and every layout."""
    try:
        python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    except PeersUnavailable as error:
        return [{"name": "files to counts", "note": str(error)}]
    return [row for outputs in OUTPUTS for layout in LAYOUTS for row in measured(python, outputs, REPORTS, layout)]


def measured(python: Path, outputs: int, reports: int, layout: str) -> list[Row]:
    """Ours against DuckDB's questions."""
    survey = sv.Survey(sv.shares(outputs - 1), epsilon=1.0, mechanism="hadamard")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number in range(FILES):
            write(survey, folder / f"reports-{number:010d}.parquet", reports // FILES, number, layout)
        words = [str(python), str(WORKER), str(folder), str(REPEATS)]
        duck = json.loads(run_step("measuring DuckDB", words, hint="see the message"))
        here, files = engines.local(), scan_files(survey, find_files(folder))
        exact = best(lambda: here.count(survey, folder).close())

        def straight() -> None:
            task = Run(survey, files, WorkFolder(None), memory_bytes=here.memory_bytes, cores=here.cores, progress=None)
            cells = InMemory(survey.mechanism, here.memory_bytes, here.cores)
            task.read(in_pieces(files.files, 2**20), lambda rows: cells.add(rows.payloads))

        alone = best(straight)
    name = f"{reports:.0e} reports of {outputs:,} outputs in Parquet, {layout}".replace("e+0", "e")
    return [
        row(f"{name}, each id once", exact, duck["group"], "DuckDB GROUP BY report", TARGET),
        row(f"{name}, each id once", exact, duck["both"], "DuckDB GROUP BY report, ids looked at", TARGET),
        row(f"{name}, each id once", exact, duck["exact"], "DuckDB, each id once too", 1.0),
        row(f"{name}, ids not looked at", alone, duck["group"], "DuckDB GROUP BY report", TARGET),
    ]


def write(survey: sv.Survey, path: Path, n: int, seed: int, layout: str) -> None:
    """A file with reports drawn at random."""
    rng, width = np.random.default_rng(seed), survey.mechanism.report_bytes
    rows = np.empty((n, len(survey.tag) + width), dtype=np.uint8)
    rows[:, : len(survey.tag)] = np.frombuffer(survey.tag, dtype=np.uint8)
    numbers = rng.integers(0, survey.mechanism.cells, n)
    rows[:, len(survey.tag) :] = survey.mechanism.codec.encode_many(numbers)
    table = pa.table({"report_id": column(rng.bytes(16 * n), 16), "report": column(rows.tobytes(), rows.shape[1])})
    if layout == "dictionaries":
        table = table.cast(pa.schema([pa.field(name, pa.binary()) for name in table.column_names]))
    pq.write_table(table, path, **LAYOUTS[layout])


def column(data: bytes, width: int) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(data) // width, [None, pa.py_buffer(data)])


def best(work: Callable[[], object]) -> float:
    """Least processor time of several runs, all threads together."""
    taken = []
    for _ in range(REPEATS + 1):  # the first loads compiled code
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken[1:])


def row(name: str, ours: float, theirs: float, against: str, target: float) -> Row:
    ratio = ours / theirs
    return {"name": name, "against": against, "ratio": ratio, "target": target, "met": ratio <= target}
