"""The estimates of several groups side by side: points with intervals, one colour per group."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.figures.bars import MOST_BARS
from sottovoce.figures.style import (
    CURVES,
    SMALL,
    TEXT,
    colours_on,
    finish_bars,
    legend_above,
    new_figure,
    require_matplotlib,
)

__all__ = ["plot_groups"]

_SPREAD: Final = 0.64
"""How much of a row its points take."""

_CAPTION: Final = 105


def plot_groups(groups: Mapping[str, Mapping[str, Answer]], labels: list[str], caption: str) -> Any:
    """Draw the answers with these labels of every group, from the top down, on a new figure; returns its axes."""
    require_matplotlib()
    rows = labels[:MOST_BARS]
    ax = new_figure(9, 1.9 + (0.25 + 0.12 * len(groups)) * max(1, len(rows))).subplots()
    some = next(answer for answers in groups.values() for answer in answers.values())
    scale = 100.0 if some.is_share else 1.0
    for at, (name, answers) in enumerate(groups.items()):
        side = _SPREAD * ((at + 0.5) / len(groups) - 0.5)
        known = [(row + side, answers[label]) for row, label in enumerate(rows) if label in answers]
        places = np.array([place for place, _ in known])
        value, low, high = (
            scale * np.array([getattr(answer, column) for _, answer in known]) for column in ("value", "low", "high")
        )
        colour = CURVES[at % len(CURVES)]["color"]
        ax.hlines(places, low, high, color=colour, linewidth=1.6)
        ax.plot(value, places, linestyle="none", marker="o", markersize=5, color=colour, label=name)
    ax.set_yticks(range(len(rows)), rows, fontsize=TEXT, parse_math=False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    finish_bars(ax, some.unit, percent=some.is_share)
    legend_above(ax)
    ax.figure.supxlabel(textwrap.fill(caption, _CAPTION), fontsize=SMALL, color=colours_on(ax)["muted"])
    return ax
