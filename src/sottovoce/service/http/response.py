"""A response ready to be sent: status, headers and bytes, of a long body in parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import msgspec

from sottovoce.service.refusal import Refusal

__all__ = ["JSON", "Receive", "Response", "Scope", "Send", "json_response", "refused"]

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Any]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]

JSON: Final = "application/json"

_NO_STORE: Final = (b"cache-control", b"no-store")

_encode: Final = msgspec.json.Encoder().encode


@final
class Response:
    """An ASGI application that sends one response; it may be sent many times."""

    __slots__ = ("_parts", "headers", "status")

    def __init__(
        self,
        body: bytes | Sequence[bytes],
        media_type: str = JSON,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        cache: str | None = None,
    ):
        self.status = status
        self._parts = (body,) if isinstance(body, bytes) else body
        self.headers = [
            (b"content-type", media_type.encode()),
            (b"content-length", b"%d" % sum(len(part) for part in self._parts)),
            _NO_STORE if cache is None else (b"cache-control", cache.encode()),
        ]
        if status in (204, 304):
            del self.headers[:2]
        for name, value in (headers or {}).items():
            self.headers.append((name.lower().encode(), value.encode()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers]})
        *first, last = self._parts
        for part in first:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": last, "more_body": False})


def json_response(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None, *, cache: str | None = None
) -> Response:
    """A response in JSON, from a struct or plain values."""
    return Response(_encode(content), JSON, status, headers, cache=cache)


def refused(refusal: Refusal) -> Response:
    """The response that tells a refusal."""
    return Response(refusal.body(), JSON, refusal.status, refusal.headers)
