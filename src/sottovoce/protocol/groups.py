"""The JSON of groups: estimates side by side, the comparison of two groups, and answers weighed to a population."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from sottovoce.protocol.base import Count, Hex64, Level, RequestStruct, ResponseStruct
from sottovoce.protocol.estimates import AnswerRow

__all__ = ["ByGroupBody", "ComparisonBody", "GroupText", "Variable", "WeightedBody", "Weighting"]

MAX_ANSWERS: Final = 1000
"""Most answers that a request names."""

Name = Annotated[str, Meta(max_length=200)]
AnswerName = Annotated[str, Meta(max_length=200)]


Variable = Annotated[str, Meta(max_length=200, description="name of the variable that makes the groups")]
GroupText = Annotated[
    str, Meta(max_length=500, description="a group as in a link: B, or arm=B,platform=web; others are merged")
]


class GroupAnswers(ResponseStruct):
    """The answers of one group; null and none where it has fewer reports than the survey's minimum."""

    value: str
    label: Annotated[str, Meta(description="the group in words, such as arm B")]
    n_reports: Count | None
    answers: list[AnswerRow]


class ByGroupBody(ResponseStruct):
    """The groups that a variable makes, side by side: the answers that the estimate of everybody shows first."""

    survey: Hex64
    by: Annotated[str, Meta(description="the variable")]
    unit: Annotated[str, Meta(description="the unit of the answers; empty for none")]
    share: Annotated[bool, Meta(description="whether the answers are shares of the people")]
    level: float
    always: Annotated[bool, Meta(description="whether intervals hold at every look together")]
    method: Annotated[str, Meta(description="why the intervals hold")]
    n_answers: Count
    groups: list[GroupAnswers]


class JointTestBody(ResponseStruct):
    """Whether any of the compared answers differs; `statistic` is null where only p-values are known."""

    statistic: float | None
    degrees: Count
    p_value: float
    method: str


class DifferenceRow(ResponseStruct):
    """An answer of the first group less that of the second, with its interval and its test."""

    label: str
    first: float | None
    second: float | None
    value: float | None
    raw: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: Annotated[
        float | None, Meta(description="adjusted for the number of answers that are compared (Holm)")
    ]


Pair = Annotated[list[float], Meta(min_length=2, max_length=2)]


class ComparisonBody(ResponseStruct):
    """Two groups of one survey: the first less the second, answer by answer."""

    first: Hex64
    second: Hex64
    names: Annotated[list[str], Meta(min_length=2, max_length=2, description="both groups in words")]
    reports: Annotated[list[Count], Meta(min_length=2, max_length=2)]
    epsilon: Pair
    delta: Pair
    unit: str
    level: float
    always: Annotated[bool, Meta(description="whether intervals and p-values hold at every look together")]
    joint: JointTestBody
    condition: Annotated[str, Meta(description="what it rests on")]
    differences: list[DifferenceRow]


class Weighting(RequestStruct):
    """A population whose shares are known, by variable and value; shares of a variable add up to 1."""

    population: Annotated[dict[Name, dict[Name, float]], Meta(min_length=1, max_length=100)]
    level: Level = 0.95
    answers: Annotated[
        Annotated[list[AnswerName], Meta(max_length=MAX_ANSWERS)] | None,
        Meta(description="answers; all of them where it is left out; words must be named"),
    ] = None
    method: Annotated[
        Literal["rake", "greg"] | None,
        Meta(description="how private fields of a form are weighed, greg by default; public groups are raked"),
    ] = None


class WeighedGroupRow(ResponseStruct):
    """A group, or a value of a private field, with a share of the population."""

    group: dict[str, str]
    weight: Annotated[float, Meta(description="its share of the population")]
    share: Annotated[float, Meta(description="its share of the reports; of a private field, estimated")]
    n_reports: Annotated[Count | None, Meta(description="null for a value of a private field")]
    factor: Annotated[float, Meta(description="how much one of its reports counts, where without weights it is 1")]


class WeightedBody(ResponseStruct):
    """Answers for a population whose shares are known."""

    survey: Hex64
    n_reports: Count
    effective_reports: Annotated[float, Meta(description="reports without weights that would tell as much")]
    level: float
    method: Annotated[str, Meta(description="rake or greg")]
    intervals: Annotated[str, Meta(description="how the intervals are made")]
    notes: Annotated[list[str], Meta(description="what to know of these weights, and what they cannot mend")]
    groups: list[WeighedGroupRow]
    answers: list[AnswerRow]
