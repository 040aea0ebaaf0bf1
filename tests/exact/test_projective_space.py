"""Projective spaces: numbering, orthogonality and the fast hyperplane sums, all against brute force."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from sottovoce.kernels.finite_field import MAX_ORDER, is_field_order, kernel_tables
from sottovoce.kernels.projective import hyperplane_sums, singer_polynomial
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.projective_space import MAX_OVERSHOOT, ProjectiveSpace, dimension_for, orders_to_try

PRIME = [(2, 2), (2, 3), (2, 5), (3, 2), (3, 4), (5, 3), (7, 2), (7, 3), (13, 2)]
SPACES = [*PRIME, (4, 2), (4, 3), (8, 2), (9, 2), (16, 2), (27, 2)]
LARGER = [(2, 2), (3, 2), (2, 3), (2, 10), (3, 6), (5, 4), (31, 3), (499, 2)]
LARGER += [(4, 2), (4, 5), (8, 3), (9, 3), (16, 3), (25, 2), (27, 2), (256, 2)]
spaces = pytest.mark.parametrize(
    "space", [ProjectiveSpace(q, t) for q, t in SPACES], ids=lambda s: f"{s.order}^{s.dimension}"
)
larger = pytest.mark.parametrize(
    "space", [ProjectiveSpace(q, t) for q, t in LARGER], ids=lambda s: f"{s.order}^{s.dimension}"
)


def canonical_vectors(space: ProjectiveSpace) -> set[tuple[int, ...]]:
    """All vectors whose first non-zero entry is 1: one for each line through the origin."""
    every = product(range(space.order), repeat=space.dimension)
    return {vector for vector in every if next((x for x in vector if x), 0) == 1}


def incidence(space: ProjectiveSpace) -> np.ndarray:
    """Which pairs of points are orthogonal, from their vectors and the field's tables, all pairs at once."""
    vectors = np.array([space.vector(i) for i in range(space.points)])
    tables = kernel_tables(space.order)
    if tables is None:
        return vectors @ vectors.T % space.order == 0
    differences, products, _ = tables
    inner = np.zeros((space.points, space.points), dtype=np.uint8)
    for column in vectors.T:
        inner = differences[inner, products[column[:, None], column]]
    return inner == 0  # minus the inner product, which is zero where that is


@spaces
def test_numbers_and_vectors_are_one_to_one(space: ProjectiveSpace) -> None:
    vectors = [space.vector(i) for i in range(space.points)]
    assert set(vectors) == canonical_vectors(space)
    assert len(set(vectors)) == space.points
    assert [space.number(vector) for vector in vectors] == list(range(space.points))


@spaces
def test_a_point_is_a_line_and_any_multiple_names_it(space: ProjectiveSpace) -> None:
    for number in range(space.points):
        for scale in range(1, space.order):
            multiple = tuple(space.field.multiply(x, scale) for x in space.vector(number))
            assert space.number(multiple) == number


def test_numbers_do_not_depend_on_the_dimension() -> None:
    for order in (2, 3, 4, 5, 9):
        small, large = ProjectiveSpace(order, 2), ProjectiveSpace(order, 4)
        for number in range(small.points):
            assert large.vector(number) == (0, 0, *small.vector(number))


@spaces
def test_sizes_are_what_counting_gives(space: ProjectiveSpace) -> None:
    orthogonal = incidence(space)
    assert space.points == len(canonical_vectors(space))
    assert set(orthogonal.sum(axis=1).tolist()) == {space.hyperplane_points}
    shared = orthogonal.astype(int) @ orthogonal.astype(int).T
    assert set(shared[~np.eye(space.points, dtype=bool)].tolist()) == {space.shared_points}
    for a in range(0, space.points, 7):
        for b in range(space.points):
            assert space.orthogonal(a, b) == orthogonal[a, b]


@spaces
def test_both_sides_of_a_hyperplane_are_listed_once_each(space: ProjectiveSpace) -> None:
    orthogonal = incidence(space)
    for point in range(space.points):
        inside = [space.in_hyperplane(point, rank) for rank in range(space.hyperplane_points)]
        outside = [space.off_hyperplane(point, rank) for rank in range(space.points - space.hyperplane_points)]
        assert sorted(inside) == np.flatnonzero(orthogonal[point]).tolist()
        assert sorted(outside) == np.flatnonzero(~orthogonal[point]).tolist()


BIG = [
    ProjectiveSpace(q, t) for q, t in ((MAX_ORDER, 2), (1048583, 3), (2, 41), (8886113, 2), (4, 21), (243, 6), (256, 6))
]


@settings(deadline=None)
@given(st.sampled_from(BIG), st.data())
def test_large_spaces_stay_exact(space: ProjectiveSpace, data: st.DataObject) -> None:
    point = data.draw(st.integers(0, space.points - 1))
    assert space.number(space.vector(point)) == point
    inside = space.in_hyperplane(point, data.draw(st.integers(0, space.hyperplane_points - 1)))
    outside = space.off_hyperplane(point, data.draw(st.integers(0, space.order ** (space.dimension - 1) - 1)))
    assert space.orthogonal(point, inside)
    assert not space.orthogonal(point, outside)
    assert 0 <= inside < space.points
    assert 0 <= outside < space.points


