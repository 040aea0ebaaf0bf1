"""The JSON of requests and responses, as types; the OpenAPI document is made from them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sottovoce.collector.refusal import ErrorDetail, RefusedReport
from sottovoce.collector.tokens import SCOPES, Scope
from sottovoce.collector.validation import BASE64, BASE64URL, HEX_32, LINE
from sottovoce.formats.service_json import (
    HEX_64,
    Count,
    Delta,
    Hex64,
    Moment,
    RoundStatus,
    SegmentEntry,
    SurveyState,
    TokenEntry,
)
from sottovoce.surveys.panel import MAX_CHOICES

__all__ = [
    "Acknowledgement",
    "AnswerRow",
    "Envelope",
    "ErrorBound",
    "EstimateBody",
    "EstimateSummary",
    "HandedIn",
    "Health",
    "InfluenceBody",
    "KeyAnswer",
    "LogLevel",
    "NewToken",
    "OneReport",
    "Publication",
    "RefusedUpload",
    "ReportsBody",
    "RoundOpening",
    "Rounds",
    "Segments",
    "StateBody",
    "SurveyEntry",
    "Surveys",
    "TimeAnswer",
    "TokenRevoked",
    "Tokens",
    "WordsAnswer",
    "WordsAsked",
    "WordsFound",
]

MAX_MINIMUM: Final = 10**12
MAX_LABEL: Final = 1000
MAX_TOKEN_SECONDS: Final = 3660 * 86_400
"""Longest life of a token that expires: ten years."""
MAX_WORDS: Final = 10_000
"""Most words of one request."""
MAX_TYPED_WORD: Final = 200
"""Longest text of one of them: more than any word, also where bytes are typed as hexadecimal digits."""

StandingState = Literal["open", "sealed"]
Line = Annotated[str, Meta(max_length=200, pattern=LINE)]
Minimum = Annotated[int, Meta(ge=1, le=MAX_MINIMUM)]
Level = Annotated[float, Meta(gt=0, lt=1, description="with what probability each interval contains the truth")]

Word = Annotated[str, Meta(max_length=MAX_TYPED_WORD)]

SurveyId = Annotated[str, Meta(pattern=HEX_64, description="the survey's id: the SHA-256 of its canonical JSON")]
Digest = Annotated[str, Meta(pattern=HEX_64, description="the SHA-256 of the attachment")]
RoundNumber = Annotated[str, Meta(pattern="^[1-9][0-9]{0,8}$", description="the round's number, from 1")]
SegmentNumber = Annotated[str, Meta(pattern="^(0|[1-9][0-9]{0,17})$", description="the segment's number")]
TokenId = Annotated[str, Meta(pattern="^[0-9a-f]{8}$", description="the 8 digits after sv_ in the token")]


class RequestStruct(msgspec.Struct, forbid_unknown_fields=True):
    """A request: unknown fields are refused."""


class ResponseStruct(msgspec.Struct):
    """A response."""


# --- what comes in ------------------------------------------------------------------------------


class OneReport(RequestStruct):
    """One report: its id in hexadecimal and its bytes in base64url."""

    id: Annotated[str, Meta(pattern=HEX_32)]
    report: Annotated[str, Meta(pattern=BASE64URL)]


class ReportsBody(RequestStruct):
    """Several reports."""

    reports: Annotated[list[OneReport], Meta(min_length=1)]


class Publication(RequestStruct):
    """A survey to be signed and published."""

    statement: Annotated[str, Meta(description="the survey's JSON, as text", min_length=2)]
    attachments: dict[Hex64, Annotated[str, Meta(pattern=BASE64)]] = {}
    minimum_reports: Minimum | None = None


class RoundOpening(RequestStruct):
    """A round of a panel to be signed and opened."""

    statement: Annotated[str, Meta(description="the round's JSON, as text", min_length=2)]
    labels: Annotated[list[Annotated[str, Meta(max_length=MAX_LABEL, pattern=LINE)]], Meta(max_length=MAX_CHOICES)] = []
    minimum_reports: Minimum | None = None


class NewToken(RequestStruct):
    """The scopes of a new token."""

    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=len(SCOPES))]
    note: Line = ""
    expires_in: Annotated[int, Meta(ge=60, le=MAX_TOKEN_SECONDS, description="seconds")] | None = None


class WordsAsked(RequestStruct):
    """Words whose shares are asked for; bytes as 0x and hexadecimal digits, integers as decimal digits."""

    words: Annotated[list[Word], Meta(min_length=1, max_length=MAX_WORDS)]
    level: Level = 0.95


class LogLevel(RequestStruct):
    """The least severe level that is logged."""

    level: Literal["debug", "info", "warning", "error"]


# --- what goes out ------------------------------------------------------------------------------


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


class Envelope(ResponseStruct):
    """A survey as it was signed: `id` is the SHA-256 of `statement`, `signature` is over it."""

    id: Hex64
    statement: str
    signature: str
    key: str
    attachments: list[str]
    state: StandingState


class Acknowledgement(ResponseStruct):
    """Accepted reports are durable; refused ones are listed."""

    accepted: Count
    refused: list[RefusedReport]


class RefusedUpload(ResponseStruct):
    """No report of a body was accepted; without a list where the body was refused as a whole."""

    error: ErrorDetail
    accepted: Count = 0
    refused: list[RefusedReport] = []


class ErrorBound(ResponseStruct):
    """What the expected error stays below."""

    l2: float | None
    statement: str


class AnswerRow(ResponseStruct):
    """One answer; null stands for a number that is not finite."""

    label: str
    value: float | None
    raw: float | None
    low: float | None
    high: float | None
    certain: Annotated[
        bool | UnsetType, Meta(description="of a word: whether people have it, but for the stated probability")
    ] = UNSET


class OtherShare(ResponseStruct):
    """The share of people whose value is no word of the survey."""

    value: float
    raw: float
    low: float
    high: float


class HostileNumber(ResponseStruct):
    """How many devices suffice for a word of so many characters, and which share of all reports that is.

    `devices` is null where no number of them suffices, for want of reports.
    """

    characters: Count
    devices: Count | None
    share: float


class HostileDevices(ResponseStruct):
    """For the shortest and the longest words."""

    shortest: HostileNumber
    longest: HostileNumber
    statement: str


class WordsFound(ResponseStruct):
    """How words were found that nobody listed."""

    false_discovery: Annotated[float, Meta(description="the largest probability that any certain word is nobody's")]
    expected_doubtful: Annotated[float, Meta(description="words that are not certain: so many are expected by chance")]
    other: OtherShare | None
    prefixes_kept: Annotated[list[Count], Meta(description="the prefixes kept at every level of the search")]
    candidates: Annotated[Count, Meta(description="words that were tried")]
    cut: Annotated[bool, Meta(description="whether prefixes were dropped for want of memory")]
    hostile_devices: Annotated[
        HostileDevices, Meta(description="malicious devices that suffice to put any chosen word on the list")
    ]


class WordsAnswer(ResponseStruct):
    """The shares of the words that were asked for, in their order."""

    survey: Hex64
    n_reports: Count
    level: float
    answers: list[AnswerRow]


class InfluenceBody(ResponseStruct):
    """How far malicious devices can move the answers."""

    n_reports: Count
    hostile: Count
    fraction: float
    largest: float
    l2: float
    projected_l2: float
    exact: bool
    statement: str


class HandedIn(ResponseStruct):
    """The counts are durable, and estimates are made from them."""

    n_reports: Count


class EstimateSummary(ResponseStruct, kw_only=True):
    """What was estimated, from how many reports, and how well."""

    survey: Hex64
    title: str
    kind: str
    unit: Annotated[str, Meta(description="the unit of the answers; empty for none")]
    mechanism: str
    epsilon: float
    delta: Delta
    n_reports: Count
    bound: ErrorBound
    raw_bound: ErrorBound
    projection_gap: float
    level: float
    method: Annotated[str, Meta(description="why the intervals hold")]
    words: Annotated[WordsFound | UnsetType, Meta(description="of a survey of words")] = UNSET


class EstimateBody(EstimateSummary, kw_only=True):
    """Answers with intervals; `waiting` more reports are durable and not yet counted."""

    n_answers: Annotated[Count, Meta(description="of the survey, or words found, on all pages together")]
    page: Annotated[int, Meta(ge=1)]
    pages: Annotated[int, Meta(ge=1)]
    answers: list[AnswerRow]
    waiting: Count
    influence: InfluenceBody | None


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


class Tokens(ResponseStruct):
    """All tokens, revoked ones too."""

    tokens: list[TokenEntry]


class TokenRevoked(ResponseStruct):
    """The token is revoked."""

    id: str
    revoked: bool


class Health(ResponseStruct):
    """The process is alive, or ready to serve."""

    status: Literal["ok"]
