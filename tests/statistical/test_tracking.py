"""Intervals, bands and tests of curves hold as often as they say.

Fixed seeds. For a coverage of 95 % or more, misses among n trials exceed n/20 by five standard deviations with
probability below 1e-6; certified intervals are wider, so that there is room.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.curve import Curve
from sottovoce.surveys.survey import Tracking

pytestmark = pytest.mark.slow

REPEATS = 100
PAIRS = ((2, 1), (3, 1), (4, 2))


def tracked(epsilon: float, periods: int) -> Tracking:
    asked = sv.questions.Shares(["yes", "no"])
    return sv.Tracking(asked, periods=periods, every="week", starts="2027-01-04", epsilon=epsilon)


def curves(tracking: Tracking, shares: list[float], people: int, seed: int, repeats: int = REPEATS) -> list[Curve]:
    """Curves of so many people in every period, drawn at random."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        aggregates = {}
        for number, share in enumerate(shares, 1):
            yes = int(rng.binomial(people, share))
            own = int(rng.integers(2**62))
            aggregates[number] = tracking.period(number).simulate_aggregate(histogram=[yes, people - yes], seed=own)
        found.append(tracking.estimate(aggregates))
    return found


def most_misses(trials: int, chance: float = 0.05) -> float:
    return trials * chance + 5 * math.sqrt(trials * chance * (1 - chance))


@pytest.mark.parametrize(
    ("epsilon", "people", "shares"),
    [(1.0, 300, [0.02, 0.1, 0.3, 0.5]), (4.0, 40, [0.02, 0.02, 0.02, 0.02]), (4.0, 300, [0.5, 0.3, 0.1, 0.02])],
)
def test_intervals_differences_and_bands_hold(epsilon: float, people: int, shares: list[float]) -> None:
    each = band = difference = 0
    for curve in curves(tracked(epsilon, 4), shares, people, seed=1):
        points = curve.series("yes").points
        each += sum(not one.low <= p <= one.high for one, p in zip(points, shares, strict=True))  # type: ignore[operator]
        band += any(not one.band_low <= p <= one.band_high for one, p in zip(points, shares, strict=True))  # type: ignore[operator]
        for later, earlier in PAIRS:
            found = curve.difference(later, earlier, "yes")
            difference += not found.low <= shares[later - 1] - shares[earlier - 1] <= found.high
    assert each <= most_misses(4 * REPEATS)
    assert band <= most_misses(REPEATS)
    assert difference <= most_misses(len(PAIRS) * REPEATS)


def test_the_check_would_see_intervals_of_a_lower_level() -> None:
    """The power of the test above: at 60 % instead of 95 % it fails."""
    shares = [0.02, 0.1, 0.3, 0.5]
    missed = 0
    for curve in curves(tracked(1.0, 4), shares, 300, seed=1):
        for later, earlier in PAIRS:
            found = curve.difference(later, earlier, "yes", 0.6)
            missed += not found.low <= shares[later - 1] - shares[earlier - 1] <= found.high
    assert missed > most_misses(len(PAIRS) * REPEATS)


def test_tests_find_no_change_where_there_is_none_and_one_where_there_is() -> None:
    still = [curve.trend("yes") for curve in curves(tracked(1.0, 8), [0.3] * 8, 500, seed=2)]
    assert sum(one.p_value < 0.05 for one in still) <= most_misses(REPEATS)
    assert sum(one.p_value_change < 0.05 for one in still) <= most_misses(REPEATS)
    assert sum(not one.low <= 0 <= one.high for one in still) == sum(one.p_value < 0.05 for one in still)
    rising = [curve.trend("yes") for curve in curves(tracked(1.0, 8), [0.1 + 0.1 * k for k in range(8)], 500, seed=3)]
    assert all(one.p_value < 0.001 for one in rising)
    assert all(one.p_value_change < 0.001 for one in rising)
    assert sum(not one.low <= 0.1 <= one.high for one in rising) <= most_misses(REPEATS)


def test_a_planned_change_is_seen_four_times_in_five() -> None:
    """Among 150 the number seen is 120 with a standard deviation of 4.9; bounds at five of them."""
    planned = sv.plan(["yes", "no"], periods=2, epsilon=1.0, change=0.1)
    shares, repeats = [0.45, 0.55], 150
    seen = 0
    for curve in curves(tracked(1.0, 2), shares, planned.period.people, seed=4, repeats=repeats):
        found = curve.difference(2, 1, "yes")
        seen += not found.low <= 0 <= found.high
    assert 0.8 * repeats - 25 <= seen <= 0.8 * repeats + 25
