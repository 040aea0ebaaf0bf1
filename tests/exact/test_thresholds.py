"""Thresholds against arithmetic that shares nothing with them: a Taylor series in directed-rounded integers.

Every mechanism's rounding must go toward privacy, and by no more than the last unit.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sottovoce.auditing import channel
from sottovoce.core.limits import MAX_EPSILON, MIN_EPSILON
from sottovoce.mechanisms import FiniteMechanism, create, serving
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.unary import Unary
from sottovoce.randomness import scripts
from sottovoce.randomness.thresholds import ONE, ceil_of, epsilon_of, exp_bounds, floor_of, within_epsilon

BITS = 400


def exp_between(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above e**exponent (0 < exponent <= 32): all roundings down, and all up."""
    low_term = high_term = low = high = 1 << BITS
    k = 0
    while high_term > 1 or k < 64:
        k += 1
        low_term = low_term * exponent.numerator // (exponent.denominator * k)
        high_term = -(-high_term * exponent.numerator // (exponent.denominator * k))
        low += low_term
        high += high_term
    # From here on every term is at most half of the one before, so the tail is at most the last term.
    return Fraction(low, 1 << BITS), Fraction(high + high_term, 1 << BITS)


def sample_epsilons() -> list[float]:
    """The extremes, the usual, and two hundred in between."""
    extremes = [MIN_EPSILON, math.nextafter(MIN_EPSILON, 1), MAX_EPSILON, math.nextafter(MAX_EPSILON, 0)]
    usual = [0.1, 0.25, 0.5, 1.0, math.nextafter(1.0, 2), math.log(2), math.log(3), 2.0, 3.0, math.pi, 4.0, 8.0]
    spread = np.exp(np.random.default_rng(1).uniform(math.log(MIN_EPSILON), math.log(MAX_EPSILON), size=200))
    return extremes + usual + [float(e) for e in spread]


EPSILONS = sample_epsilons()
GROUPS = [(1, 1), (1, 2), (1, 999), (3, 5), (512, 512), (7, 2**20), (2**19, 2**40)]


@pytest.fixture(scope="module")
def enclosures() -> dict[float, tuple[Fraction, Fraction]]:
    return {epsilon: exp_between(Fraction(epsilon)) for epsilon in EPSILONS}


def test_the_independent_series_is_tight(enclosures: dict[float, tuple[Fraction, Fraction]]) -> None:
    for epsilon, (low, high) in enclosures.items():
        assert low < high
        assert high - low < Fraction(1, 2 ** (BITS - 40))
        assert math.isclose(low, math.exp(epsilon), rel_tol=1e-14)


def test_exp_bounds_enclose_e_to_the_epsilon(enclosures: dict[float, tuple[Fraction, Fraction]]) -> None:
    for epsilon, (low, high) in enclosures.items():
        ours = exp_bounds(Fraction(epsilon))
        assert ours[0] < low
        assert high < ours[1]
        assert ours[1] - ours[0] < ours[0] / 10**57


def test_half_of_the_epsilons_have_a_float_exp_that_is_too_large(
    enclosures: dict[float, tuple[Fraction, Fraction]],
) -> None:
    """Otherwise the sample could not tell an exact threshold from a float one."""
    too_large = [e for e, (_, high) in enclosures.items() if Fraction(math.exp(e)) > high]
    assert len(EPSILONS) // 4 < len(too_large) < 3 * len(EPSILONS) // 4


@pytest.mark.parametrize(("inside", "outside"), GROUPS)
def test_floors_and_ceilings_are_exact(
    inside: int, outside: int, enclosures: dict[float, tuple[Fraction, Fraction]]
) -> None:
    def share(e: Fraction) -> Fraction:
        return inside * e / (inside * e + outside)

    for epsilon, (low, high) in enclosures.items():
        floor = floor_of(share, epsilon)
        assert floor < ONE * share(low) < ONE * share(high) < floor + 1
        assert floor == TwoLevel(inside, outside, epsilon).threshold
        complement = ceil_of(lambda e: 1 - share(e), epsilon)
        assert complement == ONE - floor


def test_a_floor_is_refined_until_it_is_certain(enclosures: dict[float, tuple[Fraction, Fraction]]) -> None:
    """Values so close to an integer that the first sixty digits cannot tell on which side they lie."""
    for epsilon, (low, high) in enclosures.items():
        assert floor_of(lambda e, low=low: Fraction(12345, ONE) * e / low, epsilon) == 12345
        assert floor_of(lambda e, high=high: Fraction(12345, ONE) * e / high, epsilon) == 12344
        assert ceil_of(lambda e, low=low: Fraction(12345, ONE) * e / low, epsilon) == 12346


def test_a_float_threshold_would_break_privacy_for_many_epsilons() -> None:
    broken = 0
    for epsilon in EPSILONS:
        threshold = int(2.0**64 * (math.exp(epsilon) / (math.exp(epsilon) + 1)))
        broken += not within_epsilon(Fraction(threshold, ONE - threshold), epsilon)
    assert broken > len(EPSILONS) // 10


def test_within_epsilon_decides_at_the_edge(enclosures: dict[float, tuple[Fraction, Fraction]]) -> None:
    for epsilon, (low, high) in enclosures.items():
        assert within_epsilon(low, epsilon)
        assert not within_epsilon(high, epsilon)
        assert within_epsilon(Fraction(1), epsilon)


def test_epsilon_of_is_the_nearest_float(enclosures: dict[float, tuple[Fraction, Fraction]]) -> None:
    for epsilon, (low, high) in enclosures.items():
        assert epsilon_of(low) == epsilon_of(high) == epsilon
    for ratio in (Fraction(2), Fraction(3, 2), Fraction(10**6 + 1, 10**6), Fraction(10**6)):
        nearest = epsilon_of(ratio)
        below = (Fraction(nearest) + Fraction(math.nextafter(nearest, 0))) / 2
        above = (Fraction(nearest) + Fraction(math.nextafter(nearest, math.inf))) / 2
        assert exp_between(below)[1] <= ratio <= exp_between(above)[0]


GRID = [(J, e) for J in (2, 3, 5, 16, 17, 100, 1000) for e in (MIN_EPSILON, 0.01, 0.5, 1.0, 2.0, 5.0, MAX_EPSILON)]
LARGE = [
    ("hadamard", 2**40, MIN_EPSILON),
    ("hadamard_blocks", 2**40, 8.0),
    ("projective_geometry", 2**40, 3.0),
    ("randomized_response", 2**40, MIN_EPSILON),
    ("randomized_response", 2**40, MAX_EPSILON),
    ("subset_selection", 2**22, 1.0),
    ("unary_optimized", 2**22, MIN_EPSILON),
]


class Raised(scripts.Enumerator):
    """Draws as if every threshold were one unit higher."""

    def bernoulli(self, threshold: int) -> bool:
        return super().bernoulli(threshold + 1)


def next_threshold_ratio(mechanism: FiniteMechanism) -> Fraction:
    """The likelihood ratio if the one rounded threshold were one unit less private."""
    if isinstance(mechanism, Unary):
        own, other = mechanism.own_threshold, mechanism.other_threshold
        if mechanism.name == "unary_symmetric":
            own, other = own + 1, other - 1
        else:
            other -= 1
        return Fraction(own * (ONE - other), other * (ONE - own))
    levels = getattr(mechanism, "_levels", None)
    if levels is None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scripts, "Enumerator", Raised)
            ratio = channel.worst_ratio(channel.device_channel(mechanism))
        assert ratio is not None
        return ratio
    raised = levels.threshold + 1
    return Fraction(raised * levels.outside, levels.inside * (ONE - raised))


