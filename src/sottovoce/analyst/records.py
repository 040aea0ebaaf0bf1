"""Reading a collector's JSON: checked as it comes in."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sottovoce.core.errors import ServiceError
from sottovoce.device.http import BAD_ANSWER

__all__ = ["read"]

T = TypeVar("T")


def read(answer: object, kind: type[T]) -> T:
    """The record behind a collector's answer."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise ServiceError(
            f"the collector's answer is not what this version understands ({error}); is it a collector, and of the "
            "same version?",
            code=BAD_ANSWER,
        ) from error
