"""Numbers of things in sentences: 1 report, 2 reports."""

from __future__ import annotations

__all__ = ["counted"]


def counted(n: int, one: str, many: str = "") -> str:
    """How many there are, with the word for one or for several; the latter ends in s unless given.

    Examples
    --------
    >>> counted(1, "report"), counted(2000, "report"), counted(0, "batch", "batches")
    ('1 report', '2,000 reports', '0 batches')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
