"""The HTTP application: every address, one error shape, the same security headers on whatever leaves it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Final, cast, final

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.types import LifeSpanReceive, LifeSpanScope, LifeSpanSend, Message, Receive, Scope, Send

from sottovoce.collector.api import (
    access,
    devices,
    drafts,
    estimates,
    events,
    operations,
    pages,
    pictures,
    plans,
    publishing,
    questions,
    reports,
    segments,
    sessions,
    surveys,
    tables,
)
from sottovoce.collector.api.answer import JSON
from sottovoce.collector.api.openapi import openapi_answer
from sottovoce.collector.api.route import QUIET, operation_of, template_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.failures import failure_of
from sottovoce.collector.log import log_access
from sottovoce.collector.pages.files import load_files
from sottovoce.collector.settings import Settings
from sottovoce.collector.store.base import Store
from sottovoce.signing import SigningKey

__all__ = ["ROUTES", "SECURITY_HEADERS", "create_app"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = (
    *devices.ROUTES,
    *reports.ROUTES,
    *publishing.ROUTES,
    *surveys.ROUTES,
    *estimates.ROUTES,
    *pictures.ROUTES,
    *tables.ROUTES,
    *events.ROUTES,
    *segments.ROUTES,
    *questions.ROUTES,
    *drafts.ROUTES,
    *plans.ROUTES,
    *sessions.ROUTES,
    *access.ROUTES,
    *operations.ROUTES,
    *pages.ROUTES,
)
"""Every address there is."""

SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""On every answer but the pages themselves: nothing else from here is ever shown as a page or inside one."""

_RAW_SECURITY: Final = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_RAW_PAGE_SECURITY: Final = [
    (name.lower().encode(), value.encode()) for name, value in {**SECURITY_HEADERS, **pages.PAGE_HEADERS}.items()
]

_NO_ROUTE: Final = "none"
"""What metrics and logs call the address of a request that has none: its own words stay outside."""

_UPLOADS: Final = template_of(reports.REPORTS_PATH)

_BEGAN: Final = "sottovoce_began"


def create_app(settings: Settings, store: Store, key: SigningKey) -> Litestar:
    """The application of one collector; it opens nothing, closes its own threads, and leaves the store open."""
    service = Service(settings, store, key)
    streams = events.streams_of(service)

    @asynccontextmanager
    async def life(_: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            streams.close()
            await service.finish()

    way_out = _Exit(service)
    application = _Application(
        route_handlers=ROUTES,
        state=State(
            {
                "service": service,
                "openapi": openapi_answer(ROUTES),
                pages.FILES: load_files(),
                events.STREAMS: streams,
            }
        ),
        exception_handlers={Exception: _failed},
        before_send=[way_out],
        lifespan=[life],
        openapi_config=None,
        logging_config=None,
    )
    application.uploads = _Uploads(service, way_out)
    return application


@final
class _Application(Litestar):
    """Takes uploads at the door; notes of every other request when it came, before anything is done with it."""

    uploads: _Uploads

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        given = cast("dict[str, Any]", scope)
        if given.get("method") == "POST":
            survey_id = reports.uploaded_to(given["path"])
            if survey_id is not None:
                await self.uploads(survey_id, given, receive, send)
                return
        given[_BEGAN] = perf_counter()
        await super().__call__(scope, receive, send)


@final
class _Uploads:
    """Uploads as nearly all devices write their address, without the framework: it takes longer than all the rest.

    Whatever is written in another way goes through the framework to the same function, and is answered the same.
    """

    def __init__(self, service: Service, way_out: _Exit):
        self._service = service
        self._way_out = way_out

    async def __call__(self, survey_id: str, scope: Any, receive: Any, send: Any) -> None:
        answer = await reports.take_reports(self._service, survey_id, scope["headers"], receive)
        scope["path_template"] = _UPLOADS
        start: Message = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        self._way_out.dress(start, scope)
        await send(start)
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _failed(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The one error shape, for whatever was raised wherever."""
    refused = failure_of(error)
    headers = {"Cache-Control": "no-store", **refused.headers}
    return Response(refused.body(), status_code=refused.status, media_type=JSON, headers=headers)


def _shared() -> frozenset[tuple[str, str]]:
    """Methods and templates that web pages of the allowed origins may use, asking beforehand included."""
    told = [(operation_of(handler), handler) for handler in ROUTES]
    return frozenset(
        (method, template_of(path))
        for operation, handler in told
        if operation is not None and operation.devices
        for path in handler.paths
        for method in (*handler.http_methods, "OPTIONS")
    )


def _quiet() -> frozenset[str]:
    """Templates whose requests have no line in the log, whatever their method."""
    told = {template_of(path) for handler in ROUTES if handler.opt.get(QUIET) for path in handler.paths}
    # Browsers look for icons at places of their own choice when somebody opens a page.
    return frozenset(told | {_NO_ROUTE})


def _allowed() -> dict[str, bytes]:
    """What each template can be asked with, as the Allow header writes it."""
    found: dict[str, set[str]] = {}
    for handler in ROUTES:
        for path in handler.paths:
            found.setdefault(template_of(path), {"OPTIONS"}).update(handler.http_methods)
    return {template: ", ".join(sorted(methods)).encode() for template, methods in found.items()}


@final
class _Exit:
    """What happens to every answer on its way out: headers, a counter, and a line in the log."""

    def __init__(self, service: Service):
        self._metrics = service.metrics
        self._origins = frozenset(service.settings.allow_origins)
        self._shared = _shared()
        self._quiet = _quiet()
        self._allowed = _allowed()

    async def __call__(self, message: Message, scope: Any) -> None:
        if message["type"] == "http.response.start":
            self.dress(message, scope)

    def dress(self, message: Any, scope: Any) -> None:
        """The same for the message that begins an answer."""
        template: str = scope.get("path_template", _NO_ROUTE)
        shown = template in pages.PAGE_TEMPLATES and message["status"] in (200, 304)
        headers = [*message["headers"], *(_RAW_PAGE_SECURITY if shown else _RAW_SECURITY)]
        if scope["method"] == "OPTIONS" and template in self._allowed:
            # The framework's own answer names the methods of one handler where several share the address.
            headers = [(name, value) for name, value in headers if name != b"allow"]
            headers.append((b"allow", self._allowed[template]))
        if self._origins and (scope["method"], template) in self._shared:
            headers += self._sharing(scope)
        message["headers"] = headers
        status = message["status"]
        self._metrics.answered(template, status)
        if (scope["method"], template) not in self._shared and template not in self._quiet:
            # A line about what a device or a page asks would tell, to the second, when somebody answered.
            log_access(scope["method"], template, status, perf_counter() - scope[_BEGAN])

    def _sharing(self, scope: Any) -> list[tuple[bytes, bytes]]:
        """Headers with which a browser lets pages of an allowed origin use the addresses for devices."""
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"").decode("latin-1")
        if not origin or not self._origins & {origin, "*"}:
            return [(b"vary", b"Origin")]
        headers = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
        if scope["method"] == "OPTIONS":
            headers += [
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", b"Content-Type"),
                (b"access-control-max-age", b"600"),
            ]
        return headers
