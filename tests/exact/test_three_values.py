"""Differences of two shares: exact tails, a certified maximum over the nuisance, exact coverage, and widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

import sottovoce as sv
from sottovoce.estimates.intervals import Observed, certified_interval
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory import three_values as module
from sottovoce.theory.three_values import difference_tail, lower_limit

ROW = np.array([[1.0, -1.0, 0.0]])


def exact_tail(least: int, n: int, plus: float, minus: float) -> float:
    """P(N+ - N- >= least) by convolution."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [minus, 1 - plus - minus, plus])
    return float(law[max(0, least + n) :].sum())


@pytest.mark.parametrize("n", [1, 2, 9, 80])
def test_tails_are_exact(n: int) -> None:
    rng = np.random.default_rng(n)
    for rare in (0.02, 1.0, 30.0):
        chances = np.vstack([rng.dirichlet([1, 1, rare], 8), [[0, 0, 1], [1, 0, 0], [0.4, 0.6, 0], [0, 0.3, 0.7]]])
        for plus, minus, _ in chances:
            for least in np.unique(np.rint(np.linspace(-n, n + 1, 7)).astype(int)).tolist():
                found = float(difference_tail(least, n, np.array([plus]), np.array([minus]))[0])
                assert exact_tail(least, n, plus, minus) <= found + 1e-13
                assert found <= exact_tail(least, n, plus, minus) + 2e-11


def test_tails_of_many_reports() -> None:
    """Against the mixture of binomial numbers."""
    n, plus, minus = 200_000, 0.3, 0.29
    for least in (2_000, 2_500, 3_000):
        number = np.arange(n + 1)
        given = binom.sf(np.ceil((number + least) / 2) - 1, number, plus / (plus + minus))
        tail = float(binom.pmf(number, n, plus + minus) @ given)
        found = float(difference_tail(least, n, np.array([plus]), np.array([minus]))[0])
        assert tail == pytest.approx(found, abs=3e-11, rel=1e-7)


def most_likely(difference: int, n: int, d: float, least: float, most: float) -> float:
    """The largest tail over many sums of both chances."""
    total = np.linspace(max(least, abs(d)), most, 4_001)
    return float(difference_tail(difference, n, (total + d) / 2, (total - d) / 2).max())


CERTIFIED = [(3, 12, 0.6, 1.0), (1, 25, 0.75, 1.0), (10, 60, 0.2, 0.5), (40, 400, 0.9, 0.999)]


@pytest.mark.parametrize(("difference", "n", "least", "most"), CERTIFIED)
@pytest.mark.parametrize("miss", [0.25, 0.025, 5e-7])
def test_the_maximum_is_certified(difference: int, n: int, least: float, most: float, miss: float) -> None:
    for count in (difference, -difference):
        low = lower_limit(count, n, miss, least, most)
        assert -1 <= low < count / n
        for d in (low, low - 0.01, low - 0.2):
            if abs(d) <= most:
                assert most_likely(count, n, d, least, most) <= miss + 2e-11


