"""What the pages draw of a survey: its answers as columns and panels, and the bound on their error by reports."""

from __future__ import annotations

from typing import Final

import msgspec

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.page_structs import BoundCurve, Picture
from sottovoce.collector.api.reading import enough, estimate_of, found
from sottovoce.collector.api.route import AnyRequest, Number, Operation, numbers, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import Bound
from sottovoce.collector.picture import columns_of, projection_of
from sottovoce.collector.store.base import SurveyRecord
from sottovoce.surveys.bound_curve import bound_curve
from sottovoce.surveys.survey import Survey

__all__ = ["ROUTES"]

_MOST: Final = 10_000
_MOST_OF_ALL: Final = 100_000

_REFUSES: Final = {
    404: "there is no such survey",
    409: "the survey is adaptive: its rounds have the reports",
    410: "the survey has been deleted",
    503: "too much is being worked on, or the database is away; try again later",
}


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/picture",
    Operation(
        "get_picture",
        "Answers with intervals from all reports so far, as a page draws them.",
        {200: Picture},
        {
            **_REFUSES,
            400: "a parameter is unknown or out of range",
            409: "there are too few reports, or the survey is adaptive: its rounds have the reports",
        },
        scopes=("read",),
        query=(
            Number("level", 0.95, 0, 1, "with what probability each interval holds the truth", open_ends=True),
            Number("most", _MOST, 1, _MOST_OF_ALL, "how many answers at most, rounded down: the largest of them"),
        ),
    ),
)
async def get_picture(request: AnyRequest) -> Answer:
    service, asked = service_of(request), numbers(request)
    level, most = float(asked["level"] or 0), int(asked["most"] or 0)
    record, survey = await service.ask(found, service, request.path_params["survey_id"])
    picture = await service.ask(_at_hand, service, record, level, most)
    if picture is None:
        picture = await service.work(_picture, service, record, survey, level, most)
    waiting = await service.ask(service.store.waiting, record.id)
    return json_answer(msgspec.structs.replace(picture, waiting=waiting))


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/bound",
    Operation(
        "get_bound",
        "What the expected error stays below, from a hundred reports to a thousand million.",
        {200: BoundCurve},
        _REFUSES,
        scopes=("read",),
    ),
)
async def get_bound(request: AnyRequest) -> Answer:
    service = service_of(request)
    record, survey = await service.ask(found, service, request.path_params["survey_id"])
    n_reports = await service.ask(service.counted, record)
    curve = await service.work(bound_curve, survey, n_reports)
    return json_answer(BoundCurve(list(curve.n), list(curve.l2), list(curve.margin), curve.statement))


def _at_hand(service: Service, record: SurveyRecord, level: float, most: int) -> Picture | None:
    """The picture from exactly these reports, if it was made a little while ago."""
    n_reports = service.counted(record)
    enough(record, n_reports)
    kept = service.pictures.get((record.id, level, most))
    return kept if kept is not None and kept.n_reports == n_reports else None


def _picture(service: Service, record: SurveyRecord, survey: Survey, level: float, most: int) -> Picture:
    estimate = estimate_of(service, record, survey)
    picture = Picture(
        survey=record.id,
        title=record.title or survey.query_text,
        kind=record.kind,
        mechanism=survey.mechanism.name,
        epsilon=record.epsilon,
        delta=estimate.delta,
        n_reports=estimate.n_reports,
        minimum_reports=record.minimum_reports,
        waiting=0,
        level=level,
        bound=Bound(estimate.bound.value, estimate.bound.statement),
        projection_gap=estimate.gap,
        projection=projection_of(survey),
        answers=len(estimate),
        **columns_of(estimate, level, most, record.labels)._asdict(),
    )
    return service.pictures.put((record.id, level, most), picture, len(picture.value))


ROUTES: Final = (get_picture, get_bound)
