"""Limits of a count whose chance has a known range: exact coverage, never of no width, and faults that are noticed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.theory import feldman_cousins as module
from sottovoce.theory.feldman_cousins import feldman_cousins
from sottovoce.theory.tails import clopper_pearson

CASES = [
    (1, 1.0, 0.95),
    (2, 1.0, 0.5),
    (2, 4.0, 0.999999),
    (7, 0.3, 0.9),
    (30, 1.0, 0.95),
    (50, 8.0, 0.95),  # the integers next to n q must be added here
    (50, 8.0, 0.5),
    (200, 2.0, 0.99),
    (500, 1.0, 0.95),
    (500, 1.0, 0.999999),
]


def ends(epsilon: float) -> tuple[float, float]:
    """The chances of a bit for people who all answer no, and all yes."""
    first = 1 / (1 + math.exp(epsilon))
    return first, 1 - first


def chances_to_try(low: np.ndarray, high: np.ndarray, first: float, last: float) -> np.ndarray:
    """The ends, a grid, and both sides of every limit."""
    beside = [np.nextafter(limit, side) for limit in (low, high) for side in (0, 1)]
    every = np.unique(np.concatenate([np.linspace(first, last, 200), low, high, *beside]))
    return every[(every >= first) & (every <= last)]


def least_coverage(limits: tuple[np.ndarray, np.ndarray], first: float, last: float) -> float:
    """The least exact coverage for people with one chance."""
    low, high = limits
    every, counts = chances_to_try(low, high, first, last), np.arange(len(low))
    held = (low[:, None] <= every) & (every <= high[:, None])
    law = binom.pmf(counts[:, None], len(low) - 1, every)
    return float((law * held).sum(axis=0).min())


@pytest.mark.parametrize(("n", "epsilon", "level"), CASES)
def test_limits_hold_and_have_a_width_for_every_count(n: int, epsilon: float, level: float) -> None:
    first, last = ends(epsilon)
    low, high = feldman_cousins(np.arange(n + 1), n, (1 - level) / 2, first, last)
    assert least_coverage((low, high), first, last) >= level - 1e-12
    assert ((first <= low) & (low < high) & (high <= last)).all()
    assert (high - low > 0.02 / n).all()
    assert (np.diff(low) >= -1e-3 * (high - low)[1:]).all()
    likeliest = np.clip(np.arange(n + 1) / n, first, last)
    assert ((low <= likeliest) & (likeliest <= high)).all()


@pytest.mark.parametrize(("n", "epsilon", "level"), CASES)
def test_limits_hold_for_these_very_people(n: int, epsilon: float, level: float) -> None:
    """Every number of people who answer yes: a sum of two binomial numbers."""
    first, last = ends(epsilon)
    low, high = feldman_cousins(np.arange(n + 1), n, (1 - level) / 2, first, last)
    for yes in np.unique(np.rint(np.linspace(0, n, 60)).astype(int)):
        law = np.convolve(binom.pmf(np.arange(yes + 1), yes, last), binom.pmf(np.arange(n - yes + 1), n - yes, first))
        chance = (yes * last + (n - yes) * first) / n
        assert law[(low <= chance + 1e-15) & (chance - 1e-15 <= high)].sum() >= level - 1e-12


def test_the_integers_next_to_the_mean_must_be_accepted() -> None:
    """One person with a chance, all others with none: plain limits would miss too often."""
    n, miss = 40, 0.1
    chance = 0.21  # of one success, against 1 - (1 - 0.21/40)^40 = 0.19 if all have the same
    plain = module._lower(module._BitCounts(*(np.array([x]) for x in (1.0, float(n), 1e-9, 1.0))), 2 * miss)
    assert chance / n < plain[0], "one success excludes the truth"
    assert chance > 2 * miss, "and is too likely"
    assert feldman_cousins(1, n, miss, 0.0, 1.0)[0] <= chance / n


def test_clopper_and_pearson_leave_nothing_beyond_the_range() -> None:
    first, last = ends(1.0)
    low, high = clopper_pearson(np.arange(101), 100, 0.025)
    width = np.clip(high, first, last) - np.clip(low, first, last)
    assert (width == 0).sum() > 10
    assert binom.pmf(np.arange(101), 100, first)[width == 0].sum() > 0.01


@pytest.mark.parametrize("n", [30, 200])
def test_limits_from_a_grid_would_be_noticed(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The p-value of single chances instead of cells: it jumps between them, and the set has gaps."""

    def on_a_grid(known: module._BitCounts, alpha: float) -> np.ndarray:
        limits = []
        for place in range(len(known.seen)):
            one = known.at(slice(place, place + 1))
            grid = np.linspace(one.first[0], one.likeliest[0], 40)[:-1]
            many = module._BitCounts(*(np.full(len(grid), part[0]) for part in one))
            accepted = np.flatnonzero(module._p_value(many, grid, grid) > alpha)
            limits.append(grid[accepted[0]] if len(accepted) else one.likeliest[0])
        return np.array(limits)

    monkeypatch.setattr(module, "_walked", on_a_grid)
    first, last = ends(1.0)
    limits = feldman_cousins(np.arange(n + 1), n, 0.025, first, last)
    assert least_coverage(limits, first, last) < 0.95


