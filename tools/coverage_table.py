"""Prints what `coverage json` found: the files below the threshold, and the figures of the whole."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def share(done: int, whole: int) -> str:
    """A share as a percentage, rounded down: 95.0 is not said of 94.99."""
    return f"{done * 1000 // whole / 10:.1f} %" if whole else "-"


def row(name: str, found: dict[str, Any]) -> str:
    """One line: a file, its lines, its branches, both together."""
    lines = found["covered_lines"], found["num_statements"]
    branches = found["covered_branches"], found["num_branches"]
    both = lines[0] + branches[0], lines[1] + branches[1]
    return f"{name:<58} {share(*lines):>8} {share(*branches):>8} {share(*both):>8}"


def by_share(item: tuple[str, dict[str, Any]]) -> float:
    """The lowest first."""
    return float(item[1]["percent_covered"])


def main(figures: Path) -> None:
    """Print the table."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    threshold = settings["tool"]["coverage"]["report"]["fail_under"]
    found = json.loads(figures.read_text(encoding="utf-8"))
    files = {name: entry["summary"] for name, entry in found["files"].items()}
    low = {name: entry for name, entry in files.items() if entry["percent_covered"] < threshold}
    title = f"below {threshold} %" if low else f"every file reaches {threshold} %"
    table = [f"{title:<58} {'lines':>8} {'branches':>8} {'both':>8}"]
    table += [row(name.removeprefix("src/"), entry) for name, entry in sorted(low.items(), key=by_share)]
    table += [row(f"all {len(files)} files", found["totals"]), ""]
    sys.stdout.write("\n".join(table))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
