"""Composes a curve with dp-accounting; runs inside .venv-accounting, started by evidence/benchmarks/shuffling.py.

Reads one JSON request on standard input and writes one JSON answer on standard output. It imports nothing of Sottovoce.
"""

from __future__ import annotations

import json
import math
import sys
from importlib.metadata import version

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # type: ignore[import-not-found]

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    step, deltas = asked["step"], asked["deltas"]
    cells = np.arange(1 - len(deltas), len(deltas))
    # Neighbours are symmetric: the curve at -epsilon follows from that at epsilon.
    curve = [deltas[cell] if cell >= 0 else 1 + math.exp(cell * step) * (deltas[-cell] - 1) for cell in cells.tolist()]
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(step, cells, np.array(curve))
    whole = privacy_loss_distribution.PrivacyLossDistribution(pmf)
    found = [whole.self_compose(times).get_epsilon_for_delta(asked["delta"]) for times in asked["times"]]
    json.dump({"version": version("dp-accounting"), "epsilons": found}, sys.stdout)
