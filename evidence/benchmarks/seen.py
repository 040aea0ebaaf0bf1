"""Memory and speed of counting a hundred million reports of one survey once each, beside ids that all stay in memory.

Each figure is a process of its own, which hands reports to a SQLite store and counts them step by step, as a worker
does; then another starts on the same store and reads all ids again.
`python -m evidence.benchmarks.seen --quick` counts a tenth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import sottovoce as sv
from sottovoce.collector.counting.aggregator import Aggregator
from sottovoce.collector.store import open_store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.service.storage.committer import Arrival

__all__ = ["run"]

Row = dict[str, object]

SURVEY = sv.Survey(sv.shares(1024), epsilon=1.0, title="benchmark")
REPORTS = 100_000_000
AT_ONCE = 1 << 17
GIB = 2**30
KEEP_ALL = 1 << 62


def run(reports: int = REPORTS) -> list[Row]:
    """Every comparison, one row each."""
    rows: list[Row] = []
    for n in (reports // 100, reports // 10):
        ours, theirs = _counted(n, n), _counted(n, n, KEEP_ALL)
        name = f"{n:,} reports of one survey"
        rate = theirs["seconds"] / ours["seconds"]
        rows.append({"name": f"{name}, counted per second", "against": "all ids in memory", "ratio": rate, **ours})
        peak = ours["peak_bytes"] / theirs["peak_bytes"]
        rows.append({"name": f"{name}, peak memory", "against": "all ids in memory", "ratio": peak, **ours})
    with tempfile.TemporaryDirectory() as folder:
        counting = _counted(reports, reports, folder=folder)
        again = _counted(reports + 1, 1, folder=folder)
    for name, figures in (("", counting), (", when a worker starts", again)):
        row: Row = {"name": f"{reports:,} reports of one survey{name}, peak memory", "against": "1 GiB"}
        peak = figures["peak_bytes"] / GIB
        rows.append({**row, "ratio": peak, "target": "< 1", "met": peak < 1, **figures})
    rate = rows[2]["seconds"] * 10 / counting["seconds"]  # type: ignore[operator]
    name = f"{reports:,} reports of one survey, counted per second"
    return [*rows, {"name": name, "against": f"{reports // 10:,} reports", "ratio": rate, **counting}]


def _counted(total: int, more: int, in_memory: int = 1 << 20, folder: str | None = None) -> dict[str, float]:
    """Count so many more reports in a process of its own, until the survey has that many in total."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return _counted(total, more, in_memory, made)
    command = [sys.executable, "-m", "evidence.benchmarks.seen", "--count", f"{total} {more} {in_memory}", folder]
    figures: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    print(
        f"    {more:,} of {total:,} reports: {figures['seconds']:.1f} s, {figures['peak_bytes'] / 1e6:,.0f} MB at most",
        file=sys.stderr,
        flush=True,
    )
    return figures


def _count(total: int, more: int, in_memory: int, folder: Path) -> dict[str, float]:
    store = open_store("", folder)
    record = SurveyRecord(SURVEY.id, SURVEY.canonical, bytes(64), SURVEY.title, SURVEY.kind, SURVEY.epsilon, 1, 0)
    store.publish(record, {})
    aggregator = Aggregator(store, "benchmark", ids_in_memory=in_memory, folder=folder)
    rng = np.random.default_rng(total)
    payloads = np.frombuffer(b"".join(SURVEY.mechanism.encode(value) for value in range(1024)), dtype=np.uint8)
    payloads = payloads.reshape(1024, -1)
    seconds = worst = 0.0
    for start in range(0, more, AT_ONCE):
        n = min(AT_ONCE, more - start)
        ids = rng.integers(256, size=(n, 16), dtype=np.uint8)
        rows = np.hstack([ids, payloads[rng.integers(1024, size=n)]])
        store.append([Arrival(SURVEY.id, 1, n, rows.tobytes())])
        began = perf_counter()
        while not aggregator.step():
            pass  # Reading all ids again may outlast the lease; the next step goes on where this one ended.
        took = perf_counter() - began
        seconds, worst = seconds + took, max(worst, took)
    counted = sum(info.n for info in store.segments(SURVEY.id))
    if counted != total:
        raise RuntimeError(f"{counted:,} reports were counted instead of {total:,}")
    store.close()
    return {"reports": total, "seconds": seconds, "worst_step_seconds": worst, "peak_bytes": _peak_bytes()}


def _peak_bytes() -> int:
    """What this process had in memory at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks.seen", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports")
    parser.add_argument("--count", nargs=2, metavar=("NUMBERS", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.count:
        total, more, in_memory = map(int, arguments.count[0].split())
        print(json.dumps(_count(total, more, in_memory, Path(arguments.count[1]))))
    else:
        print(json.dumps(run(REPORTS // 10 if arguments.quick else REPORTS), indent=1))
