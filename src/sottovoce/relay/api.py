"""The routes of a relay: keys, requests that are passed on at once, and boxes whose messages are kept."""

from __future__ import annotations

import hmac
import time
from functools import cache
from typing import Any, Final

from sottovoce.core.errors import ObliviousError, ServiceError
from sottovoce.oblivious.messages import MESSAGE_SIZES, REQUEST_MEDIA_TYPE, RESPONSE_MEDIA_TYPE, key_id_of
from sottovoce.protocol.access import Health
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.reports import MessageReceipt, SignedKeys
from sottovoce.relay.service import RelayService
from sottovoce.relay.store import frame
from sottovoce.relay.upstream import passed_on
from sottovoce.service.http.openapi import openapi_document
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import JSON, Response, json_response
from sottovoce.service.http.route import Route, route
from sottovoce.service.refusal import Refusal
from sottovoce.service.running.metrics import METRICS_TYPE
from sottovoce.service.storage.committer import Arrival
from sottovoce.service.storage.readiness import reason_of

__all__ = ["RELAY_ROUTES"]

_FULL_SECONDS: Final = 60.0
"""Until a person has done something about it, perhaps."""

_BRIEFLY: Final = "public, max-age=60"

_ABOUT: Final = (
    "Takes sealed messages from anonymous devices, which it cannot read, and forwards them to a collector shuffled, in "
    "batches of at least as many as each survey states. Errors have one shape: a code for programs, a message for "
    "people, and the field at fault where there is one."
)

_SEALED: Final = {
    422: "the message has another size than 512, 2,048, 8,192 or 65,536 bytes, another suite, or is sealed to a key "
    "that is not published: fetch the keys and seal it again",
    429: "more requests than are allowed; send the same again later",
    503: "the relay has too much to do, or the collector cannot be reached; send the same again later",
}


_RECEIPT: Final = json_response(MessageReceipt(1))


@route("GET", "/v1/keys", responses={200: SignedKeys}, errors={503: _SEALED[503]}, for_devices=True)
async def get_keys(service: RelayService, request: Request) -> Response:
    """The collector's sealing keys, signed by the key that signs its surveys; a few minutes old at most."""
    _check_address(service, request)
    if not service.keys.body:
        await service.asking.once("keys", service.keys.refresh_unless_recent)
    if not service.keys.body:
        raise passed_on(ServiceError("no keys yet"))
    return Response(service.keys.body, JSON, cache=_BRIEFLY)


@route(
    "POST",
    "/v1/requests",
    responses={200: RESPONSE_MEDIA_TYPE},
    errors=_SEALED,
    accepts={REQUEST_MEDIA_TYPE: None},
    for_devices=True,
)
async def pass_request_on(service: RelayService, request: Request) -> Response:
    """Pass a sealed request on to the collector at once, and its sealed response back."""
    message = await _message(service, request)
    try:
        return Response(await service.asking.run(service.upstream.pass_on, message), RESPONSE_MEDIA_TYPE)
    except ServiceError as error:
        raise passed_on(error) from None


@route(
    "POST",
    "/v1/boxes/{survey_id}",
    responses={200: MessageReceipt},
    errors={
        **_SEALED,
        409: "the survey is sealed",
        422: f"{_SEALED[422]}; or the survey states no relay",
        507: "the disk is full and nothing was stored; send the same again later",
    },
    accepts={REQUEST_MEDIA_TYPE: None},
    for_devices=True,
)
async def keep_message(service: RelayService, request: Request, survey_id: SurveyId) -> Response:
    """Keep a sealed answer to a survey until enough of them are there; the same message again changes nothing."""
    try:
        await _keep(service, request, survey_id)
    except Refusal as refusal:
        service.metrics.refused(refusal.code)
        raise
    service.metrics.accepted()
    return _RECEIPT


async def _keep(service: RelayService, request: Request, survey_id: str) -> None:
    message = await _message(service, request)
    if service.keys.trouble:
        await service.asking.once("keys", service.keys.refresh_unless_recent)
    if service.keys.trouble:
        # The collector may have lost the key: a receipt would promise more than can be kept.
        raise Refusal(
            503,
            "keys_in_doubt",
            "the collector behind this relay publishes keys that cannot be right; send the same again later",
            retry_after=_FULL_SECONDS,
        )
    await service.surveys.check(survey_id)
    if service.store.n_messages + service.committer.depth >= service.settings.max_messages:
        raise Refusal(
            503,
            "relay_full",
            f"the relay holds {service.settings.max_messages:,} messages, as many as it may; send the same again later",
            retry_after=_FULL_SECONDS,
        )
    seconds = service.throttle.admit(survey_id, 1)
    if seconds:
        raise _too_many(seconds)
    closed = await service.committer.submit(Arrival(survey_id, service.epoch(), 1, frame(message)))
    if closed is not None:
        raise Refusal(404, "unknown_survey", "no survey has that id")


