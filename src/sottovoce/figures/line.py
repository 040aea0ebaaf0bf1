"""A line through people's numbers: the mean outcome against one number, with its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sottovoce.core.answer import Answer
from sottovoce.figures.style import (
    CURVES,
    SMALL,
    check_axes,
    colours_on,
    finish_axes,
    new_figure,
    require_matplotlib,
)

__all__ = ["plot_line"]


def plot_line(
    numbers: Sequence[float], means: Sequence[Answer], labels: tuple[str, str], caption: str, ax: Any = None
) -> Any:
    """The means at these numbers with the band of their intervals; returns the matplotlib axes.

    Parameters
    ----------
    labels
        Of the two axes: the number, and the outcome.
    """
    require_matplotlib()
    if ax is None:
        ax = new_figure(6.4, 4.0).subplots()
    check_axes(ax)
    colour = CURVES[0]["color"]
    low, high = ([getattr(mean, end) for mean in means] for end in ("low", "high"))
    ax.fill_between(numbers, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(numbers, [mean.value for mean in means], color=colour, linewidth=2)
    ax.set_xlim(numbers[0], numbers[-1])
    finish_axes(ax, *labels)
    ax.set_title(caption, loc="left", fontsize=SMALL, color=colours_on(ax)["muted"], parse_math=False)
    return ax
