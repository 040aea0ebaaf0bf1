"""Where reports come in. Read, judged, made durable, then acknowledged: in this order and never another."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.collector.api.answer import JSON, Answer, failed, json_answer
from sottovoce.collector.api.body import Headers, Incoming, content_type, read_body
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import Acknowledgement, OneReport, RefusedReport, ReportsBody, Unaccepted
from sottovoce.collector.failures import Failure, Refused, failure_of
from sottovoce.collector.intake import Refused as Verdict
from sottovoce.collector.store.base import Refusal
from sottovoce.wire import BATCH_MEDIA_TYPE

__all__ = ["REPORTS_PATH", "ROUTES", "take_reports", "uploaded_to"]

REPORTS_PATH: Final = "/v1/surveys/{survey_id:str}/reports"

_MEDIA_TYPES: Final = (BATCH_MEDIA_TYPE, JSON)

_AT_ONCE: Final = 2**17
"""Bodies up to so many bytes are judged in the event loop, which takes less time than handing them to a thread."""

_ONE: Final = json_answer(Acknowledgement(1, []))

_UPLOAD: Final = re.compile(r"/v1/surveys/([0-9a-f]{64})/reports")


def uploaded_to(path: str) -> str | None:
    """The id of the survey to which a path in its plain writing sends reports.

    Examples
    --------
    >>> uploaded_to(f"/v1/surveys/{'ab' * 32}/reports") == "ab" * 32, uploaded_to("/v1/surveys/ab/reports")
    (True, None)
    """
    found = _UPLOAD.fullmatch(path)
    return None if found is None else found[1]


@route(
    "POST",
    REPORTS_PATH,
    Operation(
        "send_reports",
        "Send reports of a survey; the same ones again change nothing. Acknowledged ones are durable.",
        {200: Acknowledgement},
        {
            400: "the body is no batch, and no JSON of this shape",
            404: "there is no such survey",
            408: "the body took too long, or was cut off",
            409: "the survey is sealed",
            410: "the survey has been deleted",
            413: "the body is too long, or holds too many reports",
            415: "the body has another media type, or is compressed",
            422: "no report of the body is one of this survey",
            429: "the survey takes fewer reports a second; send the same again later",
            503: "too many reports are on their way, or the database is away; send the same again later",
            507: "the disk is full and nothing was kept; send the same again later",
        },
        bodies={BATCH_MEDIA_TYPE: None, JSON: (OneReport, ReportsBody)},
        special={422: Unaccepted},
        devices=True,
    ),
)
async def send_reports(request: AnyRequest) -> Answer:
    scope = request.scope
    return await take_reports(service_of(request), scope["path_params"]["survey_id"], scope["headers"], request.receive)


async def take_reports(service: Service, survey_id: str, headers: Headers, receive: Incoming) -> Answer:
    """The answer to an upload, whatever it is; raises nothing."""
    try:
        return await _take(service, survey_id, headers, receive)
    except Exception as error:
        # Told here, without the framework's detour: under a flood of refusals they must stay cheap.
        refused = failure_of(error)
        service.metrics.refused(refused.failure.code)
        return failed(refused)


async def _take(service: Service, survey_id: str, headers: Headers, receive: Incoming) -> Answer:
    intake, settings = service.intake, service.settings
    media_type, length = content_type(headers, _MEDIA_TYPES)
    if not intake.knows(survey_id):
        await service.ask(intake.learn, survey_id)
    body = await read_body(receive, length, settings.max_body_bytes, settings.body_seconds)
    read = intake.read_batch if media_type == BATCH_MEDIA_TYPE else intake.read_json
    arrival, refused = read(survey_id, body) if len(body) <= _AT_ONCE else await service.ask(read, survey_id, body)
    for _, code, _ in refused:
        service.metrics.refused(code)
    if arrival is None:
        return _unaccepted(refused)
    seconds = service.throttle.admit(survey_id, arrival.n)
    if seconds:
        raise Refused(
            429,
            "too_many_requests",
            f"the survey takes {settings.max_reports_per_second:,} reports a second; send the same again later",
            retry_after=seconds,
        )
    refusal = await service.committer.submit(arrival)
    if refusal is not None:
        raise _not_taken(refusal, survey_id)
    if arrival.n == 1 and not refused:
        return _ONE
    return json_answer(Acknowledgement(arrival.n, _told(refused)))


def _told(refused: list[Verdict]) -> list[RefusedReport]:
    return [RefusedReport(*verdict) for verdict in refused]


def _unaccepted(refused: list[Verdict]) -> Answer:
    _, code, first = refused[0]
    message = first if len(refused) == 1 else f"none of {len(refused):,} reports was taken; of the first: {first}"
    return json_answer(Unaccepted(Failure(code, message), 0, _told(refused)), 422)


def _not_taken(refusal: Refusal, survey_id: str) -> Refused:
    here = f"survey {survey_id[:12]}"
    match refusal:
        case "sealed":
            return Refused(409, "survey_sealed", f"{here} is sealed and takes no more reports; delete the report")
        case "deleted":
            return Refused(410, "survey_deleted", f"{here} has been deleted; delete the report too")
        case "unknown":
            return Refused(404, "unknown_survey", "there is no survey of that id here; /v1/surveys lists all there are")


ROUTES: Final = (send_reports,)
