"""Real devices as the people of an adaptive session: rounds are published, awaited, sealed and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar, final

from sottovoce.adaptive.answer import seat_of
from sottovoce.core.errors import ServiceError, SessionError
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import advancing
from sottovoce.protocol.surveys import Status
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

__all__ = ["CollectorCrowd", "LiveRound", "Poller", "round_aggregate"]

T = TypeVar("T")

_SHORTEST: Final = 0.05
_LONGEST: Final = 2.0
_PATIENCE: Final = 60.0
"""How long a collector may be unavailable while a round is awaited."""

_LONGEST_ROUND: Final = 10.0 * 366 * 86400


@final
class Poller:
    """Polls a collector with growing pauses, and retries while it is unavailable for a short time."""

    def __init__(self, longest: float = _LONGEST) -> None:
        self._next, self._longest = _SHORTEST, longest
        self._away_since: float | None = None

    def pause(self, most: float | None = None) -> None:
        """Wait before the next poll, not much longer than `most` seconds."""
        time.sleep(self._next if most is None else min(self._next, max(most, _SHORTEST)))
        self._next = min(self._longest, 1.5 * self._next)

    def try_again(self, error: ServiceError) -> None:
        """Wait if the collector is unavailable for a short time; raise the error otherwise."""
        now = time.monotonic()
        self._away_since = now if self._away_since is None else self._away_since
        if error.status not in (0, 429, 503) or now - self._away_since > _PATIENCE:
            raise error
        self.pause()

    def reached(self) -> None:
        """The collector has responded."""
        self._away_since = None

    def ask(self, request: Callable[[], T]) -> T:
        """The result of an idempotent request, retried while the collector is unavailable for a short time."""
        while True:
            try:
                answer = request()
            except ServiceError as error:
                self.try_again(error)
            else:
                self.reached()
                return answer


class LiveRound(Protocol):
    """A round on a collector."""

    @property
    def answerable(self) -> Survey:
        """The survey that devices answer."""

    def status(self) -> Status:
        """Its status."""

    def seal(self) -> None:
        """Accept no more reports."""

    def aggregate(self) -> Aggregate:
        """The counts of its reports."""


@final
class CollectorCrowd:
    """The devices that answer a collector's rounds.

    A round ends once `reports` are counted or after `seconds`, whichever comes first, but not before the collector's
    minimum of reports. It is then sealed, and read when all accepted reports are counted. An interruption leaves the
    round open on the collector; it can be resumed, and nobody is asked twice.
    """

    def __init__(
        self,
        open_round: Callable[[Survey, Sequence[str], int], LiveRound],
        panel: Panel,
        minimum_reports: int,
        reports: int | None,
        seconds: float | None,
    ) -> None:
        self._open_round, self._panel, self._minimum = open_round, panel, minimum_reports
        if reports is None and seconds is None:
            raise SessionError(
                "say when a round ends: after a number of reports (reports=10_000, or --reports 10000), after a time "
                "(seconds=3600, or --seconds 3600), or whichever comes first"
            ).at("reports")
        self._reports = None if reports is None else check_integer("reports", reports, 1, 2**53)
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= _LONGEST_ROUND):
            raise SessionError("seconds must be a number from 0 to ten years").at("seconds")
        self._seconds = seconds
        self._counted: dict[int, int] = {}

    def note(self, round_number: int, n_reports: int) -> None:
        """Record the number of reports of a closed round."""
        self._counted[round_number] = n_reports

    @property
    def people(self) -> int:
        """Estimated number of people: the mean number of reports per closed round, times the number of rounds.

        Everybody draws a round uniformly, so all rounds have about the same size. It is 0 before the first is closed,
        and too low if rounds are closed early.
        """
        if not self._counted:
            return 0
        return round(sum(self._counted.values()) / len(self._counted) * self._panel.rounds)

    def state(self) -> dict[str, Any]:
        """Empty: the collector stores everything."""
        return {}

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """Publish the round unless it is published, wait for its reports, seal it, and count; idempotent."""
        live = self._publish(asked, labels)
        with advancing(progress, "waiting for reports", self._reports, "reports") as advance:
            self._wait(live, advance)
        Poller().ask(live.seal)
        _wait_until_counted(live)
        aggregate = Poller().ask(lambda: round_aggregate(live))
        self.note(seat_of(asked).round, aggregate.n_reports)
        return aggregate

    def _publish(self, asked: Survey, labels: Sequence[str]) -> LiveRound:
        try:
            return Poller().ask(lambda: self._open_round(asked, labels, self._minimum))
        except ServiceError as error:
            if error.status != 409:
                raise
            reason = str(error).rstrip(".")
            raise SessionError(
                f"round {seat_of(asked).round} could not be opened: {reason}. Perhaps another analyst is asking at the "
                "same time; nobody was asked this question. Start a new session, which includes what has been asked "
                "meanwhile"
            ) from error

    def _wait(self, live: LiveRound, advance: Callable[[int], object]) -> None:
        """Wait until the round is over."""
        began, seen, poller = time.monotonic(), 0, Poller()
        while True:
            status = poller.ask(live.status)
            if status.n_reports > seen:
                advance(status.n_reports - seen)
                seen = status.n_reports
            if status.state != "open" or self._over(status, time.monotonic() - began):
                return
            poller.pause()

    def _over(self, status: Status, waited: float) -> bool:
        reached = self._reports is not None and status.n_reports >= self._reports
        late = self._seconds is not None and waited >= self._seconds
        return (reached or late) and status.n_reports >= status.minimum_reports

    def __repr__(self) -> str:
        return f"<devices that answer panel {self._panel.id[:12]}, about {self.people:,}>"


def _wait_until_counted(live: LiveRound) -> None:
    poller = Poller()
    while poller.ask(live.status).waiting:
        poller.pause()


def round_aggregate(live: LiveRound) -> Aggregate:
    """The counts of a sealed round; a round with too few reports to be shown counts as empty."""
    try:
        return live.aggregate()
    except ServiceError as error:
        if error.code != "too_few_reports":
            raise
    return live.answerable.aggregate()
