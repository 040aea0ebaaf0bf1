"""Small files that are replaced atomically, or created by exactly one of several processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sottovoce.core.errors import SessionError
from sottovoce.core.files import create_file, replace_file, sync

__all__ = ["create_text", "exists", "read_durably", "read_text", "replace_text", "resolve_path"]

_MODE: Final = 0o600
"""Readable by the owner only."""


def resolve_path(path: Any) -> Path:
    """The absolute path with links resolved."""
    try:
        return Path(os.fspath(path)).resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        pass
    raise SessionError("path must be a text or a pathlib.Path, for example 'session.json'")


def exists(path: Path) -> bool:
    """Whether the path exists."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be accessed: {_reason(error)}") from error
    return True


def read_text(path: Path) -> str:
    """The content of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be read: {_reason(error)}") from error


def read_durably(path: Path) -> str:
    """The content of a file, after syncing its folder: its creator may not have done so yet."""
    text = read_text(path)
    try:
        sync(path.parent)
    except OSError as error:
        raise SessionError(f"the folder of {path} cannot be synced: {_reason(error)}") from error
    return text


def replace_text(path: Path, text: str) -> None:
    """Replace the content of a file; after a crash it is either the old or the new content."""
    with _written(path):
        replace_file(path, text.encode(), _MODE)


def create_text(path: Path, text: str) -> str:
    """Create a file unless another process has created it; return its content.

    Linking a finished file to its name succeeds for exactly one process, and never replaces anything.
    """
    with _written(path):
        try:
            create_file(path, text.encode(), _MODE)
        except OSError:
            # Another process was faster.
            if not exists(path):
                raise
            return read_durably(path)
    return text


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except SessionError:
        raise
    except (OSError, ValueError) as error:
        raise SessionError(f"{path} cannot be written: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "invalid text or name"
