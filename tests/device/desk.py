"""A collector inside this process: it signs and keeps what it is sent, and does to the clock and acks as it is told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from sottovoce.core.errors import ServiceError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.device import CollectorClient, Device, MemoryStore, Patience
from sottovoce.device.turns import derive_seat
from sottovoce.formats.wire import batch_survey
from sottovoce.surveys.statement import Stated
from sottovoce.surveys.survey import Tracking

URL = "https://stats.example.org"

KEY = SigningKey(bytes(range(32)))


class Desk:
    """Stands in for `Http`. `now` is its clock, `failure` what becomes of a report once it was taken."""

    def __init__(self, now: datetime, *surveys: Stated) -> None:
        self.url = URL
        self.now = now
        self.surveys = {survey.id: self._envelope(survey) for survey in surveys}
        self.sent: list[tuple[str, bytes]] = []
        """The survey and the body of every report, repetitions included."""
        self.requests: list[str] = []
        self.failure: Callable[[], ServiceError | None] = lambda: None
        self.state = "open"

    @staticmethod
    def _envelope(survey: Stated) -> dict[str, Any]:
        statement = survey.canonical
        return {
            "id": hashlib.sha256(statement).hexdigest(),
            "statement": statement.decode(),
            "signature": to_base64url(KEY.sign(statement)),
            "key": to_base64url(KEY.public),
            "attachments": [],
        }

    def get(self, path: str, params: object = None, **_: object) -> Any:
        self.requests.append(path)
        if path == "/v1/time":
            return {"now": self.now.astimezone(UTC).isoformat(timespec="seconds")}
        survey = path.rsplit("/", 1)[1]
        if survey not in self.surveys:
            raise ServiceError("no such survey", "survey_not_found", 404)
        return {**self.surveys[survey], "state": self.state}

    def post(self, path: str, *, body: bytes, content_type: str) -> Any:
        self.requests.append(path)
        if (failure := self.failure()) is not None and failure.status:
            raise failure
        self.sent.append((batch_survey(body), body))
        if failure is not None:
            raise failure
        return {"accepted": 1}

    def close(self) -> None:
        """Nothing is open."""

    def client(self, url: str = "") -> CollectorClient:
        return CollectorClient(self, Patience(attempts=1))  # type: ignore[arg-type]

    def device(self, store: MemoryStore, clock: Callable[[], datetime], **settings: Any) -> Device:
        return Device(store, connect=self.client, clock=clock, **settings)


def secret_for(tracking: Tracking, seats: Iterable[int]) -> bytes:
    """The first secret, in a fixed order, that takes these seats in windows 1, 2, .."""
    wanted, number = list(seats), 0
    while True:
        secret = hashlib.sha256(b"%d" % number).digest()
        if all(
            derive_seat(secret, tracking.id, w, tracking.calendar.seats) == seat for w, seat in enumerate(wanted, 1)
        ):
            return secret
        number += 1
