"""From whatever went wrong to the one shape in which the service tells it: a status, a code, a message, a field.

A message says what was wrong, what is allowed and what to do. What nobody foresaw is told in a fixed sentence: its
trace goes to the log, without its message, which could quote what somebody sent.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from litestar.exceptions import HTTPException

from sottovoce.collector.committer import Overloaded
from sottovoce.collector.intake import BodyRefusedError
from sottovoce.errors import (
    CapacityError,
    MismatchError,
    NoReportsError,
    ReportError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    SurveyError,
)

__all__ = ["RETRY_AFTER", "Failure", "FailureBody", "Refused", "failure_of", "trace_of"]

RETRY_AFTER: Final = MappingProxyType({429: 1, 503: 2, 507: 60})
"""After how many seconds the same may succeed, where nothing better is known."""

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})

_log: Final = logging.getLogger("sottovoce.collector")


class Failure(msgspec.Struct, frozen=True):
    """What was wrong."""

    code: str
    message: str
    field: str | None = None


class FailureBody(msgspec.Struct, frozen=True):
    """The body of every answer that is no success."""

    error: Failure


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """An answer other than success, on its way out of a handler."""

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
        super().__init__(code)
        self.status = status
        self.failure = Failure(code, message, field)
        seconds = RETRY_AFTER.get(status) if retry_after is None else max(1, round(retry_after))
        self.headers = headers if seconds is None else {**headers, "Retry-After": str(seconds)}

    def body(self) -> bytes:
        """The one error shape, as JSON."""
        return msgspec.json.encode(FailureBody(self.failure))


_UNROUTED: Final = {
    400: ("bad_request", "the request cannot be read as HTTP for this service; see /openapi.json"),
    404: ("not_found", "there is nothing at this address; /openapi.json lists every one there is"),
    405: ("method_not_allowed", "this address does not take that method; the Allow header lists those it takes"),
    413: ("too_large", "the body is longer than this service reads"),
}
"""What the framework refuses before any handler is asked."""


def failure_of(error: Exception) -> Refused:
    """The answer for an exception; one that nobody foresaw is logged and becomes a 500 of fixed text."""
    match error:
        case Refused():
            return error
        case HTTPException() if error.status_code < 500:
            code, message = _UNROUTED.get(error.status_code, _UNROUTED[400])
            allow = (error.headers or {}).get("allow")
            return Refused(error.status_code, code, message, headers={"Allow": allow} if allow else _NO_HEADERS)
        case BodyRefusedError():
            return Refused(error.status, error.code, str(error))
        case Overloaded():
            return Refused(503, "overloaded", str(error), retry_after=error.retry_after)
        case StoreFullError():
            message = "the collector's disk is full and nothing was kept; send the same again later"
            return Refused(507, "storage_full", message)
        case StoreUnavailableError():
            message = "the collector's database is away and nothing was changed; send the same again later"
            return Refused(503, "store_unavailable", message)
        case StoreError():
            _log.error("the store failed\n%s", trace_of(error))
            message = "the collector's database failed and nothing was acknowledged; its log says more"
            return Refused(503, "store_failed", message)
        case ReportError():
            return Refused(422, "invalid_report", str(error))
        case SurveyError():
            return Refused(422, "invalid_survey", str(error), field="statement")
        case MismatchError():
            return Refused(409, "mismatch", str(error))
        case NoReportsError():
            return Refused(409, "too_few_reports", str(error))
        case CapacityError():
            return Refused(409, "too_much", str(error))
    _log.error("a request failed for a reason nobody foresaw\n%s", trace_of(error))
    return Refused(
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
