"""Intervals hold: single and simultaneous 95 % intervals cover 95 % or more, and a method that does not is found.

Alpha: `Coverage.evidence` reaches k with probability 10^-k at most for each of its tests if coverage is 95 % or more
(Markov's inequality for fortunes of bets, exact binomial tails for the worst answer), whatever the distribution.
There are fewer than 200 such tests here, each allowed 9: a false alarm anywhere has chance below 2e-7. Seeds are fixed;
they were not searched for.
Power: the normal approximation that intervals were made of before is rejected where counts are rare, by 40 runs
of which it misses nearly half: who bets 0.6 of a fortune gains 0.45 ln 12.4 + 0.55 ln 0.4 = 0.63 a run, 10^10.9 in all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

import sottovoce as sv
from evidence.experiments import coverage as experiment
from evidence.experiments.coverage import LEVEL, Coverage, evidence_against, measure_coverage
from evidence.reproduce.coverage import CoverageCell, CoverageDesign, cells_of, measure_cell, shares_of
from sottovoce.estimates.intervals import Interval, Observed
from sottovoce.strategies.laws.variance import Population

pytestmark = pytest.mark.slow

MOST = 9.0

RARE = [
    CoverageDesign("shares", "shares", 1000, "histogram", mechanism)
    for mechanism in ("randomized_response", "hadamard", "hadamard_blocks", "unary_optimized")
]


def normal(observed: Observed, level: float, together: int = 1) -> Interval:
    """A normal quantile times the estimated standard error."""
    answers = np.clip(observed.raw, observed.least, observed.most)
    variance = observed.design.variance(None, Population(answers=answers), observed.n_reports).value
    half = -ndtri((1 - level) / (2 * together)) * np.sqrt(variance)
    return Interval(observed.raw - half, observed.raw + half, "normal")


def measured(design: CoverageDesign, people: int, epsilon: float = 5.0, repeats: int = 40) -> Coverage:
    survey = design.survey(epsilon, people)
    return measure_coverage(survey, shares_of("zipf", design.values), people, repeats, seed=people)


@pytest.mark.parametrize("people", [1, 50])
@pytest.mark.parametrize("design", RARE, ids=lambda design: design.mechanism)
def test_a_thousand_values_of_few_people(design: CoverageDesign, people: int) -> None:
    found = measured(design, people)
    assert found.evidence < MOST
    assert min(found.simultaneous, found.simultaneous_people) >= LEVEL - 4 * found.simultaneous_error
    assert min(found.single, found.single_people) >= LEVEL


@pytest.mark.parametrize("cell", cells_of(quick=True)[1::2], ids=lambda cell: cell.design.name)
def test_every_mechanism_and_strategy(cell: CoverageCell) -> None:
    row = measure_cell(replace(cell, people=300), seed=1)
    assert row.found is not None
    assert row.found.evidence < MOST


def test_a_method_that_does_not_hold_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "certified_interval", normal)
    found = measured(RARE[0], 50)
    assert found.evidence > MOST
    assert found.simultaneous < LEVEL - 4 * found.simultaneous_error


def test_widths_with_many_people() -> None:
    for design in (
        CoverageDesign("shares", "shares", 16, "histogram", "hadamard"),
        CoverageDesign("structured", "ranges", 16, "haar", "auto"),
    ):
        found = measured(design, 1_000_000, epsilon=1.0, repeats=2)
        assert found.widest_of_many is not None
        assert found.width is not None
        assert 1.0 <= found.width <= found.widest_of_many < 1.1


def test_the_intervals_measured_are_those_of_an_estimate() -> None:
    survey = CoverageDesign("structured", "ranges", 16, "haar", "auto").survey(1.0, 500)
    people = np.arange(16)
    observed = experiment._observed(survey, people, seed=3)
    estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=3))
    for simultaneous in (False, True):
        mine = experiment.certified_interval(observed, LEVEL, len(observed.raw) if simultaneous else 1)
        theirs = estimate.interval(LEVEL, simultaneous)
        np.testing.assert_array_equal(mine.low, theirs.low)
        np.testing.assert_array_equal(mine.high, theirs.high)


def test_counts_of_independent_bits_have_the_law_of_reports() -> None:
    """Means and variances of 3,000 aggregates, at z = 6: of each count's mean, and of the sum of all variances."""
    survey, people, runs = (
        sv.Survey(sv.shares(5), epsilon=1.0, mechanism="unary_optimized"),
        np.array([40, 0, 7, 3, 0]),
        3000,
    )
    mine = np.array([experiment._counts(survey, people, seed) for seed in range(runs)])
    theirs = np.array([survey.simulate_aggregate(histogram=people, seed=seed).counts for seed in range(runs)])
    error = np.sqrt((mine.var(axis=0) + theirs.var(axis=0)) / runs)
    assert (np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) < 6 * error).all()
    ratio = mine.var(axis=0).sum() / theirs.var(axis=0).sum()
    assert abs(ratio - 1) < 6 * np.sqrt(2 * 2 / (5 * runs))


def test_evidence_is_what_it_says() -> None:
    """At a coverage of 95 %, evidence of 1 comes in less than a tenth of all experiments: at z = 6, below 0.13."""
    rng = np.random.default_rng(1)
    found = [evidence_against(rng.binomial(1, 0.05, size=60).astype(np.float64), 0.05) for _ in range(4000)]
    assert np.mean(np.array(found) >= 1) < 0.13
    assert evidence_against(np.full(40, 0.2), 0.05) > 9
    assert evidence_against((np.arange(60) % 4 == 0).astype(np.float64), 0.05) > 3
