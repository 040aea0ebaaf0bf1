"""What an install weighs: the bytes of its files, before Python has compiled any of them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["megabytes"]


def megabytes(folder: Path) -> float:
    """Millions of bytes of all files below a folder; links and bytecode do not count."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6
