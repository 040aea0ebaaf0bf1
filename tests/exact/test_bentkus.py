"""Bentkus's inequality against exact tails, its own minimum by brute force, and the inequality that it replaces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from sottovoce.theory.bentkus import bentkus

MISSES = (0.2, 0.025, 1e-4)
SHAPES = ((1.0, 1.0), (1.0, 5.0), (2.3, 3.8), (1.0, 0.3), (0.1, 5.0))
"""Standard deviations, and how far a number can be above its expectation."""


def least_deviation(n: int, sd: float, ahead: float, miss: float) -> float:
    """The infimum over h, from sums over all values of T and the definition."""
    chance = sd**2 / (sd**2 + ahead**2)
    k = np.arange(n + 1)
    sums, law = k * ahead - (n - k) * sd**2 / ahead, binom.pmf(k, n, chance)

    def proved(h: float) -> float:
        return h + math.sqrt(float(np.maximum(sums - h, 0.0) ** 2 @ law) / miss)

    grid = np.linspace(-5 * sd * math.sqrt(n), n * ahead, 4001)
    best = int(np.argmin([proved(h) for h in grid]))
    around = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    fine = minimize_scalar(proved, bounds=around, method="bounded", options={"xatol": 1e-9}).fun
    return min(fine, n * ahead) / n


@pytest.mark.parametrize("n", [1, 3, 40, 700])
@pytest.mark.parametrize("miss", MISSES)
def test_it_is_the_least_that_the_inequality_proves_and_never_less(n: int, miss: float) -> None:
    for sd, ahead in SHAPES:
        exact, proved = least_deviation(n, sd, ahead, miss), float(bentkus(sd**2, ahead, n, miss))
        assert exact * (1 - 1e-6) <= proved <= exact * 1.003, (sd, ahead)


@pytest.mark.parametrize("n", [4, 60])
@pytest.mark.parametrize("miss", MISSES)
def test_sums_of_different_people_exceed_it_no_more_often_than_stated(n: int, miss: float) -> None:
    """Half of the people have one law, half another: values of integers, whose sums are convolved."""
    for laws in (((0.5, 0.2, 0.3), (0.1, 0.0, 0.9)), ((0.98, 0.0, 0.02), (0.0, 1.0, 0.0)), ((0.45, 0.1, 0.45),) * 2):
        sums, values = np.ones(1), np.arange(3.0)
        means, variances = [], []
        for law in laws:
            means.append(float(values @ law))
            variances.append(float(values**2 @ law) - means[-1] ** 2)
            for _ in range(n // 2):
                sums = np.convolve(sums, law)
        for side in (1, -1):
            ahead = max(max(side * (values - mean)) for mean in means)
            away = float(bentkus(np.mean(variances), ahead, n, miss))
            off = side * (np.arange(len(sums)) / n - np.mean(means))
            assert sums[off > away + 1e-12].sum() <= miss


def test_a_variance_that_is_too_small_is_noticed() -> None:
    """A planted fault: half of the variance, and rare large numbers exceed the deviation too often."""
    n, miss, chance = 60, 0.025, 0.05
    law, off = binom.pmf(np.arange(n + 1), n, chance), np.arange(n + 1) / n - chance
    right, wrong = (float(bentkus(v * chance * (1 - chance), 1 - chance, n, miss)) for v in (1.0, 0.25))
    assert law[off > right].sum() <= miss < law[off > wrong].sum()


@pytest.mark.parametrize("n", [1, 50, 10**4, 10**8, 10**12])
def test_it_is_never_more_than_bernsteins_and_tends_to_a_multiple_of_the_normal_one(n: int) -> None:
    for miss in MISSES:
        for sd, ahead in SHAPES:
            half = -math.log(miss) * ahead / 3
            bernstein = (half + math.sqrt(half**2 - 2 * n * math.log(miss) * sd**2)) / n
            assert float(bentkus(sd**2, ahead, n, miss)) <= 1.0015 * bernstein
    if n >= 10**8:
        assert float(bentkus(1.0, 1.0, n, 0.025)) * math.sqrt(n) / 1.96 == pytest.approx(1.2419, rel=1e-3)


def test_it_grows_with_the_variance_and_nothing_moves_a_constant() -> None:
    many = bentkus(np.geomspace(1e-6, 1e30, 2000), 1.0, 77, 0.01)
    assert (np.diff(many) >= -1e-6 * many[1:]).all(), "but for the precision of h"
    assert many[-1] == 1.0, "no mean exceeds what every number stays below"
    assert float(bentkus(0.0, 1.0, 77, 0.01)) == 0.0
