"""Adaptive sessions against their theory: the largest error over all rounds, and what overfitting gains.

Every simulated question's true answer is 0, so a round of m people errs like a normal of variance c^2/m, nearly: m is
in the hundreds or more, and rounds differ in size by little. The largest of d such errors in absolute value has the
distribution function F(t)^d, F that of an absolute normal. Alpha: 1e-8 a check, fewer than twenty checks.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import chi2, norm

from evidence.experiments.overfitting import OverfittingPoint, measure_overfitting, measure_reuse, save_picture
from sottovoce.lab.simulation.adaptive_error import MeasuredAdaptive, measure_adaptive
from sottovoce.theory.bounds import debias

pytestmark = pytest.mark.slow

ALPHA = 1e-8
N = 100_000
ROUNDS = (1, 2, 8, 64, 512)
EPSILONS = (0.25, 1.0, 4.0)
RUNS = {64: 8, 512: 2}
"""Fifty elsewhere: the largest of many errors varies little, and a session of many rounds takes longest."""

NORMALITY = 0.03
"""What the normal law may be off by, relatively: rounds of unequal sizes add about d/(2n), lattices still less."""


def largest_of(d: int) -> tuple[float, float]:
    """Mean and standard deviation of the largest of d absolute standard normals."""
    t = np.linspace(0, 12, 20_001)
    beyond = 1 - erf(t / math.sqrt(2)) ** d
    mean = float(np.trapezoid(beyond, t))
    return mean, math.sqrt(float(np.trapezoid(2 * t * beyond, t)) - mean**2)


@pytest.fixture(scope="module")
def measured() -> dict[tuple[int, float], MeasuredAdaptive]:
    return {
        (d, epsilon): measure_adaptive(d, N, epsilon, repeats=RUNS.get(d, 50), seed=100 * d + i)
        for d in ROUNDS
        for i, epsilon in enumerate(EPSILONS)
    }


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", ROUNDS)
def test_the_largest_error_is_below_the_bound_and_near_the_prediction(measured, d: int, epsilon: float) -> None:
    """The mean of R largest errors is normal with their deviation over sqrt(R): 5.7 of those, and what normality costs.

    One cell is left to the bound alone: at 195 people a round and epsilon 1/4 the normal law goes beyond the radius,
    where answers are clipped.
    """
    found = measured[d, epsilon]
    assert found.mean.linf_error < found.linf_bound
    if (d, epsilon) == (512, 0.25):
        assert 0.95 < found.mean.linf_error <= 1.0
        return
    expected, deviation = largest_of(d)
    tolerance = norm.isf(ALPHA / 2) * deviation / expected / math.sqrt(found.repeats) + NORMALITY
    assert abs(found.mean.linf_error / found.linf_predicted - 1) < tolerance
    # Against the people's own means nothing is added by sampling them; that matters where one round is all of them.
    noise = math.sqrt((debias(epsilon) ** 2 - 1 / d) / debias(epsilon) ** 2)
    assert abs(found.mean.linf_error_people / (noise * found.linf_predicted) - 1) < tolerance


def test_all_cells_together_leave_no_room_for_noise_of_another_size(measured) -> None:
    """Over all cells, sqrt(R) (mean - prediction)/deviation is normal: fourteen of them, squared, are chi-square.

    Power: noise a fifth too large or too small in every cell would be found out.
    """
    cells = {cell: found for cell, found in measured.items() if cell != (512, 0.25)}

    def statistic(scale: float) -> float:
        total = 0.0
        for (d, _), found in cells.items():
            expected, deviation = largest_of(d)
            ratio = scale * found.mean.linf_error / found.linf_predicted
            total += found.repeats * ((ratio - 1) * expected / deviation) ** 2
        return total

    # Normality may move a ratio by so little that it adds this much to the statistic at most.
    off = sum(f.repeats * (0.01 * largest_of(d)[0] / largest_of(d)[1]) ** 2 for (d, _), f in cells.items())
    limit = (math.sqrt(chi2.isf(ALPHA, len(cells))) + math.sqrt(off)) ** 2
    assert statistic(1.0) < limit
    assert statistic(1.2) > limit
    assert statistic(0.8) > limit


def test_overfitting_gains_nothing_where_people_are_fresh() -> None:
    """Given everything before, every overfitting answer has mean 0 and variance at most c^2/m: their mean over rounds
    and runs is normal with that variance over their number. Power: kept reports at the same epsilon give the same
    analyst well over one and a half times the error, and an average bias of twenty such deviations."""
    d, runs, epsilon = 64, 20, 1.0
    found = measure_adaptive(d, N, epsilon, "overfit", repeats=runs, seed=3)
    deviation = debias(epsilon) * math.sqrt(d / N) / math.sqrt(d / 2 * runs)
    assert found.mean.bias is not None
    assert abs(found.mean.bias) < norm.isf(ALPHA / 2) * deviation
    expected, spread = largest_of(d)
    tolerance = norm.isf(ALPHA / 2) * spread / expected / math.sqrt(runs) + NORMALITY
    assert abs(found.mean.linf_error / found.linf_predicted - 1) < tolerance < 0.35
    kept = measure_reuse(d, N, epsilon, repeats=runs, seed=3)
    assert kept.overfitting - kept.fixed > 20 * deviation
    assert kept.gain > 1.5
    assert measure_reuse(d, N, None, repeats=runs, seed=3).gain > 1.5


def test_the_picture(tmp_path) -> None:
    points = measure_overfitting((2, 8), 2_000, 1.0, repeats=2)
    assert [point.rounds for point in points] == [2, 8]
    assert all(isinstance(point, OverfittingPoint) and point.fresh.gain > 0 for point in points)
    save_picture(points, tmp_path / "overfitting.png")
    assert (tmp_path / "overfitting.png").stat().st_size > 10_000
