"""The most frequent answers of an estimate as bars with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sottovoce.figures.style import SMALL, STYLE, draw_bars, finish_bars, new_figure, require_matplotlib

__all__ = ["plot_answers"]


def plot_answers(answers: Sequence[tuple[str, float, float, float, float]], caption: str, ax: Any = None) -> Any:
    """Bars of answers with their intervals; small marks for the raw estimate.

    Parameters
    ----------
    answers
        Label, projected value, raw value and the two ends of the interval of each answer.
    ax
        A matplotlib axes to draw on; one on a new figure unless given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    labels, values, raw, low, high = zip(*answers, strict=True)
    if ax is None:
        ax = new_figure(8, 1.2 + 0.3 * len(answers)).subplots()
    draw_bars(ax, labels, values, low, high)
    ax.plot(
        [100 * number for number in raw],
        range(len(answers)),
        linestyle="none",
        marker="o",
        markersize=5,
        markeredgecolor="white",
        color=STYLE["raw"],
        label="raw",
    )
    ax.legend(loc="lower right", frameon=False, fontsize=SMALL, labelcolor=STYLE["ink"])
    ax.set_xlim(left=min(0.0, *(105 * number for number in raw)))
    finish_bars(ax, caption)
    return ax
