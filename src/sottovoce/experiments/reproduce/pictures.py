"""One figure for each row and each number that varies: measured errors with their bars, bounds as lines."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final, Literal

from sottovoce.experiments.reproduce.checks import HARD, few_people
from sottovoce.experiments.reproduce.grid import Figure
from sottovoce.experiments.reproduce.records import ALONG, ROWS, Measured
from sottovoce.experiments.reproduce.slopes import slope
from sottovoce.plotting import CURVES, STYLE, finish_axes, new_figure, require_matplotlib

__all__ = ["draw", "drawn", "to_svg"]

_PREVIOUS: Final = {"offline": "previous work (sphere sampling)", "distribution": "previous work (not projected)"}


def draw(figure: Figure, points: Sequence[Measured]) -> Any:
    """The figure as matplotlib has it; both axes are logarithmic."""
    require_matplotlib()
    from matplotlib.ticker import LogLocator

    row, along = figure.still.row, figure.still.along
    picture = new_figure(11, 6)
    ax = picture.subplots()
    hard = sorted((one for one in points if one.case.population == HARD[row]), key=lambda one: one.case.at)
    x = [one.case.at for one in hard]
    printed = [float("nan") if one.bound_printed is None else one.bound_printed for one in hard]
    ax.plot(x, printed, "--", color=STYLE["muted"], linewidth=1.6, label="bound that the paper prints")
    ax.plot(x, [one.bound for one in hard], "-", color=STYLE["ink"], linewidth=1.6, label="bound proved here")
    ax.plot(
        x, [one.lower_shape for one in hard], ":", color=STYLE["muted"], linewidth=1.6, label="lower bound, shape only"
    )
    if row in _PREVIOUS:
        ax.errorbar(
            x,
            [one.previous for one in hard],
            yerr=[one.previous_standard_error for one in hard],
            fmt="s-.",
            color=STYLE["muted"],
            markerfacecolor="white",
            markersize=6,
            linewidth=1.4,
            label=f"{_PREVIOUS[row]}, {HARD[row]}",
        )
    populations = list(dict.fromkeys(one.case.population for one in points))
    for population, style in zip(populations, CURVES, strict=False):
        own = sorted((one for one in points if one.case.population == population), key=lambda one: one.case.at)
        ax.errorbar(
            [one.case.at for one in own],
            [one.error for one in own],
            yerr=[one.standard_error for one in own],
            marker="o",
            markersize=5,
            linewidth=2.2 if population == HARD[row] else 1.2,
            capsize=2,
            label=f"measured, {population}",
            **style,
        )
    ax.set(xscale="log", yscale="log")
    # Marks where there are points, written out: nobody reads 4 x 10^0.
    ax.set_xticks(x, [f"{at:,.0f}" if at == round(at) else f"{at:g}" for at in x])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")
    finish_axes(ax, ALONG[along], "largest error of all answers" if row == "adaptive" else "L2 error")
    ax.set_title(
        f"{ROWS[row].partition(' (')[0]}: {_still(figure)}", loc="left", fontsize=13, color=STYLE["ink"], pad=10
    )
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=9.5,
        labelcolor=STYLE["ink"],
        title=_slope_said(hard),
        alignment="left",
    )
    return picture


def _still(figure: Figure) -> str:
    case, varies = figure.still, figure.still.along
    told = {
        "users": f"n = {case.users:,}",
        "queries": "" if case.row == "distribution" else f"d = {case.queries:,}",
        "values": "" if case.row == "adaptive" else f"J = {case.values:,}",
        "epsilon": f"epsilon {case.epsilon:g}",
    }
    return ", ".join(words for name, words in told.items() if name != varies and words)


def _slope_said(hard: Sequence[Measured]) -> str | None:
    chosen = hard if hard and hard[0].case.row == "adaptive" else few_people(hard)
    if len(chosen) < 3:
        return None
    found = slope(chosen)
    return f"slope {found.value:+.2f} ± {found.standard_error:.2f} ({hard[0].case.population})"


def drawn(picture: Any, form: Literal["svg", "png"]) -> bytes:
    """The picture's file. The same figures give the same bytes."""
    into = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with _same_names():
        picture.savefig(into, format=form, dpi=110, facecolor="white", metadata=metadata)
    return into.getvalue()


def to_svg(picture: Any) -> str:
    """The picture as the text of an SVG element, for a page that holds all it shows."""
    text = drawn(picture, "svg").decode()
    return text[text.index("<svg") :]


def _same_names() -> Any:
    """Parts of an SVG are otherwise named at random."""
    from matplotlib import rc_context

    return rc_context({"svg.hashsalt": "sottovoce"})
