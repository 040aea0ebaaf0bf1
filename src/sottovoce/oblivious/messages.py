"""Requests and responses that a relay cannot read (RFC 9458, Sec. 4), in few different sizes, and batches of them.

A device seals a request to the collector's public key, the relay passes it on, and the collector opens it and seals
its response. Both are padded to one of a few sizes, so that the size tells nearly nothing.
All messages of a batch, from a relay to the collector, are of one size.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import Final, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sottovoce.core.errors import ObliviousError
from sottovoce.oblivious.binary_http import (
    HttpRequest,
    HttpResponse,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from sottovoce.oblivious.hpke import (
    AEAD_ID,
    AEAD_KEY_BYTES,
    AEAD_NONCE_BYTES,
    AEAD_TAG_BYTES,
    KDF_ID,
    KEM_ID,
    KEY_BYTES,
    HpkeContext,
    PrivateKey,
    expand,
    extract,
    set_up_recipient,
    set_up_sender,
)
from sottovoce.oblivious.key_configuration import KeyConfiguration

__all__ = [
    "MESSAGE_SIZES",
    "REQUEST_MEDIA_TYPE",
    "RESPONSE_MEDIA_TYPE",
    "SEALED_HEADER_BYTES",
    "SEALED_MEDIA_TYPE",
    "OpenedRequest",
    "SealedRequest",
    "decode_sealed_batch",
    "encode_sealed_batch",
    "key_id_of",
    "open_request",
    "seal_request",
]


REQUEST_MEDIA_TYPE: Final = "message/ohttp-req"
RESPONSE_MEDIA_TYPE: Final = "message/ohttp-res"

MESSAGE_SIZES: Final = (512, 2048, 8192, 65536)
"""Bytes of a sealed request: the smallest that fits. A longer response has a multiple of the last."""

_SUITE: Final = KEM_ID.to_bytes(2) + KDF_ID.to_bytes(2) + AEAD_ID.to_bytes(2)
_HEADER_BYTES: Final = 1 + len(_SUITE)
_PLAINTEXT_AT: Final = _HEADER_BYTES + KEY_BYTES
_OVERHEAD: Final = _PLAINTEXT_AT + AEAD_TAG_BYTES

_REQUEST_INFO: Final = b"message/bhttp request\0"
_RESPONSE_LABEL: Final = b"message/bhttp response"
_RESPONSE_NONCE_BYTES: Final = max(AEAD_KEY_BYTES, AEAD_NONCE_BYTES)

_RECORDED: Final = b"sottovoce sealed message 1\0"
"""Prefix of what a recorded message's ephemeral key is derived from, so that the secret serves no other purpose."""


@final
class SealedRequest:
    """A request that is ready to be sent to a relay, and what opens its response."""

    __slots__ = ("_context", "message")

    def __init__(self, message: bytes, context: HpkeContext):
        self.message = message
        self._context = context

    def open(self, response: bytes) -> HttpResponse:
        """The response to this request, from its sealed bytes."""
        return decode_response(_open_response(self._context, response))


@final
class OpenedRequest:
    """A request that was sealed to the collector, and what seals the response to it."""

    __slots__ = ("_context", "plaintext")

    def __init__(self, plaintext: bytes, context: HpkeContext):
        self.plaintext = plaintext
        self._context = context

    def request(self) -> HttpRequest:
        """The request inside."""
        return decode_request(self.plaintext)

    def seal(self, response: HttpResponse) -> bytes:
        """The response, sealed for the device alone, padded to one of the sizes."""
        encoded = encode_response(response)
        overhead = _RESPONSE_NONCE_BYTES + AEAD_TAG_BYTES
        padded = encoded.ljust(_padded_size(len(encoded) + overhead) - overhead, b"\0")
        return _seal_response(self._context, padded, secrets.token_bytes(_RESPONSE_NONCE_BYTES))


def seal_request(configuration: KeyConfiguration, request: HttpRequest, secret: bytes | None = None) -> SealedRequest:
    """Seal a request to the collector.

    Parameters
    ----------
    configuration
        The collector's key.
    request
        What the collector is to read.
    secret
        At least 32 bytes that only this device knows, for a message that may have to be sent again: the same request
        is then sealed to the same bytes, so that a relay can tell that it is the same. The ephemeral key
        is derived from the secret, the collector's key and the whole plaintext, and so no key meets two plaintexts.
        Without it the ephemeral key is drawn from the operating system.

    Raises
    ------
    ObliviousError
        If the request is too long, or the collector's key cannot be used.
    """
    encoded = encode_request(request)
    size = _padded_size(len(encoded) + _OVERHEAD)
    if size > MESSAGE_SIZES[-1]:
        longest = MESSAGE_SIZES[-1] - _OVERHEAD
        raise ObliviousError("message_too_long", f"a sealed request holds at most {longest:,} bytes of HTTP")
    plaintext = encoded.ljust(size - _OVERHEAD, b"\0")
    return _seal(configuration, plaintext, _ephemeral(configuration, plaintext, secret))


