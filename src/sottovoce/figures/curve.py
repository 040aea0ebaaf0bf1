"""The curve of a tracking survey: points with intervals, the band, gaps, the open period and a smoothed line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from textwrap import wrap
from typing import Any, ClassVar, Final, Literal, final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.figures.style import (
    SMALL,
    STYLE,
    check_axes,
    colours_on,
    finish_axes,
    legend_below,
    new_figure,
    require_matplotlib,
)

__all__ = ["CurvePoint", "DrawnCurve", "PeriodState", "day_labels", "plot_curve"]

_WIDTH: Final = 105
"""Characters of a line of the caption."""

_MOST_TICKS: Final = 9
_BESIDE: Final = timedelta(days=1)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


PeriodState = Literal["closed", "open", "empty"]
"""Closed; still being answered; or without a report."""


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class CurvePoint(Answer):
    """One answer in one period; its label is the period's.

    Attributes
    ----------
    value, raw, low, high
        As those of every answer; NaN without reports.
    band_low, band_high
        The band, which holds for all closed periods together; NaN for a period that is not closed.
    """

    period: int
    starts: datetime
    state: PeriodState
    n_reports: int
    band_low: float = math.nan
    band_high: float = math.nan

    row_fields: ClassVar[tuple[str, ...]] = (
        *("period", "label", "starts", "state", "n_reports"),
        *("value", "raw", "low", "high", "band_low", "band_high"),
    )

    def row(self) -> dict[str, Any]:
        """Plain values; the start as an ISO date, and None where nothing is known."""
        return super().row() | {"starts": self.starts.date().isoformat()}

    def __str__(self) -> str:
        return super().__str__() if self.n_reports else f"{self.label}: no reports"


@final
@dataclass(frozen=True)
class DrawnCurve:
    """What is drawn."""

    points: tuple[CurvePoint, ...]
    answer: str
    unit: str
    percent: bool
    caption: str
    smooth: tuple[tuple[Any, ...], ...] | None = None
    """Period, value, low and high of the smoothed line."""


def plot_curve(curve: DrawnCurve, ax: Any = None) -> Any:
    """Draw a curve on a matplotlib axes, one on a new figure unless given; returns the axes."""
    require_matplotlib()
    check_axes(ax)
    if ax is None:
        ax = new_figure(9, 4.6).subplots()
    scale = 100.0 if curve.percent else 1.0
    at = {point.period: point.starts for point in curve.points}
    _draw_band(ax, curve, scale)
    for state, face in (("closed", STYLE["estimate"]), ("open", "white")):
        shown = [point for point in curve.points if point.state == state and point.n_reports]
        if not shown:
            continue
        x = [point.starts for point in shown]
        value, low, high = (
            scale * np.array([getattr(point, name) for point in shown]) for name in ("value", "low", "high")
        )
        ax.vlines(x, low, high, color=STYLE["estimate"], linewidth=1.4, linestyle="-" if state == "closed" else ":")
        ax.plot(
            x,
            value,
            linestyle="none",
            marker="o",
            markersize=5,
            markerfacecolor=face,
            markeredgecolor=STYLE["estimate"],
            label="estimate" if state == "closed" else "period still open",
        )
    if curve.smooth is not None:
        x = [at[int(point[0])] for point in curve.smooth]
        middle, low, high = (scale * np.array([point[column] for point in curve.smooth]) for column in (1, 2, 3))
        ax.plot(x, middle, color=STYLE["raw"], linewidth=1.8, label="smoothed")
        ax.plot(x, low, x, high, color=STYLE["raw"], linewidth=0.8, linestyle="--")
    _finish(ax, curve)
    return ax


def _draw_band(ax: Any, curve: DrawnCurve, scale: float) -> None:
    """One piece for every run of closed periods: a gap is not bridged."""
    label: str | None = "band, all periods together"
    for closed, run in groupby(curve.points, key=lambda point: not math.isnan(point.band_low)):
        points = list(run)
        if not closed:
            continue
        x = [point.starts for point in points]
        low, high = (scale * np.array([getattr(point, name) for point in points]) for name in ("band_low", "band_high"))
        if len(points) == 1:
            ax.vlines(x, low, high, color=STYLE["bar"], alpha=0.45, linewidth=6, label=label)
        else:
            ax.fill_between(x, low, high, color=STYLE["bar"], alpha=0.45, linewidth=0, label=label)
        label = None


def day_labels(days: list[datetime]) -> list[str]:
    """Days as a person writes them, the year below the first of each.

    Examples
    --------
    >>> day_labels([datetime(2026, 12, 28), datetime(2027, 1, 4), datetime(2027, 1, 11)])
    ['28 Dec\\n2026', '4 Jan\\n2027', '11 Jan']
    """
    if all((day.month, day.day) == (1, 1) for day in days):
        return [str(day.year) for day in days]
    by_month = all(day.day == 1 for day in days)
    labels, year = [], 0
    for day in days:
        name = _MONTHS[day.month - 1] if by_month else f"{day.day} {_MONTHS[day.month - 1]}"
        labels.append(name if day.year == year else f"{name}\n{day.year}")
        year = day.year
    return labels


def _finish(ax: Any, curve: DrawnCurve) -> None:
    unit = f" ({curve.unit})" if curve.unit else ""
    finish_axes(ax, "", f"{curve.answer}{unit}")
    caption = "\n".join(line for part in curve.caption.splitlines() for line in wrap(part, _WIDTH))
    ax.set_title(caption, loc="left", fontsize=SMALL, color=colours_on(ax)["muted"], parse_math=False)
    if len(curve.points) == 1:
        # Around a single day an axis of its own would be years long.
        ax.set_xlim(curve.points[0].starts - _BESIDE, curve.points[0].starts + _BESIDE)
    marked = curve.points[:: -(-len(curve.points) // _MOST_TICKS)]
    ax.set_xticks([point.starts for point in marked], day_labels([point.starts for point in marked]))
    if curve.percent:
        ax.yaxis.set_major_formatter("{x:g} %")
    legend_below(ax)
