"""SHA256SUMS, as `sha256sum --check` reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["NAME", "sums"]

NAME = "SHA256SUMS"


def sums(folder: Path) -> str:
    """A line for every file of the folder, in the order of their names."""
    files = sorted(path for path in folder.iterdir() if path.name != NAME)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
