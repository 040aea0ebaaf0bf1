"""What a survey's reports tell: the aggregate as bytes, the estimate as JSON; neither before there are enough."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from sottovoce.aggregate_bytes import MEDIA_TYPE, encoded_bytes, from_bytes, to_bytes
from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.body import content_type, read_body
from sottovoce.collector.api.reading import aggregate_of, enough, estimate_of, found
from sottovoce.collector.api.route import AnyRequest, Number, Operation, numbers, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import EstimateBody, HandedIn
from sottovoce.collector.failures import Refused
from sottovoce.collector.live import as_checkpoint
from sottovoce.collector.store.base import SurveyRecord
from sottovoce.limits import DEFAULT_COUNTERS
from sottovoce.plural import counted
from sottovoce.sharded import check_possible, in_shards
from sottovoce.surveys.influence import influence
from sottovoce.surveys.survey import Survey

__all__ = ["ROUTES"]

_LOOK_EVERY: Final = 0.05
"""Seconds between two looks whether all has been counted."""

_LONGEST_WAIT: Final = 60.0

_LONGEST_COUNTS: Final = 8 * DEFAULT_COUNTERS + 2**16
"""Longest body of counts; a survey of more counters is estimated from an aggregate file instead."""

_LEAST_RATE: Final = 2**20
"""Bytes a second in which a long body of counts must come."""

_REFUSES: Final = {
    404: "there is no such survey",
    409: "there are too few reports, or the survey is adaptive: its rounds have the reports",
    410: "the survey has been deleted",
    503: "too much is being worked on, or the database is away; try again later",
}


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/aggregate",
    Operation(
        "get_aggregate",
        "The counts of all reports so far, from which any estimate can be made.",
        {200: MEDIA_TYPE},
        _REFUSES,
        scopes=("read",),
    ),
)
async def get_aggregate(request: AnyRequest) -> Answer:
    service = service_of(request)
    survey_id = request.path_params["survey_id"]
    return Answer(await service.work(_aggregate, service, survey_id), MEDIA_TYPE)


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/estimate",
    Operation(
        "get_estimate",
        "Answers with intervals from all reports so far.",
        {200: EstimateBody},
        {**_REFUSES, 400: "a parameter is unknown or out of range"},
        scopes=("read",),
        query=(
            Number("level", 0.95, 0, 1, "with what probability each interval holds the truth", open_ends=True),
            Number(
                "hostile",
                None,
                0,
                1,
                "tell how far this share of hostile reports can move the answers",
                open_ends=True,
            ),
            Number("wait", 0, 0, _LONGEST_WAIT, "seconds to wait for reports that are not counted yet"),
        ),
    ),
)
async def get_estimate(request: AnyRequest) -> Answer:
    service, survey_id = service_of(request), request.path_params["survey_id"]
    asked = numbers(request)
    record, survey = await service.ask(found, service, survey_id)
    await _all_counted(service, record, asked["wait"] or 0.0)
    made = await service.ask(_at_hand, service, record, asked["level"])
    if made is None:
        made = await service.work(_estimate, service, record, survey, asked["level"])
    told = {**made, "waiting": await service.ask(service.store.waiting, record.id), "influence": None}
    if asked["hostile"] is not None:
        told["influence"] = await service.work(_influence, survey, made["n_reports"], asked["hostile"])
    return json_answer(told)


def _aggregate(service: Service, survey_id: str) -> bytes:
    return to_bytes(aggregate_of(service, *found(service, survey_id)))


async def _all_counted(service: Service, record: SurveyRecord, seconds: float) -> None:
    """Come back when nothing waits, or when the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if await service.ask(service.store.waiting, record.id) == 0:
            return
        await asyncio.sleep(_LOOK_EVERY)


def _at_hand(service: Service, record: SurveyRecord, level: float) -> dict[str, Any] | None:
    """The estimate from exactly these reports, if it was made a little while ago."""
    n_reports = service.counted(record)
    enough(record, n_reports)
    kept = service.estimates.get((record.id, level))
    return kept if kept is not None and kept["n_reports"] == n_reports else None


def _estimate(service: Service, record: SurveyRecord, survey: Survey, level: float) -> dict[str, Any]:
    estimate = estimate_of(service, record, survey)
    return service.estimates.put((record.id, level), estimate.to_dict(level), len(estimate))


def _influence(survey: Survey, n_reports: int, hostile: float) -> Any:
    return influence(survey, n_reports, hostile).to_dict()


@route(
    "PUT",
    "/v1/surveys/{survey_id:str}/aggregate",
    Operation(
        "hand_in_aggregate",
        "Hand in the counts that an engine made of a sealed survey's reports: estimates are made from them.",
        {200: HandedIn},
        {
            404: "there is no such survey",
            408: "the body took too long, or was cut off",
            409: "the survey is not sealed, its reports are not all in segments yet, or it is adaptive",
            410: "the survey has been deleted",
            413: "the body is too long",
            415: "the body has another media type, or is compressed",
            422: "the body is no aggregate of all reports of this survey",
            503: "too much is being worked on, or the database is away; try again later",
            507: "the disk is full; nothing was kept",
        },
        scopes=("admin",),
        bodies={MEDIA_TYPE: None},
    ),
)
async def hand_in_aggregate(request: AnyRequest) -> Answer:
    service, survey_id = service_of(request), request.path_params["survey_id"]
    _, survey = await service.ask(found, service, survey_id)
    _, length = content_type(request.scope["headers"], (MEDIA_TYPE,))
    limit = min(encoded_bytes(survey), _LONGEST_COUNTS)
    seconds = service.settings.body_seconds + limit / _LEAST_RATE
    body = await read_body(request.receive, length, limit, seconds)
    return json_answer(HandedIn(await service.work(_hand_in, service, survey_id, body)))


def _hand_in(service: Service, survey_id: str, body: bytes) -> int:
    record, survey = found(service, survey_id)
    aggregate = from_bytes(survey, body)
    held = sum(segment.n for segment in service.store.segments(record.id))
    if record.state == "sealed" and not service.store.waiting(record.id) and aggregate.n_reports != held:
        raise Refused(
            422,
            "other_reports",
            f"the aggregate counts {counted(aggregate.n_reports, 'report')}, and the survey has {held:,}: export it "
            "anew, and count all of it",
        )
    check_possible(survey, aggregate.n_reports, in_shards(aggregate.counts))
    if not service.store.hand_in(record.id, as_checkpoint(aggregate)):
        raise Refused(
            409,
            "not_sealed",
            f"counts are taken once survey {record.id[:12]} is sealed and all its reports are in segments: seal it, "
            "wait until none waits, and count them then",
        )
    service.forget_estimates()
    return aggregate.n_reports


ROUTES: Final = (get_aggregate, get_estimate, hand_in_aggregate)
