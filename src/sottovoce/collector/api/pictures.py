"""What the pages draw: answers as columns and panels, and the error bound by number of reports."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from sottovoce.collector.api.reading import (
    answerable_survey,
    estimate_of,
    holds_at_every_look,
    n_told,
    searched,
)
from sottovoce.collector.api.service import Service
from sottovoce.collector.reading.picture import columns_of, findable_of, projection_of
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.estimates.bound_curve import bound_curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.base import Level, Looks, SurveyId
from sottovoce.protocol.drafts import BoundCurveBody
from sottovoce.protocol.pictures import Picture
from sottovoce.service.http.route import route
from sottovoce.surveys.survey import Survey

__all__ = ["ROUTES"]

_MOST_OF_ALL: Final = 100_000

_BYTES_PER_ANSWER: Final = 256

_BUSY: Final = "too many requests are in progress, or the database is unavailable; try again later"

Most = Annotated[
    float, Meta(ge=1, le=_MOST_OF_ALL, description="most answers to return, rounded down: the largest ones")
]


@route(
    "GET",
    "/v1/surveys/{survey_id}/picture",
    scopes=("read",),
    errors={409: "there are too few reports, or the survey is a panel: its rounds have the reports", 503: _BUSY},
)
async def get_picture(
    service: Service, survey_id: SurveyId, level: Level = 0.95, most: Most = 10_000, always: Looks = "open"
) -> Picture:
    """Answers with intervals from all reports so far, as a page draws them."""
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    if survey.question.is_searched:
        words = await searched(service, record, survey)
        watched = await service.wait_for_store(holds_at_every_look, service, record, always)
        picture = await service.compute(_drawn, record, words.watched(watched), level, int(most))
    else:
        watched = await service.wait_for_store(holds_at_every_look, service, record, always)
        known: Picture | None = await service.wait_for_store(_at_hand, service, record, level, int(most), watched)
        if known is None:
            known = await service.compute(_picture, service, record, survey, level, int(most), watched)
        picture = known
    return msgspec.structs.replace(picture, waiting=await service.wait_for_store(service.n_waiting, record))


@route(
    "GET",
    "/v1/surveys/{survey_id}/bound",
    scopes=("read",),
    errors={409: "the survey is a panel: its rounds have the reports", 503: _BUSY},
)
async def get_bound(service: Service, survey_id: SurveyId) -> BoundCurveBody:
    """What the expected error stays below, from a hundred reports to a thousand million."""
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    n_reports = await service.wait_for_store(service.n_counted, record)
    curve = await service.compute(bound_curve, survey, n_reports)
    return BoundCurveBody(list(curve.n), list(curve.l2), list(curve.margin), curve.statement)


def _at_hand(service: Service, record: SurveyRecord, level: float, most: int, watched: bool) -> Picture | None:
    """The picture from exactly these reports, if it was made a little while ago."""
    told = n_told(service, record)
    picture: Picture | None = service.surveys.result(record.id, told, "picture", level, most, watched)
    return picture


def _picture(service: Service, record: SurveyRecord, survey: Survey, level: float, most: int, watched: bool) -> Picture:
    picture = _drawn(record, estimate_of(service, record, survey).watched(watched), level, most)
    size = _BYTES_PER_ANSWER * len(picture.value)
    name = "picture", level, most, watched
    return service.surveys.put_result(record.id, picture.n_reports, *name, result=picture, size=size)


def _drawn(record: SurveyRecord, estimate: Estimate, level: float, most: int) -> Picture:
    return Picture(
        **estimate.summary(level),
        minimum_reports=record.minimum_reports,
        waiting=0,
        projection=projection_of(estimate.survey),
        answers=len(estimate),
        figures=estimate.survey.question.figures(estimate, level),
        histogram=estimate.survey.question.histogram(estimate, level),
        findable=findable_of(estimate),
        **columns_of(estimate, level, most, record.labels)._asdict(),
    )


ROUTES: Final = (get_picture, get_bound)
