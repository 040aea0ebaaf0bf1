"""HTTP messages as bytes (RFC 9292), of known length.

Read strictly: whatever HTTP does not allow is refused, and so is padding that is not zero. Messages of indeterminate
length are refused too: nothing here is sent in pieces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from sottovoce.core.errors import ObliviousError

__all__ = [
    "Fields",
    "HttpRequest",
    "HttpResponse",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]

Fields: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""Header or trailer fields: lower-case names and values."""

_REQUEST: Final = b"\0"
_RESPONSE: Final = b"\1"

_TOKEN: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")
"""A field's name, as HTTP/2 has it (RFC 9113, Sec. 8.2.1); pseudo-fields with a colon are none of ours."""

_VALUE: Final = re.compile(rb"(?:[^\0\r\n\t ](?:[^\0\r\n]*[^\0\r\n\t ])?)?")

_METHOD: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VISIBLE: Final = re.compile(rb"[!-~]*")
_PATH: Final = re.compile(rb"/[!-~]*")

_INTERIM: Final = range(100, 200)
_FINAL: Final = range(200, 600)


@final
@dataclass(frozen=True)
class HttpRequest:
    """A request: what would have been sent to the collector directly."""

    method: str
    path: str
    """With the query, if there is one."""
    scheme: str = "https"
    authority: str = ""
    headers: Fields = ()
    content: bytes = b""
    trailers: Fields = ()


@final
@dataclass(frozen=True)
class HttpResponse:
    """A final response."""

    status: int
    headers: Fields = ()
    content: bytes = b""
    trailers: Fields = ()


def encode_request(request: HttpRequest) -> bytes:
    """A request as bytes.

    Examples
    --------
    >>> encode_request(HttpRequest("GET", "/", authority="example.com")).hex()
    '00034745540568747470730b6578616d706c652e636f6d012f000000'
    """
    control = (request.method, request.scheme, request.authority, request.path)
    parts = [_REQUEST, *(_framed(part.encode("ascii")) for part in control)]
    return b"".join([*parts, _fields(request.headers), _framed(request.content), _fields(request.trailers)])


def encode_response(response: HttpResponse) -> bytes:
    """A response as bytes."""
    parts = [_RESPONSE, _integer(response.status), _fields(response.headers), _framed(response.content)]
    return b"".join([*parts, _fields(response.trailers)])


def decode_request(encoded: bytes) -> HttpRequest:
    """A request from its bytes, which may be padded with zeros."""
    reader = _MessageReader(encoded, _REQUEST)
    method, scheme, authority, path = (reader.framed() for _ in range(4))
    if not (_METHOD.fullmatch(method) and _METHOD.fullmatch(scheme) and _VISIBLE.fullmatch(authority)):
        raise _invalid("its method, scheme or authority")
    if not _PATH.fullmatch(path):
        raise _invalid("its path, which must begin with /")
    headers, content, trailers = reader.rest()
    return HttpRequest(method.decode(), path.decode(), scheme.decode(), authority.decode(), headers, content, trailers)


def decode_response(encoded: bytes) -> HttpResponse:
    """A response from its bytes, which may be padded with zeros; interim responses are passed over."""
    reader = _MessageReader(encoded, _RESPONSE)
    while (status := reader.integer()) in _INTERIM:
        reader.fields()
    if status not in _FINAL:
        raise _invalid("its status")
    return HttpResponse(status, *reader.rest())


@final
class _MessageReader:
    """A place in a message, which moves on as parts are read."""

    def __init__(self, encoded: bytes, framing: bytes):
        if encoded[:1] != framing:
            raise _invalid("its first byte: a message of known length, and of the other kind, is expected")
        self._encoded = encoded
        self._at = 1

    def integer(self) -> int:
        """A variable-length integer (RFC 9000, Sec. 16)."""
        first = self._encoded[self._at : self._at + 1]
        if not first:
            raise _cut()
        length = 1 << (first[0] >> 6)
        return int.from_bytes(self._take(length)) & ((1 << (8 * length - 2)) - 1)

    def framed(self) -> bytes:
        """Bytes after their length."""
        return self._take(self.integer())

    def fields(self) -> Fields:
        """A section of fields after its length."""
        end = self.integer() + self._at
        if end > len(self._encoded):
            raise _cut()
        fields: list[tuple[bytes, bytes]] = []
        while self._at < end:
            name, value = self.framed(), self.framed()
            if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
                raise _invalid("a header field")
            fields.append((name, value))
        if self._at != end:
            raise _invalid("the length of its header")
        return tuple(fields)

    def rest(self) -> tuple[Fields, bytes, Fields]:
        """Header, content and trailer, then padding; empty parts at the end may be absent."""
        headers = () if self._ended() else self.fields()
        content = b"" if self._ended() else self.framed()
        trailers = () if self._ended() else self.fields()
        if self._encoded.count(0, self._at) != len(self._encoded) - self._at:
            raise _invalid("its padding, which must be zeros")
        return headers, content, trailers

    def _ended(self) -> bool:
        return self._at == len(self._encoded)

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._encoded):
            raise _cut()
        return self._encoded[start : self._at]


def _integer(value: int) -> bytes:
    for power, length in enumerate((1, 2, 4, 8)):
        if value < 1 << (8 * length - 2):
            return ((power << (8 * length - 2)) | value).to_bytes(length)
    raise ObliviousError("bad_message", "a part of the message is longer than any message can be")


def _framed(part: bytes) -> bytes:
    return _integer(len(part)) + part


def _fields(fields: Fields) -> bytes:
    return _framed(b"".join(_framed(name) + _framed(value) for name, value in fields))


def _cut() -> ObliviousError:
    return ObliviousError("bad_message", "the sealed message is cut short; seal and send it again")


def _invalid(what: str) -> ObliviousError:
    return ObliviousError("bad_message", f"the sealed message is not an HTTP message of RFC 9292: {what}")
