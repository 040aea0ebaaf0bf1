"""The measure of a survey's error on simulated people: against what, of whom, and beside which theory."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SimulationError, SurveyError
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.simulation.repeats import check_people, check_repeats, seeds_of, summarised
from sottovoce.lab.simulation.survey_error import Errors, measure, measure_population
from sottovoce.projections.hull import project_hull
from sottovoce.questions.invented import VectorPeople
from sottovoce.surveys.simulation import histogram_of
from sottovoce.theory.bounds import theorem_4_2
from sottovoce.theory.offline_bounds import theorem_3_2, theorem_3_4
from sottovoce.workloads import Prefix


def test_errors_are_distances_from_the_truth() -> None:
    survey = sv.Survey(sv.shares(3), epsilon=1.0, mechanism="hadamard")
    estimate = survey.estimate(survey.simulate([0] * 500, seed=1))
    truth = np.array([0.5, 0.25, 0.25])
    found = Errors.of(estimate, truth)
    assert found.l2_raw == pytest.approx(math.dist(estimate.raw, truth))
    assert found.l2_projected == pytest.approx(math.dist(estimate.values, truth))
    assert found.linf_raw == max(abs(estimate.raw - truth))
    assert found.linf_projected == max(abs(estimate.values - truth))


@pytest.mark.parametrize(
    "survey",
    [
        sv.Survey(sv.shares(9), epsilon=1.0, mechanism="hadamard"),
        sv.Survey(sv.queries(Prefix(9)), epsilon=2.0, strategy="direct", people=700),
    ],
    ids=["shares", "queries"],
)
def test_means_and_standard_errors_are_those_of_the_repeats(survey: sv.Survey) -> None:
    found = measure(survey, 700, "geometric", repeats=3, seed=3, symmetric=True)
    weights = frequencies("geometric", 9)
    truth, seeds = survey.design.workload.matvec(weights), iter(seeds_of(3, 6))
    raw, symmetric, gaps = [], [], []
    for people_seed, report_seed in zip(seeds, seeds, strict=True):
        people = histogram_of(weights, 700, people_seed)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed))
        raw.append(math.dist(estimate.raw, truth))
        wider = project_hull(survey.design.workload, estimate.raw, symmetric=True).values
        symmetric.append(math.dist(wider, truth))
        gaps.append(estimate.gap)
    assert found.mean.l2_raw == pytest.approx(statistics.mean(raw))
    assert found.mean.l2_symmetric == pytest.approx(statistics.mean(symmetric))
    assert found.standard_error is not None
    assert found.standard_error.l2_raw == pytest.approx(statistics.stdev(raw) / math.sqrt(3))
    assert found.gap == max(gaps)
    again = measure_population(survey, 700, weights, repeats=3, seed=3)
    assert (again.mean.l2_raw, again.mean.l2_symmetric, again.distribution) == (found.mean.l2_raw, None, "given")


def test_theory_beside_it_is_the_designs_own() -> None:
    survey = sv.Survey(sv.queries(Prefix(12)), epsilon=1.0, strategy="haar")
    found, shares = measure(survey, 2000, seed=5), frequencies("zipf", 12)
    assert (found.question, found.answers, found.values, found.strategy) == ("queries", 12, 12, "haar")
    assert found.l2_raw_predicted == math.sqrt(survey.design.total_variance(shares, 2000).value)
    assert found.margin == survey.design.margin(2000, shares)
    assert found.l2_bound == survey.bound(2000).value
    assert (found.report_bits, found.delta) == (survey.mechanism.report_bits, 0.0)
    flat = found.to_dict()
    assert (flat["l2_raw"], flat["standard_errors"]) == (found.mean.l2_raw, None)


def test_vectors_have_no_list_of_values() -> None:
    survey = sv.Survey(sv.vector(8, 3.0), epsilon=1.0, delta=1e-6, mechanism="gaussian")
    found = measure(survey, 2000, seed=5)
    assert (found.question, found.values, found.delta, found.distribution) == (
        "vector",
        None,
        1e-6,
        "vectors around one direction",
    )
    assert found.mean.l2_symmetric is None
    assert found.l2_bound_paper == theorem_3_2(8, 10**300, 3.0, 1.0, 1e-6, 2000).value


def test_measured_errors_are_the_predicted_ones() -> None:
    """Gaussian noise: squared raw errors, in units of their expectation, are nearly chi-square with d degrees each.

    What people differ by is far below the noise. The bounds hold but for a chance of 1e-9 each; noise a fifth too small
    or too large would fall outside them.
    """
    from scipy.stats import chi2

    dimension, repeats = 100, 25
    survey = sv.Survey(sv.vector(dimension, 2.0), epsilon=1.0, delta=1e-6, mechanism="gaussian")
    found = [measure(survey, 300, seed=seed) for seed in range(repeats)]
    ratio = statistics.mean((one.mean.l2_raw / one.l2_raw_predicted) ** 2 for one in found)
    freedom = dimension * repeats
    low, high = chi2.ppf([1e-9], freedom)[0] / freedom, chi2.isf([1e-9], freedom)[0] / freedom
    assert 0.8 < low < ratio < high < 1.2


def test_the_papers_bounds_are_those_of_the_question() -> None:
    shares = sv.Survey(sv.shares(32), epsilon=1.0).question.printed_bound(1.0, 0.0, 20_000)
    queries = sv.Survey(sv.queries(Prefix(12)), epsilon=1.0, strategy="direct")
    asked = queries.question.printed_bound(1.0, 0.0, 2000)
    assert shares == theorem_4_2(32, 1.0, 20_000)
    assert asked == theorem_3_4(12, 12, math.sqrt(12), 1.0, 2000)
    assert queries.question.printed_bound(1.0, 0.0, 119) is None  # stated for 120 people or more


def test_seeds_make_it_repeat_itself() -> None:
    survey = sv.Survey(sv.shares(8), epsilon=1.0)
    first, again, other = (measure(survey, 500, seed=seed).mean for seed in (5, 5, 6))
    assert first == again != other
    fresh = measure(survey, 500)
    assert measure(survey, 500, seed=fresh.seed).mean == fresh.mean


def test_what_cannot_be_measured_is_refused() -> None:
    survey = sv.Survey(sv.shares(8), epsilon=1.0)
    panel = sv.Panel({"age": range(8)}, rounds=2, epsilon=1.0)
    with refuses(SimulationError, "people"):
        measure(survey, 0)
    with refuses(SimulationError, "repeats"):
        measure(survey, 10, repeats=0)
    with refuses(SimulationError, "seed"):
        measure(survey, 10, seed=-1)
    with refuses(SimulationError, "survey"):
        measure(sv.adaptive.round_of(panel, 1, "age", 8), 10)
    with refuses(SurveyError, "people"):
        measure_population(survey, 10, np.ones(3) / 3)
    with pytest.raises(SimulationError):
        check_people(True)
    with refuses(SimulationError, "repeats"):
        check_repeats(1, fewest=2)


@dataclass(frozen=True)
class Two:
    first: float
    second: float | None


def test_summaries_keep_what_is_not_there() -> None:
    mean, error = summarised([Two(1.0, None), Two(3.0, None)])
    assert (mean, error) == (Two(2.0, None), Two(1.0, None))
    assert summarised([Two(1.0, 2.0)]) == (Two(1.0, 2.0), None)


def test_the_mean_of_simulated_vectors_is_what_errors_are_against() -> None:
    """With so large an epsilon and so many people the estimate is the true mean, but for four standard errors."""
    survey = sv.Survey(sv.vector(1, 2.0), epsilon=16.0)
    found = measure(survey, 200_000, seed=1)
    assert found.mean.l2_raw < 4 * found.l2_raw_predicted < 0.05 * float(np.linalg.norm(VectorPeople(1, 2.0).answers))
