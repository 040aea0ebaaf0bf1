"""What a fleet sends: many devices' reports in batches over a few connections, counted, and the result."""

from __future__ import annotations

import secrets
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ServiceError
from sottovoce.device.http import BAD_ANSWER, Http, Patience
from sottovoce.formats.wire import (
    BATCH_HEADER_BYTES,
    BATCH_MEDIA_TYPE,
    DEFAULT_BODY_BYTES,
    REPORT_ID_BYTES,
    encode_batch,
)
from sottovoce.lab.fleet.people import Respondents, seed_of
from sottovoce.surveys.simulation import draw_reports
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["BatchSender", "Ended", "SendCounter", "Sent", "bodies"]

Ended: TypeAlias = Literal["done", "sealed", "time", "interrupted"]


@final
@dataclass(frozen=True)
class Sent:
    """The result of a fleet.

    Attributes
    ----------
    accepted, refused
        Reports that the collector acknowledged, and how many it refused for each reason.
    singles, batches
        Reports acknowledged one a request from devices with a ledger each, and batches acknowledged.
    resent
        Reports that were sent a second time on purpose and acknowledged again; not in `accepted`.
    waits
        Number of retries because the collector was busy or unavailable.
    rounds
        Rounds of a panel that were answered.
    ended
        "done"; or why it stopped before: "sealed", "time", "interrupted".
    truth
        The true answers, with labels.
    """

    survey: str
    kind: str
    people: int
    seed: int
    singles: int
    batches: int
    accepted: int
    refused: dict[str, int]
    resent: int
    waits: int
    rounds: tuple[int, ...]
    seconds: float
    ended: Ended
    truth: list[tuple[str, float]] = field(repr=False)

    @property
    def rate(self) -> float:
        """Acknowledged reports a second, those sent twice included."""
        return (self.accepted + self.resent) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """All but the truth, as plain values."""
        return {**{name: value for name, value in asdict(self).items() if name != "truth"}, "rate": self.rate}


@final
class SendCounter:
    """Counts of what was acknowledged, from all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.singles = self.batches = self.batched = self.resent = self.waits = 0
        self.refused: Counter[str] = Counter()

    def single(self) -> None:
        """A device's own report was acknowledged."""
        with self._lock:
            self.singles += 1

    def batch(self, accepted: int, *, again: bool) -> None:
        """A body was acknowledged."""
        with self._lock:
            if again:
                self.resent += accepted
            else:
                self.batches += 1
                self.batched += accepted

    def refuse(self, code: str, n: int = 1) -> None:
        """Count refused reports."""
        with self._lock:
            self.refused[code] += n

    def wait(self) -> None:
        """A request is to be sent again later."""
        with self._lock:
            self.waits += 1


_DRAWN_AT_ONCE: Final = 1 << 15
_CHUNK_BYTES: Final = 2**26

_OVER: Final = ("survey_sealed", "survey_deleted")


def bodies(survey: Survey, crowd: Respondents, batch: int, seed: int) -> Iterator[tuple[bytes, int]]:
    """Everybody's reports in bodies of at most `batch`, and how many each holds; a bounded part of them at a time.

    Report ids come from the system's entropy whatever the seed is: a second run with the same seed is other devices.
    """
    row = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    most = max(1, min(batch, (DEFAULT_BODY_BYTES - BATCH_HEADER_BYTES) // row))
    at_once = max(most, min(_DRAWN_AT_ONCE, _CHUNK_BYTES // row) // most * most)
    header, chunk = encode_batch(survey.id, []), 0
    while crowd.left:
        n = min(at_once, crowd.left)
        rows = _rows(survey, crowd, n, seed_of(seed, chunk))
        for start in range(0, n, most):
            part = rows[start : start + most]
            yield header + part.tobytes(), len(part)
        chunk += 1


def _rows(survey: Survey, crowd: Respondents, n: int, seed: int) -> NDArray[np.uint8]:
    """Report id, tag and payload of n people, in random order: a batch of one value would show who is in it."""
    drawn = draw_reports(survey.mechanism, crowd.take(survey, n), seed)
    order = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed))).permutation(n)
    ids = np.frombuffer(secrets.token_bytes(REPORT_ID_BYTES * n), dtype=np.uint8).reshape(n, -1)
    tags = np.broadcast_to(np.frombuffer(survey.tag, dtype=np.uint8), (n, TAG_BYTES))
    return np.hstack([ids, tags, survey.mechanism.codec.encode_many(drawn)[order]])


@final
class BatchSender:
    """Sends batches from a few threads; retries with the same bytes if the collector is unavailable."""

    def __init__(
        self, http: Http, survey_id: str, patience: Patience, pool: ThreadPoolExecutor, flights: int, tally: SendCounter
    ) -> None:
        self._http, self._patience, self._pool, self._tally = http, patience, pool, tally
        self._path = f"/v1/surveys/{survey_id}/reports"
        self._most = flights
        self._flying: deque[Future[None]] = deque()
        self.over = False
        """Whether the collector takes no more."""

    def send(self, body: bytes, n: int, done: Callable[[int], object], *, again: bool = False) -> None:
        """Hand over a body, waiting while too many are on their way."""
        while len(self._flying) >= self._most:
            self._flying.popleft().result()
        self._flying.append(self._pool.submit(self._send, body, n, done, again))

    def finish(self) -> None:
        """Wait for everything on its way."""
        while self._flying:
            self._flying.popleft().result()

    def _send(self, body: bytes, n: int, done: Callable[[int], object], again: bool) -> None:
        try:
            answer = self._patience.ask(lambda: self._http.post(self._path, body=body, content_type=BATCH_MEDIA_TYPE))
        except ServiceError as error:
            if error.code in _OVER:
                self.over = True
            elif error.status != 422:
                raise
            self._tally.refuse(error.code, n)
            return
        accepted, refused = _read(answer, n)
        self._tally.batch(accepted, again=again)
        for refusal in refused:
            self._tally.refuse(str(refusal.get("code", "unknown")))
        done(n)


def _read(answer: Any, n: int) -> tuple[int, list[dict[str, Any]]]:
    if isinstance(answer, dict):
        accepted, refused = answer.get("accepted"), answer.get("refused")
        if type(accepted) is int and isinstance(refused, list) and accepted + len(refused) == n:
            return accepted, refused
    raise ServiceError("the collector's response does not account for every report", BAD_ANSWER)
