"""An ASGI application: routes, one error shape, the same security headers on every response."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Final, Generic, Protocol, TypeVar, final

from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Receive, Response, Scope, Send, refused
from sottovoce.service.http.route import Route, Router, Sendable
from sottovoce.service.refusal import Refusal, refusal_of
from sottovoce.service.running.log import log_access
from sottovoce.service.running.outage import Repeats

__all__ = ["SECURITY_HEADERS", "AnsweringService", "Application", "Elsewhere"]

SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""Headers of every response but the pages themselves: nothing else from here is ever shown as a page or inside one."""

_log: Final = logging.getLogger("sottovoce.collector")

_NO_ROUTE: Final = "none"
"""What metrics and logs call the address of a request that has none: its own text is not recorded."""

_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"Content-Type"),
    (b"access-control-max-age", b"600"),
]


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


_RAW_SECURITY: Final = _raw(SECURITY_HEADERS)


class Elsewhere(Protocol):
    """Another process that answers requests."""

    async def ask(self, request: Any, *, stream: bool, shared: bool) -> Callable[..., Awaitable[None]]:
        """The response to a request: one that goes on until its reader leaves, or that is the same for everybody."""

    def set_level(self, level: str) -> None:
        """What it logs from now on."""

    def stop(self) -> None:
        """Let it end streams and drop what waits."""


class AnsweringService(Protocol):
    """What an application needs of its service; the handlers of its routes need more."""

    @property
    def settings(self) -> AppSettings:
        """Its settings."""

    @property
    def metrics(self) -> AnswerMetrics:
        """What counts its answers."""

    @property
    def elsewhere(self) -> Elsewhere | None:
        """The process that answers requests that are not answered here."""

    async def finish(self) -> None:
        """Write what is queued, and end."""


class AppSettings(Protocol):
    """What an application needs of the settings."""

    @property
    def allow_origins(self) -> tuple[str, ...]:
        """Web pages that may use the addresses for devices."""


class AnswerMetrics(Protocol):
    """What an application tells the metrics."""

    def answered(self, route: str, status: int) -> None:
        """A request has been answered."""

    def refused(self, code: str, n: int = 1) -> None:
        """Reports were refused."""


S = TypeVar("S", bound=AnsweringService)


@final
class Application(Generic[S]):
    """An ASGI application."""

    def __init__(self, service: S, routes: Iterable[Route]):
        self.service = service
        listed = tuple(routes)
        self._router = Router(listed)
        self._origins = frozenset(service.settings.allow_origins)
        self._probes = {path: 0 for route in listed if route.is_probe for path in route.paths}
        self._strangers = Repeats(_log, logging.INFO)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Requests may come inside the block; at its end whatever is queued is written."""
        try:
            yield
        finally:
            await self.service.finish()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        template, routes, parameters = self._router.find(scope["path"])
        chosen = routes.get(scope["method"])
        response = await self._response(chosen, routes, Request(self.service, scope, receive, parameters))

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                if chosen is not None:
                    self._finish(message, scope, template, began, chosen)
                elif scope["method"] == "OPTIONS":
                    self._finish(message, scope, template, began, *routes.values())
                else:
                    self._finish(message, scope, "", began)
            await send(message)

        await response(scope, receive, send_with_headers)

    async def answer(self, scope: Scope, receive: Receive) -> Sendable:
        """The bare response, without the headers of every response, metrics and log."""
        _, routes, parameters = self._router.find(scope["path"])
        return await self._response(
            routes.get(scope["method"]), routes, Request(self.service, scope, receive, parameters)
        )

    async def answer_device(self, scope: Scope, receive: Receive) -> Sendable:
        """The response to a request from a sealed message: it is counted, and only routes for devices answer."""
        template, routes, parameters = self._router.find(scope["path"])
        allowed = {method: route for method, route in routes.items() if route.for_devices and not route.is_gateway}
        chosen = allowed.get(scope["method"])
        response = await self._response(chosen, allowed, Request(self.service, scope, receive, parameters))

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_counted(message: Any) -> None:
                if message["type"] == "http.response.start":
                    self.service.metrics.answered(template if chosen else _NO_ROUTE, message["status"])
                await send(message)

            await response(scope, receive, send_counted)

        return counted

    async def _response(self, chosen: Route | None, routes: dict[str, Route], request: Request) -> Sendable:
        elsewhere = self.service.elsewhere
        try:
            if chosen is not None and elsewhere is not None and not chosen.at_intake:
                return await elsewhere.ask(request, stream=chosen.is_stream, shared=chosen.is_shared)
            if chosen is not None:
                return await chosen.respond(request)
            return _unrouted(request.scope["method"], routes)
        except Exception as error:
            refusal = refusal_of(error)
            if chosen is not None and chosen.counts_refusals:
                self.service.metrics.refused(refusal.code)
            return refused(refusal)

    def _finish(self, message: Any, scope: Scope, template: str, began: float, *routes: Route) -> None:
        """Headers, a counter and a line in the log for a response of these routes, or of none."""
        status, for_devices, is_page = message["status"], False, False
        for route in routes:
            for_devices, is_page = for_devices or route.for_devices, is_page or route.is_page
        page = (
            next((route.page_headers for route in routes if route.page_headers), None) if status in (200, 304) else None
        )
        message["headers"] += _RAW_SECURITY if page is None else _page_security(page, message["headers"])
        if for_devices and self._origins:
            message["headers"] += self._sharing(scope)
        self.service.metrics.answered(template or _NO_ROUTE, status)
        if template in self._probes:
            if self._probes[template] == status:
                return  # asked for many times a minute: only a change is worth a line
            self._probes[template] = status
        if status == 401 and template and not is_page:
            # Anybody can ask without a token, as often as they like: that must not fill the disk.
            self._strangers.say(f"{template} was asked for without a token that counts")
        elif template and not for_devices and not is_page:
            # A line about what a device or a page asks would tell, to the second, when somebody answered. Browsers
            # also look for icons at addresses of their own choice when somebody opens a page.
            log_access(scope["method"], template, status, perf_counter() - began)

    def _sharing(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Headers with which a browser lets pages of an allowed origin use the addresses for devices."""
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"").decode("latin-1")
        if not origin or not self._origins & {origin, "*"}:
            return [(b"vary", b"Origin")]
        headers = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
        return headers + (_PREFLIGHT if scope["method"] == "OPTIONS" else [])


def _page_security(page: Mapping[str, str], own: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers of every page but those that it has itself: of two policies a browser would keep both."""
    names = {name for name, _ in own}
    return [header for header in _raw({**SECURITY_HEADERS, **page}) if header[0] not in names]


def _unrouted(method: str, routes: dict[str, Route]) -> Response:
    """The response where no handler is: which methods there are, if any."""
    if not routes:
        raise Refusal(404, "not_found", "there is nothing at this address; /openapi.json lists every address")
    allow = {"Allow": ", ".join(sorted({"OPTIONS", *routes}))}
    if method == "OPTIONS":
        return Response(b"", status=204, headers=allow)
    message = "this address does not accept that method; the Allow header lists those it accepts"
    raise Refusal(405, "method_not_allowed", message, headers=allow)
