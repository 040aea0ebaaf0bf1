"""How far query answers and means are from the truth, measured on simulated people."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.aggregate import Aggregate
from sottovoce.errors import SimulationError
from sottovoce.estimate import Estimate
from sottovoce.experiments.distribution_error import MAX_REPEATS, check_users, seeds_of
from sottovoce.limits import DEFAULT_STRATEGY
from sottovoce.populations.distributions import frequencies
from sottovoce.populations.vectors import people_with_vectors, true_mean
from sottovoce.protocols.means import MeanSurvey
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.simulation import Seed, count_reports, histogram_of
from sottovoce.strategies import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.survey import Survey
from sottovoce.theory.offline_bounds import theorem_3_2, theorem_3_4
from sottovoce.workloads import Workload

__all__ = [
    "Measured",
    "MeasuredMean",
    "MeasuredQueries",
    "OfflineErrors",
    "measure_mean",
    "measure_queries",
    "paper_bound",
    "radius_of",
]

Floats = NDArray[np.float64]
Progress = Callable[[int], object]


@dataclass(frozen=True)
class OfflineErrors:
    """Distances of one estimate, or on average over several, from the true answers.

    Attributes
    ----------
    l2_raw, l2_projected
        Of the unbiased estimate, and of its projection on the hull of the columns (for means: on the ball).
    l2_symmetric
        Of its projection on the paper's symmetric polytope, the hull of columns and opposites; None for means,
        and where it was not asked for.
    per_coordinate_variance
        ||raw - truth||^2 users/(dimension radius^2): the mean over coordinates of the squared raw error, times the
        people, in units of the squared radius. Nothing is subtracted: it holds what the people's sampling adds, at
        most 1/dimension, and what the coordinates that hold the data have beyond those that do not.
    """

    l2_raw: float
    l2_projected: float
    l2_symmetric: float | None
    per_coordinate_variance: float


@dataclass(frozen=True)
class Measured:
    """What was measured, beside what theory says about it.

    Attributes
    ----------
    mean, standard_error
        Over the repeats; no standard error from a single one.
    l2_bound
        What the expected L2 error of the projected estimate stays below, for every population.
    l2_bound_paper
        The same as Bassily 2019 prints it: Theorem 3.2 where the mechanism has a delta, else Theorem 3.4, which is
        stated for 120 people or more (None below). For means, which have no finite domain, its second term.
    predicted_variance
        The mechanism's noise in units of the squared radius: what `per_coordinate_variance` is in a coordinate
        where nobody's vector has any component.
    gap
        The largest gap among the repeats: every projected estimate is within its square root of the exact one.
    seconds
        For one repeat, on average: drawing people and reports, counting, estimating, projecting on the hull.
    """

    mechanism: str
    radius: float
    users: int
    epsilon: float
    delta: float
    repeats: int
    seed: int
    mean: OfflineErrors
    standard_error: OfflineErrors | None
    l2_bound: float
    l2_bound_paper: float | None
    predicted_variance: float
    gap: float
    report_bits: int
    report_bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, the mean errors at the top level."""
        flat = asdict(self)
        mean, spread = flat.pop("mean"), flat.pop("standard_error")
        return {**flat, **mean, "standard_errors": spread}


@dataclass(frozen=True)
class MeasuredQueries(Measured):
    """What `measure_queries` found."""

    strategy: str
    workload: str
    n_queries: int
    domain_size: int
    distribution: str


@dataclass(frozen=True)
class MeasuredMean(Measured):
    """What `measure_mean` found."""

    dimension: int


def measure_queries(
    workload: Workload,
    users: int,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    distribution: str = "zipf",
    *,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    repeats: int = 1,
    seed: Seed = None,
    symmetric: bool = True,
    progress: Progress | None = None,
) -> MeasuredQueries:
    """Draw people from a true distribution p, let them report, estimate A p, and compare; `repeats` times.

    Errors are against A p, so they include the sampling of people. Memory does not grow with their number.

    Parameters
    ----------
    distribution
        "zipf", "uniform", "geometric", or the name of a file; see `sottovoce.populations.distributions`.
    strategy
        As for `Survey.queries`.
    seed
        For the same people and reports again; a fresh one, told in the result, unless given.
    symmetric
        Whether to project on the paper's symmetric polytope too, which takes as long again as the hull.
    progress
        Called with the number of people done since its last call; in all there are `users * repeats`.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> found = measure_queries(Prefix(16), 5_000, 2.0, repeats=3, seed=1)
    >>> found.mean.l2_projected <= found.mean.l2_raw, found.strategy
    (True, 'optimized')
    """
    people = check_users(users)
    survey = Survey.queries(workload, epsilon, delta, mechanism, strategy=strategy, users=people)
    weights = frequencies(distribution, workload.domain.size)
    truth = workload.matvec(weights)

    def estimate(people_seed: int, report_seed: int) -> Estimate:
        histogram = histogram_of(weights, people, people_seed)
        return survey.estimate(survey.simulate_aggregate(histogram=histogram, seed=report_seed, progress=progress))

    def errors(found: Estimate) -> OfflineErrors:
        if not symmetric:
            return _errors(survey, found, truth, None)
        wider = survey.project(found.raw, symmetric=True).values
        return _errors(survey, found, truth, float(np.linalg.norm(wider - truth)))

    return MeasuredQueries(
        **_repeated(survey, people, repeats, seed, estimate, errors),
        l2_bound_paper=paper_bound(*workload.shape, workload.radius, survey.epsilon, survey.delta, people),
        strategy=survey.strategy.name,
        workload=workload.kind,
        n_queries=workload.n_queries,
        domain_size=workload.domain.size,
        distribution=distribution,
    )


