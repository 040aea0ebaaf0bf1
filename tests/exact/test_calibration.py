"""Calibration against brute force and quadrature; the figures quoted in the documentation are pinned here."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from cases import each
from sottovoce.theory.calibration import (
    analytic_gaussian_delta,
    analytic_gaussian_epsilon,
    analytic_gaussian_sigma,
    discrete_gaussian_sigma,
    discrete_gaussian_variance,
    zcdp_delta,
    zcdp_delta_upper,
    zcdp_epsilon,
)

EPSILONS = [2.0**-20, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
DELTAS = [5e-324, 1e-300, 1e-12, 1e-9, 1e-6, 1e-5, 0.1, 0.9, 1 - 1e-9]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 3.0])
def test_zcdp_delta_is_the_minimum_over_orders(epsilon: float, rho: float) -> None:
    alpha = 1 + np.geomspace(1e-6, 1e7, 400_001)
    with np.errstate(over="ignore"):
        log_delta = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
    assert zcdp_delta(rho, epsilon) == pytest.approx(min(1.0, math.exp(log_delta.min())), rel=1e-6)
    assert zcdp_delta(rho, epsilon) <= math.exp(log_delta.min()) * (1 + 1e-9)


def test_the_conversion_is_never_better_than_the_truth() -> None:
    """A continuous Gaussian is rho-zCDP too, and its exact delta is known: the account must lie above it."""
    for epsilon in (0.1, 1.0, 4.0):
        for sigma in (0.5, 2.0, 9.0):
            assert zcdp_delta(2 / sigma**2, epsilon) > analytic_gaussian_delta(sigma, 2.0, epsilon)


@given(st.floats(1e-12, 50.0), st.floats(2.0**-20, 16.0))
def test_the_upper_form_is_above_and_close(rho: float, epsilon: float) -> None:
    upper, near = zcdp_delta_upper(Fraction(rho), epsilon), zcdp_delta(rho, epsilon)
    assert float(upper) == pytest.approx(near, rel=1e-9, abs=1e-300)
    assert 0 < upper <= 1


@pytest.mark.parametrize(("rho", "epsilon"), [("2/82", 1.0), ("1/1000", 0.1), ("7/3", 4.0), ("1/10", 16.0)])
def test_the_upper_form_is_above_the_true_minimum(rho: str, epsilon: float) -> None:
    """The minimum over all orders with 80 digits, by bisection of the derivative."""
    with localcontext() as context:
        context.prec = 80
        rate, e = Decimal(Fraction(rho).numerator) / Fraction(rho).denominator, Decimal(epsilon)
        low, high = Decimal("1e-9"), Decimal("1e9")
        for _ in range(300):
            a = (low * high).sqrt()
            low, high = (a, high) if (2 * a + 1) * rate - e + (a / (a + 1)).ln() < 0 else (low, a)
        least = (a * ((a + 1) * rate - e) + a * (a / (a + 1)).ln() - (a + 1).ln()).exp()
        upper = zcdp_delta_upper(Fraction(rho), epsilon)
        found = Decimal(upper.numerator) / upper.denominator
        assert least < found < least * (1 + Decimal("1e-20"))


@each("epsilon", EPSILONS)
@each("delta", DELTAS)
def test_the_calibrated_variance_suffices_and_hardly_less_does(epsilon: float, delta: float) -> None:
    variance = discrete_gaussian_variance(epsilon, delta)
    assert zcdp_delta_upper(2 / variance, epsilon) <= Fraction(delta)
    assert zcdp_delta_upper(2 / (variance * Fraction(999_999, 1_000_000)), epsilon) > Fraction(delta)


def test_sensitivity_is_twice_the_radius() -> None:
    """rho = (2r)^2/(2 sigma^2), not r^2/(2 sigma^2): the mistake of the published calibration."""
    sigma = discrete_gaussian_sigma(1.0, 1e-6, radius=3.0)
    assert zcdp_delta((2 * 3.0) ** 2 / (2 * sigma**2), 1.0) == pytest.approx(1e-6, rel=1e-6)


def test_quoted_figures() -> None:
    assert discrete_gaussian_sigma(1.0, 1e-6) == pytest.approx(9.062, abs=5e-4)
    assert analytic_gaussian_sigma(1.0, 1e-6, 2.0) == pytest.approx(8.449, abs=5e-4)
    excess = [
        discrete_gaussian_sigma(epsilon, delta) / analytic_gaussian_sigma(epsilon, delta, 2.0) - 1
        for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
        for delta in (1e-12, 1e-9, 1e-6, 1e-5)
    ]
    assert min(excess) == pytest.approx(0.035, abs=5e-4)
    assert max(excess) == pytest.approx(0.105, abs=5e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0, 30.0])
def test_analytic_delta_is_the_hockey_stick_divergence(epsilon: float, sigma: float) -> None:
    """delta = integral of max(0, p - e^eps q) for normals a sensitivity apart, by quadrature."""
    start = epsilon * sigma**2 / 2  # where p = e^eps q, for means 1 and -1

    def density(y: float) -> float:
        return float(norm.pdf(y, 1, sigma) - math.exp(epsilon) * norm.pdf(y, -1, sigma))

    found = quad(density, start, max(start, 1) + 12 * sigma, epsabs=0, epsrel=1e-10, limit=200)[0]
    assert analytic_gaussian_delta(sigma, 2.0, epsilon) == pytest.approx(found, rel=1e-7)


def test_analytic_forms_undo_each_other() -> None:
    for epsilon in (0.01, 1.0, 10.0):
        for delta in (1e-100, 1e-9, 0.2):
            sigma = analytic_gaussian_sigma(epsilon, delta, 2.0)
            assert analytic_gaussian_delta(sigma, 2.0, epsilon) == pytest.approx(delta, rel=1e-9)
            assert analytic_gaussian_epsilon(sigma, 2.0, delta) == pytest.approx(epsilon, rel=1e-9)
            assert zcdp_delta(0.1, zcdp_epsilon(0.1, delta)) == pytest.approx(delta, rel=1e-6)


def test_extremes_do_not_break() -> None:
    assert zcdp_delta(1e9, 1.0) == 1.0
    assert zcdp_delta_upper(Fraction(2**41), 1.0) == 1
    assert zcdp_epsilon(1e-9, 0.5) == 0.0
    assert analytic_gaussian_epsilon(100.0, 2.0, 0.5) == 0.0
    assert analytic_gaussian_delta(1e-3, 2.0, 1.0) == pytest.approx(1.0)
    assert 0 <= analytic_gaussian_delta(1e6, 2.0, 16.0) < 1e-300
    for delta in (0.0, 1.0, -0.5):
        with pytest.raises(ValueError, match="delta above 0 and below 1"):
            discrete_gaussian_variance(1.0, delta)
