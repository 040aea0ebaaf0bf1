"""Still pictures in one style. Needs matplotlib; touches no global state of it and opens no window."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sottovoce.errors import MissingExtraError
from sottovoce.promise import promised

if TYPE_CHECKING:
    from sottovoce.estimate import Estimate
    from sottovoce.experiments.demo import Demo
    from sottovoce.experiments.error_curves import ErrorCurves

__all__ = [
    "CURVES",
    "STYLE",
    "demo_figure",
    "error_figure",
    "finish_axes",
    "new_figure",
    "plot_top",
    "require_matplotlib",
    "save_demo_picture",
    "save_error_picture",
]

STYLE: Final[dict[str, str]] = {
    "ink": "#1f2328",
    "muted": "#6a7178",
    "line": "#d5d9de",
    "estimate": "#0072b2",
    "bar": "#86bbdb",
    "raw": "#d55e00",
    "truth": "#1f2328",
}
"""Colours that stay apart for every kind of colour vision (after Okabe and Ito)."""

_TEXT, _SMALL, _TITLE = 11, 9.5, 15

CURVES: Final[tuple[dict[str, str], ...]] = tuple(
    {"color": colour, "linestyle": style}
    for style in ("-", "--")
    for colour in ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f2328")
)
"""Lines that stay apart, for curves that are of one kind."""


def require_matplotlib() -> None:
    """Raise `MissingExtraError`, which says what to install, where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib: pip install 'sottovoce[plot]'")


def plot_top(estimate: Estimate, ax: Any = None, k: int = 20, level: float = 0.95) -> Any:
    """Bars of the k most frequent values with their intervals; small marks for the raw estimate.

    Parameters
    ----------
    ax
        A matplotlib axes to draw on; one on a new figure unless given.
    level
        Coverage of each interval.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig(...)`` writes the picture.
    """
    require_matplotlib()
    answers = estimate.top(k, level)
    if ax is None:
        ax = new_figure(8, 1.2 + 0.3 * len(answers)).subplots()
    _bars(
        ax,
        [a.label for a in answers],
        [a.value for a in answers],
        [a.low for a in answers],
        [a.high for a in answers],
    )
    ax.plot(
        [100 * a.raw for a in answers],
        range(len(answers)),
        linestyle="none",
        marker="o",
        markersize=5,
        markeredgecolor="white",
        color=STYLE["raw"],
        label="raw",
    )
    ax.legend(loc="lower right", frameon=False, fontsize=_SMALL, labelcolor=STYLE["ink"])
    ax.set_xlim(left=min(0.0, *(105 * a.raw for a in answers)))
    _finish(
        ax, f"{estimate.n_reports:,} reports, {promised(estimate.epsilon, estimate.delta)}, {100 * level:g} % intervals"
    )
    return ax


