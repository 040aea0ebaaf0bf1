"""The demonstration's pictures: answers estimated and true, of everybody, and of some without and with a shuffler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sottovoce.figures.style import (
    SMALL,
    STYLE,
    TITLE,
    draw_bars,
    finish_bars,
    legend_below,
    new_figure,
    require_matplotlib,
)
from sottovoce.lab.demo.demo import EstimatedShare, MusicResult
from sottovoce.lab.demo.shuffled import ShuffledCrowd

__all__ = ["demo_figure", "shuffled_figure"]


def demo_figure(demo: MusicResult, k: int = 14) -> Any:
    """The demonstration's most frequent answers, estimated and true, as a matplotlib figure."""
    require_matplotlib()
    figure = new_figure(12, 6)
    ax = figure.subplots()
    _draw(ax, demo.top(k))
    ax.set_title(
        f"What {demo.users:,} people would love to play, each report randomized (epsilon {demo.survey.epsilon:g})",
        loc="left",
        fontsize=TITLE,
        color=STYLE["ink"],
        pad=12,
    )
    legend_below(ax)
    return figure


def shuffled_figure(crowd: ShuffledCrowd) -> Any:
    """The same answers of the same people without and with a shuffler, side by side on one scale."""
    require_matplotlib()
    figure = new_figure(15, 6)
    axes = figure.subplots(1, 2, sharex=True)
    titles = ("Without a shuffler", "With a shuffler")
    for ax, rows, title, promise in zip(axes, crowd.rows, titles, crowd.promises, strict=True):
        _draw(ax, rows)
        ax.set_title(title, loc="left", fontsize=TITLE, color=STYLE["ink"], pad=36)
        words = promise.replace("; ", ";\n")
        ax.annotate(
            words,
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 4),
            textcoords="offset points",
            va="bottom",
            fontsize=SMALL,
            color=STYLE["muted"],
        )
    legend_below(axes[1])
    return figure


def _draw(ax: Any, rows: Sequence[EstimatedShare]) -> None:
    """Bars with intervals, and the truth as marks."""
    draw_bars(
        ax,
        [r.answer for r in rows],
        [100 * r.value for r in rows],
        [100 * r.low for r in rows],
        [100 * r.high for r in rows],
        "estimate (projected)",
        "95 % interval of the raw estimate",
    )
    ax.plot(
        [100 * r.truth for r in rows],
        range(len(rows)),
        linestyle="none",
        marker="D",
        markersize=6,
        markerfacecolor="white",
        markeredgewidth=1.6,
        color=STYLE["truth"],
        label="truth, which the collector never sees",
    )
    ax.set_xlim(left=0)
    finish_bars(ax, "of the people")
