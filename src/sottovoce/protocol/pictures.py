"""The JSON of pictures: an estimate as columns, and how to draw them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from sottovoce.protocol.base import Count
from sottovoce.protocol.estimates import AnswerRow, EstimateSummary
from sottovoce.workloads.pictures import NumberFigure, NumberHistogram, Panel

__all__ = ["Findable", "Picture", "TableBody"]


class Findable(msgspec.Struct, frozen=True):
    """The least share of people that is found with probability 0.9; `length` is null for integers, and 1 means none."""

    length: int | None
    share: float


Numbers: TypeAlias = list[float | None]


class Picture(EstimateSummary, kw_only=True):
    """Answers with intervals as columns, and how to draw them; null stands for a number that is not finite."""

    minimum_reports: Count
    waiting: Count
    projection: Annotated[str, Meta(description="the set that raw answers are projected on")]
    answers: Annotated[int, Meta(ge=0, description="the number of answers in all")]
    positions: Annotated[
        list[int] | None, Meta(description="the positions of these answers among all, if some are left out")
    ]
    labels: list[str]
    value: Annotated[Numbers, Meta(description="the projected answers")]
    raw: Annotated[Numbers, Meta(description="the unbiased answers")]
    low: Numbers
    high: Numbers
    certain: Annotated[
        list[bool] | None,
        Meta(description="for words: whether people have each, but for the stated probability; null for others"),
    ]
    findable: Annotated[
        list[Findable] | None,
        Meta(description="for words: the least share that these reports find, by length; null for others"),
    ]
    panels: list[Panel]
    figures: Annotated[
        list[NumberFigure],
        Meta(description="mean, deviation and quantiles of a number, or the mean of each number of a form"),
    ]
    histogram: Annotated[
        NumberHistogram | None, Meta(description="histogram of answers on a line, such as ages; null for others")
    ]


class TableBody(EstimateSummary, kw_only=True):
    """All answers with their intervals; null stands for a number that is not finite."""

    answers: list[AnswerRow]
