"""Where files are kept; files that are there whole or not at all; and what a power cut must not undo."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["beside", "cache_directory", "create_whole", "left_beside", "move_into_place", "sync", "write_whole"]


@contextlib.contextmanager
def beside(place: Path, mode: int = 0o666) -> Iterator[Path]:
    """A new, empty file in the folder of `place`, to be written and moved or linked there; gone after the block.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder, "answer")
    ...     with beside(place) as part:
    ...         _ = part.write_text("42")
    ...         move_into_place(part, place)
    ...     place.read_text(), len(os.listdir(folder))
    ('42', 1)
    """
    part = place.with_name(f"{_prefix(place)}{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield part
    finally:
        part.unlink(missing_ok=True)


def left_beside(place: Path) -> list[Path]:
    """What crashes have left of `beside`, and what is being written now."""
    name = re.compile(re.escape(_prefix(place)) + r"[0-9a-f]{16}\.part")
    return [file for file in place.parent.iterdir() if name.fullmatch(file.name)]


def move_into_place(part: Path, place: Path) -> None:
    """For good: after a crash the place holds all of this or all of what it held before."""
    sync(part)
    os.replace(part, place)
    sync(place.parent)


def write_whole(place: Path, content: bytes, mode: int = 0o666) -> None:
    """Put `content` in place of whatever the file held, whole and for good."""
    with beside(place, mode) as part:
        part.write_bytes(content)
        move_into_place(part, place)


def create_whole(place: Path, content: bytes, mode: int = 0o666) -> None:
    """A new file, whole and for good; raises `FileExistsError` where there is one, for all but one of many who try.

    A link, unlike a move, never replaces what is there.
    """
    with beside(place, mode) as part:
        part.write_bytes(content)
        sync(part)
        os.link(part, place)
    sync(place.parent)


def sync(path: Path) -> None:
    """Return once a file's content, or the names in a folder, are on the disk."""
    if os.name != "posix" and path.is_dir():
        return  # folders can be opened nowhere else
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


def _prefix(place: Path) -> str:
    return f".{place.name}."
