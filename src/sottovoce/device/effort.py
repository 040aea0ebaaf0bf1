"""Limits on the work of a device for one survey: what it reads, unpacks, computes and sends.

They depend only on what the collector sent, so a refusal reveals nothing about the private value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, final

from sottovoce.core.errors import BudgetError, SurveyError
from sottovoce.mechanisms.channel_matrix import MAX_MATRIX_ENTRIES, ChannelMatrix

__all__ = ["ANALYST", "DEVICE", "Effort"]

_COUNT: Final = struct.Struct("<Q")
_ESCAPED: Final = 4
"""Growth of JSON within JSON: quotes take two bytes each, other characters up to three times as many."""
_BESIDES: Final = 2**16
"""Room for signature, key and names of attachments."""


@final
@dataclass(frozen=True)
class Effort:
    """Limits for one survey. Change one with `dataclasses.replace(DEVICE, report_bytes=...)`."""

    statement_bytes: int
    """Size of the survey's JSON."""
    attachment_bytes: int
    """Size of each attachment."""
    attachment_entries: int
    """Entries of an unpacked channel matrix, eight bytes each and several times over while it is checked."""
    report_bytes: int
    """Size of a report; it also limits mechanisms whose work grows with the domain."""
    dimension: int
    """Dimension of vectors, which a codebook may rotate in twice as many; or options that a set may hold."""

    def __post_init__(self) -> None:
        for name, amount in vars(self).items():
            if isinstance(amount, bool) or not isinstance(amount, Integral) or amount < 1:
                raise BudgetError(f"{name} must be an integer, 1 or more").at(name)

    @property
    def envelope_bytes(self) -> int:
        """Size of the response that contains the statement."""
        return _ESCAPED * self.statement_bytes + _BESIDES

    def check_statement(self, statement: bytes) -> None:
        """Raise `BudgetError` unless the survey's JSON is short enough to be read."""
        _check("a statement", len(statement), "bytes", self.statement_bytes, "statement_bytes")

    def check_attachment(self, attachment: bytes) -> None:
        """Raise `BudgetError` unless a channel matrix, where this holds one, is small enough to be unpacked."""
        entries = _announced(attachment)
        _check("a channel matrix", entries, "entries", self.attachment_entries, "attachment_entries")

    def check_survey(self, survey: Any) -> None:
        """Raise `BudgetError` if drawing and sending a report would be too much work."""
        mechanism = survey.mechanism
        _check("a report", mechanism.report_bytes, "bytes", self.report_bytes, "report_bytes")
        if mechanism.input_length is not None:
            what, amount, unit = mechanism.input_length
            _check(what, amount, unit, self.dimension, "dimension")


DEVICE: Final = Effort(
    statement_bytes=2**21, attachment_bytes=2**24, attachment_entries=2**21, report_bytes=2**16, dimension=2**18
)
"""About a second and ten megabytes."""

ANALYST: Final = Effort(
    statement_bytes=2**24,
    attachment_bytes=2**26,
    attachment_entries=MAX_MATRIX_ENTRIES,
    report_bytes=2**20,
    dimension=2**20,
)
"""No tighter than the limits of surveys themselves, for analysts."""


def _check(what: str, size: int, unit: str, most: int, name: str) -> None:
    if size > most:
        raise BudgetError(
            f"the survey needs {what} of {size:,} {unit}; the limit of this device is {most:,}. Nothing was answered; "
            f"raise {name} of its effort to allow it"
        ).at(name)


def _announced(attachment: bytes) -> int:
    """Entries that a packed channel matrix announces; 0 for other attachments."""
    if len(attachment) < _COUNT.size:
        return 0
    start = _COUNT.size + 8 * int(_COUNT.unpack_from(attachment)[0])
    try:
        return ChannelMatrix.announced_entries(attachment[start:])
    except SurveyError:
        return 0
