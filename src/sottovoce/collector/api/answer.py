"""An answer ready to be sent: status, headers and bytes, with nothing left to work out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

import msgspec
from litestar.types import Receive, Scope, Send

from sottovoce.collector.failures import Refused

__all__ = ["JSON", "Answer", "failed", "json_answer"]

JSON: Final = "application/json"

_NO_STORE: Final = (b"cache-control", b"no-store")

_encode: Final = msgspec.json.Encoder().encode


@final
class Answer:
    """An ASGI application that sends one response; one may be sent many times."""

    __slots__ = ("body", "headers", "status")

    def __init__(
        self,
        body: bytes,
        media_type: str = JSON,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        keep: str | None = None,
    ):
        self.status = status
        self.body = body
        self.headers = [
            (b"content-type", media_type.encode()),
            (b"content-length", b"%d" % len(body)),
            # What devices may keep says so itself; everything else is for its reader alone.
            _NO_STORE if keep is None else (b"cache-control", keep.encode()),
        ]
        for name, value in (headers or {}).items():
            self.headers.append((name.lower().encode(), value.encode()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers]})
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def json_answer(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None, *, keep: str | None = None
) -> Answer:
    """An answer in JSON, from a struct or plain values."""
    return Answer(_encode(content), JSON, status, headers, keep=keep)


def failed(refused: Refused) -> Answer:
    """The answer of a refusal."""
    return Answer(refused.body(), JSON, refused.status, refused.headers)
