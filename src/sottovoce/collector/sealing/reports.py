"""From sealed messages to the reports in them: pure work, done in processes of its own.

A message of a batch holds one report, in the request with which a device would have sent it directly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from sottovoce.core.errors import ObliviousError, ReportError
from sottovoce.formats.wire import BATCH_HEADER_BYTES, BATCH_MEDIA_TYPE, batch_survey
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.messages import open_request

__all__ = ["SealedCode", "SealedReport", "Unreadable", "open_reports"]

SealedCode: TypeAlias = Literal["unknown_key", "unknown_suite", "cannot_open", "bad_message", "no_report"]
"""Why a sealed message holds no report."""

_MEDIA_TYPE: Final = BATCH_MEDIA_TYPE.encode()

_PATH: Final = re.compile(r"/v1/surveys/([0-9a-f]{64})/reports")


class SealedReport(NamedTuple):
    """A report as it came out of a message; not yet checked against its survey."""

    survey: str
    row: bytes
    """Id and report, as a row of a batch."""


class Unreadable(NamedTuple):
    """Why a message holds no report; nothing of it is quoted."""

    code: SealedCode
    message: str


def open_reports(keys: Mapping[int, bytes], messages: bytes, size: int) -> list[SealedReport | Unreadable]:
    """What is in each of the messages of this size, which follow one another."""
    opened = {key_id: _private_key(private) for key_id, private in keys.items()}
    return [_open(opened, messages[at : at + size]) for at in range(0, len(messages), size)]


def _open(keys: Mapping[int, PrivateKey], message: bytes) -> SealedReport | Unreadable:
    try:
        return _report(open_request(keys, message).request())
    except ObliviousError as error:
        return Unreadable(cast(SealedCode, error.code), str(error))


def _report(request: HttpRequest) -> SealedReport | Unreadable:
    found = _PATH.fullmatch(request.path)
    if request.method != "POST" or found is None or dict(request.headers).get(b"content-type") != _MEDIA_TYPE:
        return Unreadable(
            "no_report", f"a message of a batch is POST /v1/surveys/{{id}}/reports with {BATCH_MEDIA_TYPE}"
        )
    try:
        if batch_survey(request.content) == found[1]:
            return SealedReport(found[1], request.content[BATCH_HEADER_BYTES:])
    except ReportError as error:
        return Unreadable("no_report", str(error))
    return Unreadable("no_report", "the batch in the message is of another survey than its address")


@lru_cache(maxsize=256)
def _private_key(private: bytes) -> PrivateKey:
    return PrivateKey(private)
