"""Asks multi-freq-ldpy for the tables of a form; runs inside .venv-peers, started by evidence/benchmarks/questions.py.

Reads one JSON request on standard input: records, sizes, and runs of [solution, family, variant, epsilon]. Writes the
shares that each run estimates, as JSON, on standard output. It imports nothing of Sottovoce.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def shares(request: dict[str, Any], solution: str, family: str, variant: list[bool], epsilon: float) -> list[float]:
    """Every person's report once, then the package's estimate of all attributes, one after another."""
    module = importlib.import_module(f"multi_freq_ldpy.mdim_freq_est.{solution}_solution")
    sizes = request["sizes"]
    client = getattr(module, f"{family}_Client")
    aggregator = getattr(module, f"{family}_Aggregator_MI")
    reports = [client(record, sizes, len(sizes), epsilon, *variant) for record in request["records"]]
    given = (len(sizes),) if family == "SMP_UE" else (sizes, len(sizes))
    return [float(share) for one in aggregator(reports, *given, epsilon, *variant) for share in one]


def main() -> None:
    request = json.load(sys.stdin)
    found = []
    for run in request["runs"]:
        print(f"    {run[1]}, epsilon {run[3]:.3g}", file=sys.stderr, flush=True)
        found.append([shares(request, *run) for _ in range(request["repeats"])])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