def test_a_maximum_on_a_grid_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The middles of few cells: with hardly any report between them the tail is not monotone in the sum."""

    def middles(edges: np.ndarray, d: float) -> tuple[np.ndarray, np.ndarray]:
        total = np.maximum((edges[1:] + edges[:-1]) / 2, abs(d))
        return (total + d) / 2, (total - d) / 2

    monkeypatch.setattr(module, "_extremes", middles)
    monkeypatch.setattr(module, "_CELLS", 4)
    found = [
        most_likely(difference, n, lower_limit(difference, n, 0.025, least, most), least, most)
        for difference, n, least, most in CERTIFIED
    ]
    assert max(found) > 0.025 * 1.01


def coverage(mechanism: str, n: int, level: float) -> tuple[float, float, list[float]]:
    """The least exact coverage of a difference: of people drawn from a population, of these very people; and widths."""
    design = sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0, mechanism=mechanism).design
    every = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
    ends = []
    for counts in every:
        raw = ROW @ design.mechanism.estimate(counts, n)
        ends.append(certified_interval(Observed(design, raw, n, counts, -1.0, 1.0, ROW), level))
    low, high = (np.array([float(getattr(end, name)[0]) for end in ends]) for name in ("low", "high"))
    channel = np.array([[float(design.mechanism.probability(r, v)) for v in range(3)] for r in range(3)])
    weight = np.exp(gammaln(n + 1) - gammaln(every + 1).sum(axis=1))
    drawn = these = 1.0
    for shares in np.array([(i, j, 6 - i - j) for i in range(7) for j in range(7 - i)]) / 6:
        held = (low <= shares[0] - shares[1] + 1e-12) & (shares[0] - shares[1] - 1e-12 <= high)
        law = weight * np.prod((channel @ shares) ** every, axis=1)
        drawn = min(drawn, float(law[held].sum()))
    where = {tuple(counts): place for place, counts in enumerate(every.tolist())}
    for people in every[:: max(1, len(every) // 12)]:
        law = np.zeros((n + 1, n + 1, n + 1))
        law[0, 0, 0] = 1.0
        for value, number in enumerate(people.tolist()):
            for _ in range(number):
                law = sum(chance * np.roll(law, 1, axis=axis) for axis, chance in enumerate(channel[:, value]))
        truth = (people[0] - people[1]) / n
        held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        these = min(these, sum(float(law[counts]) for counts, place in where.items() if held[place]))
    return drawn, these, (high - low).tolist()


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_difference_holds(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of people drawn from a population by proof; of these very people by this computation."""
    monkeypatch.setattr("sottovoce.estimates.intervals.LEAST_REPORTS", 1)
    drawn, these, widths = coverage("randomized_response", 8, level)
    assert drawn >= level
    assert these >= level
    assert min(widths) > 0.01


@pytest.mark.parametrize("mechanism", ["randomized_response", "subset_selection", "unary_optimized", "hadamard"])
def test_a_difference_is_narrow(mechanism: str) -> None:
    """In units of 1.96 standard errors; two intervals at 97.5 % make 1.43 to 1.61."""
    n, people = 3_000, [0] * 1_050 + [1] * 750 + [2] * 400 + [3] * 400 + [4] * 400
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=mechanism)
    estimate = survey.estimate(survey.simulate(people, seed=2))
    found = estimate.difference(0, 1)
    row, shares = np.array([[1.0, -1.0, 0.0, 0.0, 0.0]]), np.bincount(people) / n
    variance = survey.design.variance(row, Population.of(shares, survey.design.workload), n).value
    spread = math.sqrt(float(np.asarray(variance)[0]))
    assert 1.0 < (found.high - found.low) / 2 / 1.96 / spread < 1.1
    assert found.low < 0.1 < found.high
    assert "Berger" in found.method


def test_groups_of_answers_where_a_report_supports_one() -> None:
    survey = sv.Survey(sv.shares(6), epsilon=1.0, mechanism="randomized_response")
    estimate = survey.estimate(survey.simulate([0, 1, 2, 3] * 600, seed=5))
    found = estimate.combine({0: 1, 1: 1, 4: -1})
    assert "Berger" in found.method
    assert found.low < 0.5 < found.high
    assert found.value == pytest.approx(found.raw)
    weighted = estimate.combine({0: 3, 1: 3, 4: -3})
    assert (weighted.low, weighted.high) == pytest.approx((3 * found.low, 3 * found.high))
    uneven = estimate.combine({0: 2, 1: 1, 4: -1})
    assert "Berger" not in uneven.method


@pytest.mark.parametrize("n", [1, 2, 50])
def test_no_difference_is_certain_from_reports(n: int) -> None:
    survey = sv.Survey(sv.shares(3), epsilon=1.0)
    for seed, side in itertools.product(range(3), (0, 1)):
        found = survey.estimate(survey.simulate([side] * n, seed=seed)).difference(0, 1)
        assert -1 <= found.low < found.high <= 1
        assert found.low <= found.value <= found.high
