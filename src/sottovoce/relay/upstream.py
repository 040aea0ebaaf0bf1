"""The collector as the relay asks it: its keys, its surveys, requests passed on, and parts of batches.

Nothing of the client goes with a request: no header, no address, no time.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Final, final

import msgspec

from sottovoce.core.errors import ServiceError, SurveyError
from sottovoce.device.http import BAD_ANSWER, Http
from sottovoce.formats.wire import DEFAULT_BODY_BYTES
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, SEALED_HEADER_BYTES, SEALED_MEDIA_TYPE, encode_sealed_batch
from sottovoce.protocol.errors import RefusedReport
from sottovoce.protocol.reports import Acknowledgement
from sottovoce.protocol.surveys import Envelope
from sottovoce.relay.settings import RelaySettings
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.statement import read_json

__all__ = ["PART_BYTES", "StatedSurvey", "Upstream", "passed_on", "refused_of"]

PART_BYTES: Final = DEFAULT_BODY_BYTES - SEALED_HEADER_BYTES
"""Most bytes of messages in one part: what a collector takes in one body by default."""

_SECONDS: Final = 20.0
"""Timeout of requests that a device waits for."""

_PART_SECONDS: Final = 120.0
"""Timeout of a part, which a busy collector may take long to open."""

_LONGEST_ANSWER: Final = 2**26
_RETRY_SECONDS: Final = 30.0


@dataclass(frozen=True)
class StatedSurvey:
    """What a survey states about its relay, and whether it takes reports."""

    least: int
    is_open: bool
    closes: float = math.inf
    """The time after which a period of a tracking survey takes no more reports, in seconds since 1970."""


@final
class Upstream:
    """Connections to one collector. Safe to use from several threads; every method waits."""

    def __init__(self, settings: RelaySettings) -> None:
        trusted = settings.ca_file or None
        self._http = Http(settings.to, seconds=_SECONDS, ca_file=trusted)
        self._parts = Http(settings.to, timeout=_PART_SECONDS, seconds=_PART_SECONDS, ca_file=trusted)

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()
        self._parts.close()

    def keys(self) -> bytes:
        """The collector's response to a request for its keys."""
        return self._http.get_bytes("/v1/keys", most=2**16)

    def survey(self, survey_id: str) -> StatedSurvey:
        """What a survey states; a statement that is not this survey's is always refused.

        Raises
        ------
        Refusal
            If the survey wants no relay.
        ServiceError
            If the collector has no such survey, cannot be reached, or answers something else.
        """
        envelope = self._http.get(f"/v1/surveys/{survey_id}", kind=Envelope)
        statement = envelope.statement.encode()
        if hashlib.sha256(statement).hexdigest() != survey_id:
            raise ServiceError("the collector answered with another survey than it was asked for", BAD_ANSWER)
        return StatedSurvey(_least(statement), envelope.state == "open", _closes(statement))

    def pass_on(self, message: bytes) -> bytes:
        """The sealed response to a sealed request."""
        return self._http.post_bytes("/v1/oblivious", message, content_type=REQUEST_MEDIA_TYPE, most=_LONGEST_ANSWER)

    def send(self, messages: list[bytes]) -> list[RefusedReport]:
        """Send a part; the messages that the collector refuses, when all others are durable there."""
        body = encode_sealed_batch(len(messages[0]), messages)
        answer = self._parts.post("/v1/oblivious/batch", body=body, content_type=SEALED_MEDIA_TYPE)
        return refused_of(answer, len(messages))


def refused_of(answer: object, n: int) -> list[RefusedReport]:
    """The refused messages of a part of `n`, from the collector's answer, which must state the fate of each one.

    Examples
    --------
    >>> refused_of({"accepted": 2, "refused": [{"position": 1, "code": "no_report", "message": ""}]}, 3)[0].position
    1
    """
    try:
        fate = msgspec.convert(answer, Acknowledgement)
    except msgspec.ValidationError:
        fate = None
    positions = {refusal.position for refusal in fate.refused if refusal.position < n} if fate else set()
    if fate is None or len(positions) != len(fate.refused) or fate.accepted != n - len(positions):
        raise ServiceError("the collector did not say what became of every message", BAD_ANSWER, 200)
    return fate.refused


def passed_on(error: ServiceError) -> Refusal:
    """The relay's response when the collector refuses, or is down."""
    if 400 <= error.status < 500:
        return Refusal(error.status, error.code, str(error), retry_after=error.retry_after)
    return Refusal(
        503,
        "collector_unreachable",
        "the collector behind this relay cannot be reached now; send the same again later",
        retry_after=error.retry_after or _RETRY_SECONDS,
    )


def _least(statement: bytes) -> int:
    try:
        stated = read_json(statement).get("relay")
        if stated is not None:
            return Relay.from_statement(stated).least
    except SurveyError:
        pass
    raise Refusal(
        422, "no_relay", "this survey states no relay with a least number of messages; send its reports directly"
    )


def _closes(statement: bytes) -> float:
    stated = read_json(statement)
    if "period" not in stated or "calendar" not in stated:
        return math.inf
    try:
        return Period(Calendar.from_statement(stated["calendar"]), stated["period"]).closes.timestamp()
    except SurveyError:
        return math.inf
