"""Files with one word per line, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from sottovoce.core.errors import SimulationError

__all__ = ["STANDARD_INPUT", "ZIPF", "read_lines"]

_LARGEST_FILE: Final = 2**30

ZIPF: Final = "zipf"
"""Invented words; every other population of words is the name of a file."""

STANDARD_INPUT: Final = "-"
"""Instead of the name of a file."""


def read_lines(name: str, field: str) -> list[str]:
    """The lines of a text file in UTF-8, or of standard input if the name is "-"."""
    problem = ""
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(_LARGEST_FILE).decode("utf-8").splitlines()
        path = Path(name)
        if path.is_file() and path.stat().st_size > _LARGEST_FILE:
            problem = f"it is larger than {_LARGEST_FILE:,} bytes"
        else:
            return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        problem = "it is not a text file in UTF-8"
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it cannot be read"
    message = f"the words cannot be read from {name!r}: {problem}; name a file with one word per line"
    raise SimulationError(message).at(field)
