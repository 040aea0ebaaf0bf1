"""Reading a request's body without trusting whoever sends it: bounded in length and in time, never decompressed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import msgspec
from litestar import Request

from sottovoce.collector.api.answer import JSON
from sottovoce.collector.api.wrong_field import wrong_field
from sottovoce.collector.failures import Refused

__all__ = ["Headers", "Incoming", "content_type", "decode_json", "read_body", "read_json"]

T = TypeVar("T")

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
Incoming: TypeAlias = Callable[[], Awaitable[Any]]
"""Where the parts of a body come from: what ASGI calls receive."""


def content_type(headers: Headers, allowed: tuple[str, ...]) -> tuple[str, int | None]:
    """The media type, one of those allowed, and the length if it was said; refuses any compression."""
    found, length = "", None
    for name, value in headers:
        if name == b"content-type":
            found = value.partition(b";")[0].strip().lower().decode("latin-1")
        elif name == b"content-length":
            length = int(value) if value.isdigit() and len(value) < 20 else None
        elif name == b"content-encoding":
            # Also identity: one way of sending a body, so that nothing is left to interpretation.
            raise Refused(415, "compressed_body", "bodies must come as they are: leave Content-Encoding out")
    if found not in allowed:
        raise Refused(415, "unsupported_media_type", f"the body must be {' or '.join(allowed)}: say so in Content-Type")
    return found, length


async def read_body(receive: Incoming, length: int | None, limit: int, seconds: float) -> bytes:
    """The whole body, of at most `limit` bytes and within `seconds`.

    `length` is what the sender said; a longer one is refused before anything is read, and a sender that says nothing
    is counted while it sends.
    """
    if length is not None and length > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(seconds):
            return await _gather(receive, limit)
    except TimeoutError:
        pass
    raise Refused(408, "body_too_slow", f"the body did not arrive within {seconds:g} seconds; send it again, faster")


async def _gather(receive: Incoming, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            # Nothing is stored. If anybody reads this it is a proxy, which may pass it on to a device whose report is
            # good: so it is a status after which the same is sent again.
            raise Refused(408, "incomplete_body", "the sender went away before the body was complete; send it again")
        part = event.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        if not event.get("more_body", False):
            # Most bodies are one part: no copy then.
            return bytes(part) if not parts else b"".join([*parts, part])
        parts.append(part)


def _too_large(limit: int) -> Refused:
    return Refused(
        413, "body_too_large", f"the body is longer than the {limit:,} bytes that are read; send it in parts"
    )


async def read_json(request: Request[Any, Any, Any], decoder: msgspec.json.Decoder[T], limit: int, seconds: float) -> T:
    """The body as what the decoder makes of it."""
    _, length = content_type(request.scope["headers"], (JSON,))
    return decode_json(await read_body(request.receive, length, limit, seconds), decoder)


def decode_json(body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """What the decoder makes of a body, or a refusal that names the field."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        field, told = wrong_field(str(error), decoder.type)
        raise Refused(400, "invalid_body", f"{told}; see /openapi.json", field=field) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "malformed_json", "the body is no JSON in UTF-8") from None
