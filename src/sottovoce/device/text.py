"""Untrusted text, such as a survey's title, made safe to show: one line, no control characters."""

from __future__ import annotations

__all__ = ["one_line"]


def one_line(text: str, longest: int = 200) -> str:
    """The text without control, formatting and other unprintable characters, shortened if it is too long.

    Examples
    --------
    >>> one_line("Colours\\x1b[2J of\\n the \\u202eyear")
    'Colours[2J of the year'
    """
    shown = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text[: 4 * longest])
    line = " ".join(shown.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
