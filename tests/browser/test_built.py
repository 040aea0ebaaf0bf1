"""The pages in the package are those that their source makes, byte for byte; nobody needs Node to have them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from browser.setting import PAGES, ROOT

SHIPPED = ROOT / "src" / "sottovoce" / "collector" / "pages" / "assets"


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def different(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    """Names of files that are not the same in both."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def test_shipped_pages_are_built_from_their_source(tmp_path: Path) -> None:
    done = subprocess.run(
        ["node", "build.mjs", str(tmp_path / "assets")], cwd=PAGES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    built, shipped = files(tmp_path / "assets"), files(SHIPPED)
    assert {"survey.html", "survey.js", "survey.css", "dashboard.html", "dashboard.js", "dashboard.css"} <= set(built)
    assert different(built, shipped) == set(), "run `npm run build` in clients/pages"
