"""Uploads of reports: read, checked, made durable, then acknowledged, always in this order."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.service import Service
from sottovoce.formats.wire import BATCH_MEDIA_TYPE
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.errors import ErrorDetail, RefusedReport
from sottovoce.protocol.reports import Acknowledgement, OneReport, RefusedUpload, ReportsBody
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import JSON, Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival, Closed

__all__ = ["ROUTES", "closed_refusal", "send_reports", "throttled"]

_AT_ONCE: Final = 2**17
"""Bodies up to so many bytes are judged in the event loop, which takes less time than handing them to a thread."""

_ONE: Final = json_response(Acknowledgement(1, []))


@route(
    "POST",
    "/v1/surveys/{survey_id}/reports",
    responses={200: Acknowledgement},
    errors={
        400: "the body is not a batch, and not JSON of this shape",
        409: "the survey is sealed",
        413: "the body is too long, or holds too many reports",
        422: ("no report of the body is one of this survey", RefusedUpload),
        429: "more reports per second than the survey accepts; send the same again later",
        503: "too many reports are queued, or the database is unavailable; send the same again later",
        507: "the disk is full and nothing was stored; send the same again later",
    },
    accepts={BATCH_MEDIA_TYPE: None, JSON: (OneReport, ReportsBody)},
    for_devices=True,
    at_intake=True,
    counts_refusals=True,
)
async def send_reports(service: Service, request: Request, survey_id: SurveyId) -> Response:
    """Send reports of a survey; the same ones again change nothing. Acknowledged ones are durable."""
    intake, settings = service.intake, service.settings
    if not intake.knows(survey_id):
        await service.wait_for_store(intake.learn, survey_id)
    body = await request.read(settings.max_body_bytes, settings.body_seconds)
    read = intake.read_batch if request.media_type == BATCH_MEDIA_TYPE else intake.read_json
    arrival, refused = (
        read(survey_id, body) if len(body) <= _AT_ONCE else await service.wait_for_store(read, survey_id, body)
    )
    for one in refused:
        service.metrics.refused(one.code)
    if arrival is None:
        return _none_accepted(refused)
    throttled(service, arrival)
    closed = await service.committer.submit(arrival)
    if closed is not None:
        raise closed_refusal(closed, survey_id)
    if arrival.n == 1 and not refused:
        return _ONE
    return json_response(Acknowledgement(arrival.n, refused))


def _none_accepted(refused: list[RefusedReport]) -> Response:
    code, message = refused[0].code, refused[0].message
    if len(refused) > 1:
        message = f"none of {len(refused):,} reports was accepted; the first: {message}"
    return json_response(RefusedUpload(ErrorDetail(code, message), 0, refused), 422)


def throttled(service: Service, arrival: Arrival) -> None:
    """Refuse more reports per second than a survey may take."""
    seconds = service.throttle.admit(arrival.survey, arrival.n)
    if seconds:
        most = service.settings.max_reports_per_second
        raise Refusal(
            429,
            "too_many_requests",
            f"the survey accepts {most:,} reports per second; send the same again later",
            retry_after=seconds,
        )


def closed_refusal(state: Closed, survey_id: str) -> Refusal:
    """Why the reports of a survey were not kept."""
    here = f"survey {survey_id[:12]}"
    match state:
        case "sealed":
            return Refusal(409, "survey_sealed", f"{here} is sealed and accepts no more reports; delete the report")
        case "deleted":
            return Refusal(410, "survey_deleted", f"{here} has been deleted; delete the report too")
        case "unknown":
            return Refusal(404, "unknown_survey", "there is no survey with that id; /v1/surveys lists all surveys")


ROUTES: Final = (send_reports,)