def open_request(keys: Mapping[int, PrivateKey], message: bytes) -> OpenedRequest:
    """Open a sealed request with one of the collector's private keys, by their numbers.

    Raises
    ------
    ObliviousError
        With the code ``unknown_key``, ``unknown_suite``, ``cannot_open`` or ``bad_message``.
    """
    key = keys.get(key_id_of(message))
    if key is None:
        raise ObliviousError(
            "unknown_key", "the message is sealed to a key that the collector does not hold; fetch its keys again"
        )
    encapsulated = message[_HEADER_BYTES:_PLAINTEXT_AT]
    try:
        context = set_up_recipient(encapsulated, key, _REQUEST_INFO + message[:_HEADER_BYTES])
    except ObliviousError as error:
        raise ObliviousError("cannot_open", "the message's encapsulated key is not a usable key") from error
    return OpenedRequest(context.open(message[_PLAINTEXT_AT:]), context)


def key_id_of(message: bytes) -> int:
    """The number of the key that a message is sealed to; refused if it cannot be a sealed message."""
    if len(message) <= _OVERHEAD:
        raise ObliviousError("bad_message", f"a sealed message has more than {_OVERHEAD} bytes; this one is cut short")
    if message[1:_HEADER_BYTES] != _SUITE:
        raise ObliviousError(
            "unknown_suite",
            "the message must be sealed with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM",
        )
    return message[0]


def _ephemeral(configuration: KeyConfiguration, plaintext: bytes, secret: bytes | None) -> PrivateKey:
    if secret is None:
        return PrivateKey.derive(secrets.token_bytes(KEY_BYTES))
    if len(secret) < KEY_BYTES:
        raise ObliviousError("bad_key", f"a device's secret is at least {KEY_BYTES} bytes")
    return PrivateKey.derive(hmac.digest(secret, _RECORDED + configuration.encode() + plaintext, "sha256"))


def _seal(configuration: KeyConfiguration, plaintext: bytes, ephemeral: PrivateKey) -> SealedRequest:
    header = bytes([configuration.key_id]) + _SUITE
    context = set_up_sender(configuration.public, _REQUEST_INFO + header, ephemeral)
    return SealedRequest(header + context.encapsulated + context.seal(plaintext), context)


def _seal_response(context: HpkeContext, plaintext: bytes, nonce: bytes) -> bytes:
    key, aead_nonce = _response_key(context, nonce)
    return nonce + AESGCM(key).encrypt(aead_nonce, plaintext, None)


def _open_response(context: HpkeContext, response: bytes) -> bytes:
    nonce, sealed = response[:_RESPONSE_NONCE_BYTES], response[_RESPONSE_NONCE_BYTES:]
    key, aead_nonce = _response_key(context, nonce)
    try:
        return AESGCM(key).decrypt(aead_nonce, sealed, None)
    except (InvalidTag, ValueError) as error:
        raise ObliviousError(
            "cannot_open", "the response cannot be decrypted: it was altered, cut, or belongs to another request"
        ) from error


def _response_key(context: HpkeContext, nonce: bytes) -> tuple[bytes, bytes]:
    """Key and nonce of a response (RFC 9458, Sec. 4.4)."""
    exported = context.export(_RESPONSE_LABEL, _RESPONSE_NONCE_BYTES)
    key = extract(context.encapsulated + nonce, exported)
    return expand(key, b"key", AEAD_KEY_BYTES), expand(key, b"nonce", AEAD_NONCE_BYTES)


def _padded_size(length: int) -> int:
    """The smallest size that has room for `length` bytes."""
    largest = MESSAGE_SIZES[-1]
    return next((size for size in MESSAGE_SIZES if length <= size), -(-length // largest) * largest)


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
    batch = [*messages]
    if size not in MESSAGE_SIZES or any(len(message) != size for message in batch):
        raise _bad()
    return _MAGIC + size.to_bytes(_SIZE_BYTES) + b"".join(batch)


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
