"""The file behind a device's store: its one name, which file that is, and who may read it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final, TypeAlias

from sottovoce.durable import left_beside
from sottovoce.errors import LedgerError

__all__ = ["Identity", "identify", "make_private"]

Identity: TypeAlias = tuple[int, int]
"""Device and number of a file, which it keeps as long as it exists, whatever it is called."""

_OWNER_ONLY: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def identify(path: Path) -> Identity:
    """Which file this is; raises `LedgerError` where it has a second name.

    SQLite finds a transaction that was interrupted by the file's name: under another one it would not be undone.
    """
    found = path.stat()
    if found.st_nlink > 1:
        _forget_beside(path)
        found = path.stat()
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise LedgerError(
            f"the device's store {path} has {found.st_nlink} names (hard links), and nothing is answered: keep one "
            "name and remove the others; a symbolic link may stand for it instead"
        )
    return found.st_dev, found.st_ino


def make_private(path: Path) -> None:
    """Take from everybody but the owner what they may do with the file; where that cannot be done, an `OSError`."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) and mode & _OTHERS:
        path.chmod(_OWNER_ONLY)


def _forget_beside(path: Path) -> None:
    """Remove the name under which the store was made, if that was interrupted, or is just being done."""
    for part in left_beside(path):
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(part, path):
                part.unlink()
