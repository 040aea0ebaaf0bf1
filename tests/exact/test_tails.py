"""Intervals that hold: exact coverage of counts of bits, and certified deviations against exact tails."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from sottovoce.theory.tails import METHODS, clopper_pearson, deviation, mean_limit

MISSES = (0.25, 0.1, 0.025, 1e-3, 1e-7)


def misses_of(law: np.ndarray, mean: float, miss: float) -> tuple[float, float]:
    """The exact chance that the limits from a count with this law miss its mean chance: from above, from below."""
    n = len(law) - 1
    low, high = clopper_pearson(np.arange(n + 1), n, miss)
    return float(law[low > mean + 1e-12].sum()), float(law[high < mean - 1e-12].sum())


@pytest.mark.parametrize("n", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("miss", MISSES)
def test_limits_of_a_count_miss_no_more_often_than_stated(n: int, miss: float) -> None:
    for chance in np.linspace(0, 1, 101):
        law = binom.pmf(np.arange(n + 1), n, chance)
        assert max(misses_of(law, chance, miss)) <= miss * (1 + 1e-9)


@pytest.mark.parametrize("miss", MISSES)
def test_limits_hold_for_people_of_different_chances(miss: float) -> None:
    """These very people: sums of different bits, with few, middling and many successes; all laws of two chances."""
    for low, high in product((0.0, 0.001, 0.02, 0.3, 0.7), (0.01, 0.1, 0.5, 0.9, 0.999, 1.0)):
        for n, held in ((1, 1), (6, 1), (6, 3), (40, 1), (40, 20), (40, 39)):
            law = np.convolve(
                binom.pmf(np.arange(held + 1), held, high), binom.pmf(np.arange(n - held + 1), n - held, low)
            )
            mean = (held * high + (n - held) * low) / n
            assert max(misses_of(law, mean, miss)) <= miss * (1 + 1e-9), (low, high, n, held)


def test_the_correction_is_needed() -> None:
    """One person with a chance of almost `miss`, all others with none: plain limits would miss more often."""
    from scipy.special import betaincinv

    n, miss = 40, 0.2
    chance = miss * (1 + 0.5 * miss) * 0.999  # between miss and -log(1 - miss)
    plain = float(betaincinv(1, n, miss))
    assert chance / n < plain, "one success excludes the truth"
    assert chance > miss, "and is too likely"
    assert clopper_pearson(np.array([1]), n, miss)[0][0] <= chance / n


def tail_of_mean(values: np.ndarray, chances: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The exact law of a mean of n numbers with integer values."""
    law, one = np.ones(1), np.zeros(int(values.max()) + 1)
    one[values.astype(int)] = chances
    for _ in range(n):
        law = np.convolve(law, one)
    return np.arange(len(law)) / n, law


LAWS = {
    "coin": ([0, 1], [0.5, 0.5]),
    "rare": ([0, 1], [0.98, 0.02]),
    "far": ([0, 1, 40], [0.5, 0.49, 0.01]),
    "three": ([0, 1, 2], [0.45, 0.1, 0.45]),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("n", [1, 5, 60, 400])
@pytest.mark.parametrize("miss", [0.2, 0.025, 1e-4])
def test_a_mean_is_off_by_that_much_no_more_often_than_stated(name: str, n: int, miss: float) -> None:
    values, chances = (np.array(part, dtype=float) for part in LAWS[name])
    mean, spread = values @ chances, values.max() - values.min()
    variance = values**2 @ chances - mean**2
    places, law = tail_of_mean(values, chances, n)
    for floor, most, proxy in (
        (variance, variance, None),
        (variance / 3, 2 * variance, spread**2 / 4),
        (0.0, variance, None),
    ):
        away = float(deviation(most, floor, spread, n, miss, proxy).size)
        assert law[places >= mean + away - 1e-12].sum() <= miss + 1e-9 or away == 0
        assert law[places <= mean - away + 1e-12].sum() <= miss + 1e-9 or away == 0


def test_many_reports_make_it_normal() -> None:
    size, method = deviation(4.0, 4.0, 6.0, 10**8, 0.025)
    assert METHODS[int(method)].startswith("normal")
    assert float(size) == pytest.approx(1.96 * 2 / 10**4, rel=0.002)


def test_an_unknown_floor_costs_little_where_reports_are_many() -> None:
    """A small deviation makes the normal approximation useless, but then Bernstein's inequality suffices."""
    known, unknown = (float(deviation(1.0, floor, 10.0, 10**7, 0.025).size) for floor in (1.0, 0.0))
    assert known <= unknown <= 1.02 * known


def test_nothing_moves_a_constant() -> None:
    assert float(deviation(0.0, 0.0, 0.0, 10, 0.01).size) == 0.0


@pytest.mark.parametrize("n", [1, 10, 500])
@pytest.mark.parametrize("miss", [0.1, 0.001])
def test_the_limit_of_a_mean_is_missed_no_more_often_than_stated(n: int, miss: float) -> None:
    for chance in (0.0, 0.001, 0.05, 0.4, 1.0):
        counts = np.arange(n + 1)
        limit = mean_limit(counts / n, 1.0, n, miss)
        assert binom.pmf(counts, n, chance)[limit < chance - 1e-12].sum() <= miss
    assert math.isclose(float(mean_limit(0.3, 1.0, 10**12, miss)), 0.3, rel_tol=1e-4)


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12])
def test_limits_are_right_for_any_number_of_reports(n: int) -> None:
    """Inverses in libraries fail here and there (10^3 of 10^9 was off by 28 standard errors): the tail decides."""
    from scipy.special import betainc

    counts = np.unique(np.concatenate([np.arange(50), 10 ** np.arange(2, int(math.log10(n))), n // np.arange(2, 50)]))
    for miss in (0.025, 1e-9):
        low, high = clopper_pearson(counts, n, miss)
        each = -math.expm1(-miss)
        assert ((low <= counts / n) & (counts / n <= high)).all()
        some = counts > 0
        tail = betainc(counts[some], n - counts[some] + 1, low[some])
        assert (np.abs(tail / each - 1) < 2e-3).all()
        assert (np.abs(betainc(n - counts, counts + 1.0, 1 - high) / each - 1) < 2e-2).all()


def test_very_many_counts_are_interpolated_to_the_safe_side() -> None:
    for n in (10**5, 10**8):
        counts = np.unique(np.random.default_rng(1).integers(0, n + 1, 40_000))
        low, high = clopper_pearson(counts, n, 0.001)
        some = np.sort(np.random.default_rng(2).choice(len(counts), 400, replace=False))
        exact_low, exact_high = clopper_pearson(counts[some], n, 0.001)
        width = np.maximum(exact_high - exact_low, 1 / n)
        assert ((low[some] <= exact_low + 1e-15) & (exact_low - low[some] <= 1e-5 * width)).all()
        assert ((high[some] >= exact_high - 1e-15) & (high[some] - exact_high <= 1e-5 * width)).all()