@larger
def test_hyperplane_sums_equal_brute_force(space: ProjectiveSpace) -> None:
    orthogonal = incidence(space).astype(np.int64)
    rng = np.random.default_rng(5)
    point_mass = np.zeros(space.points, dtype=np.int64)
    point_mass[-1] = 10**10
    for counts in (
        np.zeros(space.points, dtype=np.int64),
        np.arange(space.points, dtype=np.int64),
        rng.integers(0, 10, size=space.points),
        rng.integers(0, 10**9, size=space.points),
        np.where(rng.random(space.points) < 0.01, 10**9, 0) + rng.integers(0, 2, size=space.points),
        point_mass,
    ):
        sums = hyperplane_sums(counts, space.order, space.dimension)
        assert sums.dtype == np.int64
        assert np.array_equal(sums, orthogonal @ counts)


@larger
def test_a_singer_polynomial_walks_all_points(space: ProjectiveSpace) -> None:
    """x^0, x^1, .. modulo the polynomial meet every point before they return to the first."""
    coefficients, field = singer_polynomial(space.order, space.dimension), space.field
    assert len(coefficients) == space.dimension
    assert all(0 <= a < space.order for a in coefficients)
    power = [1] + [0] * (space.dimension - 1)
    met = []
    for _ in range(space.points):
        met.append(space.number(tuple(power)))
        top = power[-1]
        shifted = [0, *power[:-1]]
        power = [field.subtract(x, field.multiply(top, a)) for x, a in zip(shifted, coefficients, strict=True)]
    assert sorted(met) == list(range(space.points))
    assert space.number(tuple(power)) == met[0]


def test_singer_polynomials_repeat() -> None:
    again = singer_polynomial.__wrapped__
    for q, t in LARGER:
        assert again(q, t) == singer_polynomial(q, t)


@pytest.mark.parametrize("domain_size", [2, 3, 7, 8, 100, 1000, 10**6, 2**40])
def test_the_dimension_is_the_least_that_fits(domain_size: int) -> None:
    for order in (2, 3, 4, 7, 31, 256, 8191):
        t = dimension_for(order, domain_size)
        assert ProjectiveSpace(order, t).points >= domain_size
        assert t == 2 or ProjectiveSpace(order, t - 1).points < domain_size


@pytest.mark.parametrize("domain_size", [2, 3, 7, 8, 100, 1000, 10**6, 2**40])
@pytest.mark.parametrize("ideal", [2.0, 3.7, 55.6, 8886111.5])
def test_orders_to_try_have_fields_and_one_of_them_is_close(domain_size: int, ideal: float) -> None:
    orders = list(orders_to_try(ideal, domain_size))
    assert orders == sorted(set(orders))
    assert all(is_field_order(order) and order <= MAX_ORDER for order in orders)
    spaces = [ProjectiveSpace(order, dimension_for(order, domain_size)) for order in orders]
    assert min(space.points for space in spaces) <= 2 * domain_size


@each("domain_size", [2, 5, 9, 18, 77, 246, 585, 1000, 20_000])
@each("epsilon", [0.1, 0.5, 1.0, math.log(3), 2.0, 2.2, 3.0, 3.5, 4.0, 5.2, 6.0])
def test_no_other_space_has_less_variance(domain_size: int, epsilon: float) -> None:
    """Against every order far beyond the ideal one, in every dimension that fits."""
    best = ProjectiveGeometry.best(domain_size, epsilon)
    for order in filter(is_field_order, range(2, math.ceil(2 * math.exp(epsilon)) + 40)):
        dimension = dimension_for(order, domain_size)
        while ProjectiveSpace(order, dimension).points <= MAX_OVERSHOOT * domain_size:
            other = ProjectiveGeometry(domain_size, epsilon, order, dimension)
            assert best.worst_total_variance <= other.worst_total_variance
            dimension += 1


@pytest.mark.parametrize(("domain_size", "epsilon", "order"), [(5, 1.0, 4), (9, 2.0, 8), (246, math.log(3), 4)])
def test_a_prime_power_is_chosen_where_it_is_better(domain_size: int, epsilon: float, order: int) -> None:
    best = ProjectiveGeometry.best(domain_size, epsilon)
    assert best.order == order
    for prime in (2, 3, 5, 7, 11, 13):
        other = ProjectiveGeometry(domain_size, epsilon, prime, dimension_for(prime, domain_size))
        assert best.worst_total_variance < other.worst_total_variance


def test_the_miniatures_include_prime_powers() -> None:
    """So that audits enumerate the device's code over them, in characteristic two and in another."""
    orders = {mechanism.order for mechanism in ProjectiveGeometry.miniatures(1.0)}
    assert {4, 8, 9} <= orders


class Asked:
    """A source that notes what it is asked for and answers at a given share of the range."""

    def __init__(self, share: float) -> None:
        self.asked: list[tuple[str, int]] = []
        self.share = share

    def below(self, n: int) -> int:
        self.asked.append(("below", n))
        return int(self.share * n)

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append(("bernoulli", threshold))
        return self.share < 0.5


@pytest.mark.parametrize("space", [(7, 2, 3), (21, 4, 3), (73, 8, 3), (91, 9, 3)], ids=str)
def test_draws_do_not_depend_on_the_value(space: tuple[int, int, int]) -> None:
    """The same bounds are asked for, in the same order, whatever the value and the draws."""
    mechanism = ProjectiveGeometry(space[0], 2.0, *space[1:])
    asked = set()
    for value in range(mechanism.domain_size):
        for share in (0.0, 0.3, 0.6, 0.99):
            source = Asked(share)
            mechanism.randomize(value, source)
            asked.add(tuple(source.asked))
    assert len(asked) == 1
