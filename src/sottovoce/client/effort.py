"""How much a device does for one survey: what it reads, unpacks, computes and sends.

All of it is decided from what the collector sent, before the private value is looked at: a refusal tells nothing of it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, final

from sottovoce.errors import BudgetError, SurveyError
from sottovoce.mechanisms.channel_matrix import MAX_MATRIX_ENTRIES, ChannelMatrix
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = ["ANALYST", "DEVICE", "Effort"]

_COUNT: Final = struct.Struct("<Q")
_ESCAPED: Final = 4
"""JSON within JSON: quotes take two bytes each, letters beyond ASCII up to three times their own."""
_BESIDES: Final = 2**16
"""For signature, key and names of attachments."""


@final
@dataclass(frozen=True)
class Effort:
    """Most of everything, for one survey. Raise single ones with `dataclasses.replace(DEVICE, report_bytes=...)`."""

    statement_bytes: int
    """Of the survey's own JSON."""
    attachment_bytes: int
    """Of each attachment as it is sent."""
    attachment_entries: int
    """Of a channel matrix as it is unpacked: eight bytes each, several times over while it is checked."""
    report_bytes: int
    """Of a report. Mechanisms whose work grows with the domain (a bit for every value, sets of values) send as much."""
    dimension: int
    """Of the vectors that are answered; a codebook may rotate them in twice as many."""

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if isinstance(amount, bool) or not isinstance(amount, Integral) or amount < 1:
                raise BudgetError(f"{name} must be an integer from 1 on: the most that is done for one survey")

    @property
    def envelope_bytes(self) -> int:
        """Of the answer that holds the statement."""
        return _ESCAPED * self.statement_bytes + _BESIDES

    def check_statement(self, statement: bytes) -> None:
        """Raise `BudgetError` unless the survey's JSON is short enough to be read."""
        _check("a statement", len(statement), "bytes", self.statement_bytes, "statement_bytes")

    def check_attachment(self, attachment: bytes) -> None:
        """Raise `BudgetError` unless a channel matrix, where this holds one, is small enough to be unpacked."""
        found = _announced(attachment)
        _check("a channel matrix", found, "entries", self.attachment_entries, "attachment_entries")

    def check_survey(self, survey: Any) -> None:
        """Raise `BudgetError` if drawing and sending a report would be too much work."""
        mechanism = survey.mechanism
        _check("a report", mechanism.report_bytes, "bytes", self.report_bytes, "report_bytes")
        if isinstance(mechanism, VectorMechanism):
            found = max(mechanism.dimension, mechanism.size // 2 if isinstance(mechanism, Codebook) else 0)
            _check("a vector", found, "coordinates", self.dimension, "dimension")


DEVICE: Final = Effort(
    statement_bytes=2**21, attachment_bytes=2**24, attachment_entries=2**21, report_bytes=2**16, dimension=2**18
)
"""About a second, and some ten megabytes; a million coordinates or a million bits take more."""

ANALYST: Final = Effort(
    statement_bytes=2**24,
    attachment_bytes=2**26,
    attachment_entries=MAX_MATRIX_ENTRIES,
    report_bytes=2**20,
    dimension=2**20,
)
"""Whatever a survey may be at all, for people who look at their own surveys."""


def _check(what: str, found: int, unit: str, most: int, name: str) -> None:
    if found > most:
        raise BudgetError(
            f"the survey asks for {what} of {found:,} {unit}; this device goes to {most:,}. Nothing was answered: "
            f"raise {name} of its effort if that must be"
        )


def _announced(attachment: bytes) -> int:
    """Entries of the matrix behind the weights; 0 where there is none, as in attachments that are not packed."""
    if len(attachment) < _COUNT.size:
        return 0
    start = _COUNT.size + 8 * int(_COUNT.unpack_from(attachment)[0])
    try:
        return ChannelMatrix.announced_entries(attachment[start:])
    except SurveyError:
        return 0
