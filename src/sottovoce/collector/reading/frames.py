"""A request and its response between two processes: frames on a socket, each after its length.

Towards the process that answers: the head of the request, then its body in parts. Back: the head of the response, then
its body likewise. Who closes the socket earlier has gone away.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

import msgspec

__all__ = ["Frame", "RequestHead", "ResponseHead", "put", "take"]

_LENGTH: Final = 4
_LAST: Final = 1 << 31
"""Set in the length of a body's last part."""


class RequestHead(NamedTuple):
    """What an answer depends on besides the body; nothing of where the request came from."""

    method: str
    scheme: str
    path: str
    query_string: bytes
    headers: list[tuple[bytes, bytes]]


class ResponseHead(NamedTuple):
    """The first that is sent back."""

    status: int
    headers: list[tuple[bytes, bytes]]


class Frame(NamedTuple):
    """A head, or a part of a body."""

    content: bytes
    last: bool

    def decode(self, kind: Any) -> Any:
        """The head of that kind which was sent."""
        return msgspec.msgpack.decode(self.content, type=kind)


async def put(writer: asyncio.StreamWriter, content: RequestHead | ResponseHead | bytes, *, last: bool = False) -> None:
    """Send a head or a part, and wait while the other side has much to read."""
    frame = content if isinstance(content, bytes) else msgspec.msgpack.encode(content)
    writer.write((len(frame) | (_LAST if last else 0)).to_bytes(_LENGTH, "little") + frame)
    await writer.drain()


async def take(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame; None when the other side has gone away."""
    try:
        told = int.from_bytes(await reader.readexactly(_LENGTH), "little")
        return Frame(await reader.readexactly(told & ~_LAST), bool(told & _LAST))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
