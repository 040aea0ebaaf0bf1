"""The likeliest distribution beside the projected one, on real distributions: which is nearer to the truth?

`python -m evidence.experiments.likeliest_error likeliest.png` measures, draws the picture and prints the table of
docs/combining.md, in some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.figures.style import CURVES, STYLE, finish_axes, new_figure, require_matplotlib, save_figure
from sottovoce.lab.populations.real_data import real_data
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey

__all__ = ["POPULATIONS", "LikeliestPoint", "measure_likeliest", "measure_one", "save_picture", "table"]

Floats = NDArray[np.float64]

EPSILONS: Final = (0.5, 1.0, 2.0, 4.0)
PEOPLE: Final = (10_000, 1_000_000)
REPEATS: Final = 10
MECHANISM: Final = "hadamard_blocks"
"""Its aggregate counts every report, and it serves every epsilon well."""

POPULATIONS: Final = ("words", "cities", "surnames", "countries", "initials")
"""The thousand commonest English words, largest cities and commonest US surnames; the inhabitants of the world's large
cities by country; and US surnames by their first letter."""


def shares_of(population: str) -> Floats:
    """The shares of a real population's values."""
    if population == "countries":
        cities = real_data("cities", 20_000)
        codes = np.array([label.rsplit(",", 1)[1].split()[0] for label in cities.labels])
        return np.asarray(np.bincount(np.unique(codes, return_inverse=True)[1], cities.shares), dtype=np.float64)
    if population == "initials":
        names = real_data("surnames", 80_000)
        places = [ord(label[0]) - ord("A") for label in names.labels]
        return np.asarray(np.bincount(places, names.shares, 26), dtype=np.float64)
    return real_data(population, 1000).shares


@dataclass(frozen=True)
class LikeliestPoint:
    """Mean errors of both estimates over repeated surveys, and the standard error of their ratio's logarithm."""

    population: str
    values: int
    epsilon: float
    people: int
    l2_projected: float
    l2_likeliest: float
    l1_projected: float
    l1_likeliest: float
    deviation: float

    @property
    def l2_ratio(self) -> float:
        """Below one where the likeliest distribution is nearer to the truth in L2."""
        return self.l2_likeliest / self.l2_projected

    @property
    def l1_ratio(self) -> float:
        """The same in L1."""
        return self.l1_likeliest / self.l1_projected


def measure_one(
    population: str, epsilon: float, people: int, *, repeats: int = REPEATS, seed: int = 7
) -> LikeliestPoint:
    """People drawn anew in every repetition; errors are against the population's shares.

    Examples
    --------
    >>> found = measure_one("initials", 2.0, 2_000, repeats=3)
    >>> found.values, 0.5 < found.l2_ratio < 2.0
    (26, True)
    """
    shares = shares_of(population)
    survey = Survey(sv.shares(len(shares)), epsilon=epsilon, mechanism=MECHANISM)
    seeds, errors = seeds_of(seed, 2 * repeats), []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        crowd = histogram_of(shares, people, people_seed)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=crowd, seed=report_seed))
        off = [found.values - shares for found in (estimate, estimate.likeliest())]
        errors.append([*(np.linalg.norm(one) for one in off), *(np.abs(one).sum() for one in off)])
    l2, l2_likeliest, l1, l1_likeliest = np.mean(errors, axis=0).tolist()
    logarithms = np.log(np.array(errors)[:, 1] / np.array(errors)[:, 0])
    deviation = float(np.std(logarithms, ddof=1) / np.sqrt(repeats)) if repeats > 1 else float("nan")
    return LikeliestPoint(population, len(shares), epsilon, people, l2, l2_likeliest, l1, l1_likeliest, deviation)


def measure_likeliest(
    populations: Iterable[str] = POPULATIONS,
    epsilons: Sequence[float] = EPSILONS,
    people: Sequence[int] = PEOPLE,
    *,
    repeats: int = REPEATS,
    seed: int = 7,
) -> list[LikeliestPoint]:
    """The whole grid."""
    return [
        measure_one(population, epsilon, n, repeats=repeats, seed=seed)
        for population in populations
        for n in people
        for epsilon in epsilons
    ]


def table(points: Sequence[LikeliestPoint]) -> str:
    """Ratios of errors, likeliest over projected, as a Markdown table: L2, and L1 in brackets."""
    epsilons = sorted({point.epsilon for point in points})
    head = ["population", "values", "people", *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for population, people in dict.fromkeys((point.population, point.people) for point in points):
        row = [point for point in points if (point.population, point.people) == (population, people)]
        figures = [f"{point.l2_ratio:.2f} ({point.l1_ratio:.2f})" for point in sorted(row, key=lambda one: one.epsilon)]
        lines.append(f"| {' | '.join([population, f'{row[0].values:,}', f'{people:,}', *figures])} |")
    return "\n".join(lines)


def save_picture(points: Sequence[LikeliestPoint], path: Path) -> None:
    """For each number of people, the ratio of L2 errors against epsilon; below the line the likeliest is nearer."""
    require_matplotlib()
    people = sorted({point.people for point in points})
    figure = new_figure(5.6 * len(people), 4.6)
    for ax, n in zip(np.atleast_1d(figure.subplots(1, len(people), sharey=True)), people, strict=True):
        for population, style in zip(dict.fromkeys(point.population for point in points), CURVES, strict=False):
            line = [point for point in points if (point.population, point.people) == (population, n)]
            x, y = [point.epsilon for point in line], [point.l2_ratio for point in line]
            ax.errorbar(x, y, [2 * p.deviation * p.l2_ratio for p in line], marker="o", label=population, **style)
        ax.axhline(1.0, color=STYLE["muted"], linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [f"{epsilon:g}" for epsilon in x])
        ax.set_title(f"{n:,} people", color=STYLE["ink"])
        finish_axes(ax, "epsilon", "L2 error: likeliest / projected")
        ax.legend(frameon=False)
    save_figure(figure, path)


def _main() -> None:
    points = measure_likeliest()
    save_picture(points, Path(sys.argv[1]))
    sys.stdout.write(table(points) + "\n")


if __name__ == "__main__":
    _main()
