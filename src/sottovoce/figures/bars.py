"""The largest answers of an estimate: as bars with their intervals, and as a table, which notebooks show."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.words import plural
from sottovoce.figures.style import (
    SMALL,
    STYLE,
    check_axes,
    colours_on,
    draw_bars,
    finish_axes,
    finish_bars,
    legend_above,
    new_figure,
    require_matplotlib,
)

__all__ = ["MOST_BARS", "answers_html", "plot_answers", "plot_histogram"]


def answers_html(answers: Sequence[Answer], caption: str, total: int) -> str:
    """A row per answer: label, value, interval and raw value; `total` is the number of all answers.

    Examples
    --------
    >>> tea = Answer(label="tea & milk", value=0.6, raw=0.61, low=0.5, high=0.7, is_share=True)
    >>> answers_html([tea], "an estimate", total=3)
    '<table><caption>an estimate; 2 more answers</caption>...<td>tea &amp; milk</td><td>60.0 %</td><td>50.0 % to...'
    """
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in (
            (answer.shown_label, answer.value_text, answer.interval_text, answer.raw_text) for answer in answers
        )
    )
    more = total - len(answers)
    caption = html.escape(caption) + (f"; {plural(more, 'more answer')}" if more > 0 else "")
    level = f"{100 * answers[0].level:g} %" if answers else "95 %"
    head = f"<tr><th>answer</th><th>estimate</th><th>{level} interval</th><th>raw</th></tr>"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


MOST_BARS: Final = 200
"""Bars of one picture: more make it too tall for screens and for image files."""

_ABOVE_LEGEND: Final = 26
_ROOM: Final = 0.05
"""On both sides of what is drawn, as a share of it."""


def plot_answers(
    answers: Sequence[Answer],
    caption: str,
    ax: Any = None,
    *,
    total: int | None = None,
    chosen: str = "largest",
    title: str = "",
) -> Any:
    """Bars of answers with their intervals; small marks for the raw estimate.

    Parameters
    ----------
    answers
        From the top down; no more than `MOST_BARS` are drawn.
    ax
        A matplotlib axes to draw on; one on a new figure unless given.
    total
        The number of all answers; the caption says it if these are fewer.
    chosen
        Which of them these are.
    title
        What was asked; above the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    check_axes(ax)
    if not answers:
        return _nothing(caption, ax)
    shown = answers[:MOST_BARS]
    labels = [answer.shown_label for answer in shown]
    percent, unit = shown[0].is_share, shown[0].unit
    scale = 100.0 if percent else 1.0
    values, raw, low, high = (
        [scale * getattr(answer, name) for answer in shown] for name in ("value", "raw", "low", "high")
    )
    if ax is None:
        ax = new_figure(8, 1.5 + 0.3 * len(shown)).subplots()
    draw_bars(ax, labels, values, low, high)
    ax.plot(
        raw,
        range(len(shown)),
        linestyle="none",
        marker="o",
        markersize=5,
        markeredgecolor="white",
        color=STYLE["raw"],
        label="raw",
    )
    ends = min(0.0, *values, *raw, *low), max(0.0, *values, *raw, *high)
    if ends == (0.0, 0.0):
        ends = 0.0, scale  # nothing but zeros: an axis all the same
    room = _ROOM * (ends[1] - ends[0])
    ax.set_xlim(ends[0] - room * (ends[0] < 0), ends[1] + room * (ends[1] > 0))
    if ends[0] < 0:
        ax.axvline(0.0, color=colours_on(ax)["muted"], linewidth=0.8)
    all_of_them = len(answers) if total is None else total
    if all_of_them > len(shown):
        caption = f"{len(shown):,} of {all_of_them:,} values, the {chosen}; {caption}"
    finish_bars(ax, f"{unit}\n{caption}" if unit and not percent else caption, percent=percent)
    legend_above(ax)
    if title:
        # Above the legend, whose line is as high as this.
        ax.set_title(title, loc="left", pad=_ABOVE_LEGEND, color=colours_on(ax)["ink"], parse_math=False)
    return ax


class DrawnHistogram(Protocol):
    """Shares of people in bins, from one end to the next."""

    @property
    def unit(self) -> str: ...

    @property
    def ends(self) -> Sequence[float]: ...

    @property
    def value(self) -> Sequence[float]: ...

    @property
    def low(self) -> Sequence[float]: ...

    @property
    def high(self) -> Sequence[float]: ...


def plot_histogram(histogram: DrawnHistogram, caption: str, ax: Any = None, title: str = "") -> Any:
    """Bars from bin to bin over the numbers, with intervals where these can be distinguished; returns the axes."""
    require_matplotlib()
    check_axes(ax)
    ax = new_figure(8, 4.2).subplots() if ax is None else ax
    ends, values, low, high = (
        np.array(column) for column in (histogram.ends, histogram.value, histogram.low, histogram.high)
    )
    starts, widths = ends[:-1], np.diff(ends)
    ax.bar(starts, 100 * values, widths, align="edge", color=STYLE["bar"], edgecolor="white", linewidth=0.6)
    if len(values) <= MOST_BARS:
        ax.vlines(starts + widths / 2, 100 * low, 100 * high, color=STYLE["estimate"], linewidth=1.2)
    finish_axes(ax, histogram.unit, "share of people")
    ax.grid(visible=False, axis="x")
    ax.set_xlim(ends[0], ends[-1])
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:g} %")
    heading = f"{title}\n{caption}" if title else caption
    ax.set_title(heading, loc="left", fontsize=SMALL, color=colours_on(ax)["muted"], parse_math=False)
    return ax


def _nothing(caption: str, ax: Any) -> Any:
    """A picture that says so, where nothing was found."""
    ax = new_figure(8, 1.8).subplots() if ax is None else ax
    ink = colours_on(ax)["ink"]
    ax.set_axis_off()
    ax.text(0.5, 0.6, "nothing found yet: collect more reports", ha="center", color=ink)
    ax.text(0.5, 0.2, caption, ha="center", fontsize=SMALL, color=ink)
    return ax
