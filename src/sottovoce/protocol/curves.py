"""The JSON of a curve: what `Curve.to_dict` gives, and the difference of two of its periods, as types."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

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