async def _message(service: RelayService, request: Request) -> bytes:
    """The body, if it is a message that the collector could open for all this relay can see."""
    _check_address(service, request)
    message = await request.read(MESSAGE_SIZES[-1], service.settings.body_seconds)
    if len(message) not in MESSAGE_SIZES:
        sizes = ", ".join(f"{size:,}" for size in MESSAGE_SIZES[:-1])
        raise Refusal(
            422,
            "bad_size",
            f"a sealed message has {sizes} or {MESSAGE_SIZES[-1]:,} bytes, so that its size tells nothing; pad it",
        )
    try:
        key_id = key_id_of(message)
    except ObliviousError as error:
        raise Refusal(422, error.code, str(error)) from None
    if not service.keys.knows(key_id):
        # The collector may have changed its keys a moment ago.
        await service.asking.once("keys", service.keys.refresh_unless_recent)
    if not service.keys.knows(key_id):
        if not service.keys.body:
            raise passed_on(ServiceError("no keys yet"))
        raise Refusal(
            422, "unknown_key", "the message is sealed to a key that is not published; fetch /v1/keys and seal it again"
        )
    return message


def _check_address(service: RelayService, request: Request) -> None:
    if service.addresses.looks:
        client = request.scope.get("client")
        seconds = service.addresses.admit(client[0] if client else "")
        if seconds:
            raise _too_many(seconds)


def _too_many(seconds: float) -> Refusal:
    return Refusal(
        429, "too_many_requests", "more requests came than are allowed; send the same again later", retry_after=seconds
    )


@route("GET", "/healthz", is_probe=True)
async def get_health() -> Health:
    """Whether the process is alive."""
    return Health("ok")


@route(
    "GET", "/readyz", errors={503: "messages cannot be stored, or the collector refuses what it is sent"}, is_probe=True
)
async def get_readiness(service: RelayService) -> Health:
    """Whether messages can be stored and the collector takes them; a collector may be away for a while."""
    fault = await service.readiness.fault()
    trouble = f"messages cannot be stored: {reason_of(fault)}" if fault else ""
    trouble = trouble or service.forwarder.trouble or service.keys.trouble
    if trouble:
        raise Refusal(503, "not_ready", f"{trouble}; the log says more")
    return Health("ok")


@route(
    "GET", "/metrics", responses={200: "text/plain"}, errors={401: "another token than metrics_token, or none is set"}
)
async def get_metrics(service: RelayService, request: Request) -> Response:
    """Counters for Prometheus; needs the token of the relay's settings."""
    given, wanted = request.header(b"authorization") or "", service.settings.metrics_token
    if not wanted or not hmac.compare_digest(given.encode(), f"Bearer {wanted}".encode()):
        # They tell, to the second, when messages come: with nobody to keep that from, set a token.
        raise Refusal(
            401,
            "unauthorized",
            "this needs Authorization: Bearer and the relay's metrics_token, which its operator sets",
            headers={"WWW-Authenticate": 'Bearer realm="sottovoce"'},
        )
    return Response(await service.asking.once("metrics", _metrics, service), METRICS_TYPE)


def _metrics(service: RelayService) -> bytes:
    boxes = service.store.boxes()
    enough = sum(box.held for box in boxes if box.held >= box.least)
    return service.metrics.text(enough, max((time.time() - box.oldest for box in boxes), default=0.0))


@route("GET", "/openapi.json", responses={200: dict[str, Any]}, is_probe=True)
async def get_openapi() -> Response:
    """This document."""
    return _openapi()


@cache
def _openapi() -> Response:
    return json_response(openapi_document(RELAY_ROUTES, "Sottovoce relay", _ABOUT))


RELAY_ROUTES: Final[tuple[Route, ...]] = (
    get_keys,
    pass_request_on,
    keep_message,
    get_health,
    get_readiness,
    get_metrics,
    get_openapi,
)
