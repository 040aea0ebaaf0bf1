"""Two groups over the periods of a tracking survey, and below them their difference with its band."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.figures.curve import day_labels
from sottovoce.figures.style import CURVES, SMALL, STYLE, colours_on, finish_axes, legend_above, new_figure

__all__ = ["DrawnPair", "plot_two_curves"]

_CAPTION: Final = 105
_MOST_TICKS: Final = 9
_APART: Final = 0.12
"""Half the distance of a period's two points, in periods."""


class DrawnPair(NamedTuple):
    """Both groups in one period, and their difference with its band."""

    starts: datetime
    first: Answer
    second: Answer
    difference: Answer
    band: tuple[float, float]


def plot_two_curves(
    pairs: Sequence[DrawnPair], starts: Sequence[datetime], names: Sequence[str], answer: str, caption: str
) -> Any:
    """Points with intervals above, differences below, on a new figure; returns it.

    Parameters
    ----------
    pairs
        Periods in which both groups have reports.
    starts
        When every period starts, also those without reports.
    """
    figure = new_figure(9, 6.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
    percent = pairs[0].difference.is_share
    scale = 100.0 if percent else 1.0
    place = {start: at for at, start in enumerate(starts)}
    x = np.array([place[pair.starts] for pair in pairs], dtype=np.float64)
    _points(above, x - _APART, [pair.first for pair in pairs], scale, CURVES[0]["color"], names[0])
    _points(above, x + _APART, [pair.second for pair in pairs], scale, CURVES[1]["color"], names[1])
    known = [not math.isnan(pair.band[0]) for pair in pairs]
    low, high = (scale * np.array([pair.band[end] for pair in pairs])[known] for end in (0, 1))
    below.vlines(x[known], low, high, color=STYLE["bar"], alpha=0.45, linewidth=6, label="band, all periods together")
    _points(below, x, [pair.difference for pair in pairs], scale, colours_on(below)["ink"], "difference")
    below.axhline(0.0, color=colours_on(below)["muted"], linewidth=1.0)
    unit = pairs[0].difference.unit
    finish_axes(above, "", f"{answer} ({unit})" if unit else answer)
    finish_axes(below, "", f"{names[0]} less {names[1]}" + (" (points)" if percent else f" ({unit})" if unit else ""))
    marked = list(range(0, len(starts), -(-len(starts) // _MOST_TICKS)))
    below.set_xticks(marked, day_labels([starts[at] for at in marked]))
    if percent:
        above.yaxis.set_major_formatter("{x:g} %")
    for ax in (above, below):
        legend_above(ax)
    figure.supxlabel(textwrap.fill(caption, _CAPTION), fontsize=SMALL, color=colours_on(above)["muted"])
    return figure


def _points(ax: Any, x: Any, answers: Sequence[Answer], scale: float, colour: str, label: str) -> None:
    value, low, high = (
        scale * np.array([getattr(answer, name) for answer in answers]) for name in ("value", "low", "high")
    )
    ax.vlines(x, low, high, color=colour, linewidth=1.4)
    ax.plot(x, value, linestyle="none", marker="o", markersize=5, color=colour, label=label)
