"""How answers are drawn: bars, a distribution function, heat maps of tables, intervals of a line, figures of a number.

A panel says how a slice of the answers, in their own order, is to be looked at; it holds no answer itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, TypeAlias

import msgspec

from sottovoce.domain import Domain
from sottovoce.domain.number import NumberGrid
from sottovoce.workloads.naming import is_text_labelled

__all__ = [
    "Bars",
    "Cdf",
    "Heatmap",
    "Intervals",
    "NumberFigure",
    "NumberHistogram",
    "Panel",
    "line_of",
    "number_figure",
    "number_histogram",
    "table_panels",
]


class _Slice(msgspec.Struct, tag_field="view"):
    """Which answers are drawn. Where `shares` is true they are shares of the people, else numbers of any size."""

    title: str
    start: int
    stop: int
    shares: bool


class Bars(_Slice, tag="bars"):
    """Answers side by side."""


class Cdf(_Slice, tag="cdf"):
    """Shares of the people up to each value of a line: a distribution function. `x` are the values."""

    x: list[float | str]


class Heatmap(_Slice, tag="heatmap"):
    """A table of two attributes, row after row."""

    rows: list[str]
    columns: list[str]
    row_name: str
    column_name: str


class Intervals(_Slice, tag="ranges"):
    """Intervals of a line, both ends included: integers where the line is of integers, else positions in `names`."""

    lows: list[int]
    highs: list[int]
    ends: list[int]
    names: list[str] | None


Panel: TypeAlias = Bars | Cdf | Heatmap | Intervals


class NumberFigure(msgspec.Struct):
    """One figure with its interval, and the ends between which it can lie."""

    name: str
    unit: str
    value: float
    low: float
    high: float
    least: float
    most: float


class NumberHistogram(msgspec.Struct):
    """Shares of people in bins between `ends`, each with its label: projected and raw, with intervals."""

    unit: str
    labels: list[str]
    ends: list[float]
    value: list[float]
    raw: list[float]
    low: list[float]
    high: list[float]


def number_figure(name: str, grid: NumberGrid, answer: Any) -> NumberFigure:
    """A figure in the unit of a number, which lies between the ends that numbers are clipped to."""
    return NumberFigure(name, grid.unit, answer.value, answer.low, answer.high, grid.low, grid.high)


def number_histogram(unit: str, bins: Sequence[Any]) -> NumberHistogram:
    """The histogram of bins that begin where the one before ends."""
    columns = {name: [getattr(one, name) for one in bins] for name in ("value", "raw", "low", "high")}
    ends = [*(one.start for one in bins), bins[-1].end]
    return NumberHistogram(unit=unit, labels=[one.label for one in bins], ends=ends, **columns)


def table_panels(attributes: Sequence[tuple[str, Domain]], start: int, times: str) -> Iterator[Panel]:
    """The picture of one table, whose last attribute's values are fastest: a heat map for two, bars for others."""
    stop = start + prod(inner.size for _, inner in attributes)
    title = " x ".join(name for name, _ in attributes) + times
    if len(attributes) == 2:
        (row_name, rows), (column_name, columns) = attributes
        yield Heatmap(title, start, stop, not times, rows.labels(), columns.labels(), row_name, column_name)
    else:
        yield Bars(title, start, stop, not times)


def line_of(domain: Domain) -> list[float | str]:
    """The values of an ordered domain: integers, or labels."""
    return [label if is_text_labelled(domain) else int(label) for label in domain.labels()]
