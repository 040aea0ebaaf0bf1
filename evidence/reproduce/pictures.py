"""One figure for each row and each number that varies: measured errors with their bars, bounds as lines."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import Any, Final, Literal

from evidence.reproduce.checks import chosen_for, expected_of, slope, span_of
from evidence.reproduce.grid import Figure
from evidence.reproduce.records import ALONG, HARD, ROWS, Measured
from sottovoce.figures.style import CURVES, STYLE, finish_axes, new_figure, require_matplotlib

__all__ = ["caption", "draw", "drawn", "slope_said", "title", "to_element"]

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
    ax.plot(x, [one.bound for one in hard], "-", color=STYLE["ink"], linewidth=1.6, label="bound stated here")
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
    repaired = [(one.case.at, one.repaired) for one in hard if one.repaired is not None]
    if repaired:
        ax.errorbar(
            [at for at, _ in repaired],
            [one.error for _, one in repaired],
            yerr=[one.standard_error for _, one in repaired],
            fmt="^:",
            color=STYLE["ink"],
            markerfacecolor="white",
            markersize=6,
            linewidth=1.2,
            label=f"rejection sampling made sound, {HARD[row]}",
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
    ax.set_title(title(figure), loc="left", fontsize=13, color=STYLE["ink"], pad=10)
    ax.legend(
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        frameon=False,
        fontsize=9.5,
        labelcolor=STYLE["ink"],
        title=slope_said(points),
        title_fontsize=9.5,
        alignment="left",
    )
    return picture


def title(figure: Figure) -> str:
    """The problem, and the numbers that stay."""
    return f"{ROWS[figure.still.row].partition(' (')[0]}: {_still(figure)}"


def caption(figure: Figure, points: Sequence[Measured]) -> str:
    """All that is drawn, in words: for the page, and for those who cannot see the picture."""
    row, along = figure.still.row, figure.still.along
    error = "Largest error of all answers" if row == "adaptive" else "L2 error"
    drawn_points = sorted(points, key=lambda one: one.case.at)
    of = "analysts" if row == "adaptive" else "populations"
    names = ", ".join(dict.fromkeys(one.case.population for one in points))
    beside = [_PREVIOUS[row]] if row in _PREVIOUS else []
    beside += ["rejection sampling made sound"] if any(one.repaired for one in points) else []
    also = f"; {' and '.join(beside)} for {HARD[row]}" if beside else ""
    told = slope_said(points)
    slope_told = f" {told[0].upper()}{told[1:]}." if told else ""
    return (
        f"{error} against {ALONG[along]}, {span_of(drawn_points)}; {_still(figure)}. Measured for the {of} "
        f"{names}{also}. Lines: the printed bound (dashed), the bound stated here, the lower bound's shape (dotted). "
        f"Points are means of {figure.repeats} repeats with their standard errors.{slope_told}"
    )


def _still(figure: Figure) -> str:
    case, varies = figure.still, figure.still.along
    told = {
        "people": f"n = {case.people:,}",
        "queries": "" if case.row == "distribution" else f"d = {case.queries:,}",
        "values": "" if case.row == "adaptive" else f"J = {case.values:,}",
        "epsilon": f"epsilon {case.epsilon:g}",
    }
    return ", ".join(words for name, words in told.items() if name != varies and words)


def slope_said(points: Sequence[Measured]) -> str | None:
    """The slope that is checked, and over which points; None where there are too few, or none is expected."""
    expected = expected_of(points[0].case.row, points[0].case.along) if points else None
    chosen = chosen_for(expected, points) if expected else []
    if expected is None or len(chosen) < 3:
        return None
    found = slope(chosen, "error", expected.against)
    shape = f" in {expected.shape}" if expected.shape else ""
    where = f"{chosen[0].case.population}, {span_of(chosen)}"
    return f"slope{shape} {found.value:+.3f} ± {found.standard_error:.3f} ({where})"


def drawn(picture: Any, form: Literal["svg", "png"]) -> bytes:
    """The picture's file. The same figures give the same bytes."""
    into = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with _same_names():
        picture.savefig(into, format=form, dpi=110, facecolor="white", metadata=metadata)
    return into.getvalue()


def to_element(svg: bytes, name: str) -> str:
    """An SVG file as the text of an element, for a page that holds all it shows.

    It is one image to a screen reader, called by its name; its caption stands below it.
    """
    text, named = svg.decode(), escape(name)
    start = text.index("<svg") + len("<svg")
    inside = text.index(">", start) + 1
    return f'<svg role="img" aria-label="{named}"{text[start:inside]}<title>{named}</title>{text[inside:]}'


def _same_names() -> Any:
    """Parts of an SVG are otherwise named at random."""
    from matplotlib import rc_context

    return rc_context({"svg.hashsalt": "sottovoce"})
