"""What stands behind the entries of a log: an auditor fetches every statement, as anybody can, and names what is amiss.

An entry commits to its statement: the survey's id is the SHA-256 of it. A collector that shows the statement to some
people only must hide it from everybody who asks for it by its hash, and so from the next auditor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, final

import msgspec

from sottovoce.core.errors import ServiceError, SottovoceError, SurveyError
from sottovoce.core.progress import steps
from sottovoce.device.fetch import CollectorClient, CollectorConnection, read_survey
from sottovoce.device.foreign import check_foreign_allowed
from sottovoce.device.http import BAD_ANSWER
from sottovoce.protocol.log import LogEntry
from sottovoce.surveys.statement import is_digest

__all__ = ["StatementFault", "check_statements"]

_AT_ONCE: Final = 4
"""Requests at a time: each may hold an attachment in memory."""

_PART: Final = 1024
"""Entries that are given to the threads together."""


@final
@dataclass(frozen=True)
class StatementFault:
    """An entry without a statement that anybody can fetch, or with one that contradicts another."""

    position: int
    survey: str
    fault: str

    def __str__(self) -> str:
        return f"entry {self.position:,}, survey {self.survey}: {self.fault}"


class _Design(msgspec.Struct):
    digest: str | None = None


class _Seat(msgspec.Struct):
    panel: msgspec.Raw
    round: int

    @property
    def place(self) -> tuple[str, int]:
        """The panel's id, which is the SHA-256 of its canonical JSON, and the number of the round."""
        return hashlib.sha256(self.panel).hexdigest(), self.round


class _Statement(msgspec.Struct):
    """What an auditor reads of a statement, without the packages that it may name."""

    design: _Design | None = None
    seat: _Seat | None = None


def check_statements(http: CollectorConnection, entries: Sequence[LogEntry]) -> list[StatementFault]:
    """Fetch the statement of every entry, with the attachments that it names; returns what is missing or wrong.

    Every entry is asked for each time: what was shown to an earlier check can be hidden from the next. Two rounds of
    one panel with the same number are a fault as well: one of them was aimed at somebody.

    Parameters
    ----------
    http
        The connection, to the collector or through a relay (`ObliviousHttp`).
    entries
        All entries of the log, in order; see `view_log`.

    Raises
    ------
    ServiceError
        If the collector cannot be reached: that is no verdict.
    """
    client = CollectorClient(http)
    faults: list[StatementFault] = []
    seats: dict[tuple[str, int], str] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool, steps("fetching statements", len(entries), "entries") as shown:
        for start in range(0, len(entries), _PART):
            part = entries[start : start + _PART]
            asked = pool.map(lambda entry: _look(client, entry.survey), part)
            for position, (entry, (fault, seat)) in enumerate(zip(part, asked, strict=True), start):
                if seat is not None and seats.setdefault(seat, entry.survey) != entry.survey:
                    fault = fault or f"it is round {seat[1]} of panel {seat[0]}, and so is survey {seats[seat]}"
                if fault:
                    faults.append(StatementFault(position, entry.survey, fault))
                shown.advance(1)
    return faults


def _look(client: CollectorClient, survey: str) -> tuple[str, tuple[str, int] | None]:
    """What is wrong with a statement, empty if nothing is; and the panel and number of a round."""
    try:
        statement = client.statement(survey)
        if statement is None:
            return "its statement cannot be fetched", None
        if hashlib.sha256(statement).hexdigest() != survey:
            return "its statement is another one: the id is not its SHA-256", None
        stated = msgspec.json.decode(statement, type=_Statement)
        return _attachment_fault(client, stated.design, statement), None if stated.seat is None else stated.seat.place
    except msgspec.MsgspecError:
        return "its statement is not a survey", None
    except ServiceError as error:
        if error.code != BAD_ANSWER and not error.status:
            raise
        # Whatever it answers instead: one refusal must not keep the others from being named.
        return f"its statement cannot be fetched: {error}", None


def _attachment_fault(client: CollectorClient, design: _Design | None, statement: bytes) -> str:
    """What is wrong with an attachment; that of another package's strategy is fetched, and not read."""
    if design is None or design.digest is None:
        return ""
    content = client.attachment(design.digest) if is_digest(design.digest) else None
    if content is None:
        return "its attachment cannot be fetched"
    try:
        check_foreign_allowed(statement, ())
    except SurveyError:
        return ""
    try:
        read_survey(statement, {design.digest: content}, ())
    except SottovoceError as error:
        return f"it cannot be read with its attachment: {error}"
    return ""
