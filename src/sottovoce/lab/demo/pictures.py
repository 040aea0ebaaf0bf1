"""The demonstration's figures, and how they stand inside its page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import Any, Final

import numpy as np

from sottovoce.figures.style import (
    SMALL,
    STYLE,
    TITLE,
    draw_bars,
    finish_axes,
    finish_bars,
    legend_below,
    new_figure,
    require_matplotlib,
)
from sottovoce.lab.demo.ages import Ages
from sottovoce.lab.demo.demo import CrowdErrors, EstimatedShare, MusicResult
from sottovoce.lab.demo.habit import HABIT, Habit
from sottovoce.lab.demo.instruments import INSTRUMENTS, STYLES
from sottovoce.lab.demo.shuffled import ShuffledCrowd

__all__ = [
    *("ages_figure", "answers_figure", "crowds_figure", "demo_figure", "habit_figure", "maps_figure"),
    *("shuffled_figure", "svg_element"),
]

_PAGE_COLOURS: Final = {**STYLE, "paper": "#ffffff"}


def svg_element(figure: Any, name: str) -> str:
    """A figure as an element of a page that holds all it shows, in the colours that the page's style gives.

    It is one image to a screen reader, called by its name.
    """
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.hashsalt": "sottovoce", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", transparent=True)
    text = drawn.getvalue()
    for variable, colour in _PAGE_COLOURS.items():
        text = text.replace(colour, f"var(--{variable})")
    box = re.search(r'viewBox="[^"]*"', text)
    shape = box[0] if box else ""
    inside = re.sub(r"^.*?</metadata>", "", text, flags=re.DOTALL)
    return f'<svg class="drawn" {shape} role="img" aria-label="{escape(name)}">{inside}'


def demo_figure(demo: MusicResult) -> Any:
    """The demonstration's most frequent answers, estimated and true."""
    title = f"What {demo.people:,} people would love to play, each report randomized (epsilon {demo.survey.epsilon:g})"
    figure = answers_figure(demo.top(14), 12, 6)
    figure.axes[0].set_title(title, loc="left", fontsize=TITLE, color=STYLE["ink"], pad=12)
    return figure


def answers_figure(rows: Sequence[EstimatedShare], width: float, height: float) -> Any:
    """Answers, estimated and true, as bars."""
    require_matplotlib()
    figure = new_figure(width, height)
    ax = figure.subplots()
    _draw_answers(ax, rows)
    legend_below(ax)
    return figure


def shuffled_figure(crowd: ShuffledCrowd) -> Any:
    """A figure of one crowd's answers without and with a shuffler, side by side on one scale."""
    require_matplotlib()
    figure = new_figure(15, 6)
    axes = figure.subplots(1, 2, sharex=True)
    titles = ("Without a shuffler", "With a shuffler")
    for ax, rows, title, promise in zip(axes, crowd.rows, titles, crowd.promises, strict=True):
        _draw_answers(ax, rows)
        ax.set_title(title, loc="left", fontsize=TITLE, color=STYLE["ink"], pad=36)
        words = promise.replace("; ", ";\n")
        options = {"xycoords": "axes fraction", "xytext": (0, 4), "textcoords": "offset points", "va": "bottom"}
        ax.annotate(words, (0, 1), fontsize=SMALL, color=STYLE["muted"], **options)
    legend_below(axes[1])
    return figure


