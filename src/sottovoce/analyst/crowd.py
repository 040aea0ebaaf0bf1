"""Real devices as the people of an adaptive session: a round is published, waited for, sealed and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar, final

from sottovoce.adaptive.rounds import seat_of
from sottovoce.analyst.records import Status
from sottovoce.errors import ServiceError, SessionError
from sottovoce.limits import check_integer
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

__all__ = ["CollectorCrowd", "LiveRound", "Pace", "round_aggregate"]

T = TypeVar("T")

_SHORTEST: Final = 0.05
_LONGEST: Final = 2.0
_PATIENCE: Final = 60.0
"""How long a collector may be away while a round is waited for."""

_LONGEST_ROUND: Final = 10.0 * 366 * 86400


@final
class Pace:
    """Pauses between questions to a collector: short at first, then longer, so that a long wait costs it nothing."""

    def __init__(self, longest: float = _LONGEST) -> None:
        self._next, self._longest = _SHORTEST, longest
        self._away_since: float | None = None

    def pause(self) -> None:
        """Wait a little."""
        time.sleep(self._next)
        self._next = min(self._longest, 1.5 * self._next)

    def try_again(self, error: ServiceError) -> None:
        """Wait a little if the collector is only away for a while; raise the error otherwise."""
        now = time.monotonic()
        self._away_since = now if self._away_since is None else self._away_since
        if error.status not in (0, 429, 503) or now - self._away_since > _PATIENCE:
            raise error
        self.pause()

    def reached(self) -> None:
        """The collector has answered."""
        self._away_since = None

    def ask(self, request: Callable[[], T]) -> T:
        """What an idempotent request gives, repeated while the collector is only away for a while."""
        while True:
            try:
                found = request()
            except ServiceError as error:
                self.try_again(error)
            else:
                self.reached()
                return found


class LiveRound(Protocol):
    """A round on a collector: what it takes to wait for it and to count it."""

    @property
    def answerable(self) -> Survey:
        """The round, as the survey that devices answer."""

    def status(self) -> Status:
        """Where it stands."""

    def seal(self) -> None:
        """Take no more reports."""

    def aggregate(self) -> Aggregate:
        """The counts of its reports."""


@final
class CollectorCrowd:
    """The devices that answer a collector's rounds.

    A round is over once `reports` are counted, or `seconds` after the session began to wait for it, whichever comes
    first, and in no case before the collector's minimum of reports is reached: nothing could be read of it. It is then
    sealed, and read when everything that was accepted is counted. Whoever is interrupted leaves the round open on the
    collector; going on with it later asks nobody twice.
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
                "say when a round is over: after so many reports (reports=10_000, or --reports 10000), after so many "
                "seconds (seconds=3600, or --seconds 3600), or whichever comes first"
            )
        self._reports = None if reports is None else check_integer("reports", reports, 1, 2**53)
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= _LONGEST_ROUND):
            raise SessionError("seconds must be a number from 0 to ten years")
        self._seconds = seconds
        self._counted: dict[int, int] = {}

    def note(self, round_number: int, n_reports: int) -> None:
        """A round that is over had so many reports."""
        self._counted[round_number] = n_reports

    @property
    def users(self) -> int:
        """How many people there are, guessed: everybody draws a round uniformly, so all rounds are about as large.

        The mean number of reports of the rounds closed so far, times the rounds there may be; 0 before the first is
        closed. A round that was closed early had more people than reports, so it is a lower guess.
        """
        if not self._counted:
            return 0
        return round(sum(self._counted.values()) / len(self._counted) * self._panel.rounds)

    def state(self) -> dict[str, Any]:
        """Nothing: the collector keeps everything."""
        return {}

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """Publish the round unless it is, wait for its reports, seal it, and count; the same again if asked again."""
        live = self._publish(asked, labels)
        self._wait(live, progress)
        Pace().ask(live.seal)
        _wait_until_counted(live)
        found = Pace().ask(lambda: round_aggregate(live))
        self.note(seat_of(asked).round, found.n_reports)
        return found

    def _publish(self, asked: Survey, labels: Sequence[str]) -> LiveRound:
        try:
            return Pace().ask(lambda: self._open_round(asked, labels, self._minimum))
        except ServiceError as error:
            if error.status != 409:
                raise
            told = str(error).rstrip(".")
            raise SessionError(
                f"round {seat_of(asked).round} could not be opened: {told}. Perhaps another analyst is asking at the "
                "same time; nobody was asked this question. Begin again with a new session, which knows what has been "
                "asked meanwhile"
            ) from error

    def _wait(self, live: LiveRound, progress: Callable[[int], object] | None) -> None:
        """Until the round is over."""
        began, told, pace = time.monotonic(), 0, Pace()
        while True:
            status = pace.ask(live.status)
            if progress is not None and status.n_reports > told:
                progress(status.n_reports - told)
                told = status.n_reports
            if status.state != "open" or self._over(status, time.monotonic() - began):
                return
            pace.pause()

    def _over(self, status: Status, waited: float) -> bool:
        enough = self._reports is not None and status.n_reports >= self._reports
        late = self._seconds is not None and waited >= self._seconds
        return (enough or late) and status.n_reports >= status.minimum_reports

    def __repr__(self) -> str:
        return f"<devices that answer panel {self._panel.id[:12]}, about {self.users:,}>"


def _wait_until_counted(live: LiveRound) -> None:
    pace = Pace()
    while pace.ask(live.status).waiting:
        pace.pause()


def round_aggregate(live: LiveRound) -> Aggregate:
    """The counts of a sealed round. One that has too few reports to be shown counts as one that nobody answered."""
    try:
        return live.aggregate()
    except ServiceError as error:
        if error.code != "too_few_reports":
            raise
    return live.answerable.aggregate()
