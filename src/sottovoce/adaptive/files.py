"""Small files that are there whole or not at all: replaced at once, or created by exactly one of many."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sottovoce.errors import SessionError

__all__ = ["create_text", "is_there", "place_of", "read_for_good", "read_text", "replace_text", "sweep"]


def place_of(path: Any) -> Path:
    """The file a path means, in full, links followed: the same file from every folder and under every name."""
    try:
        return Path(os.fspath(path)).resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        pass
    raise SessionError("the path is not the name of a file: give a text or a pathlib.Path, for example 'session.json'")


def is_there(path: Path) -> bool:
    """Whether there is anything under that name."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be looked at: {_reason(error)}") from error
    return True


def read_text(path: Path) -> str:
    """What a file holds."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be read: {_reason(error)}") from error


def read_for_good(path: Path) -> str:
    """What a file holds, once its name is sure to survive a power cut: whoever made it may not have come so far."""
    text = read_text(path)
    try:
        _sync_folder(path.parent)
    except OSError as error:
        raise SessionError(f"the folder of {path} cannot be written for good: {_reason(error)}") from error
    return text


def replace_text(path: Path, text: str) -> None:
    """Put `text` in place of whatever the file held; after a crash it holds either all of the old or all of the new."""
    with _written_beside(path, text) as written:
        os.replace(written, path)


def create_text(path: Path, text: str) -> str:
    """Create a file, unless somebody else has or does so at the same time; return what it holds in the end.

    Linking a finished file to its name succeeds for exactly one process, and never replaces anything.
    """
    with _written_beside(path, text) as written:
        try:
            os.link(written, path)
        except OSError:
            # Somebody was faster, or has swept up after being faster.
            if not is_there(path):
                raise
            return read_for_good(path)
    return text


def sweep(path: Path) -> None:
    """Remove what crashes have left beside a file that is there for good; who is still writing has lost the race."""
    for left in path.parent.glob(f"{glob.escape(_beside(path))}*"):
        with contextlib.suppress(OSError):
            left.unlink()


def _beside(path: Path) -> str:
    return f".{path.name}."


@contextlib.contextmanager
def _written_beside(path: Path, text: str) -> Iterator[str]:
    """A finished file, on disk for good, in the folder of `path`; for its owner's eyes only."""
    try:
        number, name = tempfile.mkstemp(prefix=_beside(path), dir=path.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            yield name
            _sync_folder(path.parent)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
    except SessionError:
        raise
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be written: {_reason(error)}") from error


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not text, or not a name"
