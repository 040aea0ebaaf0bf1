"""The steps of Wolfe's method in one to three dimensions, worked by hand: what enters, what leaves, when it ends."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.projections import active_set, hull, project_hull
from sottovoce.projections.active_set import ActiveSet
from sottovoce.projections.hull_points import GramProducts, Points, PointSubset
from stored_matrix import Stored


class Rows:
    """Points given as rows, in their own unit and around the origin; what is asked of them is noted."""

    def __init__(self, rows, known: bool = False) -> None:
        self.rows = np.asarray(rows, dtype=np.float64)
        self.dimension = self.rows.shape[1]
        self.known = GramProducts(self.gram, np.zeros(len(self.rows)), 0.0) if known else None
        self.asked: list[int] = []
        self.products_taken = self.averages_taken = 0

    def gram(self, first, second):
        return self.rows[first] @ self.rows[second].T

    def some(self, choice) -> PointSubset:
        rows = choice[1][:, None] * self.rows[choice[0]]
        self.asked.append(len(rows))
        longest = float(np.linalg.norm(rows, axis=1).max())
        return PointSubset(choice, rows if self.known is None else np.zeros((len(rows), 0)), rows @ rows.T, longest)

    def products(self, choice, row):
        self.products_taken += 1
        return choice[1] * (self.rows @ row)[choice[0]]

    def average(self, choice, weights):
        self.averages_taken += 1
        return (weights * choice[1]) @ self.rows[choice[0]]


def chosen(*columns):
    return np.array(columns, dtype=np.int64), np.ones(len(columns))


def started(rows, weights, **options) -> ActiveSet:
    """The first points, active with these weights."""
    return ActiveSet(Rows(rows, **options), chosen(*range(len(weights))), np.asarray(weights, dtype=np.float64))


def as_dict(active: ActiveSet) -> dict[int, float]:
    return dict(sorted(zip(active.choice[0].tolist(), active.weights.tolist(), strict=True)))


DESCENTS = (
    ([[0], [4]], [0.5, 0.5], [1], {0: 0.75, 1: 0.25}),
    ([[0], [4]], [0.5, 0.5], [9], {1: 1.0}),
    ([[0, 0], [2, 0], [0, 2]], [1, 1, 2], [0.5, 1.0], {0: 0.25, 1: 0.25, 2: 0.5}),
    # The corner's weight would be negative, and is clipped; the best of the side opposite is (1.5, 0.5).
    ([[0, 0], [2, 0], [0, 2]], [1, 1, 2], [2, 1], {1: 0.75, 2: 0.25}),
    # The goal's weights are 7/2, -1/2 and -2. Clipped, that is (2, 0), nearer to the goal by 7 parts of a hundred.
    ([[2, 0], [-2, -4], [2, 3]], [2, 1, 1], [4, -4], {0: 1.0}),
    # The goal's weights are -5/4, -6 and 33/4. Clipped, that is (0, 3), nearer by 3 parts of a hundred only: the second
    # point leaves alone, and of the two others (0, 2) is the best.
    ([[0, -1], [-1, 4], [0, 3]], [2, 1, 1], [6, 2], {0: 0.25, 2: 0.75}),
    # The goal's weights are 14, -2 and -11. The third point leaves alone, and (-1/2, 1/2) is the best of the others.
    ([[1, 2], [-1, 0], [1, 3]], [1, 1, 2], [5, -5], {0: 0.25, 1: 0.75}),
    # The goal's weights are -1, 5/2 and -1/2. Clipped, that is (3, 1), farther from the goal than the start.
    ([[4, -2], [3, 1], [1, 3]], [1, 1, 2], [3, 3], {1: 0.5, 2: 0.5}),
)


def test_the_descent_ends_in_an_affine_minimiser() -> None:
    for rows, weights, target, expected in DESCENTS:
        active = started(rows, weights)
        active.descend(active.costs(active.points.rows @ (active.average() - target)))
        found = as_dict(active)
        assert list(found) == list(expected)
        np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-13)


def test_weights_sum_to_one_after_a_descent_whatever_they_did_before() -> None:
    active = started([[0.0], [4.0]], [0.5, 0.5])
    active.weights = np.array([1.5, 0.5])[active.choice[0]]
    active.descend(np.zeros(2))
    assert as_dict(active) == {0: 0.75, 1: 0.25}


def test_a_weight_next_to_nothing_is_nothing() -> None:
    active = started([[0.0], [4.0]], [1.0, 0.0])
    active.weights = np.array([1.0, 1e-14])[active.choice[0]]
    active.descend(np.zeros(2))
    assert as_dict(active) == {0: 1.0}
    # The best weight of the second point is 8e-15: the gradients differ by that much times the squared distance.
    active = started([[0.0], [4.0]], [1.0, 0.0])
    active.descend(np.where(active.choice[0] == 1, -8e-15 * 16, 0.0))
    assert as_dict(active) == {0: 1.0}


def test_a_change_goes_until_the_first_weight_is_zero() -> None:
    active = started(np.eye(3), [1, 1, 1])
    for weights, change, part, leaving in (
        ([0.5, 0.25, 0.25], [-1.0, 0.5, 0.5], 0.5, [True, False, False]),
        ([0.5, 0.25, 0.25], [-0.5, 0.25, 0.25], 1.0, [True, False, False]),
        ([0.5, 0.25, 0.25], [-0.25, 0.25, 0.0], 1.0, [False, False, False]),
        ([0.5, 0.25, 0.25], [2.0, -1.0, -1.0], 0.25, [False, True, True]),
        # As good as together: what is left of the second is nothing.
        ([0.25, 0.25 + 4e-15, 0.5], [-0.25, -0.25, 0.5], 1.0, [True, True, False]),
        ([1.0, 1e-14, 0.0], [-1.0, -1e-300, 1.0], 1.0, [True, True, False]),
        ([0.0, 0.5, 0.5], [-1.0, 0.0, 1.0], 0.0, [True, False, False]),
    ):
        active.weights = np.array(weights)
        share, zero = active._until_zero(np.array(change), 1.0)
        assert (share, zero.tolist()) == (part, leaving)


def test_a_start_loses_the_weights_of_points_that_depend_on_others() -> None:
    assert as_dict(started([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [1.0, 3.0, 4.0])) == {0: 0.25, 1: 0.75}
    assert as_dict(started([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [0.0, 0.0, 1.0])) == {0: 0.5, 1: 0.5}
    active = started([[3.0, 4.0], [0.0, 1.0]], [1.0, 3.0])
    assert (active.spread, active.longest, len(active)) == (5.0, 5.0, 2)


def test_only_independent_points_enter() -> None:
    active = started([[0, 0, 0], [1, 0, 0], [3, 0, 0], [0, 1, 0], [0, 0, 2], [1, 1, 0]], [1, 1])
    assert active.enter(chosen()) is False
    assert active.enter(chosen(2)) is False
    assert active.enter(chosen(5, 3)) is True  # both would, but beside (1, 1) and the first two (0, 1) depends
    assert sorted(active.choice[0].tolist()) == [0, 1, 5]
    assert active.enter(chosen(4)) is True
    assert as_dict(active) == {0: 0.5, 1: 0.5, 4: 0.0, 5: 0.0}


def test_beside_a_point_ten_times_as_long_independence_is_tested_again() -> None:
    # Squares of 4 tell points apart by 4e-11 in squares, those of 402 by 4e-9; the second is 1e-9 from the first.
    rows = [[2, 0, 0], [2 - 3.2e-5, 0, 0], [1.9999, 1e-4, 0], [0, 0, 20], [0, 20.05, 0]]
    active = started(rows, [1, 1, 2])
    assert (len(active), active._factor.weight) == (3, 4.0)
    assert active.enter(chosen(3))
    assert as_dict(active) == {0: 0.25, 1: 0.25, 2: 0.5, 3: 0.0}
    active = started(rows, [1, 1, 2])
    assert active.enter(chosen(4))
    assert list(as_dict(active)) == [0, 2, 4]
    np.testing.assert_allclose(list(as_dict(active).values()), [1 / 3, 2 / 3, 0], rtol=1e-15)
    assert active._factor.weight == pytest.approx(402.0025, rel=1e-15)


def test_a_point_that_depends_may_take_the_place_of_another() -> None:
    # 1 is the middle of -1 and 3: it takes weight from both, until -1 has none left. The average stays at 2.
    active = started([[-1.0], [3.0], [1.0]], [1.0, 3.0])
    active.weights *= 2
    assert active.exchange(chosen(2, 0), np.array([0.0, 0.0, -1.0])) is True
    found = as_dict(active)
    assert list(found) == [1, 2]
    np.testing.assert_allclose(list(found.values()), [0.5, 0.5], rtol=1e-14)
    np.testing.assert_allclose(active.average(), [2.0], rtol=1e-14)
    np.testing.assert_allclose(active._factor.length(np.array([1.0, -1.0])), 2.0, rtol=1e-14)


def test_an_exchange_must_gain() -> None:
    for prices, gain in (
        ([5, 5, 5], False),
        ([5, 5, 6], False),
        ([5, 5, 4], True),
        ([1, 3, 2.5], False),
        ([1, 3, 1.5], True),
    ):
        active = started([[-1.0], [3.0], [1.0]], [1.0, 3.0])
        assert active.exchange(chosen(), np.array(prices, dtype=np.float64)) is False
        assert active.exchange(chosen(2), np.array(prices, dtype=np.float64)) is gain
        assert list(as_dict(active)) == ([1, 2] if gain else [0, 1])


def test_an_exchange_for_a_point_that_still_depends_is_none() -> None:
    # The new point is 1e-9 above the side that stays; the corner, without weight, would leave first.
    active = started([[0, 0], [1, 0], [0, 1], [0.5, 1e-9]], [1.0, 1.0, 0.0])
    assert active.exchange(chosen(3), np.array([1.0, 1.0, 1.0, 0.0])) is False
    assert as_dict(active) == {0: 0.5, 1: 0.5, 2: 0.0}


def test_a_start_enters_in_parts_that_can_be_stored(monkeypatch) -> None:
    monkeypatch.setattr(active_set, "_STARTED", 3)
    rows = np.random.default_rng(1).normal(size=(25, 5))
    for stored, known, number, parts in (
        (400, False, 25, [10, 10, 5]),
        (80, False, 5, [2, 2, 1]),
        (79, False, 2, [1, 1]),
        (1, False, 2, [1, 1]),
        (1, True, 7, [3, 3, 1]),
    ):
        monkeypatch.setattr(active_set, "_STORED_BYTES", stored)
        active = started(rows, np.ones(number), known=known)
        assert active.points.asked == parts
        assert len(active) == min(number, 6)


def test_points_are_stored_up_to_a_size_and_asked_for_beyond_it(monkeypatch) -> None:
    monkeypatch.setattr(active_set, "_STORED_BYTES", 10 * 8 * 10)
    rows = np.vstack([np.eye(10), np.zeros(10), np.ones(10)])
    active = started(rows, np.ones(9))
    assert active.enter(chosen(9))
    points = active.points
    np.testing.assert_allclose(active.average(), np.append(np.full(9, 1 / 9), 0), rtol=1e-15)
    assert (points.products_taken, points.averages_taken) == (0, 0)
    assert active.enter(chosen(10))
    assert (points.products_taken, points.averages_taken, len(active)) == (1, 0, 11)
    np.testing.assert_allclose(active.average(), np.append(np.full(9, 1 / 9), 0), rtol=1e-15)
    assert not active.enter(chosen(11))
    assert (points.products_taken, points.averages_taken) == (2, 1)


def test_the_cheapest_points_that_are_not_active_enter() -> None:
    matrix = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    prices = np.array([0.0, -3.0, 4.0, 1.0, -1.5, 0.0])
    for symmetric, start, batch, columns, signs in (
        (False, [0], 3, [1, 4], [1, 1]),  # the last costs as much as the average, others more
        (False, [0, 2], 3, [1, 4, 5], [1, 1, 1]),
        (False, [0, 2], 2, [1, 4], [1, 1]),
        (True, [0], 3, [2, 1, 4], [-1, 1, 1]),
        (True, [1], 9, [2], [-1]),
    ):
        points = Points(Stored(matrix), np.zeros(1), symmetric)
        points.measure_by(chosen(5))
        active = ActiveSet(points, chosen(*start), np.ones(len(start)))
        found = hull._cheapest(points, active, prices, points.lowest(prices), batch)
        assert (found[0].tolist(), found[1].tolist()) == (columns, signs)


def test_the_search_begins_on_the_side_of_the_target() -> None:
    line = np.array([[-3.0, -1.0, 3.0, 2.0, 1.0, -2.0]])
    for raw, value, support in ((5.0, 3.0, [2]), (-5.0, -3.0, [0]), (2.5, 2.5, [2, 3])):
        found = project_hull(line, np.array([raw]))
        assert (found.steps, found.support.tolist(), found.converged) == (1, support, True)
        assert found.values[0] == pytest.approx(value, rel=1e-15)
    # Two of the plane's first three, whose mean is in the middle, hold the nearest point; the last never enters.
    square = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]])
    found = project_hull(square, np.array([1.5, 0.5]))
    assert (found.steps, found.support.tolist(), found.values.tolist()) == (1, [0, 1], [1.0, 0.5])


AT_THREE_QUARTERS = np.array([0, 1]), np.array([0.125, 0.875])
"""A start between two columns that is a quarter of the way from the second to their mean."""


def test_the_tolerance_is_relative_to_the_hull_and_the_distance(monkeypatch) -> None:
    # At x = 3/4 half the gap is |x - raw| half / 4, and half max(half, |x - raw|) what it is compared with.
    monkeypatch.setattr(hull, "_ROUNDING", 0.0)
    for half, raw, gap, part in ((1.0, 2.75, 0.5, 0.25), (4.0, 11.0, 8.0, 0.25), (1.0, 0.875, 2.0**-5, 2.0**-5)):
        line, target = half * np.array([[-1.0, 1.0]]), np.array([raw])
        cut = project_hull(line, target, start=AT_THREE_QUARTERS, max_steps=1, tolerance=0.999 * part)
        assert (cut.steps, cut.gap, cut.converged) == (1, gap, False)
        found = project_hull(line, target, start=AT_THREE_QUARTERS, tolerance=part)
        assert (found.steps, found.gap, found.converged) == (1, gap, True)


def test_a_gap_that_is_rounding_is_small_enough(monkeypatch) -> None:
    # At 7.75 the residual is -3 and the gap 3/4; the longest column is 8, the points 1 long, and 8 (1 + 3) = 32.
    line, target = np.array([[6.0, 8.0]]), np.array([10.75])
    for rounding, converged in ((0.75 / 32, True), (0.74 / 32, False)):
        monkeypatch.setattr(hull, "_ROUNDING", rounding)
        cut = project_hull(line, target, start=AT_THREE_QUARTERS, max_steps=1, tolerance=0.0)
        assert (cut.steps, cut.gap, cut.converged) == (1, 0.75, converged)


@pytest.mark.parametrize("opposite", [1, 3])
def test_a_column_and_its_opposite_or_another_are_not_the_same_set(monkeypatch, opposite: int) -> None:
    # From (1, 0) or (2, 0) to (-2, 0), an opposite, and on to the side from there to (0, 1): no set comes back.
    monkeypatch.setattr(hull, "_BATCH", range(1, 2))
    monkeypatch.setattr(hull, "_PATIENCE", 0)
    matrix = np.zeros((2, 4))
    matrix[:, 2] = 0, 1
    matrix[0, 1], matrix[0, opposite] = 1, 2
    start = np.array([1]), np.array([1.0])
    found = project_hull(matrix, np.array([-2.5, 2.0]), start=start, symmetric=True)
    assert (found.converged, found.support.tolist()) == (True, sorted([2, opposite]))
    np.testing.assert_allclose(found.values, [-1.6, 0.2], rtol=1e-14)


class Fickle(Stored):
    """Two columns that are the same, of which the other is said to be cheaper after every second price."""

    def __init__(self) -> None:
        super().__init__([[1.0, 1.0]])
        self.priced = 0

    def rmatvec(self, y):
        self.priced += 1
        cheaper = (self.priced + 1) // 2 % 2
        return np.where(np.arange(2) == cheaper, -2.0, -1.0)


def test_a_search_that_comes_back_too_often_ends() -> None:
    # A descent changes nothing, then an exchange makes the other column active, and so on. Two of the sets are new,
    # and the ninth that comes back is one too many.
    found = project_hull(Fickle(), np.array([2.0]), start=(np.array([0]), np.array([1.0])))
    assert (found.steps, found.converged) == (11, False)


def test_no_more_points_are_active_than_the_most(monkeypatch) -> None:
    start = np.array([0, 1]), np.array([0.5, 0.5])
    for most, steps, converged in ((2, 1, False), (3, 2, True)):
        monkeypatch.setattr(hull, "_MOST_ACTIVE", most)
        found = project_hull(np.eye(3), np.array([0.5, 0.25, 0.25]), start=start)
        assert (found.steps, found.converged) == (steps, converged)


PLANE, LINE = np.eye(40), np.array([[0.0, 1.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("matrix", "active", "most", "batch"),
    [
        *((PLANE, active, 99, batch) for active, batch in ((14, 3), (15, 3), (16, 4), (25, 5), (36, 5), (37, 4))),
        (PLANE, 12, 14, 2),
        (LINE, 2, 99, 1),
    ],
)
def test_a_batch_is_a_quarter_of_the_active_points(monkeypatch, matrix, active: int, most: int, batch: int) -> None:
    """At least three and at most five here, but no more than can be independent, nor than have room."""
    batches = []

    def noted(points, active, prices, lowest, batch):
        batches.append(batch)
        return cheapest(points, active, prices, lowest, batch)

    cheapest = hull._cheapest
    monkeypatch.setattr(hull, "_cheapest", noted)
    monkeypatch.setattr(hull, "_BATCH", range(3, 6))
    monkeypatch.setattr(hull, "_MOST_ACTIVE", most)
    project_hull(matrix, np.full(len(matrix), 9.0), start=(np.arange(active), np.ones(active)), max_steps=2)
    assert batches == [batch]


def test_all_of_a_batch_enter_together() -> None:
    found = project_hull(np.eye(12), np.full(12, 1 / 12), start=(np.array([0]), np.array([1.0])))
    assert (found.steps, found.support.size) == (2, 12)


def test_the_opposite_of_an_active_point_may_enter() -> None:
    for sign in (1.0, -1.0):
        start = np.array([0]), np.array([sign])
        found = project_hull(np.ones((1, 1)), np.array([-0.5 * sign]), start=start, symmetric=True)
        assert (found.converged, found.support.tolist()) == (True, [0])
        np.testing.assert_allclose([found.values[0], found.weights[0]], -0.5 * sign, rtol=1e-14)


def test_a_point_hardly_out_of_line_is_reached_by_an_exchange() -> None:
    # (0, 1e-7) is too near to the side between the two others to enter, and yet the nearest to (0, 1).
    matrix = np.array([[-1.0, 1.0, 0.0], [0.0, 0.0, 1e-7]])
    found = project_hull(matrix, np.array([0.0, 1.0]))
    assert (found.steps, found.converged, found.support.tolist()) == (2, True, [2])
    np.testing.assert_allclose(found.values, [0.0, 1e-7], rtol=1e-12, atol=1e-20)
    found = project_hull(matrix, np.array([0.0, 1.0]), start=(np.array([0, 1]), np.array([3.0, 1.0])))
    assert (found.steps, found.converged, found.support.tolist()) == (3, True, [2])
