"""One case of each row of Table 1: its people are drawn, they report, and the errors are measured."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from evidence.reproduce.records import HARD, Case, Measured, Progress, Repaired
from sottovoce.core.errors import SimulationError
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.simulation.adaptive_error import AdaptiveErrors
from sottovoce.lab.simulation.adaptive_error import measure_adaptive as measure_session
from sottovoce.lab.simulation.repeats import check_repeats, mean_and_error, seeds_of
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.questions.people import People
from sottovoce.surveys.simulation import count_reports, histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.theory.adaptive_bounds import adaptive_bound
from sottovoce.theory.bounds import debias, theorem_4_2
from sottovoce.workloads import Dense

__all__ = [
    "ANALYSTS_TOLD",
    "POPULATIONS",
    "measure_adaptive",
    "measure_distribution",
    "measure_offline",
    "random_signs",
    "shares",
    "spread_over",
]

POPULATIONS: Final[dict[str, str]] = {
    "point": "everybody has the first value: a corner of what can be true, where projecting gains most",
    "pair": "half have the first value, half the second, whose column is the opposite one in the offline figures",
    "spread": "alike over just so many values that none stands out of the noise: nearly the worst case",
    "uniform": "alike over all values",
    "zipf": "value v has a share proportional to 1/v",
}

ANALYSTS_TOLD: Final[dict[str, str]] = {
    "random": "all questions are fixed before anybody is asked",
    "overfit": "every second question is made of the answers so far, so that their errors add up",
}
"""For adaptive queries people are alike over 1,020 values, and every true answer is 0."""


def spread_over(case: Case) -> int:
    """Over how many values `spread` would have people, if there were so many; see `shares`."""
    threshold = debias(case.epsilon) * math.sqrt(2 * math.log(case.values) / case.people)
    return max(1, round(2 / threshold))


def shares(case: Case) -> NDArray[np.float64]:
    """The share of people at each value.

    The largest of J noises of standard deviation s = c/sqrt(n) is about t = s sqrt(2 log J). `spread` gives 2/t values
    the share t/2 each: too little to stand out, so that projecting takes most of it for noise. The error is then of
    the order of their norm, sqrt(t/2), which is half of the bound (8 c^2 log J/n)^(1/4); twice or half as many values
    give less.

    Examples
    --------
    >>> shares(Case("distribution", "people", "pair", 1000, 4, 4, 1.0))
    array([0.5, 0.5, 0. , 0. ])
    >>> int(np.count_nonzero(shares(Case("distribution", "people", "spread", 10**6, 4096, 4096, 1.0))))
    227
    """
    match case.population:
        case "point":
            occupied = 1
        case "pair":
            occupied = 2
        case "spread":
            occupied = min(case.values, spread_over(case))
        case "uniform" | "zipf":
            return frequencies(case.population, case.values)
        case _:
            raise SimulationError(f"population must be one of {', '.join(POPULATIONS)}").at("population")
    found = np.zeros(case.values)
    found[:occupied] = 1 / occupied
    return found


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
    >>> found = measure_offline(Case("offline", "people", "uniform", 1000, 64, 32, 1.0), 3, seed=1)
    >>> found.error < found.previous, found.error < found.bound < found.bound_printed
    (True, True)
    """
    workload = random_signs(case.queries, case.values)
    survey = Survey(
        sv.queries(workload), epsilon=case.epsilon, mechanism="codebook", strategy="direct", people=case.people
    )
    sphere = Sphere(case.queries, 1.0, case.epsilon, 0.0)
    weights = shares(case)
    truth = workload.matvec(weights)
    seeds = seeds_of(seed, 4 * check_repeats(repeats, fewest=2))
    projected, previous, repaired = [], [], []
    own = Survey(
        sv.queries(workload), epsilon=case.epsilon, mechanism="rejection", strategy="direct", people=case.people
    )
    for people_seed, report_seed, sphere_seed, own_seed in zip(*(seeds[i::4] for i in range(4)), strict=True):
        people = histogram_of(weights, case.people, people_seed)
        found = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed, progress=progress))
        projected.append(float(np.linalg.norm(found.values - truth)))
        counts = count_reports(sphere, _with_columns(workload, people), sphere_seed, progress)
        previous.append(float(np.linalg.norm(sphere.estimate(counts, case.people) - truth)))
        if case.population == HARD["offline"]:
            answers = own.estimate(own.simulate_aggregate(histogram=people, seed=own_seed, progress=progress))
            repaired.append(float(np.linalg.norm(answers.values - truth)))
    stated, own_stated = survey.bound(case.people), own.bound(case.people)
    printed = survey.question.printed_bound(survey.epsilon, survey.delta, case.people)
    each = 1 / (case.people * case.epsilon**2)
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


def measure_distribution(case: Case, repeats: int, seed: int, progress: Progress | None = None) -> Measured:
    """Errors of the paper's Alg. 5 (projected) and of Acharya, Sun and Zhang's (raw), from the same reports.

    Examples
    --------
    >>> found = measure_distribution(Case("distribution", "people", "zipf", 2000, 256, 256, 1.0), 4, seed=1)
    >>> found.error < found.previous, found.error < found.bound < found.bound_printed
    (True, True)
    """
    survey = Survey(sv.shares(case.values), epsilon=case.epsilon, mechanism="hadamard")
    truth = shares(case)
    seeds = seeds_of(seed, 2 * check_repeats(repeats, fewest=2))
    projected, raw = [], []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        people = histogram_of(truth, case.people, people_seed)
        found = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed, progress=progress))
        projected.append(float(np.linalg.norm(found.values - truth)))
        raw.append(float(np.linalg.norm(found.raw - truth)))
    stated = survey.bound(case.people)
    each = 1 / (case.people * case.epsilon**2)
    return Measured(
        case,
        repeats,
        seed,
        *mean_and_error(projected),
        *mean_and_error(raw),
        bound=stated.value,
        bound_printed=theorem_4_2(case.values, case.epsilon, case.people).value,
        lower_shape=min(each**0.25, (case.values * each) ** 0.5, 1.0),
        bound_statement=stated.statement,
    )


def measure_adaptive(case: Case, repeats: int, seed: int, progress: Progress | None = None) -> Measured:
    """The largest error over all rounds of sessions in which every true answer is 0.

    Examples
    --------
    >>> found = measure_adaptive(Case("adaptive", "people", "overfit", 20_000, 8, 1020, 1.0), 3, seed=1)
    >>> found.error < found.bound, found.previous
    (True, None)
    """
    found = measure_session(
        case.queries,
        case.people,
        case.epsilon,
        case.population,
        repeats=check_repeats(repeats, fewest=2),
        seed=seed,
        progress=progress,
    )
    spread = cast(AdaptiveErrors, found.standard_error)  # there are two repeats or more
    stated = adaptive_bound(case.queries, 1.0, case.epsilon, case.people)
    d, c = case.queries, debias(case.epsilon)
    return Measured(
        case,
        repeats,
        seed,
        found.mean.linf_error,
        spread.linf_error,
        previous=None,
        previous_standard_error=None,
        bound=stated.value,
        bound_printed=found.linf_bound_paper,
        lower_shape=min(math.sqrt(c**2 * d * math.log(d) / case.people), 1.0),
        bound_statement=stated.statement,
    )
