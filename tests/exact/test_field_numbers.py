"""Fields and their projective spaces at the edges of what is offered, in hand-worked numbers."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest

from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.kernels.finite_field import (
    field_of_order,
    is_field_order,
    is_prime,
    kernel_tables,
    prime_and_exponent,
    reduction_polynomial,
)
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.projective_space import ProjectiveSpace, dimension_for


@pytest.mark.parametrize(
    ("size", "order", "dimension", "field"),
    [
        (7, 1, 3, "order"),
        (2**31, 2**31, 2, "order"),
        (7, 6, 3, "order"),
        (200, 2 * 3 * 5 * 7, 2, "order"),
        (200, 17**2, 2, "order"),
        (7, 2, 1, "dimension"),
        (7, 2, 65, "dimension"),
        (7, 2, 64, "dimension"),
        (8, 2, 3, "dimension"),
        (2, 128, 2, "dimension"),
        (2, 2, 8, "dimension"),
    ],
)
def test_spaces_that_are_not_offered(size: int, order: int, dimension: int, field: str) -> None:
    with refuses(SurveyError, field):
        ProjectiveGeometry(size, 1.0, order, dimension)


@pytest.mark.parametrize(
    ("size", "order", "dimension", "points"),
    [(2, 2, 2, 3), (7, 2, 3, 7), (2, 127, 2, 128), (2, 2, 7, 127), (257, 256, 2, 257), (2**31, 2**31 - 1, 2, 2**31)],
)
def test_spaces_that_just_are(size: int, order: int, dimension: int, points: int) -> None:
    assert ProjectiveGeometry(size, 1.0, order, dimension).cells == points


def test_small_orders_one_by_one() -> None:
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    assert [n for n in range(-2, 50) if is_prime(n)] == primes
    assert [n for n in range(-2, 50) if is_field_order(n)] == sorted([*primes, 4, 8, 9, 16, 25, 27, 32, 49])
    assert [n for n in range(240, 291) if is_field_order(n)] == [241, 243, 251, 256, 257, 263, 269, 271, 277, 281, 283]
    splits = [(2, 1), (2, 3), (2, 8), (3, 2), (3, 5), (7, 2), (13, 1), (2, 1), (3, 1)]
    assert [prime_and_exponent(n) for n in (2, 8, 256, 9, 243, 49, 13, 6, 15)] == splits


def test_polynomials_that_come_late() -> None:
    """x^3 + 3 x + 2 over F_5 has the number 2 + 3 * 5, x^2 + x + 1 over F_2 the last one."""
    assert reduction_polynomial(5, 3) == (2, 3, 0)
    assert reduction_polynomial(2, 2) == (1, 1)


def test_nine_elements_by_hand() -> None:
    """F_9 is a + b x with x^2 = -x - 2 = 2 x + 1, written a + 3 b."""
    nine = field_of_order(9)
    powers = [1]
    while len(powers) < 9:
        powers.append(nine.multiply(powers[-1], 3))
    assert powers == [1, 3, 7, 8, 2, 6, 5, 4, 1]
    assert [nine.add(5, b) for b in range(9)] == [5, 3, 4, 8, 6, 7, 2, 0, 1]
    assert [nine.subtract(5, b) for b in range(9)] == [5, 4, 3, 2, 1, 0, 8, 7, 6]
    assert [nine.inverse(a) for a in range(1, 9)] == [1, 2, 4, 3, 7, 8, 5, 6]
    differences, products, inverses = kernel_tables(9)  # type: ignore[misc]
    assert differences[5].tolist() == [5, 4, 3, 2, 1, 0, 8, 7, 6]
    assert products[3].tolist() == [0, 3, 6, 7, 1, 4, 5, 8, 2]
    assert inverses.tolist() == [0, 1, 2, 4, 3, 7, 8, 5, 6]


@pytest.mark.parametrize(
    ("order", "domain_size", "dimension"),
    [
        (2, 2, 2),
        (2, 3, 2),
        (2, 4, 3),
        (2, 7, 3),
        (2, 8, 4),
        (3, 13, 3),
        (3, 14, 4),
        (4, 5, 2),
        (4, 6, 3),
        (997, 998, 2),
    ],
)
def test_the_dimension_by_hand(order: int, domain_size: int, dimension: int) -> None:
    assert dimension_for(order, domain_size) == dimension


def test_the_plane_of_order_three() -> None:
    """Thirteen points, lines of four, two lines in one point; numbers count the entries after the leading 1."""
    plane = ProjectiveSpace(3, 3)
    assert (plane.points, plane.hyperplane_points, plane.shared_points) == (13, 4, 1)
    assert [plane.vector(i) for i in (0, 1, 2, 3, 4, 5, 7, 12)] == [
        (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 2, 2),
    ]  # fmt: skip
    assert [plane.number(v) for v in ((0, 0, 2), (0, 2, 1), (2, 1, 1), (1, 2, 2))] == [0, 3, 12, 12]
    # (1, 2, 2): x = -2 y - 2 z = y + z for the rest of a line, and one more for what is off it.
    assert [plane.in_hyperplane(12, rank) for rank in range(4)] == [
        plane.number(v) for v in ((1, 0, 1), (1, 1, 0), (2, 1, 1), (0, 1, 2))
    ]
    assert sorted(plane.off_hyperplane(12, rank) for rank in range(9)) == [0, 1, 2, 4, 6, 8, 9, 10, 11]
    assert [point for point in range(13) if plane.orthogonal(12, point)] == [3, 5, 7, 12]
    with pytest.raises(FrozenInstanceError):
        plane.order = 5  # type: ignore[misc]


def test_a_space_of_just_sixty_four_times_the_values_is_taken() -> None:
    """128 * 16130 = 64 * 32260 points, of the ideal order for e^eps = 126."""
    best = ProjectiveGeometry.best(32260, math.log(126))
    assert (best.order, best.dimension, best.cells) == (127, 4, 64 * 32260)