def demo_figure(demo: Demo, k: int = 14) -> Any:
    """The demonstration's most frequent answers, estimated and true, as a matplotlib figure."""
    require_matplotlib()
    figure = new_figure(12, 6)
    ax = figure.subplots()
    rows = demo.top(k)
    _bars(
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
    _finish(ax, "of the people")
    ax.set_title(
        f"What {demo.users:,} people would love to play, each answering in a whisper (epsilon {demo.survey.epsilon:g})",
        loc="left",
        fontsize=_TITLE,
        color=STYLE["ink"],
        pad=12,
    )
    ax.legend(loc="lower right", frameon=False, fontsize=_TEXT, labelcolor=STYLE["ink"])
    return figure


def save_demo_picture(demo: Demo, path: Path) -> None:
    """Write `demo_figure` as a picture of 1200 by 600 points; the format follows the name's ending."""
    demo_figure(demo).savefig(path, dpi=100, facecolor="white")


def error_figure(curves: ErrorCurves) -> Any:
    """A plan's error against the number of people, both axes logarithmic: bounds, exact raw error, simulations.

    For queries there is a second panel: the error to expect of every strategy.
    """
    require_matplotlib()
    if not curves.strategies:
        figure = new_figure(9, 6)
        _draw_mechanism(figure.subplots(), curves)
        return figure
    figure = new_figure(16, 6)
    left, right = figure.subplots(1, 2)
    _draw_mechanism(left, curves)
    for (name, errors), style in zip(curves.strategies.items(), CURVES, strict=False):
        right.plot(curves.people, errors, linewidth=1.8, label=name, **style)
    _finish_curves(right, curves, "Every strategy: raw, or the bound where that is less")
    return figure


def _draw_mechanism(ax: Any, curves: ErrorCurves) -> None:
    lines = (
        (curves.l2_bound_paper, STYLE["muted"], "--", 1.8, f"the paper's bound ({curves.paper})"),
        (curves.l2_raw, STYLE["raw"], "-", 3.6, "raw, for the worst population"),
        (curves.l2_bound, STYLE["estimate"], "-", 1.6, "projected, bound for every population"),
    )
    # Widths and sizes differ so that both are seen where one lies on the other.
    for errors, colour, style, width, label in lines:
        ax.plot(curves.people, errors, color=colour, linestyle=style, linewidth=width, label=label)
    marks = (
        ([point.l2_raw for point in curves.measured], STYLE["raw"], "o", 10, "raw"),
        ([point.l2_projected for point in curves.measured], STYLE["estimate"], "D", 5, "projected"),
    )
    for found, colour, shape, size, label in marks if curves.measured else ():
        ax.plot(
            [point.users for point in curves.measured],
            found,
            linestyle="none",
            marker=shape,
            markersize=size,
            markerfacecolor="white",
            markeredgewidth=1.6,
            color=colour,
            label=f"{label}, simulated ({curves.population})",
        )
    strategy = "direct, " if curves.strategies else ""
    _finish_curves(ax, curves, f"{curves.what}: {strategy}{curves.mechanism}, {promised(curves.epsilon, curves.delta)}")


def _finish_curves(ax: Any, curves: ErrorCurves, title: str) -> None:
    """Axes, the planned number of people, title and legend."""
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=ax.get_ylim()[0] * 0.8)
    ax.axvline(curves.users, color=STYLE["line"], linewidth=1.4, zorder=0)
    ax.annotate(
        f"planned: {curves.users:,}",
        (curves.users, 0.015),
        xycoords=("data", "axes fraction"),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=_SMALL,
        color=STYLE["muted"],
    )
    finish_axes(ax, "people", "expected L2 error")
    ax.set_title(title, loc="left", fontsize=_TITLE, color=STYLE["ink"], pad=12)
    ax.legend(loc="upper right", framealpha=0.9, edgecolor="none", fontsize=_SMALL, labelcolor=STYLE["ink"])


def finish_axes(ax: Any, across: str, up: str) -> None:
    """What the axes count, a quiet grid, and no box around it."""
    ax.set_xlabel(across, fontsize=_TEXT, color=STYLE["ink"])
    ax.set_ylabel(up, fontsize=_TEXT, color=STYLE["ink"])
    ax.tick_params(which="both", labelsize=_SMALL, labelcolor=STYLE["muted"], color=STYLE["line"])
    ax.grid(color=STYLE["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(STYLE["line"])


def save_error_picture(curves: ErrorCurves, path: Path) -> None:
    """Write `error_figure`; the format follows the name's ending."""
    error_figure(curves).savefig(path, dpi=110, facecolor="white")


def new_figure(width: float, height: float) -> Any:
    # A figure of its own, without pyplot: no window system is asked for and no global state changes.
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.15, h_pad=0.12)
    return figure


def _bars(
    ax: Any,
    labels: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    legend: str = "projected",
    whiskers: str = "",
) -> None:
    """Horizontal bars from the top down, in per cent, with whiskers from `low` to `high`, in the legend by name."""
    at = range(len(labels))
    middle = (np.asarray(low) + np.asarray(high)) / 2
    half = (np.asarray(high) - np.asarray(low)) / 2
    ax.barh(at, 100 * np.asarray(values), height=0.62, color=STYLE["bar"], label=legend)
    line = {"fmt": "none", "ecolor": STYLE["estimate"], "elinewidth": 1.4, "capsize": 3}
    ax.errorbar(100 * middle, at, xerr=100 * half, label=whiskers or "_nolegend_", **line)
    ax.set_yticks(at, labels, fontsize=_TEXT, color=STYLE["ink"], parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def _finish(ax: Any, caption: str) -> None:
    ax.xaxis.set_major_formatter("{x:g} %")
    ax.set_xlabel(caption, fontsize=_SMALL, color=STYLE["muted"])
    ax.tick_params(axis="x", labelsize=_SMALL, labelcolor=STYLE["muted"], color=STYLE["line"])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=STYLE["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(STYLE["line"])