def measure_mean(
    dimension: int,
    radius: float,
    users: int,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    *,
    repeats: int = 1,
    seed: Seed = None,
    progress: Progress | None = None,
) -> MeasuredMean:
    """Draw people with vectors in a ball, let them report, estimate the population's mean, and compare.

    The population is that of `sottovoce.populations.vectors`: norms uniform from 0 to the radius, directions around
    a fixed one, the mean at three tenths of the radius. Memory does not grow with the number of people.

    Examples
    --------
    >>> found = measure_mean(50, 2.0, 5_000, 1.0, repeats=2, seed=1)
    >>> found.mean.l2_projected <= found.mean.l2_raw <= 2 * found.l2_bound
    True
    """
    people = check_users(users)
    survey = Survey.mean(dimension, radius, epsilon, delta, mechanism, users=people)
    truth = true_mean(survey.dimension, survey.radius)

    def estimate(people_seed: int, report_seed: int) -> Estimate:
        crowd = people_with_vectors(survey.dimension, survey.radius, people, people_seed)
        counts = count_reports(survey.mechanism, crowd, report_seed, progress)
        return survey.estimate(Aggregate(survey, people, counts))

    return MeasuredMean(
        **_repeated(survey, people, repeats, seed, estimate, lambda found: _errors(survey, found, truth, None)),
        l2_bound_paper=paper_bound(dimension, None, survey.radius, survey.epsilon, survey.delta, people),
        dimension=survey.dimension,
    )


def _errors(survey: QuerySurvey | MeanSurvey, found: Estimate, truth: Floats, symmetric: float | None) -> OfflineErrors:
    raw = float(np.linalg.norm(found.raw - truth))
    unit = survey.n_answers * radius_of(survey) ** 2 / found.n_reports
    return OfflineErrors(raw, float(np.linalg.norm(found.values - truth)), symmetric, raw**2 / unit)


def _repeated(
    survey: QuerySurvey | MeanSurvey,
    users: int,
    repeats: int,
    seed: Seed,
    estimate: Callable[[int, int], Estimate],
    errors: Callable[[Estimate], OfflineErrors],
) -> dict[str, Any]:
    """The fields that both kinds share."""
    times = _check_repeats(repeats)
    seed = secrets.randbits(32) if seed is None else seed
    seeds = seeds_of(seed, 2 * times)
    seconds, gap, bound = 0.0, 0.0, 0.0
    found: list[OfflineErrors] = []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        began = time.perf_counter()
        one = estimate(people_seed, report_seed)
        seconds += time.perf_counter() - began
        found.append(errors(one))
        gap, bound = max(gap, one.gap), one.bound.value
    chosen = survey.mechanism
    mean, standard_error = _summarised(found)
    return {
        "mechanism": chosen.name,
        "radius": radius_of(survey),
        "users": users,
        "epsilon": survey.epsilon,
        "delta": survey.delta,
        "repeats": times,
        "seed": int(seed),
        "mean": mean,
        "standard_error": standard_error,
        "l2_bound": bound,
        "predicted_variance": _predicted_variance(survey),
        "gap": gap,
        "report_bits": chosen.report_bits,
        "report_bytes": chosen.report_bytes,
        "seconds": seconds / times,
    }


def _check_repeats(repeats: object) -> int:
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= MAX_REPEATS:
        raise SimulationError(f"repeats must be an integer from 1 to {MAX_REPEATS:,}, for example 10")
    return repeats


def _summarised(found: list[OfflineErrors]) -> tuple[OfflineErrors, OfflineErrors | None]:
    # A distance that a kind does not have is not a number here, and None again outside.
    table = np.array([list(asdict(errors).values()) for errors in found], dtype=np.float64)

    def each(row: Floats) -> OfflineErrors:
        raw, projected, symmetric, variance = row.tolist()
        return OfflineErrors(raw, projected, None if math.isnan(symmetric) else symmetric, variance)

    mean = each(table.mean(axis=0))
    return mean, None if len(found) == 1 else each(table.std(axis=0, ddof=1) / math.sqrt(len(found)))


def radius_of(survey: QuerySurvey | MeanSurvey) -> float:
    """The largest norm of one person's answers."""
    return survey.workload.radius if isinstance(survey, QuerySurvey) else survey.radius


def _predicted_variance(survey: QuerySurvey | MeanSurvey) -> float:
    """What n times the variance of an answer comes to, on average over the answers, in units of radius^2."""
    if isinstance(survey, QuerySurvey) and not isinstance(survey.strategy, Direct):
        return survey.strategy.worst / (survey.n_answers * survey.workload.radius**2)
    mechanism: Any = survey.mechanism
    return float(mechanism.noise / mechanism.radius**2)


def paper_bound(
    dimension: int, domain_size: int | None, radius: float, epsilon: float, delta: float, users: int
) -> float | None:
    """The bound the paper prints for a survey like this one; see `Measured`."""
    J: Any = math.inf if domain_size is None else domain_size  # no finite domain: the term with log J is no bound
    if delta > 0:
        return theorem_3_2(dimension, J, radius, epsilon, delta, users).value
    return theorem_3_4(dimension, J, radius, epsilon, users).value if users >= 120 else None
