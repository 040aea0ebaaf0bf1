"""Environments: one with the tools that build, and one with what people install, which the bill of materials lists."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from venv import EnvBuilder

from tools.dist.processes import output

__all__ = ["LISTED", "install", "tools_environment"]

LISTED = ("plot", "pandas", "collector", "objects")
"""Extras that the bill of materials covers: all of a service and an analyst. Spark is installed by its cluster."""


def tools_environment(root: Path) -> Path:
    """`.venv-dist` with what tools/dist/requirements.txt pins, made when it is missing or out of date."""
    folder, wanted = root / ".venv-dist", root / "tools" / "dist" / "requirements.txt"
    installed = folder / ".installed"
    if not installed.exists() or installed.read_bytes() != wanted.read_bytes():
        EnvBuilder(with_pip=True, clear=True).create(folder)
        output(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--requirement", wanted, within=root)
        installed.write_bytes(wanted.read_bytes())
    return folder


def install(folder: Path, wheels: Path, packages: Sequence[str], constraints: Path | None = None) -> Path:
    """An empty environment without pip, then the packages from a folder of wheels and from the index; its Python.

    Wheels of the folder are named by their paths: no package of the same name and version elsewhere can stand in.
    """
    EnvBuilder(with_pip=False, symlinks=True).create(folder)
    python = folder / "bin" / "python"
    [code], [meta] = wheels.glob("sottovoce_core-*.whl"), wheels.glob("sottovoce-*.whl")
    paths = {"sottovoce-core": code, "sottovoce": meta}
    named = [f"{package} @ {paths[package.partition('[')[0]].resolve().as_uri()}" for package in packages]
    pinned = ("--constraint", constraints) if constraints else ()
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", *pinned)
    output(*pip, "--disable-pip-version-check", *named, within=folder, PYTHONPATH="")
    return python
