"""What operators ask: whether the service lives and is ready, what it has counted about itself, how much it logs."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import service_of
from sottovoce.collector.api.structs import Health, LogLevel
from sottovoce.collector.failures import Refused
from sottovoce.collector.log import set_level
from sottovoce.collector.metrics import METRICS_TYPE
from sottovoce.errors import StoreError

__all__ = ["ROUTES"]

_log_level: Final = msgspec.json.Decoder(LogLevel)


@route("GET", "/healthz", Operation("get_health", "Whether the process lives.", {200: Health}))
async def get_health(request: AnyRequest) -> Answer:
    return json_answer(Health("ok"))


@route(
    "GET",
    "/readyz",
    Operation(
        "get_readiness",
        "Whether the service can take reports: its store answers and can be written to.",
        {200: Health},
        {503: "the store does not answer or is full"},
    ),
)
async def get_readiness(request: AnyRequest) -> Answer:
    service = service_of(request)
    try:
        await service.ask(service.store.check)
    except StoreError:
        ready = False
    else:
        ready = True
    if not ready:
        raise Refused(503, "not_ready", "the store does not answer or cannot be written to; the log says more")
    return json_answer(Health("ok"))


@route(
    "GET",
    "/metrics",
    Operation(
        "get_metrics",
        "Counters for Prometheus.",
        {200: "text/plain"},
        {503: "the database is away; try again later"},
        scopes=("read",),
    ),
)
async def get_metrics(request: AnyRequest) -> Answer:
    service = service_of(request)
    return Answer(await service.ask(service.metrics.text, service.store), METRICS_TYPE)


@route("GET", "/openapi.json", Operation("get_openapi", "This document.", {200: dict[str, Any]}))
async def get_openapi(request: AnyRequest) -> Answer:
    found: Answer = request.app.state["openapi"]
    return found


@route(
    "PUT",
    "/v1/log-level",
    Operation(
        "set_log_level",
        "What this process logs from now on.",
        {200: LogLevel},
        {
            400: "the body is no JSON of this shape",
            408: "the body took too long, or was cut off",
            413: "the body is too long",
            415: "the body is not JSON, or compressed",
        },
        scopes=("admin",),
        bodies={JSON: LogLevel},
    ),
)
async def put_log_level(request: AnyRequest) -> Answer:
    settings = service_of(request).settings
    given = await read_json(request, _log_level, settings.max_body_bytes, settings.body_seconds)
    set_level(given.level)
    return json_answer(given)


ROUTES: Final = (get_health, get_readiness, get_metrics, get_openapi, put_log_level)
