"""The demonstration's picture: the most frequent answers, estimated and true."""

from __future__ import annotations

from typing import Any

from sottovoce.figures.style import STYLE, TEXT, TITLE, draw_bars, finish_bars, new_figure, require_matplotlib
from sottovoce.lab.demo.demo import MusicResult

__all__ = ["demo_figure"]


def demo_figure(demo: MusicResult, k: int = 14) -> Any:
    """The demonstration's most frequent answers, estimated and true, as a matplotlib figure."""
    require_matplotlib()
    figure = new_figure(12, 6)
    ax = figure.subplots()
    rows = demo.top(k)
    draw_bars(
        ax,
        [r.answer for r in rows],
        [r.value for r in rows],
        [r.low for r in rows],
        [r.high for r in rows],
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
    ax.set_title(
        f"What {demo.users:,} people would love to play, each report randomized (epsilon {demo.survey.epsilon:g})",
        loc="left",
        fontsize=TITLE,
        color=STYLE["ink"],
        pad=12,
    )
    ax.legend(loc="lower right", frameon=False, fontsize=TEXT, labelcolor=STYLE["ink"])
    return figure
