"""The file of a device's store: its identity, its single name and its permissions."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final, TypeAlias

from sottovoce.core.errors import LedgerError
from sottovoce.core.files import leftover_parts

__all__ = ["Identity", "identify", "make_private"]

Identity: TypeAlias = tuple[int, int]
"""Device and inode number of a file, independent of its name."""

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def identify(path: Path) -> Identity:
    """The file's identity; raises `LedgerError` if it has a second name.

    SQLite finds the journal of an interrupted transaction by the file's name: under another name it would be missed.
    """
    found = path.stat()
    if found.st_nlink > 1:
        _remove_leftover_names(path)
        found = path.stat()
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise LedgerError(
            f"the device's store {path} has {found.st_nlink} names (hard links), and nothing is answered: keep one "
            "name and remove the others; use a symbolic link instead"
        )
    return found.st_dev, found.st_ino


def make_private(path: Path) -> None:
    """Remove the permissions of everybody but the owner; raises `OSError` if that is not possible."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) and mode & _OTHERS:
        path.chmod(_OWNER_ONLY)


def _remove_leftover_names(path: Path) -> None:
    """Remove the temporary name of a store whose creation was interrupted."""
    for part in leftover_parts(path):
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(part, path):
                part.unlink()
