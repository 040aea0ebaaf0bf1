"""How the largest error of a panel grows with its rounds: what is proved, predicted, and measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sottovoce.figures.style import STYLE, finish_axes, new_figure, require_matplotlib
from sottovoce.lab.simulation.adaptive_error import measure_adaptive
from sottovoce.planning.panel import PanelLine, PanelPlan, error_line
from sottovoce.theory.adaptive_bounds import MAX_ROUNDS

__all__ = [
    "AdaptiveCurves",
    "SessionPoint",
    "adaptive_curves",
    "adaptive_figure",
    "people_simulated",
]

REPEATS: Final = 10
SEED: Final = 7

MOST_PEOPLE: Final = 2_000_000
"""More people than this are not simulated for a picture."""

MOST_ROUNDS: Final = 256
"""Sessions of more rounds than this are not simulated for a picture."""


@dataclass(frozen=True)
class SessionPoint:
    """Mean largest errors of simulated sessions."""

    rounds: int
    fixed: float
    overfitting: float


@dataclass(frozen=True)
class AdaptiveCurves:
    """Errors against rounds, and those of simulated sessions where these are affordable."""

    plan: PanelPlan
    lines: tuple[PanelLine, ...]
    measured: tuple[SessionPoint, ...]


def _rounds_drawn(plan: PanelPlan) -> list[int]:
    high = min(MAX_ROUNDS, max(64, 8 * plan.rounds))
    return [int(d) for d in np.unique(np.geomspace(1, high, 41).round())]


def _rounds_simulated(plan: PanelPlan) -> list[int]:
    if plan.people > MOST_PEOPLE:
        return []
    most = min(MOST_ROUNDS, max(4, plan.rounds))
    return [int(d) for d in np.unique(np.geomspace(1, most, 4).round())]


def people_simulated(plan: PanelPlan) -> int:
    """How many people `adaptive_curves` simulates in all, for a bar of progress."""
    return 2 * REPEATS * plan.people * len(_rounds_simulated(plan))


def adaptive_curves(plan: PanelPlan, progress: Callable[[int], object] | None = None) -> AdaptiveCurves:
    """The curves for the plan's people and epsilon."""
    lines = tuple(error_line(d, plan.radius, plan.epsilon, plan.people) for d in _rounds_drawn(plan))
    measured = []
    for d in _rounds_simulated(plan):
        fixed, overfitting = (
            measure_adaptive(d, plan.people, plan.epsilon, strategy, repeats=REPEATS, seed=SEED, progress=progress)
            for strategy in ("random", "overfit")
        )
        # Simulated questions lie between -1 and 1; an error grows in proportion to the radius.
        r = plan.radius
        measured.append(SessionPoint(d, r * fixed.mean.linf_error, r * overfitting.mean.linf_error))
    return AdaptiveCurves(plan, lines, tuple(measured))


def adaptive_figure(curves: AdaptiveCurves) -> Any:
    """Largest error against rounds, both axes logarithmic."""
    require_matplotlib()
    plan = curves.plan
    figure = new_figure(9, 6)
    ax = figure.subplots()
    rounds = [line.rounds for line in curves.lines]
    drawn = (
        (
            [math.nan if line.paper is None else line.paper for line in curves.lines],
            "muted",
            "--",
            "Theorem 5.2, printed",
        ),
        ([line.bound for line in curves.lines], "estimate", "-", "proved, however questions are chosen"),
        ([line.predicted for line in curves.lines], "raw", "-", "expected, by the exact variance"),
    )
    for errors, colour, style, label in drawn:
        ax.plot(rounds, errors, color=STYLE[colour], linestyle=style, linewidth=1.8, label=label)
    marks = (("fixed", 11, "questions fixed beforehand"), ("overfitting", 5, "an analyst who overfits"))
    for name, size, label in marks if curves.measured else ():
        ax.plot(
            [point.rounds for point in curves.measured],
            [getattr(point, name) for point in curves.measured],
            linestyle="none",
            marker="o",
            markersize=size,
            markerfacecolor="white" if size > 10 else STYLE["ink"],
            markeredgewidth=1.5,
            color=STYLE["ink"],
            label=f"simulated: {label}",
        )
    ax.set(xscale="log", yscale="log")
    ax.axvline(plan.rounds, color=STYLE["line"], linewidth=1.4, zorder=0)
    ax.annotate(
        f"planned: {plan.rounds:,}",
        (plan.rounds, 0.015),
        xycoords=("data", "axes fraction"),
        xytext=(5, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=9.5,
        color=STYLE["muted"],
    )
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:g}")
    finish_axes(ax, "rounds", "expected largest error of all answers")
    title = f"Adaptive questions: {plan.people:,} people, epsilon {plan.epsilon:g}"
    ax.set_title(title, loc="left", fontsize=15, color=STYLE["ink"], pad=12)
    ax.legend(loc="upper left", framealpha=0.9, edgecolor="none", fontsize=9.5, labelcolor=STYLE["ink"])
    return figure
