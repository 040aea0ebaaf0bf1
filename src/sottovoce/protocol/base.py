"""What bodies are made of: patterns, annotated numbers and texts, and the bases of requests and responses."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

__all__ = [
    *("BASE64", "BASE64URL", "HEX_32", "HEX_64", "LINE", "Count", "Delta", "Digest", "Hex64", "Level", "Line"),
    *("Moment", "RequestStruct", "ResponseStruct", "SegmentNumber", "SurveyId", "SurveyState"),
    *("Looks", "TokenId"),
]

HEX_64: Final = "^[0-9a-f]{64}$"
HEX_32: Final = "^[0-9a-f]{32}$"
BASE64URL: Final = "^[0-9A-Za-z_-]+$"
BASE64: Final = "^[0-9A-Za-z+/_-]*={0,2}$"
LINE: Final = "^[^\\x00-\\x1f\\x7f]*$"

Hex64 = Annotated[str, Meta(pattern=HEX_64)]
Line = Annotated[str, Meta(max_length=200, pattern=LINE)]
Count = Annotated[int, Meta(ge=0)]
Delta = Annotated[float, Meta(ge=0, lt=1, description="0 where the promise is pure epsilon-LDP")]
Level = Annotated[float, Meta(gt=0, lt=1, description="probability with which each interval contains the truth")]
Looks = Annotated[
    Literal["0", "1", "open"],
    Meta(
        description="1: intervals that hold at every look together while reports come in; 0: at one look; open: at "
        "every look until the survey is sealed and all its reports are counted, then at one"
    ),
]
Moment = Annotated[str, Meta(description="in UTC, as 2027-01-04T00:00:00Z")]
SurveyState: TypeAlias = Literal["open", "sealed", "deleted"]

SurveyId = Annotated[str, Meta(pattern=HEX_64, description="the survey's id: the SHA-256 of its canonical JSON")]
Digest = Annotated[str, Meta(pattern=HEX_64, description="the SHA-256 of the attachment")]
SegmentNumber = Annotated[str, Meta(pattern="^(0|[1-9][0-9]{0,17})$", description="the segment's number")]
TokenId = Annotated[str, Meta(pattern="^[0-9a-f]{8}$", description="the 8 digits after sv_ in the token")]


class RequestStruct(msgspec.Struct, forbid_unknown_fields=True):
    """A request: unknown fields are refused."""


class ResponseStruct(msgspec.Struct):
    """A response."""
