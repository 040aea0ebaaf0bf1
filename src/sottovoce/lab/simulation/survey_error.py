"""How far the estimates of a survey are from the truth, measured on simulated people; one measure for any question."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.estimates.estimate import Estimate
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.simulation.repeats import check_people, check_repeats, seeds_of, summarised
from sottovoce.projections.hull import project_hull
from sottovoce.questions.invented import InventedPeople
from sottovoce.strategies.laws.variance import Population
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.simulation import Seed, count_reports, histogram_of
from sottovoce.surveys.survey import Survey

__all__ = ["Errors", "MeasuredError", "measure", "measure_population"]

Floats = NDArray[np.float64]
Progress = Callable[[int], object]

_AT_ONCE: Final = 1 << 18
"""People whose values cannot be listed, drawn together."""


@dataclass(frozen=True)
class Errors:
    """Distances of one estimate, or on average over several, from the true answers.

    Attributes
    ----------
    l2_raw, l2_projected
        Over all answers: of the unbiased estimate, and of its projection.
    linf_raw, linf_projected
        The largest error of a single answer.
    l2_symmetric
        The error of the raw estimate's projection on the paper's symmetric polytope, the hull of columns and opposites;
        None where it was not asked for.
    """

    l2_raw: float
    l2_projected: float
    linf_raw: float
    linf_projected: float
    l2_symmetric: float | None = None

    @staticmethod
    def of(estimate: Estimate, truth: Floats) -> Errors:
        """The distances of one estimate."""
        raw, projected = estimate.raw - truth, estimate.values - truth
        return Errors(
            float(np.linalg.norm(raw)),
            float(np.linalg.norm(projected)),
            float(np.abs(raw).max()),
            float(np.abs(projected).max()),
        )


@dataclass(frozen=True)
class MeasuredError:
    """What was measured, beside what theory says about it.

    Attributes
    ----------
    question, answers, values
        The kind of the question, how many answers it has, and how many values a person can have; None for vectors.
    distribution
        Whom people were drawn from.
    mean, standard_error
        Over the repeats; no standard error from a single one.
    l2_raw_predicted
        Root mean square of the raw estimate's L2 error for this very population, from the design's variance.
    margin
        The margin of the least certain answer (95 %) for this very population.
    l2_bound
        What the expected L2 error of the projected estimate stays below, for every population.
    l2_bound_paper
        The bound as the paper prints it for its own protocol; see `Question.printed_bound`.
    gap
        The largest gap among the repeats: every projected estimate is within its square root of the exact one.
    seconds
        For one repeat, on average: drawing people and reports, counting, estimating, projecting.
    """

    question: str
    answers: int
    values: int | None
    strategy: str
    mechanism: str
    people: int
    epsilon: float
    delta: float
    distribution: str
    repeats: int
    seed: int
    mean: Errors
    standard_error: Errors | None
    l2_raw_predicted: float
    margin: float
    l2_bound: float
    l2_bound_paper: float | None
    gap: float
    report_bits: int
    report_bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, the mean errors at the top level."""
        flat = asdict(self)
        mean, spread = flat.pop("mean"), flat.pop("standard_error")
        return {**flat, **mean, "standard_errors": spread}


def measure(
    survey: Survey,
    people: int,
    distribution: str = "zipf",
    *,
    repeats: int = 1,
    seed: Seed = None,
    symmetric: bool = False,
    progress: Progress | None = None,
) -> MeasuredError:
    """Draw people from a population, let them report, estimate, and compare with the population's own answers.

    Errors include the sampling of people. Memory does not grow with their number.

    Parameters
    ----------
    distribution
        "zipf", "uniform", "geometric", or the name of a file; see `lab.populations.distributions`. People
        whose values cannot be listed are those that the question invents.
    seed
        The seed, which gives the same people and reports again; by default a fresh one, which the result contains.
    symmetric
        Whether to project on the paper's symmetric polytope too, which takes as long again as the hull.
    progress
        Called with the number of people done since its last call; in all there are `people * repeats`.

    Examples
    --------
    >>> import sottovoce as sv
    >>> found = measure(Survey(sv.shares(16), epsilon=2.0, mechanism="hadamard"), 50_000, repeats=3, seed=1)
    >>> found.mean.l2_projected <= found.mean.l2_raw <= 2 * found.l2_raw_predicted
    True
    >>> measure(Survey(sv.vector(50, 2.0), epsilon=1.0), 5_000, seed=1).values is None
    True
    """
    invented = survey.question.invented_people()
    if invented is not None:
        return _repeated(
            survey,
            people,
            invented.words,
            Population.answering(invented.answers),
            lambda n, people_seed, report_seed: _counted(survey, invented, n, people_seed, report_seed, progress),
            repeats=repeats,
            seed=seed,
            symmetric=False,
        )
    shares = frequencies(distribution, survey.design.workload.n_values)
    return measure_population(
        survey, people, shares, distribution, repeats=repeats, seed=seed, symmetric=symmetric, progress=progress
    )


