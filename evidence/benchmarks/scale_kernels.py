"""How near to the machine counting, folding, decoding and simulating are, at the sizes of large surveys.

The clock is the processor's: what all cores spent together, divided by their number, which is what a clock on the
wall shows where nobody else uses them and the work is shared evenly. A reference that one core does is its own
processor time. What the wall showed is kept beside it, as `wall_seconds`.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.kernels.rotations import fold_counts
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.hadamard import Hadamard

__all__ = ["run"]

Row = dict[str, object]

REPORTS = 10**8
COUNTING_TARGETS = {1 << 11: 1 / 3, 1 << 20: 1 / 10}
FOLDED = 20_000_000
YARDSTICK = Path(__file__).parent / "native" / "decode.cpp"


def run() -> list[Row]:
    """One row a comparison."""
    counting = [_counting(outputs, target) for outputs, target in COUNTING_TARGETS.items()]
    return [*counting, _folding(), *_decoding(), _distribution(), _queries()]


def _counting(outputs: int, target: float) -> Row:
    """Checking and counting encoded reports, beside one core's adding up of the same bytes."""
    mechanism = Hadamard(outputs - 1, 1.0)
    rows = _encoded(mechanism, REPORTS)
    counts = mechanism.empty()
    reading = _best(lambda: _sum_of_bytes(rows.reshape(-1)), clock=thread_time)[0]
    seconds, wall = _best(lambda: mechanism.count_encoded(counts, rows))
    ratio = reading / seconds
    return {
        "name": f"counting {REPORTS:.0e} encoded reports, K = {outputs:,}",
        "ratio": ratio,
        "against": "the rate at which one core reads the same bytes",
        "target": f">= {target:.3g}",
        "met": ratio >= target,
        "seconds": seconds,
        "wall_seconds": wall,
        "reference_seconds": reading,
    }


def _encoded(mechanism: Hadamard, n: int) -> NDArray[np.uint8]:
    """Reports of people whose values are uniform: they are uniform themselves."""
    rows = np.empty((n, mechanism.report_bytes), dtype=np.uint8)
    rng = np.random.default_rng(1)
    for first in range(0, n, 1 << 20):
        part = rows[first : first + (1 << 20)]
        part[:] = mechanism.codec.encode_many(rng.integers(0, mechanism.cells, size=len(part)))
    return rows


@njit(nogil=True)
def _sum_of_bytes(every):  # type: ignore[no-untyped-def]
    total = np.uint64(0)
    for i in range(every.shape[0]):
        total += np.uint64(every[i])
    return total


def _folding() -> Row:
    mechanism = Codebook.best(1023, 1.0, 1.0, 0.0, FOLDED)
    counts = np.random.default_rng(1).poisson(FOLDED / mechanism.cells, size=(mechanism.rotations, mechanism.size))
    counts[:, ::2] *= -1
    seconds, wall = _best(lambda: fold_counts(counts, mechanism.key, mechanism.layers))
    rate = FOLDED / seconds
    return {
        "name": "codebook folding, reports/s, D = 1,024, epsilon = 1",
        "ratio": rate / 30e6,
        "against": "30 million a second",
        "target": ">= 1",
        "met": rate >= 30e6,
        "seconds": seconds,
        "wall_seconds": wall,
    }


def _decoding() -> list[Row]:
    """From a million encoded reports over a million values to a distribution: counted, transformed, projected."""
    survey = sv.Survey(sv.shares(10**6), epsilon=1.0, mechanism="hadamard")
    mechanism: Any = survey.mechanism
    rows = mechanism.codec.encode_many(mechanism.randomize_many(np.arange(10**6), np.random.default_rng(2)))
    rows = np.ascontiguousarray(rows)

    def decode() -> None:
        counts = mechanism.empty()
        mechanism.count_encoded(counts, rows)
        survey.estimate(sv.Aggregate.owning(survey, len(rows), counts))

    seconds, wall = _best(decode)
    row: Row = {
        "name": "decoding a distribution, n = J = 1e6",
        "ratio": seconds / 0.08,
        "against": "80 ms",
        "target": "<= 1",
        "met": seconds <= 0.08,
        "seconds": seconds,
        "wall_seconds": wall,
    }
    theirs = _plain_decoding(rows)
    if theirs is None:
        return [row, {"name": "plain C++", "note": "not measured: there is no g++"}]
    ratio = theirs / seconds
    against = "plain C++ -O2 on one core, without the projection"
    return [
        row,
        {
            "name": row["name"],
            "ratio": ratio,
            "against": against,
            "target": ">= 4",
            "met": ratio >= 4,
            "seconds": seconds,
            "reference_seconds": theirs,
        },
    ]


def _plain_decoding(rows: NDArray[np.uint8]) -> float | None:
    """Processor seconds of the yardstick's counting and transform."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program, reports = Path(folder) / "decode", Path(folder) / "reports"
        subprocess.run([compiler, "-O2", "-o", program, YARDSTICK], check=True)
        rows.tofile(reports)
        done = subprocess.run([program, reports], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def _distribution() -> Row:
    """A billion people, a million values: drawn, randomized, counted, estimated, projected."""
    survey = sv.Survey(sv.shares(10**6), epsilon=1.0, mechanism="hadamard")

    def simulate(each: int) -> None:
        survey.estimate(survey.simulate_aggregate(histogram=np.full(10**6, each), seed=1))

    return _survey_row("simulated survey of 1e9 people, J = 1e6", simulate, people_each=1000, limit=60)


def _queries() -> Row:
    """Ten million people, a thousand queries by the codebook; memory is that of the counts."""
    survey = sv.Survey(
        sv.queries(sv.workloads.Prefix(1000)), epsilon=1.0, mechanism="codebook", strategy="direct", people=10**7
    )

    def simulate(each: int) -> None:
        survey.estimate(survey.simulate_aggregate(histogram=np.full(1000, each), seed=1))

    return _survey_row("simulated survey of 1e7 people, 1,000 codebook queries", simulate, 10_000, limit=180)


def _survey_row(name: str, simulate: Callable[[int], None], people_each: int, limit: float) -> Row:
    simulate(1)
    started, spent = perf_counter(), process_time()
    simulate(people_each)
    seconds, wall = (process_time() - spent) / _cores(), perf_counter() - started
    unit = 1024 if sys.platform == "darwin" else 1
    return {
        "name": name,
        "ratio": seconds / limit,
        "against": f"{limit:g} seconds",
        "target": "<= 1",
        "met": seconds <= limit,
        "seconds": seconds,
        "wall_seconds": wall,
        "peak_gib_so_far": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 2**20,
    }


def _best(work: Callable[[], object], clock: Callable[[], float] = process_time) -> tuple[float, float]:
    """Least processor time, per core, and least time on the wall, of seven runs after one to compile."""
    work()
    cores = 1 if clock is thread_time else _cores()
    spent, passed = [], []
    for _ in range(7):
        began, started = perf_counter(), clock()
        work()
        spent.append((clock() - started) / cores)
        passed.append(perf_counter() - began)
    return min(spent), min(passed)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    for found in run():
        print(found)
