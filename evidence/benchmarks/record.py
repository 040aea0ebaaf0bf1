"""What `make bench` keeps: the latest figure of every row, whichever run it is from, and where it was taken."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from sottovoce.core.files import write_file

__all__ = ["Row", "key", "machine", "merged", "rows_in", "save"]

Row = dict[str, object]

ROOT = Path(__file__).resolve().parents[2]


def key(row: Row) -> tuple[str, str]:
    """What makes it the same row as in another run."""
    return str(row["name"]), str(row.get("against", ""))


def rows_in(path: Path) -> list[Row]:
    """Those of the last run that wrote the file; none where it is missing or no such file."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return [row for row in rows if "name" in row]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        print(f"{path.name} cannot be read ({type(error).__name__}): there is no last run to show", file=sys.stderr)
        return []


def merged(before: Iterable[Row], now: Iterable[Row]) -> list[Row]:
    """Every row once: the new one where there is one. A note that nothing was measured takes no figure's place.

    Examples
    --------
    >>> before = [{"name": "a", "against": "b", "ratio": 2}, {"name": "c", "against": "d", "ratio": 3}]
    >>> merged(before, [{"name": "a", "against": "b", "ratio": 4}, {"name": "c", "note": "not measured"}])
    [{'name': 'a', 'against': 'b', 'ratio': 4}, {'name': 'c', 'against': 'd', 'ratio': 3}]
    """
    rows = {key(row): row for row in before if "ratio" in row}
    rows.update((key(row), row) for row in now if "ratio" in row)
    return list(rows.values())


def save(path: Path, rows: Iterable[Row], on: Row) -> None:
    """Write the file whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    write_file(path, (json.dumps({"machine": on, "rows": list(rows)}, indent=1) + "\n").encode())


def machine() -> Row:
    """Where, when and with what a run is made."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _said_by("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


def _cpu() -> str:
    lines = _said_by("lscpu").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("Model name"))
    return next(named, "") or platform.processor()


def _said_by(*command: str) -> str:
    """What a program prints; nothing where it is missing or fails."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
    )
    return done.stdout.strip() if done.returncode == 0 else ""
