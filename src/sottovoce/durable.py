"""Where files are kept, and what a power cut must not undo."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_directory", "sync"]


def sync(path: Path) -> None:
    """Return once a file's content, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cache_directory() -> Path:
    """What can be made again: $XDG_CACHE_HOME/sottovoce, or the same under ~/.cache.

    Raises
    ------
    FileNotFoundError
        If there is no home directory.
    """
    named, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if not os.path.isabs(named) and not os.path.isabs(home):
        raise FileNotFoundError("there is no home directory")
    return (Path(named) if os.path.isabs(named) else Path(home) / ".cache") / "sottovoce"