def test_an_ordering_that_forgets_the_range_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios to the likeliest chance of all, not of the range: counts beyond it have no width again."""

    def unlimited(known: module._BitCounts, count: np.ndarray, chance: np.ndarray) -> np.ndarray:
        return module._deviance(count, known.n, count / known.n) - module._deviance(count, known.n, chance)

    monkeypatch.setattr(module, "_log_ratio", unlimited)
    first, last = ends(1.0)
    low, high = feldman_cousins(np.arange(51), 50, 0.025, first, last)
    assert not (high - low > 0.02 / 50).all() or least_coverage((low, high), first, last) < 0.95


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_many_large_counts_lie_between_computed_ones(n: int) -> None:
    first, last = ends(1.0)
    counts = np.unique(np.rint(n * first + 12 * math.sqrt(n) * np.linspace(-1, 1, 30_000)))
    low, high = feldman_cousins(counts, n, 0.001, first, last)
    some = slice(0, None, 7)
    exact_low, exact_high = feldman_cousins(counts[some], n, 0.001, first, last)
    spread = math.sqrt(first * last / n)
    assert (low[some] <= exact_low).all()
    assert (high[some] >= exact_high).all()
    assert (exact_low - low[some] <= 0.01 * spread).all()
    assert (high[some] - exact_high <= 0.01 * spread).all()


def test_bounds_of_tails_of_large_counts_hold() -> None:
    for n, chance in ((20, 0.3), (1000, 0.01), (10**6, 0.27)):
        spread = math.sqrt(n * chance * (1 - chance))
        last = np.unique(np.rint(n * chance + spread * np.linspace(-6, 6, 50)).clip(0, n - 1))
        bound = module._tail(last, np.full(len(last), float(n)), np.full(len(last), chance))
        assert (bound >= binom.cdf(last, n, chance) * (1 - 1e-9)).all()


@pytest.mark.parametrize("n", [300_000, 2_000_000])
def test_limits_of_large_counts_hold(n: int) -> None:
    """By bounds of tails; and, for the larger number, between computed ones."""
    first, last = ends(1.0)
    for away in (0.0, 0.01, 0.3, 1.0, 1.7, 60.0):
        chance = first + away * math.sqrt(first * last / n)
        counts = np.arange(np.rint(n * chance - 5 * math.sqrt(n)), np.rint(n * chance + 5 * math.sqrt(n)))
        low, high = feldman_cousins(counts, n, 0.025, first, last)
        covered = binom.pmf(counts, n, chance)[(low <= chance) & (chance <= high)].sum()
        assert 0.95 <= covered < (0.98 if away < 3 else 0.952)


def test_large_counts_give_away_little() -> None:
    """Beyond 2^16 tails are bounded; beside Clopper and Pearson's limits, far from the ends of the range."""
    n = 10**6
    low, high = feldman_cousins(np.array([n // 2]), n, 0.025, 0.2, 0.8)
    sure_low, sure_high = clopper_pearson(np.array([n // 2]), n, 0.025)
    assert 0.99 < (high - low)[0] / (sure_high - sure_low)[0] < 1.003


@pytest.mark.parametrize("yes", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_no_share_is_certain_from_reports(n: int, yes: int) -> None:
    survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    for seed in range(5):
        interval = survey.estimate(survey.simulate(["no", "yes"][yes : yes + 1] * n, seed=seed)).interval(0.95)
        assert ((interval.low >= 0) & (interval.low < interval.high) & (interval.high <= 1)).all()


def test_different_numbers_of_bits_and_ranges_at_once() -> None:
    counts, n = np.array([3, 3, 0, 9, 3]), np.array([10, 20, 0, 9, 10])
    first, last = np.array([0.2, 0.2, 0.1, 0.3, 0.2]), np.array([0.8, 0.8, 0.9, 0.3, 0.9])
    low, high = feldman_cousins(counts, n, 0.025, first, last)
    for i in range(5):
        alone = feldman_cousins(counts[i : i + 1], n[i], 0.025, first[i], last[i])
        assert (low[i], high[i]) == (alone[0][0], alone[1][0])
    assert (low[2], high[2]) == (0.1, 0.9)
    assert (low[3], high[3]) == (0.3, 0.3)
