"""Small files that are there whole or not at all: replaced at once, or created by exactly one of many."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sottovoce.durable import create_whole, left_beside, sync, write_whole
from sottovoce.errors import SessionError

__all__ = ["create_text", "is_there", "place_of", "read_for_good", "read_text", "replace_text", "sweep"]

_MODE: Final = 0o600
"""What a session or a seat holds is for its owner's eyes only."""


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
        sync(path.parent)
    except OSError as error:
        raise SessionError(f"the folder of {path} cannot be written for good: {_reason(error)}") from error
    return text


def replace_text(path: Path, text: str) -> None:
    """Put `text` in place of whatever the file held; after a crash it holds either all of the old or all of the new."""
    with _written(path):
        write_whole(path, text.encode(), _MODE)


def create_text(path: Path, text: str) -> str:
    """Create a file, unless somebody else has or does so at the same time; return what it holds in the end.

    Linking a finished file to its name succeeds for exactly one process, and never replaces anything.
    """
    with _written(path):
        try:
            create_whole(path, text.encode(), _MODE)
        except OSError:
            # Somebody was faster, or has swept up after being faster.
            if not is_there(path):
                raise
            return read_for_good(path)
    return text


def sweep(path: Path) -> None:
    """Remove what crashes have left beside a file that is there for good; who is still writing has lost the race."""
    for left in left_beside(path):
        with contextlib.suppress(OSError):
            left.unlink()


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except SessionError:
        raise
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be written: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not text, or not a name"
