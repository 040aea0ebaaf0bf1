"""Files that are there whole or not at all: replaced or created in one step, and durable when the call returns."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from sottovoce.core.errors import SimulationError, SottovoceError

__all__ = [
    "cache_directory",
    "check_file",
    "check_folder",
    "create_file",
    "creating",
    "leftover_parts",
    "replace_file",
    "replacing",
    "sync",
    "write_errors",
    "write_file",
]


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """A new file to write, which replaces whatever `path` held when the block ends without an error.

    After a crash `path` holds all of the new content or all of the old.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "answer")
    ...     with replacing(path) as part:
    ...         _ = part.write_text("42")
    ...     path.read_text(), len(os.listdir(folder))
    ('42', 1)
    """
    with _part(path, mode) as part:
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.parent)


@contextlib.contextmanager
def creating(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """A new file to write, which becomes `path` when the block ends without an error.

    Raises `FileExistsError` if `path` exists by then: one of several writers succeeds. (A link, unlike a rename,
    never replaces a file.)
    """
    with _part(path, mode) as part:
        yield part
        sync(part)
        os.link(part, path)
    sync(path.parent)


@contextlib.contextmanager
def _part(path: Path, mode: int) -> Iterator[Path]:
    part = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield part
    finally:
        part.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    return f".{path.name}."


def leftover_parts(path: Path) -> list[Path]:
    """Unfinished files for `path`: those that crashes have left, and those that are being written now."""
    name = re.compile(re.escape(_prefix(path)) + r"[0-9a-f]{16}\.part")
    return [file for file in path.parent.iterdir() if name.fullmatch(file.name)]


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Replace whatever the file held, whole and durably."""
    with replacing(path, mode) as part:
        part.write_bytes(content)


def create_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Create the file, whole and durably; raises `FileExistsError` if there is one."""
    with creating(path, mode) as part:
        part.write_bytes(content)


def sync(path: Path) -> None:
    """Return once a file's content, or the names in a folder, are on the disk."""
    if os.name != "posix" and path.is_dir():
        return  # folders can be opened on POSIX systems only
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cache_directory() -> Path:
    """Where files go that can be computed again: $XDG_CACHE_HOME/sottovoce, or the same under ~/.cache.

    Raises
    ------
    FileNotFoundError
        If there is no home directory.
    """
    named, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if not os.path.isabs(named) and not os.path.isabs(home):
        raise FileNotFoundError("there is no home directory")
    return (Path(named) if os.path.isabs(named) else Path(home) / ".cache") / "sottovoce"


@contextlib.contextmanager
def write_errors(path: object, kind: type[SottovoceError], remedy: str) -> Iterator[None]:
    """Turn an `OSError` of the block into one of this package's errors, with what to do about it."""
    try:
        yield
    except OSError as error:
        if isinstance(error, SottovoceError):
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise kind(f"{path} cannot be written: {reason}; {remedy}") from error


# --- results that a user asked for --------------------------------------------------------------


def check_file(path: Path, what: str) -> None:
    """Refuse a file that could not be written, before the work that leads to it; leaves nothing behind.

    Examples
    --------
    >>> check_file(Path("no", "such", "folder", "page.html"), "page")
    Traceback (most recent call last):
    sottovoce.core.errors.SimulationError: there is no directory 'no/such/folder' for the page; make it, or name another
    """
    with _result_errors(path):
        if path.is_dir():
            raise SimulationError(f"{str(path)!r} is a directory; name a file in it for the {what}")
        if not path.parent.is_dir():
            folder = str(path.parent)
            raise SimulationError(f"there is no directory {folder!r} for the {what}; make it, or name another")
        target = path.resolve()
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it exists and is not writable")
        if _replaceable(target):
            _try_writing_in(target.parent)


def check_folder(path: Path, what: str) -> None:
    """Refuse a folder that could not be made or written to; it is not made yet."""
    with _result_errors(path):
        existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
        if not existing.is_dir():
            raise SimulationError(f"{str(existing)!r} is a file, and the {what} need a directory; name another")
        _try_writing_in(existing)


def write_file(path: Path, content: bytes | str) -> Path:
    """Replace the file that `path` leads to, whole; links and permissions stay, and devices and pipes are written to.

    Raises
    ------
    SimulationError
        If it cannot be written, for instance on a full disk; nothing is left behind.
    """
    data = content.encode() if isinstance(content, str) else content
    with _result_errors(path):
        target = path.resolve()
        if not _replaceable(target):
            target.write_bytes(data)
            return path
        with replacing(target) as part:
            part.write_bytes(data)
            if target.exists():
                shutil.copymode(target, part)
    return path


def _result_errors(path: Path) -> contextlib.AbstractContextManager[None]:
    return write_errors(repr(str(path)), SimulationError, "name another place")


def _replaceable(path: Path) -> bool:
    return path.is_file() or not path.exists()


def _try_writing_in(folder: Path) -> None:
    with _part(folder / "sottovoce", 0o666):
        pass
