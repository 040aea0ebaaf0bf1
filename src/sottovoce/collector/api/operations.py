"""Routes for operators: whether the service is alive and ready, its metrics, its log level."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.service import Service
from sottovoce.protocol.access import Health, LogLevel
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.service.running.log import set_level
from sottovoce.service.running.metrics import METRICS_TYPE
from sottovoce.service.storage.readiness import reason_of

__all__ = ["ROUTES"]


@route("GET", "/healthz", at_intake=True, is_probe=True)
async def get_health() -> Health:
    """Whether the process is alive."""
    return Health("ok")


@route("GET", "/readyz", errors={503: "the store is unavailable, full or damaged"}, at_intake=True, is_probe=True)
async def get_readiness(service: Service) -> Health:
    """Whether the service can accept reports: one was just stored, or could be; at most a second old."""
    fault = await service.readiness.fault()
    if fault is not None:
        raise Refusal(503, "not_ready", f"reports cannot be stored: {reason_of(fault)}")
    return Health("ok")


@route("GET", "/metrics", scopes=("read",), responses={200: "text/plain"}, at_intake=True)
async def get_metrics(service: Service) -> Response:
    """Counters for Prometheus."""
    return Response(await service.wait_for_store(service.metrics.text, service.store), METRICS_TYPE)


@route("PUT", "/v1/log-level", scopes=("admin",), at_intake=True)
async def set_log_level(service: Service, body: LogLevel) -> LogLevel:
    """What this service logs from now on; its counting processes keep their level."""
    set_level(body.level)
    if service.elsewhere is not None:
        service.elsewhere.set_level(body.level)
    return body


ROUTES: Final = (get_health, get_readiness, get_metrics, set_log_level)
