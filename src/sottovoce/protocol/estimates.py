"""The JSON of estimates: answers with intervals, words, influence."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType

from sottovoce.protocol.base import Count, Delta, Hex64, Level, Looks, RequestStruct, ResponseStruct

__all__ = [
    "AnswerRow",
    "ErrorBound",
    "EstimateBody",
    "EstimateSummary",
    "InfluenceBody",
    "WordsAnswer",
    "WordsAsked",
    "WordsFound",
]

MAX_WORDS: Final = 10_000
"""Most words of one request."""

MAX_TYPED_WORD: Final = 200
"""Longest text of one of them: more than any word, also where bytes are typed as hexadecimal digits."""

Word = Annotated[str, Meta(max_length=MAX_TYPED_WORD)]


class WordsAsked(RequestStruct):
    """Words whose shares are asked for; bytes as 0x and hexadecimal digits, integers as decimal digits."""

    words: Annotated[list[Word], Meta(min_length=1, max_length=MAX_WORDS)]
    level: Level = 0.95
    always: Looks = "0"


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
        bool | UnsetType,
        Meta(description="for words: whether people have it, but for the stated probability"),
    ] = UNSET


class OtherShare(ResponseStruct):
    """The share of people whose value is not a word of the survey."""

    value: float
    raw: float
    low: float
    high: float


class HostileNumber(ResponseStruct):
    """The number of devices that suffice for a word of `characters` characters, and their share of all reports.

    `devices` is null if no number of them suffices, for want of reports.
    """

    characters: Count
    devices: Count | None
    share: float


class HostileDevices(ResponseStruct):
    """The numbers of devices for the shortest and the longest words."""

    shortest: HostileNumber
    longest: HostileNumber
    statement: str


class WordsFound(ResponseStruct):
    """How words were found that nobody listed."""

    false_discovery: Annotated[float, Meta(description="the largest probability that any certain word is nobody's")]
    expected_doubtful: Annotated[float, Meta(description="number of words that are not certain and expected by chance")]
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


class EstimateSummary(ResponseStruct, kw_only=True):
    """The question, the number of reports and the accuracy of an estimate."""

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
    always: Annotated[
        str | None,
        Meta(
            description='"population" or "so far": whom the intervals are about that hold at every look together; null '
            "for intervals of one look"
        ),
    ]
    method: Annotated[str, Meta(description="why the intervals hold")]
    words: Annotated[WordsFound | UnsetType, Meta(description="how words were found; for surveys of words only")] = (
        UNSET
    )


class EstimateBody(EstimateSummary, kw_only=True):
    """Answers with intervals; `waiting` more reports are durable and not yet counted."""

    n_answers: Annotated[Count, Meta(description="number of answers, or of words found, on all pages together")]
    page: Annotated[int, Meta(ge=1)]
    pages: Annotated[int, Meta(ge=1)]
    answers: list[AnswerRow]
    waiting: Count
    influence: InfluenceBody | None
