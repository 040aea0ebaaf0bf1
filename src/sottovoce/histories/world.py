"""A hostile collector and a relay, scripted: what a device asks them, what they answer, and what reached them.

They answer requests as the service does, with real signatures and sealing keys. A fault is in force during one call:

| fault | what happens |
|---|---|
| request lost, response lost | the connection ends before, or after, a report was taken |
| refused | a report is taken, and refused for good |
| another survey, another key | the envelope of another survey, or one that somebody else has signed |
| another question | the open round of the panel asks another question |
| clock ahead | the collector says that it is two days later |
| relay fails, relay gone, relay keys | 503; no connection; sealing keys that the collector has not signed |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, final

import msgspec

from sottovoce.core.errors import ObliviousError, SottovoceError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.formats.wire import REPORT_ID_BYTES, batch_rows, batch_survey
from sottovoce.histories.events import Event
from sottovoce.histories.scenario import AskedSurvey, Scenario
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.oblivious.messages import open_request
from sottovoce.surveys.statement import Stated

__all__ = ["KEY", "Reply", "ReportArrival", "World"]

KEY: Final = SigningKey(bytes(range(32)))
"""The collector's; devices are told its public part."""

_STRANGER: Final = SigningKey(bytes(range(1, 33)))

_SEALING: Final = {1: PrivateKey.derive(bytes(32))}
_OTHER_SEALING: Final = {1: PrivateKey.derive(bytes(31) + b"\1")}
"""The collector's sealing keys, and those of a relay that wants to read reports."""
_AHEAD: Final = timedelta(days=2)

Reply: TypeAlias = tuple[int, bytes] | None
"""Status and JSON; None to end the connection without a response."""


@final
@dataclass(frozen=True)
class ReportArrival:
    """A report that reached the collector or the relay.

    Attributes
    ----------
    side
        Who was connected to: "collector" or "relay".
    survey
        The id in its bytes; empty if they are not a report that the collector can read.
    """

    side: str
    survey: str
    report_id: bytes = b""
    report: bytes = b""


class World:
    """Collector, relay and clocks in one history; `arrivals` are judged as they come, by who made this world."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.now = scenario.begins
        self.fault = ""
        self.open_rounds = min(1, len(scenario.rounds))
        self.joined: datetime | None = None
        """When the device was first shown the survey and a clock that agrees with its own."""
        self._published = {survey.id: survey for survey in (scenario.asked, *scenario.others)}

    def begin_event(self, event: Event) -> None:
        """What an event does to the clocks, the rounds and the network."""
        self.fault = event.fault
        self.now += event.periods * self.scenario.length(1) + event.windows * self.scenario.length(self.scenario.window)
        if event.call == "open_round":
            self.open_rounds = min(self.open_rounds + 1, len(self.scenario.rounds))

    @property
    def later(self) -> datetime:
        """The time after a person has thought for longer than anything can be answered."""
        return self.now + self.scenario.length(self.scenario.window + 1) + self.scenario.grace

    def pass_days(self) -> None:
        """A person thinks for days."""
        self.now = self.later

    def answer(self, side: str, method: str, path: str, body: bytes) -> tuple[Reply, ReportArrival | None]:
        """The response to a request, and the report in it, if it took one."""
        parts = path.partition("?")[0].strip("/").split("/")
        if method == "POST":
            return self._take(side, parts, body)
        if side == "relay":
            return self._relay(parts), None
        return self._collector(parts), None

    # --- collector ------------------------------------------------------------------------------

    @property
    def collector_now(self) -> datetime:
        """The time that the collector says it is."""
        return self.now + (_AHEAD if self.fault == "clock ahead" else timedelta(0))

    def _collector(self, parts: list[str]) -> Reply:
        match parts:
            case ["v1", "time"]:
                if self.fault != "clock ahead" and self.joined is None:
                    self.joined = self.now
                return _json(200, {"now": f"{self.collector_now:%Y-%m-%dT%H:%M:%SZ}"})
            case ["v1", "surveys", survey, "rounds", "latest"] if survey == self.scenario.asked.id and self.open_rounds:
                asked, otherwise = self.scenario.rounds[self.open_rounds - 1]
                return self._envelope(otherwise if self.fault == "another question" else asked)
            case ["v1", "surveys", _, "rounds", "latest"]:
                return _refusal(404, "round_not_open")
            case ["v1", "surveys", survey] if survey in self._published:
                shown: AskedSurvey = self._published[survey]
                return self._envelope(self.scenario.others[0] if self.fault == "another survey" else shown)
            case ["v1", "attachments", digest]:
                for one in self._published.values():
                    if digest in one.attachments:
                        return 200, one.attachments[digest]
        return _refusal(404, "not_found")

    def _envelope(self, survey: Stated) -> Reply:
        statement = survey.canonical
        key = _STRANGER if self.fault == "another key" else KEY
        envelope = {
            "id": hashlib.sha256(statement).hexdigest(),
            "statement": statement.decode(),
            "signature": to_base64url(key.sign(statement)),
            "key": to_base64url(key.public),
            "attachments": list(survey.attachments),
            "state": "open",
        }
        return _json(200, envelope)

    # --- relay ----------------------------------------------------------------------------------

    def _relay(self, parts: list[str]) -> Reply:
        if self.fault == "relay gone":
            return None
        if parts != ["v1", "keys"]:
            return _refusal(404, "not_found")
        signer, keys = (_STRANGER, _OTHER_SEALING) if self.fault == "relay keys" else (KEY, _SEALING)
        configurations = tuple(KeyConfiguration(number, key.public) for number, key in keys.items())
        return 200, msgspec.json.encode(sign_keys(signer, configurations))

    # --- reports --------------------------------------------------------------------------------

    def _take(self, side: str, parts: list[str], body: bytes) -> tuple[Reply, ReportArrival | None]:
        if self.fault == "request lost" or (side == "relay" and self.fault == "relay gone"):
            return None, None
        arrival = self._read(side, body)
        if self.fault == "response lost":
            return None, arrival
        if self.fault == "refused":
            return _refusal(409, "survey_sealed"), arrival
        if side == "relay" and self.fault == "relay fails":
            return _refusal(503, "overloaded"), arrival
        return _json(200, {"accepted": 1, "refused": []}), arrival

    def _read(self, side: str, body: bytes) -> ReportArrival:
        try:
            content = open_request(_SEALING, body).request().content if side == "relay" else body
            survey = batch_survey(content)
            found = self.scenario.answerable.get(survey)
            if found is None:
                return ReportArrival(side, survey)
            row = batch_rows(content, survey, found[2].mechanism.report_bytes)[0].tobytes()
            return ReportArrival(side, survey, row[:REPORT_ID_BYTES], row[REPORT_ID_BYTES:])
        except (ObliviousError, SottovoceError, IndexError):
            return ReportArrival(side, "")


def _json(status: int, content: Mapping[str, Any]) -> Reply:
    return status, json.dumps(content).encode()


def _refusal(status: int, code: str) -> Reply:
    return _json(status, {"error": {"code": code, "message": f"refused: {code}", "field": None}})
