"""A plan as a picture: how its error falls with the number of people, by formula and on simulated people."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.words import guarantee
from sottovoce.estimates.half_width import half_widths
from sottovoce.figures.style import CURVES, SMALL, STYLE, TITLE, finish_axes, new_figure, require_matplotlib
from sottovoce.lab.simulation.survey_error import MeasuredError, measure, measure_population
from sottovoce.planning.curves import ErrorCurve, curve_by_people, people_grid
from sottovoce.planning.plan import Plan

__all__ = ["PlanErrorCurves", "people_simulated", "plan_curves", "plan_figure"]

Progress = Callable[[int], object]

REPEATS: Final = 3
"""Simulations of each crowd."""

SEED: Final = 7
_CROWDS: Final = 4

MAX_WORK: Final = 2**24
"""People times numbers held for one report, in the largest simulated crowd: about a second."""

MAX_CROWD: Final = 10**7

MAX_VALUES: Final = 2**20
"""Domains larger than this are not simulated for a picture."""


@dataclass(frozen=True)
class PlanErrorCurves:
    """Errors of a plan's best design against people, and those of all designs.

    Attributes
    ----------
    l2_raw
        Root mean square L2 error before projecting, for the plan's population.
    l2_bound
        What the expected error after projecting stays below, for every population.
    l2_bound_paper
        What the paper prints; not a number where it states nothing.
    measured
        Simulated crowds, the largest last; none where they would take long.
    options
        The error by which the plan compares, of every design.
    """

    plan: Plan
    people: tuple[int, ...]
    l2_raw: tuple[float, ...]
    l2_bound: tuple[float, ...]
    l2_bound_paper: tuple[float, ...]
    margin: tuple[float, ...]
    measured: tuple[MeasuredError, ...]
    options: ErrorCurve


def crowds_simulated(plan: Plan) -> list[int]:
    """Numbers of people that are simulated: up to the plan's, or as many as a picture can afford.

    Examples
    --------
    >>> from sottovoce import plan, shares
    >>> crowds_simulated(plan(shares(40), epsilon=1.0, people=10_000))
    [100, 464, 2154, 10000]
    """
    answering_only = plan.population is not None and plan.population.shares is None
    if answering_only or (plan.question.workload.n_values or 0) > MAX_VALUES:
        return []
    affordable = min(MAX_CROWD, MAX_WORK // plan.design.mechanism.simulation_words)
    most = min(plan.people, affordable)
    low = max(10, most // 100)
    return [int(n) for n in np.unique(np.geomspace(low, max(low, most), _CROWDS).astype(np.int64))]


def people_simulated(plan: Plan) -> int:
    """How many people `plan_curves` simulates in all, for a bar of progress."""
    return REPEATS * sum(crowds_simulated(plan))


def plan_curves(plan: Plan, advance: Progress | None = None) -> PlanErrorCurves:
    """The curves of a plan; `advance` is called with the number of people simulated since its last call."""
    design, people, survey = plan.design, people_grid(plan.people), plan.survey()
    question, is_printed = plan.question, design.name == plan.question.printed_strategy
    printed = [question.printed_bound(survey.epsilon, survey.delta, n) if is_printed else None for n in people]
    return PlanErrorCurves(
        plan=plan,
        people=tuple(people),
        l2_raw=tuple(math.sqrt(design.total_variance(plan.population, n).value) for n in people),
        l2_bound=tuple(design.bound(n).value for n in people),
        l2_bound_paper=tuple(math.nan if point is None else point.value for point in printed),
        margin=tuple(half_widths([design] * len(people), people, plan.population).tolist()),
        measured=tuple(_measured(plan, advance)),
        options=curve_by_people(plan),
    )


def _measured(plan: Plan, advance: Progress | None) -> list[MeasuredError]:
    simulated, survey = crowds_simulated(plan), plan.survey()
    if plan.question.plotted_with_people:
        return [measure(survey, n, repeats=REPEATS, seed=SEED, progress=advance) for n in simulated]
    shares = _shares(plan) if simulated else None
    if shares is None:
        return []
    return [
        measure_population(survey, n, shares, _population(plan), repeats=REPEATS, seed=SEED, progress=advance)
        for n in simulated
    ]


def _shares(plan: Plan) -> NDArray[np.float64] | None:
    """Whom the simulated people are drawn from: the plan's population, or the worst of all for its design."""
    given = plan.design.worst_population() if plan.population is None else plan.population.shares
    return None if given is None else np.asarray(given / given.sum())


