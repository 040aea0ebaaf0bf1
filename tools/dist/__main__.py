"""Make everything that is handed out, from one commit: `python -m tools.dist`; `make dist` calls it.

The same commit gives the same bytes, in whatever folder, at whatever time and by whomever it is built, with the same
versions of Python, Node and the tools that are pinned.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.dist import sums
from tools.dist.bill import bill_of_materials
from tools.dist.environments import LISTED, install, tools_environment
from tools.dist.npm import pack
from tools.dist.processes import BuildError
from tools.dist.source import commit_time, export
from tools.dist.wheels import build_both, version_of

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m tools.dist", description=__doc__.partition("\n")[0])
    words.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder that is made (dist)")
    words.add_argument("--with-changes", action="store_true", help="for a trial: build the checkout as it is")
    words.add_argument("--tools", type=Path, help="an environment with tools/dist/requirements.txt (.venv-dist)")
    words.add_argument("--environment", type=Path, help="the environment that is listed; made there if it is missing")
    given = words.parse_args()
    # Modes of files get into archives: everybody's are the same.
    os.umask(0o022)
    try:
        made = make(given.to, given.with_changes, given.tools, given.environment)
    except BuildError as error:
        print(f"nothing was built: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(f"    {path.stat().st_size / 1000:9,.1f} kB  {path.name}")
    return 0


def make(to: Path, with_changes: bool, tools: Path | None, environment: Path | None) -> list[Path]:
    """Build in a folder of its own, and put what was made in place when all of it is there."""
    if to.exists() and any(to.iterdir()) and not (to / sums.NAME).exists():
        raise BuildError(f"{to} holds files and no {sums.NAME}: it is not of an earlier build; name another with --to")
    with TemporaryDirectory(prefix="sottovoce-dist-") as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        made.mkdir()
        export(ROOT, source, with_changes)
        time = commit_time(ROOT)
        tools = tools.resolve() if tools else tools_environment(ROOT)
        build_both(source, made, tools, time)
        pack(source, made)
        listed = (environment or Path(folder) / "environment").absolute()
        if not listed.exists():
            install(listed, made, ["sottovoce-core", f"sottovoce[{','.join(LISTED)}]"], source / "constraints.txt")
        bill = bill_of_materials(source, listed / "bin" / "python", tools, time)
        (made / f"sottovoce-{version_of(source)}.cdx.json").write_text(bill, encoding="utf-8")
        (made / sums.NAME).write_text(sums.sums(made), encoding="utf-8")
        if to.exists():
            shutil.rmtree(to)
        shutil.copytree(made, to)
    return sorted(to.iterdir())


if __name__ == "__main__":
    sys.exit(main())
