"""Opens and closes the periods of tracking surveys, by the database's clock.

The calendar is part of the signed survey, so that every service derives the same periods: the first one stores
one, and nothing is left to do for the others. A state only moves forward: a clock that went back, or an old backup,
opens no period that was closed. Since that cannot be undone, nothing moves while the clock is in doubt.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple, final

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord, epoch_of
from sottovoce.collector.surveys.published import signed_record, survey_of
from sottovoce.core.errors import MismatchError, StoreError, StoreUnavailableError
from sottovoce.core.signing import SigningKey
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.survey import Tracking

__all__ = ["PeriodKeeper", "begun", "clock_refusal", "moment_of"]

_BETWEEN_LOOKS: Final = 5.0
"""Seconds between looks for surveys that another process has published or ended."""

_AGAIN: Final = 10.0
"""Seconds after which a survey is tried again whose periods could not be brought up to date."""

_LONGEST_RETRY: Final = 86400.0

_DOUBTED: Final = 600.0
"""Seconds after which to ask again while the clock is in doubt."""


def moment_of(unix_seconds: float) -> datetime:
    """The moment as calendars take it."""
    return datetime.fromtimestamp(unix_seconds, UTC)


def begun(calendar: Calendar, moment: datetime) -> int:
    """How many periods have begun.

    Examples
    --------
    >>> calendar = Calendar.of(every="week", starts="2027-01-04", periods=3)
    >>> [begun(calendar, datetime(2027, 1, day, tzinfo=UTC)) for day in (3, 4, 11, 31)]
    [0, 1, 2, 3]
    """
    if moment < calendar.start(1):
        return 0
    return calendar.at(moment) or calendar.periods or 0


def clock_refusal(reason: str) -> Refusal:
    """The refusal of what would need the time, while it is in doubt: nothing was done, and nothing is lost."""
    message = f"{reason}; until then no period begins or closes: send the same again later"
    return Refusal(503, "clock_in_doubt", message, retry_after=_DOUBTED)


class _Ahead(NamedTuple):
    """The next period of a survey: nobody may answer it yet."""

    survey: str
    number: int
    start: float


@final
class PeriodKeeper:
    """Brings the periods of all tracking surveys up to date; for several threads, and beside other services.

    Parameters
    ----------
    store
        Its clock decides.
    key
        Signs each period as it begins.
    time_precision
        Seconds of the collector's coarse time.
    clock
        Close to the database's, and free: it says when to look.
    doubt
        Why a time of the database is not believed; None if it is.
    """

    def __init__(
        self,
        store: Store,
        key: SigningKey,
        time_precision: int,
        clock: Callable[[], float] = time.time,
        doubt: Callable[[float], str | None] = lambda _: None,
    ) -> None:
        self._store, self._key, self._precision, self._clock, self._doubt = store, key, time_precision, clock, doubt
        self._lock = threading.Lock()
        self._due: dict[str, float] = {}
        self._ahead: dict[str, _Ahead] = {}
        self._ahead_of: dict[str, list[str]] = {}
        self._next = self._look_at = -math.inf

    def tick(self) -> None:
        """Do what is due, if something is or may be; costs nothing otherwise."""
        if self._clock() >= self._next or time.monotonic() >= self._look_at:
            self.step()

    def step(self) -> None:
        """Open and close all that is due now; raises the first error when the other surveys are done."""
        with self._lock:
            now = self._store.now()
            if (reason := self._doubt(now)) is not None:
                self._look_at = time.monotonic() + _BETWEEN_LOOKS
                raise StoreError(reason)
            standing = self._store.tracked()
            for ended in self._due.keys() - set(standing):
                self._drop(ended)
            failed: StoreError | None = None
            for survey_id in standing:
                if self._due.get(survey_id, -math.inf) <= now:
                    try:
                        self._advance(survey_id, now)
                    except StoreUnavailableError:
                        raise
                    except StoreError as error:
                        self._due[survey_id] = now + _AGAIN
                        failed = failed or error
            self._next = min(self._due.values(), default=math.inf)
            self._look_at = time.monotonic() + _BETWEEN_LOOKS
        if failed is not None:
            raise failed

    def advance(self, survey_id: str) -> None:
        """Open and close what is due of one survey now."""
        with self._lock:
            self._advance(survey_id, self.now())
            self._next = min(self._due.values(), default=math.inf)

    def now(self) -> float:
        """The database's time; a refusal while it is in doubt."""
        now = self._store.now()
        if (reason := self._doubt(now)) is not None:
            raise clock_refusal(reason)
        return now

    def find(self, period_id: str) -> SurveyRecord | None:
        """A period that has begun and was not stored yet, stored now; a refusal when it has not begun.

        None for all that are not the next period of a survey.
        """
        ahead = self._ahead.get(period_id)
        if ahead is None:
            return None
        seconds = ahead.start - self.now()
        if seconds > 0:
            raise Refusal(
                404,
                "period_not_open",
                f"period {ahead.number} of survey {ahead.survey[:12]} begins at {moment_of(ahead.start):%Y-%m-%d %H:%M}"
                " UTC; send the same again then",
                retry_after=min(seconds, _LONGEST_RETRY),
            )
        self.advance(ahead.survey)
        return self._store.survey(period_id)

    def _advance(self, survey_id: str, now: float) -> None:
        record = self._store.survey(survey_id)
        if record is None or record.state != "open":
            self._drop(survey_id)
            return
        tracking = survey_of(self._store, record)
        if not isinstance(tracking, Tracking):
            raise StoreError(f"survey {survey_id[:12]} is damaged in the database: it has no calendar")
        calendar, moment = tracking.calendar, moment_of(now)
        last = begun(calendar, moment)
        try:
            self._bring(record, tracking, last, moment)
        except MismatchError:  # somebody has just ended the survey
            self._drop(survey_id)
            return
        self._drop(survey_id)
        if calendar.periods is not None and calendar.closes(calendar.periods) <= moment:
            self._store.seal(survey_id)
            return
        boundaries = [calendar.closes(number) for number in calendar.answerable(moment)]
        if calendar.periods is None or last < calendar.periods:
            start = calendar.start(last + 1)
            boundaries.append(start)
            period = tracking.period(last + 1)
            members = [period.in_group(group) for group in period.groups or ()]
            self._ahead_of[survey_id] = [one.id for one in (period, *members)]
            for part_id in self._ahead_of[survey_id]:
                self._ahead[part_id] = _Ahead(survey_id, last + 1, start.timestamp())
        self._due[survey_id] = min(boundaries).timestamp()

    def _bring(self, record: SurveyRecord, tracking: Tracking, last: int, moment: datetime) -> None:
        """Store each period that has begun, and seal each that is closed."""
        states = {entry.round: (entry.id, entry.state) for entry in self._store.standing_rounds(record.id)}
        for number in range(1, last + 1):
            if number not in states:
                signed = signed_record(
                    self._key,
                    tracking.period(number),
                    epoch_of(moment.timestamp(), self._precision),
                    record.minimum_reports,
                    record.id,
                    number,
                )
                # What its design names is stored with the survey, which lives as long as its periods.
                stored = self._store.publish(signed, {})
                states[number] = stored.id, stored.state
            period_id, state = states[number]
            if state == "open" and tracking.calendar.closes(number) <= moment:
                self._store.seal(period_id)

    def _drop(self, survey_id: str) -> None:
        self._due.pop(survey_id, None)
        for part_id in self._ahead_of.pop(survey_id, []):
            self._ahead.pop(part_id, None)
