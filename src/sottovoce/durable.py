"""What a power cut must not undo."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["sync"]


def sync(path: Path) -> None:
    """Return once a file's content, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
