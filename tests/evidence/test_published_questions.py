"""Published mechanisms for numbers, sets and forms: their closed forms against enumeration, quadrature and draws.

Alpha: simulated figures are tested two-sided at 1e-9 each; there are twelve.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm

from evidence.published.fake_data import (
    audited_epsilon,
    claimed_epsilon,
    fake_data_probability,
    fake_data_ratio,
    zero_vector_ratio,
)
from evidence.published.one_number import NUMBER_BASELINES, PIECEWISE_FROM, Hybrid, Piecewise, TwoPoints
from evidence.published.sets import padding_and_sampling_variance, privset_variance, wheel_variance
from sottovoce.core.errors import SimulationError

LIMIT = float(norm.isf(0.5e-9))


@pytest.mark.parametrize("baseline", NUMBER_BASELINES, ids=lambda one: one.name)
@pytest.mark.parametrize(("x", "epsilon"), [(0.3, 1.0), (-1.0, 4.0)])
def test_reports_of_a_number_have_their_mean_and_variance(baseline, x, epsilon):
    n = 200_000
    reports = baseline.randomize_many(np.full(n, x), epsilon, np.random.default_rng(5))
    assert abs(reports.mean() - x) < LIMIT * reports.std() / math.sqrt(n)
    squares = (reports - x) ** 2
    assert abs(squares.mean() - baseline.variance(x, epsilon)) < LIMIT * squares.std() / math.sqrt(n)


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0, 4.0, 8.0])
def test_the_worst_number_is_where_it_is_said_to_be(epsilon):
    for baseline in NUMBER_BASELINES:
        worst = max(baseline.variance(x, epsilon) for x in np.linspace(-1, 1, 201))
        assert worst == pytest.approx(baseline.worst_variance(epsilon), rel=1e-12)


def test_hybrid_is_the_published_one():
    found = [Hybrid().worst_variance(epsilon) for epsilon in (0.5, 1, 2, 3, 4)]
    assert found == pytest.approx([16.67, 4.289, 1.042, 0.432, 0.219], rel=2e-3)
    assert round(PIECEWISE_FROM, 2) == 0.61
    # At the limit both choices have the same worst variance; above it the variance is the same for every number.
    mixed = -math.expm1(-PIECEWISE_FROM / 2)
    at_zero = mixed * Piecewise().variance(0.0, PIECEWISE_FROM) + (1 - mixed) * TwoPoints().variance(0, PIECEWISE_FROM)
    assert at_zero == pytest.approx(TwoPoints().worst_variance(PIECEWISE_FROM), rel=1e-9)
    assert Hybrid().variance(1.0, 2.0) == pytest.approx(Hybrid().variance(0.0, 2.0), rel=1e-12)


def _subset_variance(items: int, most: int, epsilon: float) -> float:
    """The least variance over k by listing all subsets, for the set {0, ..., m - 1}."""
    best = math.inf
    for k in range(1, items - most + 1):
        weights = {z: math.exp(epsilon) if min(z) < most else 1.0 for z in combinations(range(items), k)}
        total = sum(weights.values())
        held, other = (sum(w for z, w in weights.items() if item in z) / total for item in (0, items - 1))
        if held > other:
            best = min(best, other * (1 - other) / (held - other) ** 2)
    return best


@pytest.mark.parametrize(("size", "most"), [(4, 1), (5, 2), (6, 3)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_subsets_by_enumeration(size, most, epsilon):
    unpadded = privset_variance(size, most, epsilon, padded=False)
    assert unpadded == pytest.approx(_subset_variance(size, most, epsilon), rel=1e-12)
    assert privset_variance(size, most, epsilon) == pytest.approx(_subset_variance(size + most, most, epsilon))


def test_figures_of_sets():
    epsilons = (1, 2, 4)
    assert [privset_variance(1000, 5, e) / 5 for e in epsilons] == pytest.approx([4.09, 0.742, 0.0653], rel=2e-3)
    assert [privset_variance(10**5, 10, e) / 10 for e in epsilons] == pytest.approx([4.20, 0.765, 0.0764], rel=2e-3)
    assert [wheel_variance(10**6, e) / 10**6 for e in epsilons] == pytest.approx([4.78, 0.812, 0.0774], rel=2e-3)
    # One item per person: padding and sampling is the best single-item mechanism of the two.
    assert padding_and_sampling_variance(10**6, 1, 1.0) == pytest.approx(4 * math.e / math.expm1(1) ** 2)


def test_sampling_amplifies_randomized_response_exactly():
    """One of m items by randomized response at ln(m (e^eps - 1) + 1): e^eps on whole sets, and the stated variance."""
    size, most, ratio = 3, 2, Fraction(3)
    values = size + most
    amplified = most * (ratio - 1) + 1
    keep, change = amplified / (amplified + values - 1), 1 / (amplified + values - 1)

    def chance(report: int, held: tuple[int, ...]) -> Fraction:
        return sum((keep if report == item else change for item in held), Fraction(0)) / most

    sets = list(combinations(range(values), most))
    worst = max(chance(y, a) / chance(y, b) for y in range(values) for a, b in product(sets, sets))
    assert worst == ratio
    held, other = chance(0, (0, 1)), chance(2, (0, 1))
    assert other * (1 - other) / (held - other) ** 2 == (values - 1 + most * (ratio - 1)) / (ratio - 1) ** 2


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 4), (3, 3, 2, 2)])
def test_fake_data_has_the_amplified_epsilon_on_whole_records(sizes):
    ratio = Fraction(5, 2)
    records = list(product(*(range(size) for size in sizes)))
    assert sum(fake_data_probability(report, records[-1], sizes, ratio) for report in records) == 1
    found = fake_data_ratio(sizes, ratio)
    assert found == len(sizes) * (ratio - 1) + 1 > ratio
    assert math.log(found) == pytest.approx(audited_epsilon(len(sizes), math.log(ratio)), rel=1e-12)


def test_zero_vectors_do_not_help():
    for sizes in ((2, 2), (2, 3), (2, 2, 2)):
        assert zero_vector_ratio(sizes, Fraction(3)) == len(sizes) * 2 + 1


def test_a_public_attribute_would_cost_nothing():
    """Power: at the epsilon to be had on whole records, the package must be given the smaller claimed one."""
    ratio = Fraction(4)
    given = (ratio - 1) / 3 + 1
    assert fake_data_ratio((2, 3, 2), given) == ratio
    assert math.exp(claimed_epsilon(3, math.log(4))) == pytest.approx(float(given))


def test_too_many_records_are_refused():
    with pytest.raises(SimulationError, match="too many to enumerate"):
        fake_data_ratio([100, 100], Fraction(2))
    with pytest.raises(SimulationError, match="too many to enumerate"):
        zero_vector_ratio([20, 20], Fraction(2))


def _ratio_in_one_attribute(sizes: tuple[int, ...], ratio: Fraction) -> Fraction:
    """The largest ratio between records that differ in their first attribute only."""
    records = list(product(*(range(size) for size in sizes)))
    return max(
        fake_data_probability(report, record, sizes, ratio)
        / fake_data_probability(report, (1, *record[1:]), sizes, ratio)
        for report in records
        for record in records
        if record[0] == 0
    )


def test_what_fake_data_claim_holds_in_one_attribute_of_equal_sizes_only():
    assert _ratio_in_one_attribute((3, 3, 3), Fraction(3)) == 3
    assert _ratio_in_one_attribute((6, 2, 2), Fraction(3)) == 4
