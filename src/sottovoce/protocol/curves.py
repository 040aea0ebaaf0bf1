"""The JSON of a curve: what `Curve.to_dict` gives, and the difference of two of its periods, as types."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from sottovoce.protocol.base import Count, Delta, Hex64, ResponseStruct

__all__ = ["CurveBody", "CurvePointBody", "DifferenceBody", "SmoothBody", "SmoothPointBody", "TrendBody"]

PeriodNumber = Annotated[int, Meta(ge=1)]
Answers = Annotated[
    list[str], Meta(description="labels of the answers that can be followed; the first thousand where there are more")
]


class CurvePointBody(ResponseStruct):
    """One answer in one period; null where it has too few reports. The band is that of closed periods together."""

    period: PeriodNumber
    label: str
    starts: Annotated[str, Meta(description="its first day, as 2027-01-04")]
    state: Literal["closed", "open", "empty"]
    n_reports: Annotated[int, Meta(ge=0, description="behind the estimate; 0 where they are too few to be shown")]
    value: float | None
    raw: float | None
    low: float | None
    high: float | None
    band_low: float | None
    band_high: float | None


class TrendBody(ResponseStruct):
    """A line through the closed periods, and whether anything changed at all."""

    answer: str
    unit: str
    slope: float
    low: float
    high: float
    level: float
    p_value: float
    statistic: float
    degrees: Count
    p_value_change: float
    periods: Count
    statement: Annotated[str, Meta(description="the trend in one sentence")]


class SmoothPointBody(ResponseStruct):
    """The smoothed answer of one period, with its interval under the assumption."""

    period: PeriodNumber
    value: float
    low: float
    high: float


class SmoothBody(ResponseStruct):
    """The smoothed curve, and what must hold for its band to hold."""

    answer: str
    unit: str
    level: float
    step: float
    assumption: str
    points: list[SmoothPointBody]


class GroupCurveBody(ResponseStruct):
    """The same answer of one group; a period in which it has too few reports is a gap."""

    value: str
    label: Annotated[str, Meta(description="the group in words, such as arm B")]
    method: str
    points: list[CurvePointBody]
    trend: TrendBody | None


class PeriodDifferenceBody(ResponseStruct):
    """The first group less the second in one period; null where one of them has too few reports.

    The band, and p-values adjusted for the number of periods (Holm), are those of closed periods together.
    """

    period: PeriodNumber
    label: str
    starts: str
    state: Literal["closed", "open", "empty"]
    reports: Annotated[list[Count] | None, Meta(description="of both groups")]
    first: float | None
    second: float | None
    value: float | None
    raw: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    band_low: float | None
    band_high: float | None


class CurveComparisonBody(ResponseStruct):
    """Two groups compared in every period."""

    survey: Hex64
    title: str
    names: Annotated[list[str], Meta(description="both groups in words")]
    answer: str
    unit: str
    share: bool
    epsilon: float
    delta: Delta
    level: float
    band_level: float
    always: Annotated[bool, Meta(description="whether intervals of open periods hold at every look together")]
    method: str
    condition: Annotated[str, Meta(description="what it rests on")]
    points: list[PeriodDifferenceBody]


class CurveBody(ResponseStruct):
    """One answer of a tracking survey over its periods; `trend` is null where closed periods are few."""

    survey: Hex64
    title: str
    kind: Literal["tracking"]
    question: str
    answer: str
    unit: str
    share: bool
    epsilon: float
    delta: Delta
    level: float
    band_level: float
    always: Annotated[
        str | None,
        Meta(description='"population": intervals of open periods hold at every look together; null: at one look'),
    ]
    method: str
    points: list[CurvePointBody]
    trend: TrendBody | None
    smooth: SmoothBody | None
    answers: Answers
    groups: Annotated[
        list[GroupCurveBody] | UnsetType, Meta(description="a curve for every group that the variable `by` makes")
    ] = UNSET
    comparison: Annotated[
        CurveComparisonBody | UnsetType | None,
        Meta(description="of the groups `first` and `second`, or of the first two; null where none can be compared"),
    ] = UNSET


class DifferenceBody(ResponseStruct):
    """The change of an answer from the earlier period to the later one."""

    later: PeriodNumber
    earlier: PeriodNumber
    answer: str
    unit: str
    share: bool
    value: float
    raw: float
    low: float
    high: float
    level: float
    method: str
