"""Tracking surveys: the collector's time, the periods that have begun, and the curve through them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from sottovoce.collector.api.paging import Page, check_page
from sottovoce.collector.api.service import Service
from sottovoce.collector.running.keeper import begun, moment_of
from sottovoce.collector.store.records import RoundStanding
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.surveys import PeriodAhead, PeriodList, PeriodStatus, TimeAnswer
from sottovoce.service.http.route import route
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.survey import Tracking

__all__ = ["PAGE_PERIODS", "ROUTES"]

PAGE_PERIODS: Final = 1000
"""Periods on a page."""


@route("GET", "/v1/time", for_devices=True, at_intake=True)
async def get_time(service: Service) -> TimeAnswer:
    """The time by which periods begin and close: the database's."""
    return TimeAnswer(_written(moment_of(service.clock())))


@route(
    "GET",
    "/v1/surveys/{survey_id}/periods",
    scopes=("read",),
    errors={404: "there is no such survey, or its periods end before that page", 409: "the survey has no calendar"},
)
async def list_periods(service: Service, survey_id: SurveyId, page: Page = 1) -> PeriodList:
    """The periods of a tracking survey that have begun, first to last, on pages of a thousand; and the next one."""
    return await service.wait_for_store(_periods, service, survey_id, page)


def _periods(service: Service, survey_id: str, page: int) -> PeriodList:
    record = service.record(survey_id)
    tracking = service.tracking(record)
    standing = service.store.standing_rounds(record.id)
    pages = check_page(page, len(standing), PAGE_PERIODS)
    now = moment_of(service.clock())
    return PeriodList(
        now=_written(now),
        promise=tracking.promise,
        periods=[_status(tracking.calendar, one) for one in standing[(page - 1) * PAGE_PERIODS :][:PAGE_PERIODS]],
        next=_ahead(tracking, now) if record.state == "open" else None,
        total=tracking.calendar.periods,
        page=page,
        pages=pages,
    )


def _status(calendar: Calendar, one: RoundStanding) -> PeriodStatus:
    return PeriodStatus(
        number=one.round,
        id=one.id,
        **_times(Period(calendar, one.round)),
        state=one.state,
        n_reports=one.counted,
        waiting=one.waiting,
    )


def _ahead(tracking: Tracking, now: datetime) -> PeriodAhead | None:
    number, last = begun(tracking.calendar, now) + 1, tracking.calendar.periods
    if last is not None and number > last:
        return None
    survey = tracking.period(number)
    return PeriodAhead(number=number, id=survey.id, **_times(Period(tracking.calendar, number)))


def _times(period: Period) -> dict[str, str]:
    written = {name: _written(getattr(period, name)) for name in ("start", "end", "closes")}
    return {"label": period.label, "starts": written["start"], "ends": written["end"], "closes": written["closes"]}


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


ROUTES: Final = (get_time, list_periods)
