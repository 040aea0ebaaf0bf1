"""Probabilities as integers out of 2**64, rounded so that privacy can only gain.

Float64 `exp` lands above the true value about half the time, so nothing here uses it:
e**epsilon is enclosed between two rationals, and the enclosure is refined until the
rounding is certain. It always becomes certain: e**epsilon is transcendental for every rational
epsilon other than 0 (Hermite 1873), so no rational function of it with rational coefficients,
constants apart, ever sits on an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

__all__ = ["ONE", "PROBABILITY_BITS", "ceil_of", "epsilon_of", "exp_bounds", "floor_of", "within_epsilon"]

PROBABILITY_BITS = 64
ONE = 1 << PROBABILITY_BITS
"""The integer that stands for probability one."""

_FIRST_DIGITS = 60  # about 200 bits: three times what a threshold needs


def _context(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6)


@lru_cache(maxsize=256)
def exp_bounds(exponent: Fraction, digits: int = _FIRST_DIGITS) -> tuple[Fraction, Fraction]:
    """Rationals below and above e**exponent, about 10**-(digits-2) apart relatively.

    `Decimal.exp` is correctly rounded, so two units in the last place enclose the truth;
    the division that makes `exponent` a decimal is off by at most half a unit more.

    Examples
    --------
    >>> low, high = exp_bounds(Fraction(1))
    >>> low < Fraction("2.71828182845904523536028747135266249775724709369995957496696763") < high
    True
    """
    with localcontext(_context(digits + 10)):
        argument = Decimal(exponent.numerator) / Decimal(exponent.denominator)
    with localcontext(_context(digits)):
        nearest = Fraction(argument.exp())
    slack = nearest / 10 ** (digits - 2)
    return nearest - slack, nearest + slack


def floor_of(of_exp: Callable[[Fraction], Fraction], exponent: float | Fraction) -> int:
    """floor(2**64 * of_exp(e**exponent)), certain, for a monotone rational function `of_exp`."""
    digits = _FIRST_DIGITS
    while True:
        low, high = exp_bounds(Fraction(exponent), digits)
        floors = {int(ONE * of_exp(low) // 1), int(ONE * of_exp(high) // 1)}
        if len(floors) == 1:
            return floors.pop()
        digits *= 2


def ceil_of(of_exp: Callable[[Fraction], Fraction], exponent: float | Fraction) -> int:
    """ceil(2**64 * of_exp(e**exponent)), certain, for a monotone rational function `of_exp`."""
    return -floor_of(lambda e: -of_exp(e), exponent)


def within_epsilon(ratio: Fraction, epsilon: float) -> bool:
    """Whether ratio <= e**epsilon, decided exactly.

    Examples
    --------
    >>> within_epsilon(Fraction(2718281828, 10**9), 1.0), within_epsilon(Fraction(2718281829, 10**9), 1.0)
    (True, False)
    """
    digits = _FIRST_DIGITS
    while True:
        low, high = exp_bounds(Fraction(epsilon), digits)
        if ratio <= low:
            return True
        if ratio >= high:
            return False
        digits *= 2


def epsilon_of(ratio: Fraction) -> float:
    """The epsilon that a likelihood ratio amounts to: log(ratio), to the nearest float.

    Examples
    --------
    >>> epsilon_of(Fraction(1))
    0.0
    """
    with localcontext(_context(_FIRST_DIGITS)):
        return float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())
