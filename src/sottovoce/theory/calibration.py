"""How much Gaussian noise a stated (epsilon, delta) needs, and what a given noise really gives.

Two accounts. The discrete Gaussian that devices draw is rho-zCDP with rho = sensitivity^2/(2 sigma^2)
(Canonne, Kamath, Steinke 2020, Thm 4), converted to (epsilon, delta) by their Prop. 12; what decides
whether a survey is accepted is evaluated with 60 digits and rounded up. The continuous Gaussian has an
exact account (Balle and Wang 2018, Thm 8), used to judge what was published.

Two people's vectors of norm at most r can be 2r apart: the sensitivity is 2r, not r.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction

from sottovoce.core.extras import full_install

__all__ = [
    "analytic_gaussian_delta",
    "analytic_gaussian_epsilon",
    "analytic_gaussian_sigma",
    "discrete_gaussian_sigma",
    "discrete_gaussian_variance",
    "zcdp_delta",
    "zcdp_delta_upper",
    "zcdp_epsilon",
]

_SLACK = 2.0**-30
"""Relative excess of a calibrated variance: far above what platforms' logarithms differ by, far below what matters."""

_HOPELESS = 100
"""With rho this far above epsilon the delta is 1 to all digits."""


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta of rho-zCDP at epsilon, to floating-point accuracy; `zcdp_delta_upper` is the certain form.

    The minimum over alpha > 1 of exp((alpha-1)(alpha rho - eps)) (1-1/alpha)^alpha/(alpha-1).

    Examples
    --------
    >>> zcdp_delta(2 / 9.062**2, 1.0) < 1e-6 < zcdp_delta(2 / 9.060**2, 1.0)
    True
    """
    return math.exp(_log_zcdp_delta(rho, epsilon))


def _log_zcdp_delta(rho: float, epsilon: float) -> float:
    if rho - epsilon > _HOPELESS:
        return 0.0
    a = _best_order(rho, epsilon)  # alpha - 1
    # log1p and not log(alpha-1) - log(alpha): the two would cancel for a large alpha.
    return min(0.0, a * ((a + 1) * rho - epsilon) - a * math.log1p(1 / a) - math.log1p(a))


def _best_order(rho: float, epsilon: float) -> float:
    """alpha - 1 at the minimum: the zero of the increasing function (2 alpha - 1) rho - eps + log(1 - 1/alpha)."""
    return _zero_of(lambda a: (2 * a + 1) * rho - epsilon - math.log1p(1 / a))


def zcdp_delta_upper(rho: Fraction, epsilon: float) -> Fraction:
    """A number certainly not below the delta of rho-zCDP at epsilon, and close to it (but never below e^-1000).

    The conversion holds for every alpha, so the minimising one may come from floating point; it is then
    taken as the exact rational it is, and the formula is evaluated with 60 digits and rounded up.
    """
    if rho - Fraction(epsilon) > _HOPELESS:
        return Fraction(1)
    excess = Fraction(_best_order(float(rho), epsilon))
    context = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9)
    with localcontext(context):
        a = Decimal(excess.numerator) / excess.denominator
        rate = Decimal(rho.numerator) / rho.denominator
        exponent = a * ((a + 1) * rate - Decimal(epsilon)) + a * (a / (a + 1)).ln() - (a + 1).ln()
        # Every term is below 1e18 in size and off by a few units of its 60th digit. No float is as small as e^-1000,
        # and the fraction of a far smaller number would fill the memory.
        bound = max(exponent + Decimal("1e-40"), Decimal(-1000)).exp()
        return min(Fraction(1), Fraction(bound))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The least epsilon at which rho-zCDP has at most this delta, to floating-point accuracy.

    Examples
    --------
    >>> round(zcdp_epsilon(2 / 9.062**2, 1e-6), 3)
    1.0
    """
    if zcdp_delta(rho, 0.0) <= delta:
        return 0.0
    return _zero_of(lambda epsilon: delta - zcdp_delta(rho, epsilon))


def discrete_gaussian_variance(epsilon: float, delta: float) -> Fraction:
    """The least sigma^2/r^2 of a discrete Gaussian that makes vectors of norm at most r (epsilon, delta)-LDP.

    Rounded up by a relative 2**-30, so that `zcdp_delta_upper` of it is at most delta on every machine.

    Examples
    --------
    >>> round(math.sqrt(discrete_gaussian_variance(1.0, 1e-6)), 3)
    9.062
    """
    if not 0 < delta < 1:
        raise ValueError("Gaussian noise needs a delta above 0 and below 1")
    rho = _zero_of(lambda rate: _log_zcdp_delta(rate, epsilon) - math.log(delta))
    return Fraction(2 / rho * (1 + _SLACK))


def discrete_gaussian_sigma(epsilon: float, delta: float, radius: float = 1.0) -> float:
    """The standard deviation that `discrete_gaussian_variance` amounts to for vectors of norm at most `radius`.

    Examples
    --------
    >>> round(discrete_gaussian_sigma(1.0, 1e-6, radius=2.0), 2)
    18.12
    """
    return radius * math.sqrt(discrete_gaussian_variance(epsilon, delta))


def analytic_gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> float:
    """The exact delta of continuous Gaussian noise at epsilon (Balle and Wang 2018, Theorem 8).

    Phi(m - x) - e^eps Phi(-m - x), with m = sensitivity/(2 sigma) and x = eps sigma/sensitivity. Since
    eps = 2 m x this is phi(x - m) [R(x - m) - R(x + m)] with Mills' ratio R = (1 - Phi)/phi: no huge times tiny.

    Examples
    --------
    >>> round(analytic_gaussian_delta(8.449, 2.0, 1.0) * 1e6, 2)
    1.0
    """
    m, x = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    density = math.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi)
    if x > m:
        return density * (_mills(x - m) - _mills(x + m))
    return 0.5 * math.erfc((x - m) / math.sqrt(2)) - density * _mills(x + m)


def _mills(x: float) -> float:
    with full_install:
        from scipy.special import erfcx

    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def analytic_gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> float:
    """The least epsilon at which continuous Gaussian noise has at most this delta.

    Examples
    --------
    >>> round(analytic_gaussian_epsilon(8.449, 2.0, 1e-6), 3)
    1.0
    """
    if analytic_gaussian_delta(sigma, sensitivity, 0.0) <= delta:
        return 0.0
    return _zero_of(lambda epsilon: delta - analytic_gaussian_delta(sigma, sensitivity, epsilon))


def analytic_gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least sigma of continuous Gaussian noise that is (epsilon, delta)-private.

    Examples
    --------
    >>> round(analytic_gaussian_sigma(1.0, 1e-6, 2.0), 3)
    8.449
    """
    return _zero_of(lambda sigma: 1 - analytic_gaussian_delta(sigma, sensitivity, epsilon) / delta)


def _zero_of(increasing: Callable[[float], float]) -> float:
    """The zero of an increasing function of the positive numbers, by bisection of the logarithm."""
    low, high = -1.0, 1.0
    while increasing(math.exp(low)) > 0:
        low *= 2
    while increasing(math.exp(high)) < 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if increasing(math.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)
