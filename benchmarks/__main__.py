"""`make bench`: every benchmark in one run, as ratios, in one table; JSON beside it.

Absolute times say more about the machine than about the code, so what counts is the ratio to
something measured in the same run: a peer, a copy of the same memory, a limit.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

MODULES = (
    "transforms",
    "scale_kernels",
    "scale_files",
    "scale_spark",
    "simulation",
    "codebook",
    "hull",
    "adaptive",
    "heavy_hitters",
    "collector",
    "browser",
)
RESULTS = Path(__file__).parent / "results" / "latest.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], help="which to run (default: all)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args()
    before = _rows_of(RESULTS)
    rows = []
    for name in arguments.modules or MODULES:
        print(f"==> {name}", file=sys.stderr)
        rows += importlib.import_module(f"benchmarks.{name}").run()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"machine": _machine(), "rows": rows}, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        Console().print(_table(rows, before))
    missed = [row["name"] for row in rows if row.get("met") is False]
    if missed:
        print(f"missed: {'; '.join(map(str, missed))}", file=sys.stderr)
    return 0


def _machine() -> dict[str, object]:
    return {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}


def _rows_of(path: Path) -> dict[tuple[str, str], float]:
    if not path.exists():
        return {}
    rows = json.loads(path.read_text())["rows"]
    return {(row["name"], row["against"]): row["ratio"] for row in rows if "ratio" in row}


def _table(rows: list[dict[str, object]], before: dict[tuple[str, str], float]) -> Table:
    table = Table(title="benchmarks, as ratios measured in one run", title_justify="left")
    for column, justify in (("what", "left"), ("against", "left"), ("ratio", "right"), ("last run", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_column("target", justify="right")
    for row in rows:
        if "ratio" not in row:
            table.add_row(str(row["name"]), str(row.get("note", "")), "", "", "")
            continue
        last = before.get((str(row["name"]), str(row["against"])))
        goal = f"{row['target']} {'met' if row['met'] else 'MISSED'}" if "target" in row else ""
        shown = f"{last:.3g}" if last is not None else ""
        table.add_row(str(row["name"]), str(row["against"]), f"{row['ratio']:.3g}", shown, goal)
    return table


if __name__ == "__main__":
    sys.exit(main())
