"""Many sealed messages in one body, from a relay to the collector: all of one size, so that they tell nothing apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sottovoce.core.errors import ObliviousError
from sottovoce.oblivious.messages import MESSAGE_SIZES

__all__ = ["SEALED_HEADER_BYTES", "SEALED_MEDIA_TYPE", "decode_sealed_batch", "encode_sealed_batch"]

SEALED_MEDIA_TYPE: Final = "application/vnd.sottovoce.sealed"

_MAGIC: Final = b"SVS1"
_SIZE_BYTES: Final = 4

SEALED_HEADER_BYTES: Final = len(_MAGIC) + _SIZE_BYTES


def encode_sealed_batch(size: int, messages: Iterable[bytes]) -> bytes:
    """A body of messages of this size.

    Examples
    --------
    >>> size, messages = decode_sealed_batch(encode_sealed_batch(512, [bytes(512), bytes(512)]))
    >>> size, len(messages)
    (512, 1024)
    """
    found = [*messages]
    if size not in MESSAGE_SIZES or any(len(message) != size for message in found):
        raise _bad()
    return _MAGIC + size.to_bytes(_SIZE_BYTES) + b"".join(found)


def decode_sealed_batch(body: bytes) -> tuple[int, bytes]:
    """The size of a body's messages, and all of them, one after another."""
    size = int.from_bytes(body[len(_MAGIC) : SEALED_HEADER_BYTES])
    messages = body[SEALED_HEADER_BYTES:]
    if body[: len(_MAGIC)] != _MAGIC or size not in MESSAGE_SIZES or not messages or len(messages) % size:
        raise _bad()
    return size, messages


def _bad() -> ObliviousError:
    sizes = ", ".join(str(size) for size in MESSAGE_SIZES)
    return ObliviousError(
        "bad_batch",
        f"a batch of sealed messages is {_MAGIC.decode()}, a size in {_SIZE_BYTES} bytes ({sizes}) and at least one "
        "message, all of that size",
    )
