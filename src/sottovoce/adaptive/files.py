"""Small files that are there whole or not at all: replaced at once, or created by exactly one of many."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sottovoce.errors import SessionError

__all__ = ["create_text", "read_text", "replace_text"]


def read_text(path: Path) -> str:
    """What a file holds."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SessionError(f"{path} cannot be read: {_reason(error)}") from error


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
        except FileExistsError:
            return read_text(path)
    return text


@contextlib.contextmanager
def _written_beside(path: Path, text: str) -> Iterator[str]:
    """A finished file, on disk for good, in the folder of `path`; for its owner's eyes only."""
    try:
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {_reason(error)}; nothing was asked or lost") from error


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not text"
