"""The aggregate of a survey as bytes and its estimate as JSON, from its minimum number of reports on."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from sottovoce.collector.api.reading import aggregate_of, answerable_survey, searched
from sottovoce.collector.api.rendered import MOST_ROWS, TAG, check_rows, rendered, rendered_table, response_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.counting.live import as_checkpoint
from sottovoce.collector.reading.table_files import to_json
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.limits import DEFAULT_COUNTERS
from sottovoce.core.words import plural
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.influence import influence
from sottovoce.estimates.table_files import CheckStop, EstimateTable
from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, encoded_bytes, from_bytes, to_bytes
from sottovoce.formats.sharded import check_possible, in_shards
from sottovoce.protocol.base import Level, Looks, SurveyId
from sottovoce.protocol.estimates import EstimateBody
from sottovoce.protocol.reports import HandedIn
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import Page, check_page, route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.survey import Survey

__all__ = ["ROUTES"]

_LOOK_EVERY: Final = 0.05
"""Seconds between two looks whether all has been counted."""

_LONGEST_COUNTS: Final = 8 * DEFAULT_COUNTERS + 2**16
"""Longest body of counts; a survey of more counters is estimated from an aggregate file instead."""

_LEAST_RATE: Final = 2**20
"""Bytes a second in which a long body of counts must come."""

_ERRORS: Final = {
    409: "there are too few reports, or the survey is a panel: its rounds have the reports",
    503: "too many requests are in progress, or the database is unavailable; try again later",
}

Malicious = Annotated[
    float, Meta(gt=0, lt=1, description="the fraction of malicious devices whose influence on the answers is computed")
]
Wait = Annotated[float, Meta(ge=0, le=60, description="seconds to wait for reports that are not counted yet")]
PageSize = Annotated[int, Meta(ge=1, le=MOST_ROWS, description="answers of a page; all of them where it is left out")]


@route(
    "GET",
    "/v1/surveys/{survey_id}/aggregate",
    scopes=("read",),
    responses={200: MEDIA_TYPE},
    errors=_ERRORS,
    headers=TAG,
)
async def get_aggregate(service: Service, request: Request, survey_id: SurveyId) -> Response:
    """The counts of all reports so far, from which any estimate can be made."""
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)

    def make() -> tuple[int, list[bytes]]:
        aggregate = aggregate_of(service, record, survey)
        return aggregate.n_reports, [to_bytes(aggregate)]

    made = await rendered(service, service.estimating, record, ("aggregate",), make)
    return response_of(request, made, media_type=MEDIA_TYPE)


@route(
    "GET",
    "/v1/surveys/{survey_id}/estimate",
    scopes=("read",),
    responses={200: EstimateBody},
    errors={**_ERRORS, 404: "the survey does not exist, or its answers end before that page"},
    headers=TAG,
)
async def get_estimate(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    level: Level = 0.95,
    always: Looks = "0",
    hostile: Malicious | None = None,
    wait: Wait = 0.0,
    page: Page = 1,
    page_size: PageSize | None = None,
) -> Response:
    """Answers with intervals from all reports so far; all of them, or a page."""
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    is_listed = not survey.question.is_searched
    size = page_size or (survey.n_answers if is_listed else MOST_ROWS)
    check_rows(record, size, f"ask for pages, with page_size up to {MOST_ROWS:,}")
    if is_listed:
        check_page(page, survey.n_answers, size)
    await _all_counted(service, record, wait)

    def write(table: EstimateTable, check_stop: CheckStop) -> list[bytes]:
        n_answers = table.stop
        pages = check_page(page, n_answers, size)
        return to_json(table.page(page, size), check_stop, n_answers=n_answers, page=page, pages=pages)

    made = await rendered_table(service, service.estimating, record, survey, level, always, ("page", page, size), write)
    extra = {"waiting": await service.wait_for_store(service.n_waiting, record), "influence": None}
    if hostile is not None:
        estimate = None if is_listed else await searched(service, record, survey)
        extra["influence"] = await service.compute(_influence, survey, made.n_reports, hostile, estimate)
    return response_of(request, made, b"," + msgspec.json.encode(extra)[1:])


async def _all_counted(service: Service, record: SurveyRecord, seconds: float) -> None:
    """Come back when nothing waits, or when the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if await service.wait_for_store(service.n_waiting, record) == 0:
            return
        await asyncio.sleep(_LOOK_EVERY)


def _influence(survey: Survey, n_reports: int, hostile: float, estimate: Estimate | None) -> Any:
    """The influence on listed answers by the number of reports; on words also by those that were found."""
    result = influence(survey, n_reports, hostile) if estimate is None else estimate.influence(hostile)
    return result.to_dict()


@route(
    "PUT",
    "/v1/surveys/{survey_id}/aggregate",
    scopes=("admin",),
    accepts={MEDIA_TYPE: None},
    errors={
        409: "the survey is not sealed, its reports are not all in segments yet, or it is a panel",
        422: "the body is not an aggregate of all reports of this survey",
        503: _ERRORS[503],
        507: "the disk is full; nothing was stored",
    },
)
async def hand_in_aggregate(service: Service, request: Request, survey_id: SurveyId) -> HandedIn:
    """Hand in the counts that an engine made of a sealed survey's reports: estimates are made from them."""
    _, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    limit = min(encoded_bytes(survey), _LONGEST_COUNTS)
    body = await request.read(limit, service.settings.body_seconds + limit / _LEAST_RATE)
    return HandedIn(await service.compute(_hand_in, service, survey_id, body))


def _hand_in(service: Service, survey_id: str, body: bytes) -> int:
    record, survey = answerable_survey(service, survey_id)
    aggregate = from_bytes(survey, body)
    held = sum(segment.n for segment in service.store.segments(record.id))
    if record.state == "sealed" and not service.n_waiting(record) and aggregate.n_reports != held:
        raise Refusal(
            422,
            "other_reports",
            f"the aggregate counts {plural(aggregate.n_reports, 'report')}, and the survey has {held:,}: export it "
            "anew, and count all of it",
        )
    check_possible(survey, aggregate.n_reports, in_shards(aggregate.counts))
    if not service.store.hand_in(record.id, as_checkpoint(aggregate)):
        raise Refusal(
            409,
            "not_sealed",
            f"counts are taken once survey {record.id[:12]} is sealed and all its reports are in segments: seal it, "
            "wait until none waits, and count them then",
        )
    service.surveys.drop_results()
    service.period_estimates.clear()
    return aggregate.n_reports


ROUTES: Final = (get_aggregate, get_estimate, hand_in_aggregate)
