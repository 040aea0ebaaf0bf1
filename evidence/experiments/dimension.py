"""The paper's point, measured: projected, the error of a query set does not grow with the number of queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sottovoce as sv
from sottovoce.figures.style import STYLE, new_figure, require_matplotlib
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.theory.offline_bounds import theorem_3_4
from sottovoce.workloads import Dense

__all__ = ["DimensionPoint", "measure_point", "save_picture", "slope"]


@dataclass(frozen=True)
class DimensionPoint:
    """Mean L2 errors, with standard errors, of d random queries answered by n people."""

    n_queries: int
    people: int
    l2_raw: float
    l2_projected: float
    l2_projected_error: float
    bound: float
    bound_paper: float


def measure_point(
    n_queries: int, people: int, *, domain_size: int = 200, epsilon: float = 1.0, repeats: int = 4, seed: int = 0
) -> DimensionPoint:
    """Random signs as queries, scaled so that every column has norm one; people uniform over the values."""
    rng = np.random.default_rng((seed, n_queries))
    workload = Dense(rng.choice([-1.0, 1.0], size=(n_queries, domain_size)) / math.sqrt(n_queries))
    survey = Survey(sv.queries(workload), epsilon=epsilon, strategy="direct", people=people)
    p = np.full(domain_size, 1 / domain_size)
    truth = workload.matvec(p)
    raw, projected = [], []
    for run in range(repeats):
        crowd = histogram_of(p, people, seed + run)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=crowd, seed=seed + run))
        raw.append(float(np.linalg.norm(estimate.raw - truth)))
        projected.append(float(np.linalg.norm(estimate.values - truth)))
    return DimensionPoint(
        n_queries=n_queries,
        people=people,
        l2_raw=float(np.mean(raw)),
        l2_projected=float(np.mean(projected)),
        l2_projected_error=float(np.std(projected, ddof=1) / math.sqrt(repeats)) if repeats > 1 else math.nan,
        bound=estimate.bound.value,
        bound_paper=theorem_3_4(n_queries, domain_size, 1.0, epsilon, people).value,
    )


def slope(points: list[DimensionPoint], along: str, of: str = "l2_projected") -> float:
    """Least-squares slope of log error against log `along` ("people" or "n_queries")."""
    x = np.log([getattr(point, along) for point in points])
    y = np.log([getattr(point, of) for point in points])
    return float(np.polyfit(x, y, 1)[0])


def save_picture(by_queries: list[DimensionPoint], by_people: list[DimensionPoint], path: Path) -> None:
    """Error against the number of queries, and against the number of people, side by side."""
    require_matplotlib()
    figure = new_figure(11, 4.4)
    for ax, points, along, title in zip(
        figure.subplots(1, 2),
        (by_queries, by_people),
        ("n_queries", "people"),
        (f"{by_queries[0].people:,} people", f"{by_people[0].n_queries:,} queries"),
        strict=True,
    ):
        x = [getattr(point, along) for point in points]
        ax.loglog(x, [p.bound_paper for p in points], ":", color=STYLE["muted"], label="bound as printed (Thm 3.4)")
        ax.loglog(x, [p.bound for p in points], "--", color=STYLE["estimate"], label="bound of the estimate")
        ax.loglog(x, [p.l2_raw for p in points], "o-", color=STYLE["raw"], label="raw, measured")
        ax.loglog(x, [p.l2_projected for p in points], "o-", color=STYLE["estimate"], label="projected, measured")
        ax.set_xlabel("queries" if along == "n_queries" else "people")
        ax.set_ylabel("L2 error")
        ax.set_title(f"{title}: projected slope {slope(points, along):+.2f}", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", color=STYLE["line"], linewidth=0.6)
    figure.axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
