"""A general convex solver's side of the hull benchmark: CVXPY with Clarabel, measured in the same run as ours.

It lives in an environment of its own, ``.venv-solvers`` beside ``.venv``; `measure` creates it when it is missing.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from evidence.benchmarks.peers import PeersUnavailable, prepared_environment, run_step

__all__ = ["PeersUnavailable", "Solved", "SolverMeasurements", "measure"]

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parents[1] / ".venv-solvers"
REQUIREMENTS = HERE / "solvers-requirements.txt"
WORKER = HERE / "solvers_worker.py"

Floats = NDArray[np.float64]


class Solved(TypedDict):
    """One projection; `seconds` is the whole call, `solver_seconds` what Clarabel itself reports of it."""

    status: str
    seconds: float
    solver_seconds: float
    gap: float
    values: list[float]


class SolverMeasurements(TypedDict):
    """Everything measured in one run."""

    packages: dict[str, str]
    results: list[Solved]


def measure(matrix: Floats, raws: Floats, repeats: int) -> SolverMeasurements:
    """Project each row of `raws` on the hull of the matrix's columns, now, on this machine; best of `repeats`.

    Raises
    ------
    PeersUnavailable
        The environment could not be made (no package index in reach, say) or the solver failed.
    """
    python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    with tempfile.TemporaryDirectory() as directory:
        problems = Path(directory) / "problems.npz"
        np.savez(problems, matrix=matrix, raws=raws)
        answer = run_step(
            "measuring the solver",
            [str(python), "-I", str(WORKER)],
            hint="its errors are above",
            text=json.dumps({"problems": str(problems), "repeats": repeats}),
            live=True,
        )
    try:
        return msgspec.json.decode(answer, type=SolverMeasurements)
    except msgspec.MsgspecError as error:
        raise PeersUnavailable(f"measuring the solver failed: its answer cannot be read ({error})") from error