def _population(plan: Plan) -> str:
    return "worst population" if plan.population is None else "population given"


def plan_figure(curves: PlanErrorCurves) -> Any:
    """L2 error and margin of the best design and, where there are several, the error of every design; all log-log."""
    require_matplotlib()
    several = len(curves.options.lines) > 1
    figure = new_figure(21 if several else 15, 6)
    axes = figure.subplots(1, 3 if several else 2)
    _draw_l2(axes[0], curves)
    _draw_margin(axes[1], curves)
    if several:
        _draw_options(axes[2], curves)
    return figure


def _draw_l2(ax: Any, curves: PlanErrorCurves) -> None:
    plan = curves.plan
    lines = (
        (curves.l2_bound_paper, STYLE["muted"], "--", 1.8, "the paper's bound, as printed"),
        (curves.l2_raw, STYLE["raw"], "-", 3.6, f"raw, {_population(plan)}"),
        (curves.l2_bound, STYLE["estimate"], "-", 1.6, "projected, bound for every population"),
    )
    # Widths and sizes differ so that both are seen where one lies on the other.
    for errors, colour, style, width, label in lines:
        if not all(map(math.isnan, errors)):
            ax.plot(curves.people, errors, color=colour, linestyle=style, linewidth=width, label=label)
    marks = (
        ([point.mean.l2_raw for point in curves.measured], STYLE["raw"], "o", 10, "raw"),
        ([point.mean.l2_projected for point in curves.measured], STYLE["estimate"], "D", 5, "projected"),
    )
    for heights, colour, shape, size, label in marks if curves.measured else ():
        ax.plot(
            [point.people for point in curves.measured],
            heights,
            linestyle="none",
            marker=shape,
            markersize=size,
            markerfacecolor="white",
            markeredgewidth=1.6,
            color=colour,
            label=f"{label}, simulated ({curves.measured[0].distribution})",
        )
    promise = f"{'' if plan.central is None else 'local '}{guarantee(plan.epsilon, plan.delta)}"
    _finish(ax, curves.plan, "L2 over all answers", f"{plan.question.answers_text}: {plan.best.name}, {promise}")


def _draw_margin(ax: Any, curves: PlanErrorCurves) -> None:
    plan = curves.plan
    label = f"the least certain answer, {_population(plan)}"
    ax.plot(curves.people, _scaled(plan, curves.margin), color=STYLE["estimate"], linewidth=1.8, label=label)
    _finish(ax, plan, _margin_words(plan), "This design: margin of one answer")


def _draw_options(ax: Any, curves: PlanErrorCurves) -> None:
    plan, margin = curves.plan, curves.plan.criterion == "margin"
    for (name, errors), style in zip(curves.options.lines.items(), _styles(len(curves.options.lines)), strict=False):
        ax.plot(curves.options.x, _scaled(plan, errors) if margin else errors, linewidth=1.8, label=name, **style)
    up = _margin_words(plan) if margin else "L2 over all answers"
    _finish(ax, plan, up, "Every design", loc="lower left", bbox_to_anchor=(0.0, 0.06))


def _styles(number: int) -> Sequence[dict[str, str]]:
    """One style per line; styles repeat if there are more designs than distinct styles."""
    return [CURVES[i % len(CURVES)] for i in range(number)]


def _scaled(plan: Plan, errors: Sequence[float]) -> list[float]:
    """Margins in their unit: per cent points for shares."""
    return [100 * error if plan.question.answers_are_shares else error for error in errors]


def _margin_words(plan: Plan) -> str:
    unit = "per cent points" if plan.question.answers_are_shares else plan.question.unit
    return f"margin of one answer (95 %){unit and f', {unit}'}"


def _finish(ax: Any, plan: Plan, up: str, title: str, **legend: Any) -> None:
    """Axes, the planned number of people, title and legend."""
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=ax.get_ylim()[0] * 0.8)
    ax.axvline(plan.people, color=STYLE["line"], linewidth=1.4, zorder=0)
    ax.annotate(
        f"planned: {plan.people:,}",
        (plan.people, 0.015),
        xycoords=("data", "axes fraction"),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=SMALL,
        color=STYLE["muted"],
    )
    finish_axes(ax, "people", up)
    ax.set_title(title, loc="left", fontsize=TITLE, color=STYLE["ink"], pad=12)
    where = {"loc": "upper right", **legend}
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=SMALL, labelcolor=STYLE["ink"], **where)
