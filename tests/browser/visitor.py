"""A person in front of a browser of their own, and a record of all that goes wrong in it or leaves it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, WebSocket

from collector.service import PATIENCE

_TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
"""

_OPEN_ROOTS = """{
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: "open" }); };
}"""
"""Lets tests look into closed shadow trees, as anybody can who comes before the script that makes them."""


class Visitor:
    """A fresh profile: no cookie, no storage. Tabs of one visitor share both, as those of one person do.

    Nothing may leave it but to the collector, and to a relay where there is one. Shadow trees are open to tests, unless
    they are to stay `closed`.
    """

    def __init__(self, browser: Browser, origin: str, relay: str = "", *, closed: bool = False, **options: Any):
        self.origin = origin
        self.relay = relay
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "locale": "en", "reduced_motion": "reduce"} | options
        )
        self.context.set_default_timeout(1000 * PATIENCE)
        self.requests: list[Request] = []
        self.responses: list[Response] = []
        self._errors: list[str] = []
        self._foreign: list[str] = []
        self._expected: list[str] = []
        self.context.add_init_script(_TELL_VIOLATIONS)
        if not closed:
            self.context.add_init_script(_OPEN_ROOTS)
        self.context.on("console", self._console)
        self.context.on("weberror", lambda error: self._errors.append(f"uncaught: {error.error}"))
        self.context.on("request", self._request)
        self.context.on("response", lambda response: self.responses.append(response))
        self.context.on("page", lambda page: page.on("websocket", self._websocket))

    def open(self, path: str = "/") -> Page:
        """A new tab at an address of the collector."""
        page = self.context.new_page()
        page.goto(self.origin + path)
        return page

    def expects(self, *patterns: str) -> None:
        """Errors on the console that this visit brings about on purpose, as regular expressions."""
        self._expected += patterns

    def asked(self, method: str, pattern: str) -> list[Request]:
        """Requests so far with this method, whose path matches."""
        return [
            request
            for request in self.requests
            if request.method == method and re.fullmatch(pattern, urlsplit(request.url).path)
        ]

    def reports_sent(self) -> list[bytes]:
        """Bodies of all uploads so far, as they left."""
        return [request.post_data_buffer or b"" for request in self.asked("POST", r"/v1/surveys/[0-9a-f]{64}/reports")]

    def troubles(self) -> list[str]:
        """All that should not have happened."""
        surprising = [error for error in self._errors if not any(re.search(known, error) for known in self._expected)]
        return surprising + [f"left the origin: {address}" for address in self._foreign]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._errors.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        self.requests.append(request)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" not in (self.origin, self.relay):
            self._foreign.append(request.url)

    def _websocket(self, socket: WebSocket) -> None:
        self._foreign.append(socket.url)


Visitors = Callable[..., Visitor]
"""Makes people: the address of their collector, if it is not the usual one, and options of their browser."""