def measure_population(
    survey: Survey,
    people: int,
    shares: Floats,
    name: str = "given",
    *,
    repeats: int = 1,
    seed: Seed = None,
    symmetric: bool = False,
    progress: Progress | None = None,
) -> MeasuredError:
    """Measure a survey with people drawn from these shares of all values."""

    def counted(n: int, people_seed: int, report_seed: int) -> Aggregate:
        histogram = histogram_of(shares, n, people_seed)
        return survey.simulate_aggregate(histogram=histogram, seed=report_seed, progress=progress)

    crowd = Population.of(shares, survey.question.workload)
    return _repeated(survey, people, name, crowd, counted, repeats=repeats, seed=seed, symmetric=symmetric)


def _counted(
    survey: Survey,
    invented: InventedPeople,
    people: int,
    people_seed: int,
    report_seed: int,
    progress: Progress | None,
) -> Aggregate:
    """Drawn and counted in blocks, so that memory does not grow with the people."""
    crowd = invented.crowd(people, people_seed)
    if crowd is not None:
        return Aggregate(survey, people, count_reports(survey.mechanism, crowd, report_seed, progress))
    rng, total = np.random.default_rng(people_seed), survey.aggregate()
    seeds = seeds_of(report_seed, -(-people // _AT_ONCE))
    for start, seed in zip(range(0, people, _AT_ONCE), seeds, strict=True):
        values = invented.draw(min(_AT_ONCE, people - start), rng)
        total += survey.simulate_aggregate(values, seed=seed, progress=progress)
    return total


def _repeated(
    survey: Survey,
    people: int,
    name: str,
    crowd: Population,
    counted: Callable[[int, int, int], Aggregate],
    *,
    repeats: int,
    seed: Seed,
    symmetric: bool,
) -> MeasuredError:
    if survey.seat is not None:
        raise SimulationError("a round is measured with the rest of its panel; see measure_adaptive").at("survey")
    n, times = check_people(people), check_repeats(repeats)
    seed = secrets.randbits(32) if seed is None else seed
    seeds = seeds_of(seed, 2 * times)
    truth = crowd.answers
    assert isinstance(truth, np.ndarray)
    seconds, gap = 0.0, 0.0
    errors: list[Errors] = []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        began = time.perf_counter()
        estimate = survey.estimate(counted(n, people_seed, report_seed))
        seconds += time.perf_counter() - began
        errors.append(_errors(survey, estimate, truth, symmetric))
        gap = max(gap, estimate.gap)
    mean, standard_error = summarised(errors)
    design, printed = survey.design, survey.question.printed_bound(survey.epsilon, survey.delta, n)
    return MeasuredError(
        question=survey.kind,
        answers=survey.n_answers,
        values=survey.question.workload.n_values,
        strategy=design.name,
        mechanism=survey.mechanism.name,
        people=n,
        epsilon=survey.epsilon,
        delta=survey.delta,
        distribution=name,
        repeats=times,
        seed=int(seed),
        mean=mean,
        standard_error=standard_error,
        l2_raw_predicted=math.sqrt(design.total_variance(crowd, n).value),
        margin=design.margin(n, crowd),
        l2_bound=survey.bound(n).value,
        l2_bound_paper=None if printed is None else printed.value,
        gap=gap,
        report_bits=survey.mechanism.report_bits,
        report_bytes=survey.mechanism.report_bytes,
        seconds=seconds / times,
    )


def _errors(survey: Survey, estimate: Estimate, truth: Floats, symmetric: bool) -> Errors:
    errors = Errors.of(estimate, truth)
    if not symmetric:
        return errors
    wider = project_hull(survey.design.workload, estimate.raw, symmetric=True).values
    return replace(errors, l2_symmetric=float(np.linalg.norm(wider - truth)))
