"""The paper's lemmas, where they can be checked to the last digit: projections on bodies, and a binomial tail."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import PlanError
from sottovoce.projections import project_simplex
from sottovoce.theory.offline_bounds import lemma_2_2, theorem_3_4


def on_cross_polytope(point: np.ndarray) -> np.ndarray:
    """The nearest point of {x : |x_1| + .. + |x_d| <= 1}, by the simplex of absolute values."""
    if np.abs(point).sum() <= 1:
        return point
    return np.sign(point) * project_simplex(np.abs(point)).values


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 10.0])
def test_projecting_on_a_symmetric_body_loses_no_more_than_lemma_2_2_says(scale: float) -> None:
    """On a ball the polar norm is the length, on a cross-polytope the largest entry; the noise is z."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        truth, z = rng.normal(size=5), scale * rng.normal(size=5)
        truth /= np.abs(truth).sum()  # within both bodies
        noise, noisy = float(np.linalg.norm(z)), truth + z
        in_ball = noisy / max(1.0, float(np.linalg.norm(noisy)))
        assert np.sum((in_ball - truth) ** 2) <= lemma_2_2(noise, noise)
        lost = float(np.sum((on_cross_polytope(noisy) - truth) ** 2))
        largest = float(np.abs(z).max())
        assert lost <= lemma_2_2(noise, largest) <= 4 * largest, "Corollary 2.3"


def test_no_constant_below_two_would_do() -> None:
    """2 max_j |<z, a_j>| is reached: half of what is printed, and no less, can hold for all noise."""
    truth, z = np.array([1.0, 0.0]), np.array([-1.0, 1.0])
    lost = float(np.sum((on_cross_polytope(truth + z) - truth) ** 2))
    assert lost == pytest.approx(2.0)
    assert lost <= 4.0, "Corollary 2.3"


@pytest.mark.parametrize("n", [120, 121, 200, 399, 1000])
def test_few_senders_are_as_rare_as_lemma_3_5_says(n: int) -> None:
    """P(Binomial(n, 1/2) <= n/4), exactly."""
    tail = Fraction(sum(math.comb(n, k) for k in range(n // 4 + 1)), 2**n)
    assert 0 < tail <= Fraction(math.exp(-n / 34))


def test_what_is_printed_for_many_is_not_stated_for_few() -> None:
    assert theorem_3_4(4, 10, 1.0, 1.0, 120).value > theorem_3_4(4, 10, 1.0, 1.0, 1200).value
    with refuses(PlanError, "n_reports"):
        theorem_3_4(4, 10, 1.0, 1.0, 119)
