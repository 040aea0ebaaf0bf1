"""Table 1, second row: Hadamard Response with and without the projection on the simplex."""

from __future__ import annotations

import numpy as np

from evidence.reproduce.populations import shares
from evidence.reproduce.records import Case, Measured, Progress
from sottovoce.lab.simulation.repeats import check_repeats, mean_and_error, seeds_of
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.theory.bounds import theorem_4_2

__all__ = ["measure_distribution"]


def measure_distribution(case: Case, repeats: int, seed: int, progress: Progress | None = None) -> Measured:
    """Errors of the paper's Alg. 5 (projected) and of Acharya, Sun and Zhang's (raw), from the same reports.

    Examples
    --------
    >>> found = measure_distribution(Case("distribution", "users", "zipf", 2000, 256, 256, 1.0), 4, seed=1)
    >>> found.error < found.previous, found.error < found.bound < found.bound_printed
    (True, True)
    """
    survey = Survey.distribution(case.values, case.epsilon, "hadamard")
    truth = shares(case)
    seeds = seeds_of(seed, 2 * check_repeats(repeats, fewest=2))
    projected, raw = [], []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        people = histogram_of(truth, case.users, people_seed)
        found = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed, progress=progress))
        projected.append(float(np.linalg.norm(found.values - truth)))
        raw.append(float(np.linalg.norm(found.raw - truth)))
    stated = survey.bound(case.users)
    each = 1 / (case.users * case.epsilon**2)
    return Measured(
        case,
        repeats,
        seed,
        *mean_and_error(projected),
        *mean_and_error(raw),
        bound=stated.value,
        bound_printed=theorem_4_2(case.values, case.epsilon, case.users).value,
        lower_shape=min(each**0.25, (case.values * each) ** 0.5, 1.0),
        bound_statement=stated.statement,
    )
