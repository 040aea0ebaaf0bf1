"""The whole battery: relay and collector killed twenty times in turns under load; nothing lost, nothing twice.

`python -m evidence.benchmarks.relay_kills` runs it; the tests run a few of the kills.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
from pathlib import Path

__all__ = ["KILLS"]

KILLS = 20

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    from relay.killing import kill_in_turns

    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_in_turns(Path(folder), KILLS, lambda: secrets.randbelow(1000) + 100, threads=8)
    print(outcome)
    sys.exit(bool(outcome.lost or outcome.twice or outcome.invented))
