"""Whole pipelines against their formulas, by simulation.

Alpha: each test rejects a correct product with probability at most 1e-8 (its derivation is in the
test); there are fewer than fifty such checks in the suite, so a false alarm anywhere has chance
below 1e-6. Seeds are fixed, so a passing run passes again; they were not searched for.
Power: each kind of check is shown to reject an error of the size it is meant to find.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2

import sottovoce as sv
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.surveys.simulation import histogram_of

pytestmark = pytest.mark.slow

ALPHA = 1e-8
J, N = 48, 10_000
REPEATS = 60


def zipf(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()


def raw_errors(survey: sv.Survey, p: np.ndarray, n: int, repeats: int) -> np.ndarray:
    errors = []
    for seed in range(repeats):
        people = histogram_of(p, n, seed)
        errors.append(survey.estimate(survey.simulate_aggregate(histogram=people, seed=seed)).raw - p)
    return np.array(errors)


def variance_statistic(errors: np.ndarray, variance: np.ndarray) -> tuple[float, float, float]:
    """Per coordinate (error/sd)^2 sums to chi^2 with `repeats` degrees of freedom, nearly normal errors granted.

    Coordinates are weakly dependent, so each is tested alone and alpha is divided among them.
    """
    statistic = (errors**2 / variance).sum(axis=0)
    share = ALPHA / (2 * errors.shape[1])
    return float(statistic.min()), float(statistic.max()), share


@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_raw_estimate_is_unbiased_with_the_exact_variance(name: str, epsilon: float) -> None:
    survey, p = sv.Survey(sv.shares(J), epsilon=epsilon, mechanism=name), zipf(J)
    errors = raw_errors(survey, p, N, REPEATS)
    variance = survey.mechanism.variance(p, N)
    low, high, share = variance_statistic(errors, variance)
    assert chi2.ppf(share, REPEATS) < low
    assert high < chi2.isf(share, REPEATS)
    # The mean of the errors is normal with variance/REPEATS; two-sided, alpha divided among J.
    limit = math.sqrt(chi2.isf(ALPHA / J, 1))
    assert np.abs(errors.mean(axis=0) / np.sqrt(variance / REPEATS)).max() < limit


def test_power_a_variance_wrong_by_three_tenths_is_rejected() -> None:
    """Coordinates covary by -p(v)p(w)/n, little beside c^2/n, so their sum has at least J*REPEATS/2 degrees."""
    survey, p = sv.Survey(sv.shares(J), epsilon=1.0, mechanism="hadamard"), zipf(J)
    errors = raw_errors(survey, p, N, REPEATS)
    variance = survey.mechanism.variance(p, N)
    for wrong in (variance * 1.3, variance / 1.3):
        total = (errors**2 / wrong).sum()
        effective = J * REPEATS / 2
        assert not chi2.ppf(ALPHA, effective) < total / 2 < chi2.isf(ALPHA, effective)
    total = (errors**2 / variance).sum() / 2
    assert chi2.ppf(ALPHA, effective) < total < chi2.isf(ALPHA, effective)


def test_power_a_bias_of_a_tenth_of_a_standard_error_shows() -> None:
    survey, p = sv.Survey(sv.shares(J), epsilon=1.0, mechanism="randomized_response"), zipf(J)
    deviation = np.sqrt(survey.mechanism.variance(p, N))
    errors = raw_errors(survey, p, N, REPEATS) + deviation
    limit = math.sqrt(chi2.isf(ALPHA / J, 1))
    assert np.abs(errors.mean(axis=0) / (deviation / math.sqrt(REPEATS))).max() > limit


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_intervals_cover(name: str) -> None:
    """Misses of 90 % intervals over 40 runs of 48 values: at most Binomial(40, 0.1) each, alpha divided among them."""
    survey, p = sv.Survey(sv.shares(J), epsilon=1.0, mechanism=name), zipf(J)
    misses, simultaneous = np.zeros(J), 0
    runs = 40
    for seed in range(runs):
        estimate = survey.estimate(survey.simulate_aggregate(histogram=histogram_of(p, N, seed), seed=seed))
        low, high = estimate.interval(0.9)
        misses += (p < low) | (p > high)
        low, high = estimate.interval(0.9, simultaneous=True)
        simultaneous += bool(((p < low) | (p > high)).any())
    assert misses.max() <= binom.isf(ALPHA / J, runs, 0.1)
    # Together the misses must be near 10 %: fewer than 4 % would mean intervals twice too wide.
    assert 0.04 < misses.sum() / (runs * J) < 0.18
    assert simultaneous <= binom.isf(ALPHA, runs, 0.1)


@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("shape", ["zipf", "uniform", "point"])
def test_projection_never_hurts_and_the_bound_holds(name: str, shape: str) -> None:
    """Projected error <= raw error on every draw (a theorem); its mean stays below the bound, which is far
    enough above the truth that 20 draws cannot reach it by chance (each error concentrates within 50 %)."""
    size, n = 300, 3000
    p = {"zipf": zipf(size), "uniform": np.full(size, 1 / size), "point": np.eye(size)[7]}[shape]
    survey = sv.Survey(sv.shares(size), epsilon=1.0, mechanism=name)
    errors = []
    for seed in range(20):
        estimate = survey.estimate(survey.simulate_aggregate(histogram=histogram_of(p, n, seed), seed=seed))
        raw, projected = np.linalg.norm(estimate.raw - p), np.linalg.norm(estimate.values - p)
        assert projected <= raw + 1e-9
        errors.append(projected)
    assert np.mean(errors) < estimate.bound.value


def test_projected_error_is_flat_in_the_domain_where_the_raw_one_grows() -> None:
    """The paper's point (Thm 4.2): at n below J^2 the projected error hardly depends on J."""
    projected, raw = [], []
    for size in (1024, 16_384):
        survey, p = sv.Survey(sv.shares(size), epsilon=1.0, mechanism="hadamard"), zipf(size)
        runs = [
            survey.estimate(survey.simulate_aggregate(histogram=histogram_of(p, 20_000, s), seed=s)) for s in range(5)
        ]
        projected.append(np.mean([np.linalg.norm(e.values - p) for e in runs]))
        raw.append(np.mean([np.linalg.norm(e.raw - p) for e in runs]))
    assert raw[1] / raw[0] > 3.5
    assert projected[1] / projected[0] < 1.25


def test_device_reports_and_simulated_ones_estimate_alike() -> None:
    """Real device bytes through the whole pipeline: every raw entry within its exact spread, alpha/J each."""
    survey = sv.Survey(sv.shares(["a", "b", "c", "d", "e"]), epsilon=2.0, mechanism="hadamard")
    people = ["a"] * 3000 + ["b"] * 1500 + ["e"] * 500
    estimate = survey.estimate(survey.randomize(person) for person in people)
    truth = np.array([0.6, 0.3, 0, 0, 0.1])
    spread = np.sqrt(survey.mechanism.variance(truth, len(people)))
    assert np.abs((estimate.raw - truth) / spread).max() < math.sqrt(chi2.isf(ALPHA / 5, 1))
