"""Projects on hulls with CVXPY and Clarabel; runs inside .venv-solvers, started by evidence/benchmarks/solvers.py.

Reads one JSON request on standard input, says on standard error what it is doing, and writes one
JSON answer on standard output. It imports nothing of Sottovoce.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import cvxpy as cp  # type: ignore[import-not-found]
import numpy as np


def project(matrix: Any, raw: Any, repeats: int) -> dict[str, Any]:
    """Minimise ||A x - raw||^2 over distributions x, the problem stated as CVXPY's manual does; best of several."""
    x = cp.Variable(matrix.shape[1], nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(matrix @ x - raw)), [cp.sum(x) == 1])
    seconds, solver_seconds = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        problem.solve(solver=cp.CLARABEL)
        seconds.append(time.perf_counter() - started)
        solver_seconds.append(problem.solver_stats.solve_time)
    # An interior point is a distribution up to the solver's tolerance; this makes it one.
    weights = np.maximum(x.value, 0.0)
    weights /= weights.sum()
    g = matrix.T @ (matrix @ weights - raw)
    return {
        "status": problem.status,
        "seconds": min(seconds),
        "solver_seconds": min(solver_seconds),
        "gap": float(weights @ (g - g.min())),
        "values": (matrix @ weights).tolist(),
    }


def main() -> None:
    request = json.load(sys.stdin)
    problems = np.load(request["problems"])
    matrix = problems["matrix"]
    results = []
    for raw in problems["raws"]:
        print(f"==> CVXPY with Clarabel, {matrix.shape[0]} x {matrix.shape[1]}", file=sys.stderr, flush=True)
        results.append(project(matrix, raw, request["repeats"]))
    packages = {name: version(name) for name in ("cvxpy", "clarabel", "numpy", "scipy")}
    json.dump({"packages": packages, "results": results}, sys.stdout)


if __name__ == "__main__":
    main()
