"""Packages that bring a mechanism: installed distributions, made in a folder that is put on the path."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from document import ROOT, python_code

__all__ = ["LAZY", "install"]

LAZY = python_code(ROOT / "docs" / "contributors" / "adding_a_mechanism.md")[0]
"""The module that the page on adding a mechanism shows."""

_numbers = itertools.count(100)


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str = LAZY,
    name: str = "lazy_response",
    attribute: str = "LazyResponse",
) -> str:
    """Install a distribution with an entry point for a mechanism; returns the name of its module."""
    module = f"brings_a_mechanism_{next(_numbers)}"
    site = folder / f"site_{module}"
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sottovoce.mechanisms]\n{name} = {module}:{attribute}\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, module, raising=False)
    return module
