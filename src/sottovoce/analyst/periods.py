"""The periods of a published tracking survey: each derived from the survey and verified, counted once it is closed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple, final

from sottovoce.analyst.connection import read
from sottovoce.core.errors import NoReportsError, ServiceError
from sottovoce.device.http import BAD_ANSWER, Http
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.surveys import PeriodList, PeriodStatus
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.groups import Group
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["PeriodReader", "TrackedPeriods"]

_MOST_PAGES: Final = 1000
"""A collector that names more is not followed for ever."""


class TrackedPeriods(NamedTuple):
    """The periods that have begun, and the seconds until the collector next opens or closes one, if it does."""

    periods: list[PeriodStatus]
    pause: float | None

    @property
    def final(self) -> frozenset[int]:
        """Numbers of the periods that are closed and whose reports are all counted."""
        return frozenset(period.number for period in self.periods if period.state != "open" and not period.waiting)


@final
class PeriodReader:
    """Reads a tracking survey's periods; the estimates of closed ones are made once.

    Parameters
    ----------
    http
        The connection.
    tracking
        The verified survey, from which every period is derived.
    count
        Fetches the counts of a period's survey, those of every group if it has groups.
    """

    def __init__(
        self, http: Http, tracking: Tracking, count: Callable[[Survey], Aggregate | dict[Group, Aggregate]]
    ) -> None:
        self._http, self._tracking, self._count = http, tracking, count
        self._final: dict[int, tuple[int, Estimate]] = {}

    def list(self) -> TrackedPeriods:
        """All periods that have begun; raises `ServiceError` if they are not those of the survey's calendar."""
        periods: list[PeriodStatus] = []
        for page in range(1, _MOST_PAGES + 1):
            answer = self._http.get(f"/v1/surveys/{self._tracking.id}/periods?page={page}")
            listed = read(answer, PeriodList)
            periods += listed.periods
            if page >= listed.pages:
                break
        for number, period in enumerate(periods, start=1):
            if period.number != number or period.id != self._tracking.period(number).id:
                raise ServiceError(
                    f"the collector's period {period.number} is not one of survey {self._tracking.id[:12]}",
                    code=BAD_ANSWER,
                )
        return TrackedPeriods(periods, _pause(listed))

    def curve(self, listed: TrackedPeriods) -> Curve:
        """The curve of these periods; `NoReportsError` if none has enough reports to be shown."""
        estimates: dict[int, Estimate] = {}
        for period in listed.periods:
            known = self._final.get(period.number)
            if known is not None and period.state != "deleted" and known[0] == period.n_reports:
                estimates[period.number] = known[1]
                continue
            # Deleted since, or the collector came back from an old backup.
            self._final.pop(period.number, None)
            estimate = self._estimate(period) if period.n_reports and period.state != "deleted" else None
            if estimate is None:
                continue
            estimates[period.number] = estimate
            if period.number in listed.final:
                self._final[period.number] = period.n_reports, estimate
        if not estimates:
            raise NoReportsError("no period has as many reports as the collector asks for yet; ask again later")
        numbers = [period.number for period in listed.periods]
        unfinished = frozenset(numbers) - listed.final
        return Curve(self._tracking, estimates, range(1, len(numbers) + 1), unfinished)

    def _estimate(self, period: PeriodStatus) -> Estimate | None:
        """The estimate of a period; None if it has too few reports to be shown."""
        asked = self._tracking.period(period.number)
        try:
            return asked.estimate(self._count(asked))
        except NoReportsError:
            return None
        except ServiceError as error:
            if error.code not in ("too_few_reports", "survey_deleted"):
                raise
        return None


def _pause(listed: PeriodList) -> float | None:
    """Seconds until the next change, by the collector's own clock."""
    now = datetime.fromisoformat(listed.now)
    changes = [period.closes for period in listed.periods if period.state == "open"]
    changes += [] if listed.next is None else [listed.next.starts]
    return min((max(0.0, (datetime.fromisoformat(closes) - now).total_seconds()) for closes in changes), default=None)
