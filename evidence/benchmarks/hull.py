"""The projection on the hull of a workload's columns: beside a convex solver, and in products with the matrix.

Wall clock on both sides, all threads that each wants, the best of several runs one after the other on the same
data. A raw estimate is the truth plus noise, whose length is given as a multiple of a column's: from a few active
columns (much noise, the case that projections are for) to as many as there are queries.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from evidence.benchmarks.solvers import PeersUnavailable, measure
from sottovoce.projections import HullProjection, project_hull

__all__ = ["run"]

NOISES = (10.0, 1.0, 0.1, 0.01)
REPEATS = 5
SOLVER_REPEATS = 2
SOLVER_TARGET = 20.0
PRODUCTS_TARGET = 150.0

Floats = NDArray[np.float64]
Row = dict[str, object]


def run() -> list[Row]:
    """Every comparison, one row each."""
    return [*_against_solver(256, 4_000), *_in_products(1_000, 20_000), *_million_columns()]


def _problem(queries: int, columns: int) -> tuple[Floats, Floats]:
    """A dense workload with columns of length one, and a raw estimate for each noise."""
    rng = np.random.default_rng(queries + columns)
    matrix = rng.normal(size=(queries, columns))
    matrix /= np.linalg.norm(matrix, axis=0)
    frequencies = rng.exponential(size=columns) ** 4
    truth = matrix @ (frequencies / frequencies.sum())
    noise = rng.normal(size=(len(NOISES), queries)) / np.sqrt(queries)
    return matrix, truth + np.array(NOISES)[:, None] * noise


def _against_solver(queries: int, columns: int) -> list[Row]:
    matrix, raws = _problem(queries, columns)
    ours = [_timed(lambda raw=raw: project_hull(matrix, raw)) for raw in raws]  # type: ignore[misc]
    try:
        theirs = measure(matrix, raws, SOLVER_REPEATS)
    except PeersUnavailable as reason:
        return [{"name": "convex solver", "note": f"not measured: {reason}"}]
    rows: list[Row] = []
    for noise, (seconds, found), solved in zip(NOISES, ours, theirs["results"], strict=True):
        ratio = solved["seconds"] / seconds
        common: Row = {
            "name": f"hull projection, d = {queries:,}, J = {columns:,}, noise {noise:g}",
            "seconds": seconds,
            "gap": found.gap,
            "their_gap": solved["gap"],
            "active": len(found.support),
            "steps": found.steps,
            "threads": os.cpu_count(),
        }
        whole = {"ratio": ratio, "against": "CVXPY with Clarabel", "their_seconds": solved["seconds"]}
        met = ratio >= SOLVER_TARGET and found.gap <= solved["gap"]
        rows.append({**common, **whole, "target": f">= {SOLVER_TARGET:g}, smaller gap", "met": met})
        alone = solved["solver_seconds"]
        rows.append({**common, "ratio": alone / seconds, "against": "Clarabel's own time", "their_seconds": alone})
    return rows


def _in_products(queries: int, columns: int) -> list[Row]:
    matrix, raws = _problem(queries, columns)
    rows: list[Row] = []
    for noise, raw in zip(NOISES, raws, strict=True):
        product, _ = _timed(lambda raw=raw: matrix.T @ raw)  # type: ignore[misc]
        seconds, found = _timed(lambda raw=raw: project_hull(matrix, raw))  # type: ignore[misc]
        again, _ = _timed(lambda raw=raw: matrix.T @ raw)  # type: ignore[misc]
        reference = min(product, again)
        rows.append(
            {
                "name": f"hull projection, d = {queries:,}, J = {columns:,}, noise {noise:g}",
                "ratio": seconds / reference,
                "target": f"<= {PRODUCTS_TARGET:g}",
                "met": seconds <= PRODUCTS_TARGET * reference and found.converged,
                "against": "a product with A^T",
                "seconds": seconds,
                "reference_seconds": reference,
                "gap": found.gap,
                "active": len(found.support),
                "steps": found.steps,
            }
        )
    return rows


_MILLION = """
import resource, time, numpy as np
from sottovoce import workloads
from sottovoce.projections import project_hull
tables = workloads.Marginals(k=2, **{f"attribute_{i}": 10 for i in range(6)})
rng = np.random.default_rng(1)
people = rng.exponential(size=10**6) ** 4
truth = tables.matvec(people / people.sum())
noise = rng.normal(size=truth.size) * tables.radius / np.sqrt(truth.size)
project_hull(np.eye(3), np.ones(3))
started = time.perf_counter()
found = project_hull(tables, truth + noise)
seconds = time.perf_counter() - started
started = time.perf_counter()
tables.rmatvec(truth)
product = time.perf_counter() - started
print(seconds, product, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found.gap, found.support.size)
"""


def _million_columns() -> list[Row]:
    """All two-way tables of a million records, none of them stored, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _MILLION], capture_output=True, text=True, check=True)
    seconds, product, peak, gap, active = map(float, done.stdout.split())
    share = peak / (1024 if sys.platform == "darwin" else 1) / 2**21
    name = "hull projection, 15 two-way tables, J = 1,000,000, noise 1"
    common: Row = {"name": name, "seconds": seconds, "gap": gap, "active": int(active)}
    return [
        {**common, "ratio": share, "target": "<= 1", "met": share <= 1, "against": "2 GiB"},
        {**common, "ratio": seconds / product, "against": "a product with A^T", "reference_seconds": product},
    ]


def _timed(task: Callable[[], HullProjection]) -> tuple[float, HullProjection]:
    """The best of several times of a task, once run beforehand to compile, and what it returns."""
    result = task()
    best = float("inf")
    for _ in range(REPEATS):
        started = perf_counter()
        result = task()
        best = min(best, perf_counter() - started)
    return best, result


if __name__ == "__main__":
    for row in run():
        print(row)
