"""For operators: whether the service is alive and ready, its metrics, its log level."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.response import Response
from sottovoce.collector.api.route import route
from sottovoce.collector.api.service import Service
from sottovoce.collector.api.structs import Health, LogLevel
from sottovoce.collector.log import set_level
from sottovoce.collector.metrics import METRICS_TYPE
from sottovoce.collector.refusal import Refusal
from sottovoce.core.errors import StoreError

__all__ = ["ROUTES"]


@route("GET", "/healthz")
async def get_health() -> Health:
    """Whether the process is alive."""
    return Health("ok")


@route("GET", "/readyz", errors={503: "the store is unavailable or full"})
async def get_readiness(service: Service) -> Health:
    """Whether the service can accept reports: its store is available and can be written to."""
    try:
        await service.wait_for_store(service.store.check)
    except StoreError:
        ready = False
    else:
        ready = True
    if not ready:
        raise Refusal(503, "not_ready", "the store is unavailable or cannot be written to; the log says more")
    return Health("ok")


@route("GET", "/metrics", scopes=("read",), responses={200: "text/plain"})
async def get_metrics(service: Service) -> Response:
    """Counters for Prometheus."""
    return Response(await service.wait_for_store(service.metrics.text, service.store), METRICS_TYPE)


@route("PUT", "/v1/log-level", scopes=("admin",))
async def set_log_level(body: LogLevel) -> LogLevel:
    """What this process logs from now on."""
    set_level(body.level)
    return body


ROUTES: Final = (get_health, get_readiness, get_metrics, set_log_level)
