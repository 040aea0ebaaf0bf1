"""Uploads of reports: read, checked, made durable, then acknowledged, always in this order; directly or sealed.

Sealed ones come through the gateway of Oblivious HTTP, one request at a time or many reports at once: the collector
sees the relay's address and the request, the relay the device's address and a sealed message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from sottovoce.collector.api.service import Service
from sottovoce.collector.sealing.opening import SealedReport
from sottovoce.core.errors import ObliviousError
from sottovoce.formats.wire import BATCH_MEDIA_TYPE
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse
from sottovoce.oblivious.messages import (
    MESSAGE_SIZES,
    REQUEST_MEDIA_TYPE,
    RESPONSE_MEDIA_TYPE,
    SEALED_MEDIA_TYPE,
    decode_sealed_batch,
    open_request,
)
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.errors import ErrorDetail, RefusedReport
from sottovoce.protocol.reports import Acknowledgement, OneReport, RefusedUpload, ReportsBody, SignedKeys
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import JSON, Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival, Closed

__all__ = ["ROUTES", "closed_refusal", "send_reports", "throttled"]

_AT_ONCE: Final = 2**17
"""Bodies up to this many bytes are judged in the event loop, which is quicker than handing them to a thread."""

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
    for refusal in refused:
        service.metrics.refused(refusal.code)
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
            return Refusal(404, "unknown_survey", "no survey has that id; /v1/surveys lists all surveys")


_BRIEFLY: Final = "public, max-age=10"

_AGAIN: Final = (429, 503, 507)
"""After these the same may succeed later: they refuse a whole part, since a relay deletes what one message is refused
for."""


_UNAVAILABLE: Final = {503: "the collector's disk does not answer; try again later"}


@route("GET", "/v1/keys", responses={200: SignedKeys}, errors=_UNAVAILABLE, for_devices=True, at_intake=True)
async def get_sealing_keys(service: Service) -> Response:
    """The public key that messages are sealed to (RFC 9458), signed by the key that signs every survey here."""
    return json_response(await service.wait_for_store(service.sealing.signed), cache=_BRIEFLY)


@route(
    "POST",
    "/v1/oblivious",
    responses={200: RESPONSE_MEDIA_TYPE},
    errors={
        413: "the message is longer than any that is accepted",
        422: "the message is not sealed to a key that the collector holds, was altered, or holds no HTTP request",
        **_UNAVAILABLE,
    },
    accepts={REQUEST_MEDIA_TYPE: None},
    for_devices=True,
    at_intake=True,
    is_gateway=True,
)
async def pass_request(service: Service, request: Request) -> Response:
    """Answer a request that a device has sealed, with a sealed response: any request that devices can send."""
    message = await request.read(MESSAGE_SIZES[-1], service.settings.body_seconds)
    keys = await service.wait_for_store(service.sealing.held)
    try:
        opened = open_request(keys, message)
        inner = opened.request()
    except ObliviousError as error:
        raise _unsealed(error) from None
    service.metrics.opened()
    return Response(opened.seal(await _answer(service, inner)), RESPONSE_MEDIA_TYPE)


@route(
    "POST",
    "/v1/oblivious/batch",
    responses={200: Acknowledgement},
    errors={
        400: "the body is not a batch of sealed messages of one size",
        413: "the body is too long",
        429: "more reports per second than a survey accepts; send the same again later",
        503: "too many messages or reports are queued, or the database is unavailable; send the same again later",
        507: "the disk is full and nothing was stored; send the same again later",
    },
    accepts={SEALED_MEDIA_TYPE: None},
    at_intake=True,
)
async def send_sealed_reports(service: Service, request: Request) -> Response:
    """Pass on sealed reports of any surveys; the same ones again change nothing. Accepted ones are durable."""
    settings = service.settings
    body = await request.read(settings.max_body_bytes, settings.body_seconds)
    try:
        size, messages = decode_sealed_batch(body)
    except ObliviousError as error:
        raise Refusal(400, "bad_sealed_batch", str(error)) from None
    keys = await service.wait_for_store(service.sealing.held)
    opened = await service.opening.open(keys, messages, size)
    refused = [
        RefusedReport(position, *message)
        for position, message in enumerate(opened)
        if not isinstance(message, SealedReport)
    ]
    service.metrics.opened(len(opened) - len(refused))
    reports: dict[str, dict[int, bytes]] = {}
    for position, message in enumerate(opened):
        if isinstance(message, SealedReport):
            reports.setdefault(message.survey, {})[position] = message.row
    groups = [await _checked(service, survey, rows) for survey, rows in reports.items()]
    refused += [refusal for group in groups for refusal in group.refused]
    refused += await _kept(service, [group for group in groups if group.arrival is not None])
    for refusal in refused:
        service.metrics.refused(refusal.code)
    refused.sort(key=lambda refusal: refusal.position)
    return json_response(Acknowledgement(len(opened) - len(refused), refused))


class _Group(NamedTuple):
    """The reports of one survey in a part."""

    arrival: Arrival | None
    positions: list[int]
    """Positions of the accepted reports in the body."""
    refused: list[RefusedReport]


async def _checked(service: Service, survey: str, rows: dict[int, bytes]) -> _Group:
    """Check the reports of one survey, by their positions; none is good where the survey takes no more."""
    positions = [*rows]
    try:
        arrival, bad = await service.wait_for_store(service.intake.read_rows, survey, [*rows.values()])
    except Refusal as refusal:
        if refusal.status in _AGAIN:
            raise
        return _Group(None, [], [RefusedReport(position, refusal.code, refusal.message) for position in positions])
    refused = [RefusedReport(positions[refusal.position], refusal.code, refusal.message) for refusal in bad]
    wrong = {refusal.position for refusal in refused}
    return _Group(arrival, [position for position in positions if position not in wrong], refused)


async def _kept(service: Service, groups: Sequence[_Group]) -> list[RefusedReport]:
    """Wait until all are durable; those of surveys that have closed meanwhile are refused.

    Whatever goes wrong with one of them refuses the whole part: sent again, what was kept is counted once.
    """
    arrivals = [group.arrival for group in groups if group.arrival is not None]
    for arrival in arrivals:
        throttled(service, arrival)
    verdicts = await asyncio.gather(*(_durable(service, arrival) for arrival in arrivals), return_exceptions=True)
    refused: list[RefusedReport] = []
    for arrival, group, verdict in zip(arrivals, groups, verdicts, strict=True):
        if isinstance(verdict, BaseException):
            raise verdict
        if verdict is not None:
            refusal = closed_refusal(verdict, arrival.survey)
            refused += [RefusedReport(position, refusal.code, refusal.message) for position in group.positions]
    return refused


async def _durable(service: Service, arrival: Arrival) -> Closed | None:
    return await service.committer.submit(arrival)


async def _answer(service: Service, inner: HttpRequest) -> HttpResponse:
    """The response to a request that was inside a message: only to what devices may ask for."""
    path, _, query = inner.path.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "method": inner.method,
        "scheme": inner.scheme,
        "path": unquote(path),
        "query_string": query.encode(),
        "headers": [*inner.headers],
    }
    waiting = [{"type": "http.request", "body": inner.content, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop() if waiting else await asyncio.Event().wait()

    status, headers, parts = 0, [], []

    async def send(message: Any) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], message["headers"]
        else:
            parts.append(message.get("body", b""))

    response = await service.answer_device(scope, receive)
    await response(scope, receive, send)
    return HttpResponse(status, tuple((bytes(name), bytes(value)) for name, value in headers), b"".join(parts))


def _unsealed(error: ObliviousError) -> Refusal:
    match error.code:
        case "unknown_key":
            return Refusal(422, "unknown_key", str(error))
        case "unknown_suite":
            return Refusal(422, "unknown_suite", str(error))
        case "cannot_open":
            return Refusal(422, "cannot_open", str(error))
        case _:
            return Refusal(422, "bad_message", str(error))


ROUTES: Final = (send_reports, get_sealing_keys, pass_request, send_sealed_reports)
