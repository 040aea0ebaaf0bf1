"""A request, and reading its body: bounded in length and time, of an allowed media type, never decompressed."""

from __future__ import annotations

import asyncio
from typing import Any, final

import msgspec

from sottovoce.collector.api.response import Receive, Scope
from sottovoce.collector.refusal import Refusal
from sottovoce.collector.session_cookie import is_secure, n_cookies
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.validation import find_fault

__all__ = ["Request", "decode_json"]


@final
class Request:
    """One request, as handlers see it."""

    __slots__ = ("_length", "media_type", "path_parameters", "receive", "scope", "service", "token")

    token: TokenRecord
    """Who asks; only where the route demands a scope."""

    service: Any
    """What the routes' handlers know it to be: the collector's `Service`, or a relay's."""

    def __init__(self, service: Any, scope: Scope, receive: Receive, path_parameters: dict[str, str]):
        self.service = service
        self.scope = scope
        self.path_parameters = path_parameters
        self.media_type = ""
        self.receive = receive
        self._length: int | None = None

    def header(self, name: bytes) -> str | None:
        """The value of a header, several joined by commas; None where it is absent."""
        found = [value for key, value in self.scope["headers"] if key == name]
        return b", ".join(found).decode("latin-1") if found else None

    @property
    def over_tls(self) -> bool:
        """Whether a browser asks over TLS."""
        return is_secure(self.scope["scheme"], self.service.settings.public_url)

    @property
    def has_several_cookies(self) -> bool:
        """Whether there is no Authorization header, and several session cookies, of which none counts."""
        return self.header(b"authorization") is None and n_cookies(self.scope["headers"], secure=self.over_tls) > 1

    def check_media_type(self, allowed: tuple[str, ...]) -> None:
        """Refuse a body of another media type, and any compression."""
        found = b""
        for name, value in self.scope["headers"]:
            if name == b"content-type":
                found = value
            elif name == b"content-length":
                self._length = int(value) if value.isdigit() and len(value) < 20 else None
            elif name == b"content-encoding":
                # Also identity: one way of sending a body, so that nothing is left to interpretation.
                raise Refusal(415, "compressed_body", "leave Content-Encoding out: compressed bodies are not accepted")
        self.media_type = found.partition(b";")[0].strip().lower().decode("latin-1")
        if self.media_type not in allowed:
            raise Refusal(415, "unsupported_media_type", f"Content-Type must be {' or '.join(allowed)}")

    async def read(self, limit: int, seconds: float) -> bytes:
        """The whole body, of at most `limit` bytes and within `seconds`.

        A Content-Length above the limit is refused before anything is read.
        """
        if self._length is not None and self._length > limit:
            raise _too_large(limit)
        deadline = self.service.deadlines.begin(seconds)
        try:
            return await self._gather(limit)
        except asyncio.CancelledError:
            if not deadline.is_reason():
                raise
        finally:
            self.service.deadlines.end(deadline)
        raise Refusal(
            408, "body_too_slow", f"the body did not arrive within {seconds:g} seconds; send it again, faster"
        )

    async def _gather(self, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                # Nothing is stored. If anybody reads this it is a proxy, which may pass it on to a device whose report
                # is good: so it is a status after which the same is sent again.
                raise Refusal(
                    408, "incomplete_body", "the connection ended before the body was complete; send it again"
                )
            part = event.get("body", b"")
            size += len(part)
            if size > limit:
                raise _too_large(limit)
            if not event.get("more_body", False):
                # Most bodies are one part: no copy then.
                return bytes(part) if not parts else b"".join([*parts, part])
            parts.append(part)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, "body_too_large", f"the body is longer than {limit:,} bytes; send it in parts")


def decode_json(body: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """A body decoded strictly, or a refusal that names the field at fault."""
    try:
        try:
            return decoder.decode(body)
        except msgspec.ValidationError:
            fault = find_fault(msgspec.json.decode(body), decoder.type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(400, "malformed_json", "the body is not JSON in UTF-8") from None
    message = "the body has the wrong shape" if fault is None else fault.message
    raise Refusal(400, "invalid_body", f"{message}; see /openapi.json", field=(fault and fault.place) or None)
