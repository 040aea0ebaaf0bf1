"""The JSON of surveys, rounds, periods and segments."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from sottovoce.protocol.base import (
    BASE64,
    LINE,
    Count,
    Delta,
    Hex64,
    Moment,
    RequestStruct,
    ResponseStruct,
    SurveyState,
)
from sottovoce.surveys.panel import MAX_CHOICES

__all__ = [
    "CentralGuarantee",
    "Embedding",
    "Envelope",
    "GroupList",
    "GroupStatus",
    "KeyAnswer",
    "ListedSurvey",
    "ListedSurveys",
    "PeriodAhead",
    "PeriodList",
    "PeriodStatus",
    "Publication",
    "RoundOpening",
    "RoundStatus",
    "Rounds",
    "SegmentEntry",
    "Segments",
    "StateBody",
    "Status",
    "SurveyEntry",
    "Surveys",
    "TimeAnswer",
]

MAX_LABEL: Final = 1000

StandingState = Literal["open", "sealed"]
Minimum = Annotated[int, Meta(ge=1, le=10**12)]


class CentralGuarantee(msgspec.Struct, frozen=True, kw_only=True):
    """The guarantee of the shuffled reports of one batch, beside that of one report."""

    local_epsilon: Annotated[float, Meta(description="epsilon of one report by itself; it holds against any collusion")]
    epsilon: Annotated[float, Meta(description="proved epsilon of a batch of `least` honest answers")]
    lower: Annotated[float, Meta(description="lower bound: no smaller epsilon can be proved")]
    delta: Annotated[float, Meta(gt=0, lt=1, description="delta of the central guarantee")]
    least: Annotated[int, Meta(ge=2, description="people in the smallest batch")]
    method: Annotated[str, Meta(description="method of the proof: blanket, clones or local")]
    assumption: Annotated[str, Meta(description="assumption of the central guarantee")]
    promise: Annotated[str, Meta(description="both guarantees in words, each with its assumption")]
    relay: Annotated[str | None, Meta(description="address of the relay that shuffles; null in a plan")] = None


class Embedding(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that show a survey in another page."""

    snippet: Annotated[str, Meta(description="HTML: the script with its integrity, and the element")]
    script: Annotated[str, Meta(description="the script's path at the collector; another one for every other content")]
    integrity: Annotated[str, Meta(description="the script's SHA-384, as a page states it")]
    bytes: Annotated[int, Meta(ge=0, description="length of the script, not compressed")]
    allow_origins: Annotated[list[str], Meta(description="web origins whose pages may ask; * for all, none if empty")]


class Status(msgspec.Struct, frozen=True):
    """The state of a survey and how many reports it has.

    `waiting` reports are durable and not counted yet, resent ones included. Estimates begin at `minimum_reports`, which
    anybody can reach with invented reports. A panel has at most `rounds` rounds, and `asked` of them have been asked.
    A tracking survey has `rounds` periods, or null without an end, and `asked` of them have begun.
    """

    id: Hex64
    title: str
    kind: str
    epsilon: float
    delta: Delta
    mechanism: str | None
    state: SurveyState
    n_reports: Count
    waiting: Count
    minimum_reports: Count
    rounds: Count | None
    asked: Count | None
    every: Annotated[
        str | int | None, Meta(description="length of a tracking survey's periods, by name or in days; null for others")
    ] = None
    central: Annotated[
        CentralGuarantee | None,
        Meta(description="guarantee of reports that go through a relay; null without one"),
    ] = None
    groups: Annotated[
        dict[str, list[str]] | None,
        Meta(description="public variables and their values; null without groups, and for the survey of one group"),
    ] = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        central = None if self.central is None else msgspec.structs.asdict(self.central)
        return {**msgspec.structs.asdict(self), "central": central}


class RoundStatus(msgspec.Struct, frozen=True):
    """A round of a panel: its state, its reports and its question."""

    id: Hex64
    round: Count
    state: SurveyState
    n_reports: Count
    waiting: Count
    query: str
    labels: list[str]


