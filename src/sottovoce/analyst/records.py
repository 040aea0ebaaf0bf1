"""What a collector tells an analyst about surveys, rounds, segments and tokens, checked as it comes in."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec

from sottovoce.client.http import BAD_ANSWER
from sottovoce.errors import ServiceError

__all__ = ["NewToken", "RoundInfo", "SegmentInfo", "Status", "TokenInfo", "read"]

State = Literal["open", "sealed", "deleted"]

T = TypeVar("T")


class Status(msgspec.Struct, frozen=True):
    """Where a survey stands.

    Attributes
    ----------
    n_reports, waiting
        Reports that are counted, and those that are safe but not yet counted (a resent one included).
    minimum_reports
        No estimate before that many.
    rounds, asked
        Of a panel: how many questions may be asked, and how many have been.
    """

    id: str
    title: str
    kind: str
    epsilon: float
    state: State
    n_reports: int
    waiting: int
    minimum_reports: int
    mechanism: str | None = None
    rounds: int | None = None
    asked: int | None = None
    delta: Annotated[float, msgspec.Meta(ge=0, lt=1)] | None = None
    """None where the collector does not say."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return msgspec.structs.asdict(self)


class RoundInfo(msgspec.Struct, frozen=True):
    """A round of a panel."""

    id: str
    round: int
    state: State
    n_reports: int
    waiting: int
    labels: list[str]


class SegmentInfo(msgspec.Struct, frozen=True):
    """Counted reports that are kept together: all of one coarse time."""

    number: int
    epoch: int
    n: int


class TokenInfo(msgspec.Struct, frozen=True):
    """A token as the collector knows it: never the token itself."""

    id: str
    scopes: list[str]
    note: str
    revoked: bool = False


class NewToken(msgspec.Struct, frozen=True):
    """A token that was just made: `token` is shown this once, and kept nowhere. `repr` leaves it out."""

    id: str
    token: str
    scopes: list[str]
    note: str

    def __repr__(self) -> str:
        return f"<token {self.id}: {', '.join(sorted(self.scopes))}>"


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
