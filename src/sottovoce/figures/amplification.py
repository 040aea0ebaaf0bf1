"""Central against local epsilon: what shuffling adds, for a few sizes of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from sottovoce.figures.style import CURVES, SMALL, STYLE, finish_axes, new_figure, require_matplotlib

__all__ = ["AmplificationLine", "plot_amplification"]

_LINES: Final = (("proved", "-", 2.0), ("clones", "--", 1.2), ("lower", ":", 1.8))
_WORDS: Final = {"proved": "proved for this mechanism", "clones": "proved for any mechanism", "lower": "lower bound"}


@final
@dataclass(frozen=True)
class AmplificationLine:
    """Central epsilons of batches of one size by the local one; NaN where there is none."""

    n: int
    local: tuple[float, ...]
    proved: tuple[float, ...]
    clones: tuple[float, ...]
    lower: tuple[float, ...]


def plot_amplification(
    lines: Sequence[AmplificationLine], point: tuple[float, float], caption: str, ax: Any = None
) -> Any:
    """Draw the lines and the point of one survey on a matplotlib axes, one on a new figure unless given.

    Parameters
    ----------
    point
        Local and central epsilon of the survey.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    if ax is None:
        ax = new_figure(9, 5.4).subplots()
    for line, style in zip(lines, CURVES, strict=False):
        for name, dash, width in _LINES:
            label = f"{line.n:,} people" if name == "proved" else "_nolegend_"
            ax.plot(line.local, getattr(line, name), color=style["color"], linestyle=dash, linewidth=width, label=label)
    local = lines[0].local
    ax.plot(local, local, color=STYLE["muted"], linewidth=1.2, label="without a shuffler")
    for name, dash, width in _LINES:
        ax.plot([], [], color=STYLE["ink"], linestyle=dash, linewidth=width, label=_WORDS[name])
    ax.plot(
        *([number] for number in point),
        linestyle="none",
        marker="D",
        markersize=7,
        markerfacecolor="white",
        markeredgewidth=1.8,
        color=STYLE["ink"],
        label="this survey",
    )
    ax.set(yscale="log", xlim=(local[0], local[-1]))
    ax.yaxis.set_major_formatter("{x:g}")
    finish_axes(ax, "local epsilon, of one report", "central epsilon, of a shuffled batch")
    ax.set_title(caption, loc="left", fontsize=SMALL, color=STYLE["muted"], parse_math=False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=SMALL, labelcolor=STYLE["ink"])
    return ax
