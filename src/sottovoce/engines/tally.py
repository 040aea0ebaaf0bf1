"""How many rows an engine read, counted and rejected."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, final

from sottovoce.core.words import plural

__all__ = ["BadFile", "Tally"]

_FILES_NAMED: Final = 3
"""How many bad files a message names."""


class BadFile(NamedTuple):
    """A file that was not counted."""

    path: str
    reason: str


@final
@dataclass(frozen=True)
class Tally:
    """Number of rows by outcome: ``rows == counted + duplicates + foreign + malformed``.

    Examples
    --------
    >>> Tally(rows=5, counted=4, duplicates=1) + Tally(rows=2, counted=1, foreign=1)
    Tally(files=0, rows=7, counted=5, duplicates=1, foreign=1, malformed=0, bad_files=())
    """

    files: int = 0
    """Files that were read, the bad ones not among them; 0 where an engine was handed rows."""
    rows: int = 0
    counted: int = 0
    duplicates: int = 0
    """Rows whose report id another row has that was counted."""
    foreign: int = 0
    """Reports of another survey."""
    malformed: int = 0
    """Rows that no device following the survey could have sent, or without an id of 16 bytes."""
    bad_files: tuple[BadFile, ...] = ()
    """Files that could not be read, or say themselves that they are another survey's; in the order of their names."""

    def __add__(self, other: Tally) -> Tally:
        together = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
            if field.name != "bad_files"
        }
        return Tally(**together, bad_files=tuple(sorted(self.bad_files + other.bad_files)))

    @property
    def faults(self) -> int:
        """Rows and files that were skipped; duplicates are not faults."""
        return self.foreign + self.malformed + len(self.bad_files)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        named = [{"path": bad.path, "reason": bad.reason} for bad in self.bad_files]
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "bad_files"} | {
            "bad_files": named
        }

    def fault_words(self) -> str:
        """A description of the faults; empty if there are none.

        Examples
        --------
        >>> Tally(rows=9, counted=6, foreign=1, malformed=2).fault_words()
        'of 9 rows, 2 are malformed and 1 is of another survey'
        """
        of_rows = [
            f"{n:,} {'is' if n == 1 else 'are'} {what}"
            for n, what in ((self.malformed, "malformed"), (self.foreign, "of another survey"))
            if n
        ]
        parts = [f"of {plural(self.rows, 'row')}, {' and '.join(of_rows)}"] if of_rows else []
        if self.bad_files:
            named = "; ".join(f"{bad.path} ({bad.reason})" for bad in self.bad_files[:_FILES_NAMED])
            more = len(self.bad_files) - _FILES_NAMED
            rest = f"; and {more:,} more" if more > 0 else ""
            parts.append(f"{plural(len(self.bad_files), 'file')} cannot be used: {named}{rest}")
        return "; ".join(parts)
