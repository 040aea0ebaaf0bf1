"""Recall: the probability that a word is found against the share of people who have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from sottovoce.figures.style import CURVES, SMALL, STYLE, finish_axes, new_figure, require_matplotlib

__all__ = ["RecallLine", "plot_recall"]


@final
@dataclass(frozen=True)
class RecallLine:
    """Probabilities of the words of one length."""

    label: str
    probabilities: tuple[float, ...]


def plot_recall(
    shares: Sequence[float], lines: Sequence[RecallLine], probability: float, caption: str, ax: Any = None
) -> Any:
    """Draw one line per length on a matplotlib axes, one on a new figure unless given.

    Parameters
    ----------
    probability
        Marked by a thin line.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    if ax is None:
        ax = new_figure(8, 4.8).subplots()
    percent = [100 * share for share in shares]
    for line, style in zip(lines, CURVES, strict=False):
        ax.plot(percent, line.probabilities, linewidth=2.0, label=line.label, **style)
    ax.axhline(probability, color=STYLE["muted"], linewidth=1.0, linestyle=":")
    ax.set(xscale="log", xlim=(percent[0], percent[-1]), ylim=(0, 1.02))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:.1g}")
    finish_axes(ax, "share of people with the word, %", "probability that it is found")
    ax.set_title(caption, loc="left", fontsize=SMALL, color=STYLE["muted"], parse_math=False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL, labelcolor=STYLE["ink"])
    return ax
