"""The hull's points, units, prices, certificate and refusals in round numbers."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.projections import active_set, hull, project_hull
from sottovoce.projections.active_set import Factor
from sottovoce.projections.hull import NearestAverage
from sottovoce.projections.hull_points import GramProducts, Points, PointSubset
from sottovoce.projections.operator import as_operator
from stored_matrix import Stored

both = pytest.mark.parametrize("symmetric", [False, True])


class Products(Stored):
    """One that knows the inner products of its columns."""

    def gram(self, first, second):
        return self.matrix[:, first].T @ self.matrix[:, second]


def measured(operator, raw, columns, symmetric=False) -> Points:
    """The points of a matrix, in the unit that some of its columns ask for."""
    points = Points(operator, np.atleast_1d(np.asarray(raw, dtype=np.float64)), symmetric)
    points.measure_by(chosen(*columns))
    return points


def chosen(*columns, signs=None):
    return np.array(columns, dtype=np.int64), np.ones(len(columns)) if signs is None else np.array(signs, dtype=float)


def test_the_limits_are_those_of_the_documentation() -> None:
    assert active_set._STORED_BYTES == 2**28
    assert (hull._MOST_ACTIVE, hull._ROUNDING) == (8192, 2.0**-49)


MATRIX = np.array([[1.0, 4.0, -2.0, 5.0], [3.0, 0.0, 2.0, 3.0], [-1.0, 1.0, 1.0, 3.0]])
"""Columns whose mean is (2, 2, 1), a whole number, as the unit of 8 is a power of two: all below is exact."""


@both
@pytest.mark.parametrize("kind", [Stored, Products])
def test_points_are_columns_less_their_mean(kind, symmetric) -> None:
    raw = np.array([7.0, -5.0, 0.0])
    points = measured(kind(MATRIX), raw, range(4), symmetric)
    unit = 8.0
    assert (points.exponent, points.known is None) == (3, kind is Stored)
    centre = np.zeros(3) if symmetric else np.array([2.0, 2.0, 1.0])
    choice = chosen(3, 0, 1, signs=[1.0, -1.0, 1.0] if symmetric else [1.0, 1.0, 1.0])
    rows = (choice[1] * MATRIX[:, choice[0]]).T - centre
    np.testing.assert_array_equal(points.target, (raw - centre) / unit)
    some = points.some(choice)
    np.testing.assert_array_equal(some.among, rows @ rows.T / unit**2)
    assert some.longest == pytest.approx(np.sqrt(25 + 9 + 9) / unit, rel=1e-15)
    assert some.spread == pytest.approx(np.linalg.norm(rows, axis=1).max() / unit, rel=1e-15)
    if kind is Stored:
        np.testing.assert_array_equal(some.rows, rows / unit)
        np.testing.assert_array_equal(points.products(choice, some.rows[2]), some.among[:, 2])
    else:
        assert some.rows.shape == (3, 0)
        squares = (MATRIX[:, choice[0]] ** 2).sum(axis=0)
        np.testing.assert_array_equal(points.known.growth(choice), (np.diag(rows @ rows.T) - squares) / unit**2)
        np.testing.assert_array_equal(
            points.known.products(choice, chosen(2)), rows @ (MATRIX[:, [2]] - centre[:, None]) / unit**2
        )
    weights = np.array([0.5, 0.25, 0.25])
    average = points.average(choice, weights)
    np.testing.assert_array_equal(average, weights @ rows / unit)
    np.testing.assert_array_equal(points.as_answers(average), MATRIX[:, choice[0]] @ (choice[1] * weights))
    direction = np.array([1.0, -2.0, 4.0])
    prices = points.prices(direction)
    np.testing.assert_array_equal(prices, MATRIX.T @ direction / unit)  # -9, 8, -2, 11
    assert points.lowest(prices * unit).tolist() == ([-9, -8, -2, -11] if symmetric else [-9, 8, -2, 11])
    columns, signs = points.with_lower_sign(np.array([1, 0, 3]), np.array([-9.0, 8.0, -2.0, 0.0]))
    assert (columns.tolist(), signs.tolist()) == ([1, 0, 3], [-1, 1, 1] if symmetric else [1, 1, 1])


def test_squares_that_rounding_makes_negative_are_none() -> None:
    nothing = PointSubset(chosen(0), np.zeros((1, 0)), np.array([[-1e-20]]), 0.0)
    assert nothing.spread == 0
    points = measured(Products([[1.0, 0.0]]), 1.0, [0], symmetric=True)
    points.known = GramProducts(lambda i, j: np.full((len(i), len(j)), -1e-20), np.zeros(2), 0.0)
    assert points.some(chosen(1)).longest == 0
    points.known = GramProducts(lambda i, j: np.full((len(i), len(j)), 2.0**-40), np.zeros(2), 0.0)
    assert points.some(chosen(1)).longest == 2.0**-20


def test_the_unit_is_that_of_the_columns_unless_the_raw_estimate_is_out_of_proportion() -> None:
    for kind in (Stored, Products):
        for column, raw, exponent in (
            (5.0, 1.0, 3),
            (5.0, 2.0**99, 3),
            (5.0, 2.0**402, 3),
            (5.0, 2.0**403, 4),
            (5.0, 2.0**900, 501),
            (0.0, 5.0, 3),
            (0.0, 2.0**-500, -499),
            (2.0**-1060, 0.0, -1000),
            (2.0**1010, 0.0, 1000),
        ):
            points = measured(kind([[column]]), raw, [0])
            assert points.exponent == exponent, (column, raw)
            assert points.target[0] == np.ldexp(raw - column, -exponent)
    # A mean counts that is larger than the columns asked about.
    assert measured(Stored([[1.0, 100.0]]), 0.0, [0]).exponent == 6
    assert measured(Stored([[1.0, 100.0]]), 0.0, [0], symmetric=True).exponent == 1


def test_prices_neither_vanish_nor_overflow() -> None:
    points = measured(Stored([[0.0, 1.0], [1.0, 0.0]]), [0.0, 0.0], [0], symmetric=True)
    assert points.prices(np.array([1.0, 2.0**-100])).tolist() == [2.0**-101, 0.5]
    tiny = measured(Stored([[2.0**-700, 0.0], [0.0, 2.0**-690]]), [0.0, 0.0], [0], symmetric=True)
    assert tiny.exponent == -699
    assert tiny.prices(np.array([2.0**400, 2.0**390])).tolist() == [2.0**399, 2.0**399]
    assert tiny.prices(np.array([4.0, 8.0])).tolist() == [2.0, 2.0**12]


def test_inner_products_are_left_to_the_operator_where_their_squares_are_in_range() -> None:
    for power in (-410, -400, -399, -390, 0, 399, 400, 410):
        points = measured(Products([[2.0**power, 0.0]]), 0.0, [0, 1], symmetric=True)
        assert (points.known is not None) == (-400 < power < 400)


def test_inner_products_are_left_to_the_operator_where_an_offset_is_not_too_long() -> None:
    # The mean of 8 and 6 is 7, and 8 is eight times as long as what is left.
    for scale in (2.0**-9, 1.0, 2.0**9):
        for columns, known in (([8.0, 6.0], True), ([8.0, 5.9375], True), ([8.0, 6.0078125], False)):
            points = measured(Products(scale * np.array([columns])), 0.0, [0, 1])
            assert (points.known is not None) == known


@pytest.mark.parametrize("kind", [Stored, Products])
def test_a_column_may_be_longer_than_the_unit_by_120_orders_of_magnitude(kind) -> None:
    longest = 400 if kind is Products else 399.5  # the length itself, or the power of two above every entry
    matrix = np.array([[1.0, 2.0**400, 2.0 ** (longest + 1), 2.0 ** (longest + 1.5)]])
    points = measured(kind(matrix), 1.0, [0], symmetric=True)
    assert (points.exponent, points.known is None) == (1, kind is Stored)
    for column, power in ((1, 399), (2, longest)):
        assert points.some(chosen(column)).longest == pytest.approx(2.0**power, rel=1e-15)
    with refuses(ProjectionError, "operator"):
        points.some(chosen(3))


def test_what_all_gradients_have_in_common_does_not_matter() -> None:
    # Unit vectors are sqrt(2) apart: a difference of 2 in the gradient moves a weight of 1.
    factor, entered = Factor.empty().extended(np.zeros((0, 2)), np.eye(2))
    assert (entered.tolist(), factor.weight) == ([0, 1], 1.0)
    np.testing.assert_allclose(factor.newton_step(np.array([1e15 + 1, 1e15 - 1])), [-1, 1], rtol=1e-14)


@both
@pytest.mark.parametrize("power", [-600, -9, 9])
def test_the_gap_is_what_it_is_defined_to_be(power: int, symmetric) -> None:
    # At (0, 0) the residual is (-2, -1) and prices are 0, -4 and -2; with signs, (2, 0) and its opposite start there.
    start = (np.array([1, 1]), np.array([1.0, -1.0])) if symmetric else (np.array([0]), np.array([1.0]))
    triangle = np.ldexp(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]), power)
    raw = np.ldexp(np.array([2.0, 1.0]), power)
    cut = project_hull(triangle, raw, symmetric=symmetric, start=start, max_steps=1)
    assert (cut.steps, cut.converged, cut.values.tolist()) == (1, False, [0.0, 0.0])
    assert (cut.support.tolist(), cut.weights.tolist()) == (([], []) if symmetric else ([0], [1.0]))
    # A square that would vanish is rounded up: a gap of zero must be one.
    assert cut.gap == (np.ldexp(4.0, 2 * power) or 5e-324)
    found = project_hull(triangle, raw, symmetric=symmetric, start=start)
    np.testing.assert_allclose(found.values, np.ldexp([1.5, 0.5], power), rtol=1e-15)
    assert found.converged


def test_a_hull_of_nothing_is_found_at_once() -> None:
    found = project_hull(np.zeros((2, 3)), np.array([3.0, -1.0]), tolerance=0)
    assert (found.values.tolist(), found.gap, found.steps, found.converged) == ([0, 0], 0, 1, True)
    assert found != replace(found)


def test_a_start_without_weight_is_no_opposite() -> None:
    # Of the columns 1 and 2 the nearest to -1.5 is 1; the opposite of 1, which is nearer, is not in their hull.
    found = project_hull(np.array([[1.0, 2.0]]), np.array([-1.5]), start=(np.array([0, 1]), np.array([0.0, 1.0])))
    assert (found.values.tolist(), found.support.tolist(), found.weights.tolist()) == ([1.0], [0], [1.0])


def test_steps_are_limited_by_the_columns_that_can_be_active(monkeypatch) -> None:
    limits = []

    def noted(points, start, tolerance, max_steps):
        limits.append(max_steps)
        raise ProjectionError("noted")

    monkeypatch.setattr(hull, "search", noted)
    for d, columns, options in (
        (3, 7, {}),
        (9, 4, {}),
        (9, 10, {}),
        (9, 11, {}),
        (9, 99, {}),
        (2, 2, {"max_steps": 5}),
    ):
        with pytest.raises(ProjectionError, match="noted"):
            project_hull(np.ones((d, columns)), np.ones(d), **options)
    assert limits == [140, 140, 200, 200, 200, 5]


def test_what_does_not_fit_is_refused() -> None:
    for matrix, raw, options, field in (
        (np.eye(3), np.ones(2), {}, "raw"),
        (np.eye(3), np.ones(4), {}, "raw"),
        (np.eye(2), np.ones(2), {"start": (np.array(0), np.array(1.0))}, "start"),
        (np.eye(2), np.ones(2), {"start": (np.array([0]), np.array([0.5, 0.5]))}, "start"),
        (np.eye(2), np.ones(2), {"start": (np.array([0, 1]), np.array([0.5]))}, "start"),
        (np.ones(2), np.ones(2), {}, "operator"),
        (np.ones((2, 1, 1)), np.ones(2), {}, "operator"),
        (np.ones((2, 0)), np.ones(2), {}, "operator"),
        (np.ones((0, 2)), np.ones(2), {}, "operator"),
    ):
        with refuses(ProjectionError, field):
            project_hull(matrix, raw, **options)


def test_an_operator_has_rows_and_columns() -> None:
    operator = Stored(np.eye(3))
    assert as_operator(operator) is operator
    for shape in ((), (3,), (3, 1, 1), (0, 3), (3, 0)):
        operator.shape = shape
        with refuses(ProjectionError, "operator"):
            as_operator(operator)


@pytest.mark.parametrize("method", ["matvec", "rmatvec", "column"])
def test_an_answer_of_the_wrong_shape_is_refused(method: str) -> None:
    for shape in ((2,), (4,), (3, 1), (1, 3), ()):
        operator = Stored(np.eye(3))
        setattr(operator, method, lambda _, shape=shape: np.zeros(shape))
        with refuses(ProjectionError, "operator"):
            project_hull(operator, np.ones(3))


def test_what_is_passed_on_is_not_changed_nor_compared_by_its_numbers() -> None:
    some = PointSubset(chosen(0), np.zeros((1, 1)), np.zeros((1, 1)), 0.0)
    known = GramProducts(Products(np.eye(1)).gram, np.zeros(1), 0.0)
    found = NearestAverage(np.zeros(1), chosen(0), np.ones(1), 0.0, True)
    for record, name in ((Factor.empty(), "weight"), (some, "longest"), (known, "centre_square"), (found, "gap")):
        assert record != replace(record)
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, 1.0)
