"""Errors of the service: one exception with a status, a code, a message and a field, and its JSON.

A message says what was wrong, what is allowed and what to do. An unexpected exception becomes a 500 of fixed text: its
trace is logged without its message, which could quote what somebody sent.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from sottovoce.core.errors import (
    CapacityError,
    MismatchError,
    NoReportsError,
    ObjectStorageError,
    ReportError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    SurveyError,
)
from sottovoce.protocol.errors import ErrorBody, ErrorDetail
from sottovoce.service.running.outage import Repeats

__all__ = ["RETRY_AFTER", "Refusal", "refusal_of", "trace_of"]

RETRY_AFTER: Final = MappingProxyType({429: 1, 503: 2, 507: 60})
"""Seconds after which a request may succeed, if nothing better is known."""

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

_repeats: Final = Repeats(logging.getLogger("sottovoce.collector"), logging.ERROR)
"""Under load one fault refuses a thousand requests a second."""


class Refusal(Exception):  # noqa: N818 - a response, not a fault
    """A response other than success."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        retry_after: float | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        seconds = RETRY_AFTER.get(status) if retry_after is None else max(1, round(retry_after))
        self.headers = headers if seconds is None else {**headers, "Retry-After": str(seconds)}

    def body(self) -> bytes:
        """The refusal as JSON."""
        return msgspec.json.encode(ErrorBody(ErrorDetail(self.code, self.message, self.field)))


def refusal_of(error: Exception) -> Refusal:
    """The refusal for an exception; an unexpected one is logged and becomes a 500 of fixed text."""
    match error:
        case Refusal():
            return error
        case StoreFullError():
            message = "the collector's disk is full and nothing was stored; send the same again later"
            return Refusal(507, "storage_full", message)
        case StoreUnavailableError():
            message = "the collector's database is unavailable and nothing was changed; send the same again later"
            return Refusal(503, "store_unavailable", message)
        case ObjectStorageError():
            _repeats.say(f"a request failed: {error}")
            message = "the collector's object storage failed and nothing was changed; its log says more"
            return Refusal(503, "store_failed", message)
        case StoreError():
            _repeats.say(f"the store failed\n{trace_of(error)}")
            message = "the collector's database failed and nothing was acknowledged; its log says more"
            return Refusal(503, "store_failed", message)
        case ReportError():
            return Refusal(422, "invalid_report", str(error))
        case SurveyError():
            return Refusal(422, "invalid_survey", str(error), field="statement")
        case MismatchError():
            return Refusal(409, "mismatch", str(error))
        case NoReportsError():
            return Refusal(409, "too_few_reports", str(error))
        case CapacityError():
            return Refusal(409, "too_much", str(error))
    _repeats.say(f"a request failed unexpectedly\n{trace_of(error)}")
    return Refusal(
        500, "internal", "the service failed to answer; its log says where, and nothing of what was sent is in it"
    )


def trace_of(error: BaseException) -> str:
    """Types and places of an exception and its causes: no message, no line of data."""
    parts = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = traceback.extract_tb(link.__traceback__)
        places = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        parts.append("\n".join([type(link).__qualname__, *places]))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\ncaused by ".join(parts)
