"""One service for each SQLite folder: two would count, and forget, without knowing of each other.

The system holds the lock on the folder itself. It ends with the process, however that ends, there is no file that
could be left behind or removed, and children do not inherit it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from sottovoce.core.errors import SettingsError

__all__ = ["folder_lock"]


@contextlib.contextmanager
def folder_lock(folder: Path, flag: str = "--data") -> Iterator[None]:
    """Keep other services, and restores, away from a data folder that exists, for the length of the block.

    Counting processes, backups and commands for tokens ask for no lock: they may work beside a service.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SettingsError(_reason(folder, error, flag)) from None
        yield
    finally:
        os.close(descriptor)


def _reason(folder: Path, error: OSError, flag: str) -> str:
    if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
        return (
            f"another service, or a restore, works in the data folder {folder}; stop it first, or choose another "
            f"folder with {flag} (several collectors can share a PostgreSQL database)"
        )
    return (
        f"the data folder {folder} cannot be locked: {error.strerror}; it must be on a local disk, since network file "
        f"systems lack locks that SQLite can trust; choose another with {flag}"
    )
