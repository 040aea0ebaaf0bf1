"""Measure what each install weighs, and write the table of docs/install.md: `python tools/make_install_table.py dist`.

The argument is a folder that `make dist` has made. Every install goes into an empty environment, at the versions of
constraints.txt. The figures are kept in docs/weights.json; a test compares the table with them, and another weighs the
device install again.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGE, MEASURED = ROOT / "docs" / "install.md", ROOT / "docs" / "weights.json"
HEAD = ["| install | for | weighs |", "|---|---|---:|"]

INSTALLS = {
    "sottovoce-core": "a device in Python: `randomize`, `Device`, `sottovoce answer`, `ledger`, `survey show`",
    "sottovoce": "an analyst: plans, simulations, estimates, audits, surveys on a collector",
    "sottovoce[plot,pandas]": "the same with pictures and data frames, as in notebooks",
    "sottovoce[collector]": "the service, its pages and the relay",
    "sottovoce[spark]": "counting on Spark, which also needs Java 17",
}
"""What can be installed, and for whom."""


def measure(dist: Path) -> dict[str, float]:
    """Megabytes of every install, each in an environment of its own."""
    sys.path.insert(0, str(ROOT))
    from tools.dist.environments import install
    from tools.weight import megabytes

    found = {}
    for name in INSTALLS:
        with TemporaryDirectory() as folder:
            needed = ["sottovoce-core"] if name == "sottovoce-core" else ["sottovoce-core", name]
            install(Path(folder) / "environment", dist, needed, ROOT / "constraints.txt")
            found[name] = round(megabytes(Path(folder)), 1)
    return found


def table(weights: dict[str, float]) -> str:
    """The rows of the page.

    Examples
    --------
    >>> print(table({"sottovoce-core": 85.14}).splitlines()[2])
    | `pip install sottovoce-core` | a device in Python: ... | 85 MB |
    """
    rows = []
    for name, weight in weights.items():
        quoted = f"'{name}'" if "[" in name else name
        rows.append(f"| `pip install {quoted}` | {INSTALLS[name]} | {weight:.0f} MB |")
    return "\n".join([*HEAD, *rows])


def with_table(page: str, made: str) -> str:
    """The page with that table in the place of the one it has."""
    before, head, rest = page.partition(HEAD[0])
    if not head:
        raise ValueError(f"{PAGE.name} has no table that begins with {HEAD[0]}")
    return before + made + "\n\n" + rest.partition("\n\n")[2]


if __name__ == "__main__":
    weights = measure(Path(sys.argv[1]))
    made = {"Python": platform.python_version(), "system": f"{platform.system()} on {platform.machine()}"}
    MEASURED.write_text(json.dumps({"made": made, "megabytes": weights}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(weights)), encoding="utf-8")