def check_rounding(mechanism: FiniteMechanism) -> None:
    ratio = mechanism.privacy_ratio()
    assert ratio > 1
    assert within_epsilon(ratio, mechanism.epsilon)
    assert mechanism.exact_epsilon <= mechanism.epsilon
    # A mechanism of another form than those known here is run on all outcomes, where they are few.
    if isinstance(mechanism, Unary) or hasattr(mechanism, "_levels") or mechanism.domain_size <= 17:
        assert not within_epsilon(next_threshold_ratio(mechanism), mechanism.epsilon)


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_rounding_goes_toward_privacy_by_less_than_a_unit(name: str) -> None:
    for domain_size, epsilon in GRID:
        check_rounding(create(name, domain_size, epsilon))


@pytest.mark.parametrize(("name", "domain_size", "epsilon"), LARGE)
def test_rounding_over_very_large_domains(name: str, domain_size: int, epsilon: float) -> None:
    check_rounding(create(name, domain_size, epsilon))


@pytest.mark.parametrize("kind", [Hadamard, RandomizedResponse])
def test_running_the_device_with_raised_thresholds_gives_the_same(kind: type[FiniteMechanism]) -> None:
    mechanism = kind.best(5, 1.0)
    known = next_threshold_ratio(mechanism)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripts, "Enumerator", Raised)
        assert channel.worst_ratio(channel.device_channel(mechanism)) == known
