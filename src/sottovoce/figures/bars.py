"""The largest answers of an estimate: as bars with their intervals, and as a table, which notebooks show."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, Final

from sottovoce.figures.style import (
    SMALL,
    STYLE,
    colours_on,
    draw_bars,
    finish_bars,
    legend_above,
    new_figure,
    require_matplotlib,
)

__all__ = ["MOST_BARS", "answers_html", "plot_answers"]


def answers_html(
    answers: Sequence[tuple[str, float, float, float, float]], caption: str, total: int, unit: str = ""
) -> str:
    """A row per answer: label, projected value, raw value and the two ends of its interval; `total` is of all answers.

    Examples
    --------
    >>> answers_html([("tea & milk", 0.6, 0.61, 0.5, 0.7)], "an estimate", total=3).split("<tbody>")[0]
    '<table><caption>an estimate; 2 more values</caption><thead>...</thead>'
    """
    rows = "".join(
        f"<tr><td>{html.escape(label)}</td><td>{value:.4f}</td><td>{low:.4f} to {high:.4f}</td><td>{raw:.4f}</td></tr>"
        for label, value, raw, low, high in answers
    )
    more = total - len(answers)
    caption = html.escape(caption) + (f"; {more:,} more values" if more > 0 else "")
    measure = f" ({html.escape(unit)})" if unit else ""
    head = f"<tr><th>answer</th><th>estimate{measure}</th><th>95 % interval</th><th>raw</th></tr>"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


MOST_BARS: Final = 200
"""Bars of one picture: more make it too tall for screens and for image files."""

_ROOM: Final = 0.05
"""On both sides of what is drawn, as a share of it."""


def plot_answers(
    answers: Sequence[tuple[str, float, float, float, float]],
    caption: str,
    ax: Any = None,
    *,
    total: int | None = None,
    percent: bool = True,
    unit: str = "",
) -> Any:
    """Bars of answers with their intervals; small marks for the raw estimate.

    Parameters
    ----------
    answers
        Label, projected value, raw value and the two ends of the interval of each answer, the largest first; no more
        than `MOST_BARS` are drawn.
    ax
        A matplotlib axes to draw on; one on a new figure unless given.
    total
        Of how many answers these are the largest, which the caption says.
    percent, unit
        Whether answers are shares, drawn in per cent; of others the unit, if they have one.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    if not answers:
        return _nothing(caption, ax)
    shown = answers[:MOST_BARS]
    labels, *columns = zip(*shown, strict=True)
    scale = 100.0 if percent else 1.0
    values, raw, low, high = ([scale * number for number in column] for column in columns)
    if ax is None:
        ax = new_figure(8, 1.5 + 0.3 * len(shown)).subplots()
    draw_bars(ax, labels, values, low, high)
    ax.plot(
        raw,
        range(len(shown)),
        linestyle="none",
        marker="o",
        markersize=5,
        markeredgecolor="white",
        color=STYLE["raw"],
        label="raw",
    )
    ends = min(0.0, *values, *raw, *low), max(0.0, *values, *raw, *high)
    if ends == (0.0, 0.0):
        ends = 0.0, scale  # nothing but zeros: an axis all the same
    room = _ROOM * (ends[1] - ends[0])
    ax.set_xlim(ends[0] - room * (ends[0] < 0), ends[1] + room * (ends[1] > 0))
    if ends[0] < 0:
        ax.axvline(0.0, color=colours_on(ax)["muted"], linewidth=0.8)
    all_of_them = len(answers) if total is None else total
    if all_of_them > len(shown):
        caption = f"{len(shown):,} of {all_of_them:,} values, the largest; {caption}"
    finish_bars(ax, f"{unit}\n{caption}" if unit and not percent else caption, percent=percent)
    legend_above(ax)
    return ax


def _nothing(caption: str, ax: Any) -> Any:
    """A picture that says so, where nothing was found: whoever waits for one gets one."""
    ax = new_figure(8, 1.8).subplots() if ax is None else ax
    ink = colours_on(ax)["ink"]
    ax.set_axis_off()
    ax.text(0.5, 0.6, "nothing found yet: collect more reports", ha="center", color=ink)
    ax.text(0.5, 0.2, caption, ha="center", fontsize=SMALL, color=ink)
    return ax