def maps_figure(demo: MusicResult) -> Any:
    """Shares by instrument and style: true, raw and projected. Colour grows with their root; negative ones differ."""
    require_matplotlib()
    from matplotlib.colors import to_rgba

    figure = new_figure(14, 6.8)
    tables = (("truth", demo.truth), ("raw estimate", demo.estimate.raw), ("projected estimate", demo.estimate.values))
    largest = max(float(demo.truth.max()), float(demo.estimate.raw.max()))
    for ax, (title, shares) in zip(figure.subplots(1, 3, sharey=True), tables, strict=True):
        table = shares.reshape(len(INSTRUMENTS), len(STYLES))
        colours = np.where(table[..., None] < 0, to_rgba(STYLE["raw"]), to_rgba(STYLE["estimate"]))
        colours[..., 3] = np.sqrt(np.minimum(1.0, np.abs(table) / largest))
        ax.pcolormesh(colours, edgecolors="none")
        ax.set_title(title, loc="left", fontsize=TITLE, color=STYLE["ink"])
        ax.set_xticks(np.arange(len(STYLES)) + 0.5, STYLES, rotation=90)
        ax.set_yticks(np.arange(len(INSTRUMENTS)) + 0.5, INSTRUMENTS)
        ax.tick_params(labelsize=SMALL, labelcolor=STYLE["muted"], length=0)
        ax.set_aspect("equal")
        for spine in ax.spines.values():
            spine.set_color(STYLE["line"])
    figure.axes[0].invert_yaxis()
    return figure


def crowds_figure(crowds: Sequence[CrowdErrors]) -> Any:
    """Errors and bounds against the number of people, on logarithmic scales."""
    require_matplotlib()
    from matplotlib.ticker import LogFormatter, NullFormatter

    figure = new_figure(8, 5)
    ax = figure.subplots()
    people = [crowd.people for crowd in crowds]
    for name, label, look in (
        ("l2_raw", "raw, measured", {"color": STYLE["raw"], "marker": "o"}),
        ("l2_projected", "projected, measured", {"color": STYLE["estimate"], "marker": "o"}),
        ("l2_bound", "bound proved for it", {"color": STYLE["estimate"], "linestyle": "--"}),
        ("l2_bound_paper", "bound as printed (Theorem 4.2)", {"color": STYLE["muted"], "linestyle": ":"}),
    ):
        ax.loglog(people, [getattr(crowd, name) for crowd in crowds], label=label, markersize=5, **look)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False))
    finish_axes(ax, "people", "L2 error")
    ax.legend(frameon=False, fontsize=SMALL, labelcolor=STYLE["ink"])
    return figure


def ages_figure(ages: Ages) -> Any:
    """Shares of the people up to every age: the estimate with its intervals as a band, and the truth."""
    require_matplotlib()
    figure = new_figure(8, 4.4)
    ax = figure.subplots()
    years = range(len(ages.truth))
    low, high, values, truth = (100 * np.array(line) for line in (ages.low, ages.high, ages.values, ages.truth))
    ax.fill_between(years, low, high, color=STYLE["bar"], alpha=0.45, linewidth=0, label="95 % interval")
    ax.plot(years, values, color=STYLE["estimate"], label=f"estimate from {ages.people:,} reports")
    ax.plot(years, truth, ":", color=STYLE["truth"], label="truth")
    ax.yaxis.set_major_formatter("{x:g} %")
    finish_axes(ax, "years old, at most", "of the people")
    ax.legend(frameon=False, fontsize=SMALL, labelcolor=STYLE["ink"])
    return figure


def habit_figure(habit: Habit) -> Any:
    """The curve of a share by month, with the truth."""
    ax = habit.curve.plot(HABIT)
    starts = [point.starts for point in habit.curve.series(HABIT).points]
    ax.plot(starts, [100 * month.truth for month in habit.months], ":", color=STYLE["truth"], label="truth")
    legend_below(ax)
    return ax.figure


def _draw_answers(ax: Any, rows: Sequence[EstimatedShare]) -> None:
    """Bars with intervals, and the truth as marks."""
    values, low, high = ([100 * getattr(row, name) for row in rows] for name in ("value", "low", "high"))
    whiskers = "95 % interval of the raw estimate"
    draw_bars(ax, [row.answer for row in rows], values, low, high, "estimate (projected)", whiskers)
    mark = {"linestyle": "none", "marker": "D", "markersize": 6, "markerfacecolor": "white", "markeredgewidth": 1.6}
    ax.plot([100 * row.truth for row in rows], range(len(rows)), color=STYLE["truth"], label="truth", **mark)
    ax.set_xlim(left=0)
    finish_bars(ax, "of the people")
