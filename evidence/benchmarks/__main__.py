"""`make bench`: every benchmark in one run, as ratios, in one table; JSON beside it.

Absolute times say more about the machine than about the code, so what counts is the ratio to
something measured in the same run: a peer, a copy of the same memory, a limit. What is beside it is
the last figure of the same row, whichever run that was. A benchmark that fails does not stop the
others, and the exit status is 1; a target that is missed is told and leaves it 0, because a busy
machine misses some.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evidence.benchmarks.record import Row, key, machine, merged, rows_in, save

MODULES = (
    "startup",
    "transforms",
    "scale_kernels",
    "scale_files",
    "scale_spark",
    "stream_spark",
    "simulation",
    "codebook",
    "hull",
    "adaptive",
    "heavy_hitters",
    "words",
    "words_peers",
    "words_statistics",
    "questions",
    "tracking_statistics",
    "shuffling",
    "collector",
    "tracking_collector",
    "relay",
    "seen",
    "backup",
    "browser",
)
RESULTS = Path(__file__).parent / "results" / "latest.json"


def main(words: Sequence[str] | None = None, results: Path = RESULTS) -> int:
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help=f"which to run: {', '.join(MODULES)} (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.modules if name not in MODULES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; choose among {', '.join(MODULES)}")
    before = rows_in(results)
    last = {key(row): row["ratio"] for row in before if "ratio" in row}
    on = machine()
    rows: list[Row] = []
    failed = []
    for name in arguments.modules or MODULES:
        print(f"==> {name}", file=sys.stderr, flush=True)
        try:
            found = importlib.import_module(f"evidence.benchmarks.{name}").run()
        except Exception as error:  # the other benchmarks are still worth having
            traceback.print_exc()
            failed.append(name)
            rows.append({"name": name, "note": f"FAILED: {type(error).__name__}, told above"})
            continue
        taken = {"date": on["date"], "commit": on["commit"]}
        rows += [{**row, "last_ratio": last.get(key(row)), "run": taken} if "ratio" in row else row for row in found]
        save(results, merged(before, rows), on)
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        Console().print(_table(rows, on))
    missed = [f"{row['name']} ({row['against']})" for row in rows if row.get("met") is False]
    if missed:
        print(f"MISSED {len(missed)} of the targets: {'; '.join(missed)}", file=sys.stderr)
    if failed:
        print(f"FAILED: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _table(rows: Sequence[Row], on: Row) -> Table:
    where = f"{on['cores']} cores, {on['cpu'] or on['machine']}, Python {on['python']}, {on['commit']}, {on['date']}"
    table = Table(title="benchmarks, as ratios measured in one run", title_justify="left", caption=escape(where))
    for column, justify in (("what", "left"), ("against", "left"), ("ratio", "right"), ("last run", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_column("target", justify="right")
    for row in rows:
        name = escape(str(row["name"]))
        if "ratio" not in row:
            table.add_row(name, escape(str(row.get("note", ""))), "", "", "")
            continue
        goal = f"{row['target']} {'met' if row['met'] else '[bold red]MISSED[/]'}" if "target" in row else ""
        last = "" if row["last_ratio"] is None else f"{row['last_ratio']:.3g}"
        table.add_row(name, escape(str(row["against"])), f"{row['ratio']:.3g}", last, goal)
    return table


if __name__ == "__main__":
    sys.exit(main())
