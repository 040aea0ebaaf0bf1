"""Table 1, first row: the codebook with the projection on the hull, beside sphere sampling and the paper's protocol."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evidence.reproduce.populations import shares
from evidence.reproduce.records import HARD, Case, Measured, Progress, Repaired
from sottovoce.lab.simulation.paper_bound import paper_bound
from sottovoce.lab.simulation.repeats import check_repeats, mean_and_error, seeds_of
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.questions.people import People
from sottovoce.surveys.simulation import count_reports, histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Dense

__all__ = ["measure_offline", "random_signs"]

Floats = NDArray[np.float64]


@lru_cache(maxsize=2)
def random_signs(queries: int, values: int) -> Dense:
    """Queries +-1/sqrt(d) at random, so that every column has norm one; the second column is the first's opposite.

    Nearly orthogonal columns are the hard case of the lower bound, and the same for everybody who asks for the size.
    """
    rng = np.random.default_rng((queries, values))
    matrix = rng.choice([-1.0, 1.0], size=(queries, values)) / math.sqrt(queries)
    matrix[:, 1] = -matrix[:, 0]
    return Dense(matrix)


def measure_offline(case: Case, repeats: int, seed: int, progress: Progress | None = None) -> Measured:
    """Errors of the codebook, projected on the hull, and of sphere sampling (Duchi, Jordan, Wainwright 2013).

    Both answer about the same people; those of the hardest population a third time, by the paper's rejection sampling
    made sound (`sottovoce.mechanisms.rejection`). `progress` hears of the people of all.

    Examples
    --------
    >>> found = measure_offline(Case("offline", "users", "uniform", 1000, 64, 32, 1.0), 3, seed=1)
    >>> found.error < found.previous, found.error < found.bound < found.bound_printed
    (True, True)
    """
    workload = random_signs(case.queries, case.values)
    survey = Survey.queries(workload, case.epsilon, mechanism="codebook", strategy="direct", users=case.users)
    sphere = Sphere(case.queries, 1.0, case.epsilon, 0.0)
    weights = shares(case)
    truth = workload.matvec(weights)
    seeds = seeds_of(seed, 4 * check_repeats(repeats, fewest=2))
    projected, previous, repaired = [], [], []
    own = Survey.queries(workload, case.epsilon, mechanism="rejection", strategy="direct", users=case.users)
    for people_seed, report_seed, sphere_seed, own_seed in zip(*(seeds[i::4] for i in range(4)), strict=True):
        people = histogram_of(weights, case.users, people_seed)
        found = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed, progress=progress))
        projected.append(float(np.linalg.norm(found.values - truth)))
        counts = count_reports(sphere, _with_columns(workload, people), sphere_seed, progress)
        previous.append(float(np.linalg.norm(sphere.estimate(counts, case.users) - truth)))
        if case.population == HARD["offline"]:
            answers = own.estimate(own.simulate_aggregate(histogram=people, seed=own_seed, progress=progress))
            repaired.append(float(np.linalg.norm(answers.values - truth)))
    stated, own_stated = survey.bound(case.users), own.bound(case.users)
    printed = paper_bound(survey, case.users)
    each = 1 / (case.users * case.epsilon**2)
    return Measured(
        case,
        repeats,
        seed,
        *mean_and_error(projected),
        *mean_and_error(previous),
        bound=stated.value,
        bound_printed=None if printed is None else printed.value,
        lower_shape=min(each**0.25, (case.queries * each) ** 0.5, 1.0),
        bound_statement=stated.statement,
        repaired=Repaired(*mean_and_error(repaired), own_stated.value, own_stated.statement) if repaired else None,
    )


def _with_columns(workload: Dense, histogram: NDArray[np.int64]) -> People:
    """Everybody with the column of their value, listed a chunk at a time."""
    columns = np.ascontiguousarray(workload.matrix.T)
    people = People.with_histogram(histogram)
    return People(people.n, lambda start, stop: columns[people.between(start, stop)])
