"""A package that lies outside the tree: a mechanism, a strategy and a question, each as its page shows it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from document import ROOT, python_code

__all__ = ["ENTRY_POINTS", "put_on_path", "write_package"]

NAME = "outside_kinds"

FILES = {
    "lazy_response": "adding_a_mechanism.md",
    "merged": "adding_a_strategy.md",
    "reaching": "adding_a_question.md",
}
"""Modules of the package, and the page whose first module each is: these files are all that a kind needs."""

ENTRY_POINTS = f"""
[sottovoce.mechanisms]
lazy_response = {NAME}.lazy_response:LazyResponse

[sottovoce.strategies]
merged = {NAME}.merged:Merged

[sottovoce.questions]
reaching = {NAME}.reaching:Reaching
"""


def write_package(folder: Path, entry_points: str = ENTRY_POINTS) -> Path:
    """An installed distribution in a folder of its own, which is put on the path of whoever has it."""
    site = folder / "site"
    package, info = site / NAME, site / f"{NAME}-1.0.dist-info"
    package.mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("")
    for module, page in FILES.items():
        (package / f"{module}.py").write_text(python_code(ROOT / "docs" / "contributors" / page)[0], encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return site


@contextmanager
def put_on_path(site: Path) -> Iterator[None]:
    """For this process, and for those that it starts."""
    before = os.environ.get("PYTHONPATH", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(site), before))))
        for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
            patch.delitem(sys.modules, name)
        yield
        for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
            patch.delitem(sys.modules, name)
