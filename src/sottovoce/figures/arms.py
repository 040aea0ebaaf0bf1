"""Two estimates side by side, and beside them their differences: two panels with the same rows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.figures.bars import MOST_BARS
from sottovoce.figures.style import CURVES, SMALL, TEXT, colours_on, finish_bars, new_figure, require_matplotlib

__all__ = ["plot_arms"]

_APART: Final = 0.17
"""Half the distance of an answer's two points."""

_CAPTION: Final = 110
"""Characters of a line of the caption."""


def plot_arms(
    pairs: Sequence[tuple[Answer, Answer]],
    differences: Sequence[Answer],
    titles: Sequence[str],
    heading: str,
    caption: str,
) -> Any:
    """Points with intervals, answer by answer from the top down; returns the figure.

    Parameters
    ----------
    pairs
        The two estimates of every answer, of one unit; no more than `MOST_BARS` are drawn.
    differences
        The first less the second.
    titles
        What the two are called.
    heading
        What the differences are called.
    """
    require_matplotlib()
    shown, changes = pairs[:MOST_BARS], differences[:MOST_BARS]
    percent, unit = changes[0].is_share, changes[0].unit
    scale = 100.0 if percent else 1.0
    figure = new_figure(9.5, 1.9 + 0.42 * len(shown))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
    for arm, (side, title) in enumerate(zip((-_APART, _APART), titles, strict=True)):
        places = np.arange(len(shown)) + side
        _points(left, [pair[arm] for pair in shown], places, scale, CURVES[arm]["color"], title)
    _points(right, changes, np.arange(len(changes)), scale, colours_on(right)["ink"], "")
    right.axvline(0.0, color=colours_on(right)["muted"], linewidth=1.0)
    left.set_yticks(range(len(shown)), [change.label for change in changes], fontsize=TEXT, parse_math=False)
    left.set_ylim(len(shown) - 0.4, -0.6)
    for ax, text in ((left, unit), (right, "points" if percent else unit)):
        finish_bars(ax, text, percent=percent and ax is left)
    right.set_title(heading, loc="left", fontsize=SMALL, color=colours_on(right)["ink"])
    left.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.2,
        labelcolor=colours_on(left)["ink"],
    )
    figure.supxlabel(textwrap.fill(caption, _CAPTION), fontsize=SMALL, color=colours_on(left)["muted"])
    return figure


def _points(ax: Any, answers: Sequence[Answer], places: Any, scale: float, colour: str, label: str) -> None:
    values, low, high = (
        scale * np.array([getattr(answer, name) for answer in answers]) for name in ("value", "low", "high")
    )
    ax.hlines(places, low, high, color=colour, linewidth=1.6)
    ax.plot(values, places, linestyle="none", marker="o", markersize=5.5, color=colour, label=label)
