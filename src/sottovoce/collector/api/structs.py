"""The JSON that goes in and out, as types: what is decoded and encoded is what the OpenAPI document shows."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from sottovoce.collector.failures import Failure
from sottovoce.collector.tokens import SCOPES, Scope
from sottovoce.surveys.panel import MAX_CHOICES

__all__ = [
    "Acknowledgement",
    "AnswerRow",
    "Bound",
    "Envelope",
    "EstimateBody",
    "HandedIn",
    "Health",
    "InfluenceBody",
    "KeyAnswer",
    "LogLevel",
    "NewToken",
    "OneReport",
    "Publication",
    "RefusedReport",
    "ReportsBody",
    "RoundInfo",
    "RoundOpening",
    "Rounds",
    "SegmentEntry",
    "Segments",
    "State",
    "Status",
    "SurveyEntry",
    "Surveys",
    "TokenCreated",
    "TokenEntry",
    "TokenRevoked",
    "Tokens",
    "Unaccepted",
]

HEX_64: Final = "^[0-9a-f]{64}$"
HEX_32: Final = "^[0-9a-f]{32}$"
BASE64URL: Final = "^[0-9A-Za-z_-]+$"
BASE64: Final = "^[0-9A-Za-z+/_-]*={0,2}$"
LINE: Final = "^[^\\x00-\\x1f\\x7f]*$"
MAX_MINIMUM: Final = 10**12
MAX_LABEL: Final = 1000

Hex64 = Annotated[str, Meta(pattern=HEX_64)]
SurveyState = Literal["open", "sealed", "deleted"]
StandingState = Literal["open", "sealed"]
Line = Annotated[str, Meta(max_length=200, pattern=LINE)]
Minimum = Annotated[int, Meta(ge=1, le=MAX_MINIMUM)]
Count = Annotated[int, Meta(ge=0)]
Delta = Annotated[float, Meta(ge=0, lt=1, description="0 where the promise is pure epsilon-LDP")]


class _In(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Out(msgspec.Struct):
    pass


# --- what comes in ------------------------------------------------------------------------------


class OneReport(_In):
    """A report for people with curl: its id in hexadecimal and its bytes in base64url."""

    id: Annotated[str, Meta(pattern=HEX_32)]
    report: Annotated[str, Meta(pattern=BASE64URL)]


class ReportsBody(_In):
    """Several of them."""

    reports: Annotated[list[OneReport], Meta(min_length=1)]


class Publication(_In):
    """A survey to be signed and published."""

    statement: Annotated[str, Meta(description="the survey's JSON, as text", min_length=2)]
    attachments: dict[Hex64, Annotated[str, Meta(pattern=BASE64)]] = {}
    minimum_reports: Minimum | None = None


class RoundOpening(_In):
    """A round of a panel to be signed and opened."""

    statement: Annotated[str, Meta(description="the round's JSON, as text", min_length=2)]
    labels: Annotated[list[Annotated[str, Meta(max_length=MAX_LABEL, pattern=LINE)]], Meta(max_length=MAX_CHOICES)] = []
    minimum_reports: Minimum | None = None


class NewToken(_In):
    """What a new token shall open."""

    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=len(SCOPES))]
    note: Line = ""


class LogLevel(_In):
    """What is logged from now on."""

    level: Literal["debug", "info", "warning", "error"]


# --- what goes out ------------------------------------------------------------------------------


class KeyAnswer(_Out):
    """The Ed25519 key that signs every survey here; devices pin it."""

    key: str
    fingerprint: Hex64


class SurveyEntry(_Out):
    """One survey in the list."""

    id: Hex64
    title: str
    kind: str
    epsilon: float
    delta: Delta
    state: SurveyState


class Surveys(_Out):
    """All surveys that are open or sealed."""

    surveys: list[SurveyEntry]


class Envelope(_Out):
    """A survey as it was signed: `id` is the SHA-256 of `statement`, `signature` is over it."""

    id: Hex64
    statement: str
    signature: str
    key: str
    attachments: list[str]
    state: StandingState


class RefusedReport(_Out):
    """Why one report of a body was not taken."""

    position: Count
    code: str
    message: str


class Acknowledgement(_Out):
    """What was taken is durable; what was not is told one by one."""

    accepted: Count
    refused: list[RefusedReport]


class Unaccepted(_Out):
    """Nothing of a body was taken."""

    error: Failure
    accepted: Count = 0
    refused: list[RefusedReport] = []


class Status(_Out):
    """How a survey stands."""

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


class Bound(_Out):
    """What the expected error stays below."""

    l2: float | None
    statement: str


class AnswerRow(_Out):
    """One answer; null stands for a number that is not finite."""

    label: str
    value: float | None
    raw: float | None
    low: float | None
    high: float | None


class InfluenceBody(_Out):
    """How far hostile devices can move the answers."""

    n_reports: Count
    hostile: Count
    fraction: float
    largest: float
    l2: float
    projected_l2: float
    exact: bool
    statement: str


class HandedIn(_Out):
    """Counts that were handed in are durable, and estimates are made from them."""

    n_reports: Count


class EstimateBody(_Out):
    """Answers with intervals, from `n_reports` reports; `waiting` more are durable and not yet counted."""

    survey: Hex64
    mechanism: str
    epsilon: float
    delta: Delta
    n_reports: Count
    bound: Bound
    projection_gap: float
    level: float
    answers: list[AnswerRow]
    waiting: Count
    influence: InfluenceBody | None


class State(_Out):
    """The state a survey is in now."""

    id: Hex64
    state: SurveyState


class RoundInfo(_Out):
    """How a round stands."""

    id: Hex64
    round: Count
    state: SurveyState
    n_reports: Count
    waiting: Count
    query: str
    labels: list[str]


class Rounds(_Out):
    """The rounds asked so far."""

    rounds: list[RoundInfo]


class SegmentEntry(_Out):
    """Counted reports of one coarse time."""

    number: Count
    epoch: Count
    n: Count


class Segments(_Out):
    """All segments of a survey, in order."""

    segments: list[SegmentEntry]


class TokenCreated(_Out):
    """A new token; `token` is never shown again."""

    id: str
    token: str
    scopes: list[Scope]
    note: str


class TokenEntry(_Out):
    """What is kept of a token."""

    id: str
    scopes: list[Scope]
    note: str
    revoked: bool


class Tokens(_Out):
    """All tokens, revoked ones too."""

    tokens: list[TokenEntry]


class TokenRevoked(_Out):
    """It opens nothing from now on."""

    id: str
    revoked: bool


class Health(_Out):
    """Whether the process lives, or can serve."""

    status: Literal["ok"]
