"""An analyst who overfits, put to people who answer once each, and to answers that are used again and again.

`python -m evidence.experiments.overfitting overfitting.png` measures and draws the picture, in some minutes.

Three ways to answer d questions about the same n people:

* fresh people: an adaptive session, everybody in one round. Nothing an earlier answer says is about those asked next.
* reports kept: everybody sends one report about the whole record beforehand (Hadamard Response at the same epsilon,
  projected), and every question is answered from this one estimate. As private, and open to overfitting: all answers
  have the same noise in them.
* people kept: no privacy; every question is answered by the same people's exact mean. The textbook case, in which
  only the people's sampling can be overfitted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.figures.style import STYLE, new_figure, require_matplotlib, save_figure
from sottovoce.lab.simulation.adaptive_error import measure_adaptive
from sottovoce.lab.simulation.analysts import (
    draw_people,
    exaggerating_signs,
    people_counts,
    random_multipliers,
    signs,
    values,
)
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.surveys.survey import Survey
from sottovoce.theory.adaptive_bounds import adaptive_bound

__all__ = ["Analysts", "OverfittingPoint", "measure_overfitting", "measure_reuse", "save_picture"]

ROUNDS: Final = (8, 16, 32, 64, 128, 256, 512)
PEOPLE: Final = 1_000_000
EPSILON: Final = 1.0
REPEATS: Final = 20


@dataclass(frozen=True)
class Analysts:
    """Mean largest errors over all questions: of those fixed beforehand, and of an analyst who overfits."""

    fixed: float
    overfitting: float

    @property
    def gain(self) -> float:
        """How many times larger the error of the one who overfits is."""
        return self.overfitting / self.fixed


@dataclass(frozen=True)
class OverfittingPoint:
    """All three ways, for one number of questions."""

    rounds: int
    people: int
    epsilon: float
    fresh: Analysts
    reports: Analysts
    sample: Analysts
    bound: float


def measure_reuse(rounds: int, people: int, epsilon: float | None, *, repeats: int = 1, seed: int = 0) -> Analysts:
    """Every question answered from the same reports; or, with no epsilon, by the same people's exact mean.

    Errors are against the distribution that people were drawn from, where every answer is 0.

    Examples
    --------
    >>> measure_reuse(100, 10_000, None, repeats=5).gain > 1.5
    True
    """
    questions_seed, *seeds = seeds_of(seed, 1 + 2 * repeats)
    table = np.array([signs(m) for m in random_multipliers(rounds, questions_seed)])
    survey = None if epsilon is None else Survey(sv.shares(values()), epsilon=epsilon, mechanism="hadamard")
    fixed, overfitting = [], []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        counts = people_counts(draw_people(people, people_seed))
        if survey is None:
            shares: NDArray[np.float64] = counts / people
        else:
            shares = survey.estimate(survey.simulate_aggregate(histogram=counts, seed=report_seed)).values
        answers = table @ shares
        fixed.append(float(np.abs(answers).max()))
        for k in range(1, rounds, 2):
            answers[k] = exaggerating_signs(table[:k:2], answers[:k:2]) @ shares
        overfitting.append(float(np.abs(answers).max()))
    return Analysts(float(np.mean(fixed)), float(np.mean(overfitting)))


def measure_overfitting(
    rounds: Sequence[int] = ROUNDS,
    people: int = PEOPLE,
    epsilon: float = EPSILON,
    *,
    repeats: int = REPEATS,
    seed: int = 7,
    progress: Callable[[int], object] | None = None,
) -> list[OverfittingPoint]:
    """All three ways for each number of questions."""
    points = []
    for d in rounds:
        fixed, overfitting = (
            measure_adaptive(d, people, epsilon, strategy, repeats=repeats, seed=seed + run, progress=progress)
            for run, strategy in enumerate(("random", "overfit"))
        )
        points.append(
            OverfittingPoint(
                rounds=d,
                people=people,
                epsilon=epsilon,
                fresh=Analysts(fixed.mean.linf_error, overfitting.mean.linf_error),
                reports=measure_reuse(d, people, epsilon, repeats=repeats, seed=seed),
                sample=measure_reuse(d, people, None, repeats=repeats, seed=seed),
                bound=adaptive_bound(d, 1.0, epsilon, people).value,
            )
        )
    return points


def save_picture(points: Sequence[OverfittingPoint], path: Path) -> None:
    """Left: errors of the two private ways, for both analysts. Right: what overfitting gains, all three ways."""
    require_matplotlib()
    figure = new_figure(12, 5.2)
    errors, gains = figure.subplots(1, 2)
    rounds = [point.rounds for point in points]
    errors.loglog(
        rounds, [p.bound for p in points], "--", color=STYLE["estimate"], linewidth=1.4, label="fresh people: proved"
    )
    for name, colour, label in (
        ("reports", STYLE["raw"], "reports kept"),
        ("fresh", STYLE["estimate"], "fresh people"),
    ):
        found = [getattr(point, name) for point in points]
        errors.loglog(
            rounds, [a.overfitting for a in found], "o-", color=colour, markersize=6, label=f"{label}: overfitting"
        )
        errors.loglog(
            rounds,
            [a.fixed for a in found],
            linestyle="none",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.5,
            color=colour,
            label=f"{label}: questions fixed beforehand",
        )
    errors.set_ylabel("largest error of all answers", color=STYLE["ink"])
    first = points[0]
    errors.yaxis.set_major_formatter("{x:g}")
    _finish(errors, rounds, f"Errors: {first.people:,} people, epsilon {first.epsilon:g}")
    errors.legend(loc="lower right", frameon=False, fontsize=9.5, labelcolor=STYLE["ink"])
    ways = (
        ("sample", STYLE["muted"], "s", "people kept, no privacy"),
        ("reports", STYLE["raw"], "o", "reports kept"),
        ("fresh", STYLE["estimate"], "o", "fresh people"),
    )
    for name, colour, shape, label in ways:
        gain = [getattr(point, name).gain for point in points]
        gains.semilogx(rounds, gain, f"{shape}-", color=colour, markersize=6, label=label)
    gains.axhline(1, color=STYLE["line"], linewidth=1.4, zorder=0)
    gains.set_ylim(bottom=0)
    gains.set_ylabel("error of overfitting / of fixed questions", color=STYLE["ink"])
    _finish(gains, rounds, "What overfitting gains")
    gains.legend(loc="upper left", frameon=False, fontsize=9.5, labelcolor=STYLE["ink"])
    save_figure(figure, path)


def _finish(ax: Any, rounds: Sequence[int], title: str) -> None:
    from matplotlib.ticker import NullLocator

    ax.set_xticks(rounds, [f"{d:,}" for d in rounds])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("questions", color=STYLE["ink"])
    ax.set_title(title, loc="left", fontsize=13, color=STYLE["ink"], pad=10)
    ax.tick_params(which="both", labelsize=9.5, labelcolor=STYLE["muted"], color=STYLE["line"])
    ax.grid(True, which="major", color=STYLE["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(STYLE["line"])


if __name__ == "__main__":
    save_picture(measure_overfitting(), Path(sys.argv[1] if len(sys.argv) > 1 else "overfitting.png"))