class GroupStatus(msgspec.Struct, frozen=True):
    """A public group of a survey: its value of every variable, and its reports.

    `id` is that of its own survey: its estimate, aggregate and files are found there as those of any other.
    """

    number: Annotated[int, Meta(ge=1)]
    id: Hex64
    label: str
    values: dict[str, str]
    state: SurveyState
    n_reports: Count
    waiting: Count


class GroupList(msgspec.Struct, frozen=True):
    """All groups of a survey, and the values of its public variables in their order."""

    variables: dict[str, list[str]]
    groups: list[GroupStatus]


class PeriodStatus(msgspec.Struct, frozen=True):
    """A period of a tracking survey that has begun: when it is answered, its state and its reports."""

    number: Annotated[int, Meta(ge=1)]
    id: Hex64
    label: str
    starts: Moment
    ends: Moment
    closes: Moment
    state: SurveyState
    n_reports: Count
    waiting: Count


class PeriodAhead(msgspec.Struct, frozen=True):
    """The period that begins next."""

    number: Annotated[int, Meta(ge=1)]
    id: Hex64
    label: str
    starts: Moment
    ends: Moment
    closes: Moment


class PeriodList(msgspec.Struct, frozen=True):
    """The periods of a tracking survey that have begun, on pages of a thousand, and the next one.

    `now` is the collector's time, `total` the number of all periods, null without an end, and `promise`
    what the survey states of a person's privacy.
    """

    now: Moment
    promise: str
    periods: list[PeriodStatus]
    next: PeriodAhead | None
    total: Count | None
    page: Annotated[int, Meta(ge=1)]
    pages: Annotated[int, Meta(ge=1)]


class SegmentEntry(msgspec.Struct, frozen=True):
    """Counted reports that are stored together: all of one coarse time."""

    number: Count
    epoch: Count
    n: Count


class Publication(RequestStruct):
    """A survey to be signed and published."""

    statement: Annotated[str, Meta(description="the survey's JSON, as text", min_length=2)]
    attachments: dict[Hex64, Annotated[str, Meta(pattern=BASE64)]] = msgspec.field(default_factory=dict)
    minimum_reports: Minimum | None = None


class RoundOpening(RequestStruct):
    """A round of a panel to be signed and opened."""

    statement: Annotated[str, Meta(description="the round's JSON, as text", min_length=2)]
    labels: Annotated[list[Annotated[str, Meta(max_length=MAX_LABEL, pattern=LINE)]], Meta(max_length=MAX_CHOICES)] = (
        msgspec.field(default_factory=list)
    )
    minimum_reports: Minimum | None = None


class KeyAnswer(ResponseStruct):
    """The Ed25519 key that signs every survey here; devices pin it."""

    key: str
    fingerprint: Hex64


class TimeAnswer(ResponseStruct):
    """The collector's time."""

    now: Moment


class SurveyEntry(ResponseStruct):
    """One survey in the list."""

    id: Hex64
    title: str
    kind: str
    epsilon: float
    delta: Delta
    state: SurveyState


class Surveys(ResponseStruct):
    """Surveys that are open or sealed, oldest first: up to a thousand on a page."""

    surveys: list[SurveyEntry]
    page: Annotated[int, Meta(ge=1)]
    pages: Annotated[int, Meta(ge=1)]


class ListedSurvey(msgspec.Struct, frozen=True):
    """An entry of the list as its readers take it: unsigned, it only serves to find an id."""

    id: str
    title: str
    kind: str
    epsilon: float
    state: str
    delta: Delta | None = None
    """None if the collector does not send it, as earlier versions do not."""


class ListedSurveys(msgspec.Struct, frozen=True):
    """A page of the list as its readers take it; collectors of earlier versions send one page and do not say so."""

    surveys: list[ListedSurvey]
    pages: int = 1


class Envelope(ResponseStruct):
    """A survey as it was signed: `id` is the SHA-256 of `statement`, `signature` is over it."""

    id: Hex64
    statement: str
    signature: str
    key: str
    attachments: list[str]
    state: StandingState


class StateBody(ResponseStruct):
    """The new state of a survey."""

    id: Hex64
    state: SurveyState


class Rounds(ResponseStruct):
    """The rounds asked so far."""

    rounds: list[RoundStatus]


class Segments(ResponseStruct):
    """All segments of a survey, in order."""

    segments: list[SegmentEntry]
