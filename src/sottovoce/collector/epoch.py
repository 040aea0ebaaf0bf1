"""Coarse time: the only time that is stored with a report."""

from __future__ import annotations

__all__ = ["epoch_of"]


def epoch_of(unix_seconds: float, time_precision: int) -> int:
    """How many whole spans of `time_precision` seconds had passed since 1970.

    Examples
    --------
    >>> epoch_of(7199.9, 3600), epoch_of(7200.0, 3600)
    (1, 2)
    """
    return int(unix_seconds // time_precision)
