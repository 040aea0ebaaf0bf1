"""The JSON of errors: a code for programs, a message for people, the field at fault where there is one."""

from __future__ import annotations

from typing import Annotated

import msgspec

__all__ = ["ErrorBody", "ErrorDetail", "RefusedReport"]


class ErrorDetail(msgspec.Struct, frozen=True):
    """A code for programs, a message for people, and the field at fault where there is one."""

    code: str
    message: str
    field: str | None = None


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error response."""

    error: ErrorDetail


class RefusedReport(msgspec.Struct, frozen=True, gc=False):
    """Why one report of a body was refused; nothing of the report is quoted."""

    position: Annotated[int, msgspec.Meta(ge=0)]
    code: str
    message: str
