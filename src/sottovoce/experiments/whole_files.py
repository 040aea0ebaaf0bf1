"""Files at the end of long work: refused before it where they could not be written, and never left by halves."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from sottovoce.durable import beside, move_into_place
from sottovoce.errors import SimulationError

__all__ = ["check_file", "check_folder", "write_file"]


def check_file(path: Path, what: str) -> None:
    """Refuse a file that could not be written; nothing is left behind either way.

    Examples
    --------
    >>> check_file(Path("no", "such", "folder", "page.html"), "page")
    Traceback (most recent call last):
    sottovoce.errors.SimulationError: there is no directory 'no/such/folder' for the page; make it, or name another
    """
    with _told(path):
        if path.is_dir():
            raise SimulationError(f"{str(path)!r} is a directory; name a file in it for the {what}")
        if not path.parent.is_dir():
            folder = str(path.parent)
            raise SimulationError(f"there is no directory {folder!r} for the {what}; make it, or name another")
        place = path.resolve()
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "it is there and may not be changed")
        if _replaceable(place):
            _try_writing_in(place.parent)


def check_folder(path: Path, what: str) -> None:
    """Refuse a folder that could not be made or written in; it is not made yet."""
    with _told(path):
        there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
        if not there.is_dir():
            raise SimulationError(f"{str(there)!r} is a file, and the {what} need a directory; name another")
        _try_writing_in(there)


def write_file(path: Path, content: bytes | str) -> Path:
    """Write the file beside its place and then move it there: whoever looks sees all of it or what was there before.

    Raises
    ------
    SimulationError
        If it cannot be written, a full disk say; nothing is left behind.
    """
    data = content.encode() if isinstance(content, str) else content
    with _told(path):
        place = path.resolve()
        if not _replaceable(place):
            place.write_bytes(data)
            return path
        with beside(place) as part:
            part.write_bytes(data)
            if place.exists():
                shutil.copymode(place, part)
            move_into_place(part, place)
    return path


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    problem = ""
    try:
        yield
    except OSError as error:
        problem = error.strerror or "nobody says why"
    if problem:
        raise SimulationError(f"{str(path)!r} cannot be written: {problem}; name another place")


def _replaceable(place: Path) -> bool:
    """Whether a new file may take its place: a device or a pipe stays what it is and takes what it is given."""
    return place.is_file() or not place.exists()


def _try_writing_in(folder: Path) -> None:
    with beside(folder / "sottovoce"):
        pass
