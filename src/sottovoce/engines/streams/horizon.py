"""How long a stream remembers report ids: a time, or a number of batches.

Ids are forgotten by the span, an eighth of the horizon, so that the ids of a span can lie in one file: an id is
remembered for at least the horizon, and for at most an eighth longer.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Any, Final, NamedTuple

from sottovoce.core.errors import ReportError

__all__ = ["Horizon"]

_SPANS: Final = 8
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_LONGEST: Final = 1 << 40


class Horizon(NamedTuple):
    """A length in seconds or in batches. The moment of a batch, its stamp, is counted in the same unit."""

    length: int
    unit: str

    @classmethod
    def parse(cls, given: object) -> Horizon:
        """From "7 days", "500 batches" or a `timedelta`.

        Examples
        --------
        >>> Horizon.parse("2 hours"), Horizon.parse("500 batches")
        (Horizon(length=7200, unit='seconds'), Horizon(length=500, unit='batches'))
        """
        found = None
        if isinstance(given, timedelta):
            found = cls(math.ceil(given.total_seconds()), "seconds")
        elif isinstance(given, str) and (words := re.fullmatch(r"\s*(\d{1,12})\s+(\w+?)(?:s|(?<=batch)es)?\s*", given)):
            number, unit = int(words[1]), words[2].lower()
            if unit == "batch":
                found = cls(number, "batches")
            elif unit in _SECONDS:
                found = cls(number * _SECONDS[unit], "seconds")
        if found is None or not 0 < found.length < _LONGEST:
            raise ReportError(
                f"horizon is {given!r}: give a whole number of {', '.join(f'{unit}s' for unit in _SECONDS)} or batches "
                "that is positive, like '7 days', or a timedelta of at least a second"
            )
        return found

    @classmethod
    def from_json(cls, data: Any) -> Horizon:
        """What a JSON document has of it."""
        length, unit = data
        if not isinstance(length, int) or unit not in ("seconds", "batches"):
            raise ValueError("not a horizon")
        return cls(length, unit)

    def __str__(self) -> str:
        return f"{self.length:,} {self.unit}"

    def until(self, stamp: int) -> int:
        """The last stamp of the span that `stamp` is in."""
        span = -(-self.length // _SPANS)
        return (stamp // span + 1) * span - 1

    def remembers(self, until: int, stamp: int) -> bool:
        """Whether ids of the span that ends with `until` are known to a batch of this stamp."""
        return until >= stamp - self.length
