"""Enclosures of e**epsilon at few digits, where what rounding does can be seen."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sottovoce.randomness import thresholds
from sottovoce.randomness.thresholds import ONE, ceil_of, epsilon_of, exp_bounds, floor_of, within_epsilon

EXP_ONE = Fraction("2.71828182845904523536028747135266249775724709369995957496696763")


@pytest.mark.parametrize("digits", [5, 12, 30])
def test_an_enclosure_is_as_wide_as_stated(digits: int) -> None:
    """The value to so many digits, and 10**-(digits-2) of it to either side: room for every rounding on the way."""
    low, high = exp_bounds(Fraction(1), digits)
    middle = (low + high) / 2
    assert middle == round(EXP_ONE, digits - 1)
    assert (high - low) / middle == Fraction(2, 10 ** (digits - 2))


def test_the_argument_has_digits_to_spare() -> None:
    """Cut after six digits, 2/3 would move e**(2/3) by more than the enclosure is wide."""
    low, high = exp_bounds(Fraction(2, 3), 6)
    nearer = exp_bounds(Fraction(2, 3), 40)
    assert low < nearer[0] < nearer[1] < high


def test_a_floor_is_refined_until_both_ends_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def bounds(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        asked.append(digits)
        width = Fraction(1, ONE) if len(asked) < 3 else Fraction(1, 4 * ONE)
        return Fraction(5, ONE) + Fraction(1, 2 * ONE), Fraction(5, ONE) + Fraction(1, 2 * ONE) + width

    monkeypatch.setattr(thresholds, "exp_bounds", bounds)
    assert floor_of(lambda e: e, 1.0) == 5
    assert asked == [60, 120, 240]
    asked.clear()
    assert ceil_of(lambda e: e, 1.0) == 6
    assert asked == [60, 120, 240]


def test_a_comparison_is_refined_until_it_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def bounds(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        asked.append(digits)
        return (Fraction(1), Fraction(3)) if len(asked) < 3 else (Fraction(19, 10), Fraction(21, 10))

    monkeypatch.setattr(thresholds, "exp_bounds", bounds)
    for ratio, within in ((Fraction(18, 10), True), (Fraction(22, 10), False)):
        asked.clear()
        assert within_epsilon(ratio, 1.0) is within
        assert asked == [60, 120, 240]
    for ratio, within in ((Fraction(1), True), (Fraction(3), False)):
        asked.clear()
        assert within_epsilon(ratio, 1.0) is within
        assert asked == [60]


def test_floors_and_ceilings_of_known_numbers() -> None:
    assert floor_of(lambda e: 1 / (1 + e), 1.0) == int(ONE / (1 + EXP_ONE))
    assert ceil_of(lambda e: 1 / (1 + e), 1.0) == int(ONE / (1 + EXP_ONE)) + 1
    assert floor_of(lambda e: e - 3, 1.0) == int(ONE * (EXP_ONE - 3)) - 1
    assert epsilon_of(EXP_ONE) == 1.0
    assert epsilon_of(1 / EXP_ONE) == -1.0
