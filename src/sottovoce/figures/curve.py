"""The curve of a tracking survey: points with intervals, the band, gaps, the open period and a smoothed line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from textwrap import wrap
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np

from sottovoce.figures.style import SMALL, STYLE, colours_on, finish_axes, legend_below, new_figure, require_matplotlib

__all__ = ["CurvePoint", "DrawnCurve", "PeriodState", "plot_curve"]

_WIDTH: Final = 105
"""Characters of a line of the caption."""


PeriodState = Literal["closed", "open", "empty"]
"""Closed; still being answered; or without a report."""


class CurvePoint(NamedTuple):
    """One answer in one period.

    Attributes
    ----------
    value
        The raw, unbiased estimate, which may be an impossible number; None without reports.
    low, high
        Its own interval.
    band_low, band_high
        The band, which holds for all closed periods together; None for a period that is not closed.
    """

    period: int
    label: str
    starts: datetime
    state: PeriodState
    n_reports: int
    value: float | None
    low: float | None
    high: float | None
    band_low: float | None
    band_high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the start as an ISO date."""
        return self._asdict() | {"starts": self.starts.date().isoformat()}


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
    if ax is None:
        ax = new_figure(9, 4.6).subplots()
    scale = 100.0 if curve.percent else 1.0
    at = {point.period: point.starts for point in curve.points}
    _draw_band(ax, curve, scale)
    for state, face in (("closed", STYLE["estimate"]), ("open", "white")):
        shown = [point for point in curve.points if point.state == state and point.value is not None]
        if not shown:
            continue
        x = [point.starts for point in shown]
        value, low, high = (
            scale * np.array([getattr(point, name) for point in shown]) for name in ("value", "low", "high")
        )
        # A raw answer may lie outside its interval, which holds possible answers only: draw the two apart.
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
        middle, low, high = (scale * np.array([point[place] for point in curve.smooth]) for place in (1, 2, 3))
        ax.plot(x, middle, color=STYLE["raw"], linewidth=1.8, label="smoothed")
        ax.plot(x, low, x, high, color=STYLE["raw"], linewidth=0.8, linestyle="--")
    _finish(ax, curve)
    return ax


def _draw_band(ax: Any, curve: DrawnCurve, scale: float) -> None:
    """One piece for every run of closed periods: a gap is not bridged."""
    label: str | None = "band, all periods together"
    for closed, run in groupby(curve.points, key=lambda point: point.band_low is not None):
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


def _finish(ax: Any, curve: DrawnCurve) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    unit = f" ({curve.unit})" if curve.unit and not curve.answer.endswith(f"({curve.unit})") else ""
    finish_axes(ax, "", f"{curve.answer}{unit}")
    caption = "\n".join(line for part in curve.caption.splitlines() for line in wrap(part, _WIDTH))
    ax.set_title(caption, loc="left", fontsize=SMALL, color=colours_on(ax)["muted"], parse_math=False)
    locator = AutoDateLocator(minticks=3, maxticks=9)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    if curve.percent:
        ax.yaxis.set_major_formatter("{x:g} %")
    legend_below(ax)
