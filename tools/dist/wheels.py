"""Wheels and source distributions of both packages, by the pinned hatchling of the build environment."""

from __future__ import annotations

import re
from pathlib import Path

from tools.dist.meta import lay_out
from tools.dist.processes import output

__all__ = ["build_both", "build_one", "version_of"]


def version_of(source: Path) -> str:
    """The version of a copy of the source, from its one home."""
    text = (source / "src" / "sottovoce" / "core" / "version.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    return version


def build_one(folder: Path, to: Path, tools: Path, time: str) -> None:
    """The wheel and the source distribution of one folder."""
    words = (tools / "bin" / "python", "-m", "hatchling", "build", "--target", "sdist", "--target", "wheel")
    output(*words, "--directory", to.resolve(), within=folder, SOURCE_DATE_EPOCH=time)


def build_both(source: Path, to: Path, tools: Path, time: str) -> None:
    """The code and the meta-package, which is laid out beside the source."""
    build_one(source, to, tools, time)
    meta = source.parent / "meta"
    lay_out(source, meta, version_of(source))
    build_one(meta, to, tools, time)
