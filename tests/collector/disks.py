"""Small file systems of a test's own, to be filled to the last byte."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


def free_bytes(folder: Path) -> int:
    """What this user may still write there."""
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize


def fill(folder: Path, name: str = "ballast", leave: int = 0) -> Path:
    """A file that takes all the room there is, or all but a few bytes."""
    file = folder / name
    with file.open("wb", buffering=0) as target:
        while (room := free_bytes(folder) - leave) > 0:
            target.write(bytes(room))
    return file


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path | None]:
    """A file system of a few megabytes, where this user may make one; None elsewhere."""
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "sottovoce-test", str(folder)]
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
