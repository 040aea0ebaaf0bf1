"""Room on the disk that reports cannot have: with it an operator can seal, revoke and delete when the disk is full.

Half of the reserve is a file. It is given up only by what makes room, so it is there even when another program has
filled the disk to the last byte. The other half must be free for reports to be taken: counting and the write-ahead log
use it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final, final

from sottovoce.core.errors import StoreError

__all__ = ["DEFAULT_RESERVE", "LEAST_FREE", "RESERVE_FILE", "DiskReserve", "is_full"]

RESERVE_FILE: Final = "reserve"
"""A file in the data folder."""

DEFAULT_RESERVE: Final = 2**28
"""Bytes: several times what the largest transaction of a worker writes."""

LEAST_FREE: Final = 4 * 1024 * 1024
"""A disk with less room than this counts as full, whatever the reserve is."""

_LEAST_RESERVE: Final = 2 * LEAST_FREE
_LARGEST_SHARE: Final = 16
"""The reserve takes no more than this part of a disk, so that a small one can be used at all."""


@final
class DiskReserve:
    """The reserve of one folder. Safe to use from several threads and processes.

    Parameters
    ----------
    file
        The file that holds half of it.
    wanted
        Bytes of the file; 0 for no file, and the least that must be free.
    """

    def __init__(self, file: Path, wanted: int):
        self._file = os.fspath(file)  # texts: every report's append looks at both
        self._folder = os.fspath(file.parent)
        disk = os.statvfs(file.parent)
        most = max(disk.f_blocks * disk.f_frsize // _LARGEST_SHARE, _LEAST_RESERVE)
        self.held = min(wanted, most) // 2
        self.least_free = max(self.held, LEAST_FREE)

    def free(self) -> int:
        """Free bytes of the disk."""
        return _free(self._folder)

    def fill(self, spare: int | None = None) -> bool:
        """Whether the file is as long as it must be; if not, it is made so where `spare` bytes stay free besides.

        The default of `spare` is half of what reports need: after a deletion much of their room is in the database.
        """
        present = _length(self._file)
        if present >= self.held:
            return True
        if self.free() < self.held - present + (self.least_free // 2 if spare is None else spare):
            return False
        try:
            descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600)
            try:
                _allocate(descriptor, self.held)
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return False
            raise StoreError(
                f"{self._file} cannot be written: {error.strerror}; it holds room for deletions on a full disk: make "
                "it this user's, or remove it"
            ) from error
        return True

    def give_up(self) -> bool:
        """Empty the file; False when there was nothing in it."""
        if not _length(self._file):
            return False
        os.truncate(self._file, 0)
        return True


def is_full(folder: Path) -> bool:
    """Whether a disk that refuses to write does so because it is full."""
    return _free(folder) < LEAST_FREE


def _free(folder: str | Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def _length(file: str) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0


def _allocate(descriptor: int, size: int) -> None:
    """Blocks of the disk for the whole file: a length alone takes none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    block = bytes(2**20)
    for start in range(0, size, len(block)):
        os.pwrite(descriptor, block[: size - start], start)
