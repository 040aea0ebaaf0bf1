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
    if not answers:
        return _nothing(caption, ax)
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


def _nothing(caption: str, ax: Any) -> Any:
    """A picture that says so, where nothing was found: whoever waits for one gets one."""
    ax = new_figure(8, 1.8).subplots() if ax is None else ax
    ax.set_axis_off()
    ax.text(0.5, 0.6, "nothing found yet: collect more reports", ha="center", color=STYLE["ink"])
    ax.text(0.5, 0.2, caption, ha="center", fontsize=SMALL, color=STYLE["ink"])
    return ax
