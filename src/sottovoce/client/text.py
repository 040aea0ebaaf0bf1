"""Text from strangers, such as a survey's title, as it may be shown: one line, nothing that moves the cursor."""

from __future__ import annotations

__all__ = ["one_line"]


def one_line(text: str, longest: int = 200) -> str:
    """The text without control, formatting and other unprintable characters, cut where it is too long.

    Examples
    --------
    >>> one_line("Colours\\x1b[2J of\\n the \\u202eyear")
    'Colours[2J of the year'
    """
    shown = "".join(sign if sign.isprintable() else " " if sign.isspace() else "" for sign in text[: 4 * longest])
    line = " ".join(shown.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
