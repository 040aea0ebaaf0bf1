"""The projection on the hull of columns against exact ones: in rational numbers, and by other algorithms."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.projections import (
    HullProjection,
    Operator,
    Projected,
    active_set,
    hull,
    project_hull,
    project_simplex,
)
from sottovoce.projections.active_set import Factor
from stored_matrix import Stored


class Dense(Stored):
    """A matrix in memory that counts its products."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.products = 0

    def rmatvec(self, y):
        self.products += 1
        return super().rmatvec(y)


class Prefix:
    """Answers at most 0, at most 1, ...: a matrix of ones on and below the diagonal, never stored."""

    def __init__(self, size):
        self.shape = (size, size)

    def column(self, j):
        return (np.arange(self.shape[0]) >= j).astype(np.float64)

    def matvec(self, x):
        return np.cumsum(x)

    def rmatvec(self, y):
        return np.cumsum(y[::-1])[::-1]


def solved(matrix, right):
    """The solution of a square system in rational numbers, or None if there is no unique one."""
    n = len(right)
    rows = [[*matrix[i], right[i]] for i in range(n)]
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def affine_minimiser(points):
    """Weights, summing to one, of the point of the affine hull nearest to the origin; None if not unique."""
    k = len(points)
    gram = [[dot(p, q) for q in points] + [Fraction(1)] for p in points]
    weights = solved([*gram, [Fraction(1)] * k + [Fraction(0)]], [Fraction(0)] * k + [Fraction(1)])
    return None if weights is None else weights[:k]


def exact_projection(matrix, raw, symmetric=False):
    """The projection in rational numbers, by trying every face of the hull."""
    raw = [Fraction(entry) for entry in np.asarray(raw).tolist()]
    columns = [[Fraction(entry) for entry in column] for column in np.asarray(matrix).T.tolist()]
    if symmetric:
        columns += [[-entry for entry in column] for column in columns]
    points = [[a - b for a, b in zip(column, raw, strict=True)] for column in columns]
    nearest = None
    for size in range(1, min(len(points), len(raw) + 1) + 1):
        for face in combinations(points, size):
            weights = affine_minimiser(face)
            if weights is None or min(weights) < 0:
                continue
            point = [dot(weights, entries) for entries in zip(*face, strict=True)]
            if nearest is None or dot(point, point) < dot(nearest, nearest):
                nearest = point
    return np.array([float(a + b) for a, b in zip(nearest, raw, strict=True)])


def by_least_squares(matrix, raw):
    """The projection by nonnegative least squares (Lawson and Hanson 1974, chapter 23).

    The u >= 0 that minimises ||P u||^2 + (sum u - 1)^2, P the points a_j - raw, is a multiple of the weights.
    """
    points = matrix - raw[:, None]
    u, _ = nnls(np.vstack([points, np.ones(matrix.shape[1])]), np.append(np.zeros(raw.size), 1.0), maxiter=10**5)
    return matrix @ (u / u.sum())


def problems(seed, number, entries, columns=range(1, 6), rows=range(1, 4)):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        d, J = rng.choice(rows), rng.choice(columns)
        yield entries(rng, d, J), entries(rng, d, 1)[:, 0]


SMALL = {
    "integers": lambda rng, d, J: rng.integers(-2, 3, size=(d, J)).astype(np.float64),
    "bits": lambda rng, d, J: rng.integers(0, 2, size=(d, J)).astype(np.float64),
    "normals": lambda rng, d, J: rng.normal(size=(d, J)),
    "signs, nearly": lambda rng, d, J: rng.choice([-1.0, 1.0], size=(d, J)) + 1e-9 * rng.integers(-3, 4, size=(d, J)),
    "one point, nearly": lambda rng, d, J: 1.0 + 2.0**-20 * rng.integers(-2, 3, size=(d, J)),
    "sizes": lambda rng, d, J: rng.integers(-2, 3, size=(d, J)) * 10.0 ** rng.integers(-3, 4, size=(1, J)),
}


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", SMALL)
def test_every_face_tried_in_rational_numbers_gives_the_same(kind, symmetric):
    columns = range(1, 4) if symmetric else range(1, 6)
    for matrix, raw in problems(7, 60, SMALL[kind], columns):
        found = project_hull(matrix, raw, symmetric=symmetric)
        exact = exact_projection(matrix, raw, symmetric)
        size = max(np.abs(matrix).max(), np.abs(raw).max())
        assert found.converged
        assert np.linalg.norm(found.values - exact) <= found.error_bound + 1e-14 * size


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize(("d", "J"), [(1, 50), (3, 200), (30, 30), (40, 300), (200, 20)])
def test_nonnegative_least_squares_gives_the_same(d, J, noise):
    rng = np.random.default_rng(d + J)
    matrix = rng.normal(size=(d, J))
    raw = matrix @ rng.dirichlet(np.ones(J)) + noise * rng.normal(size=d)
    found = project_hull(matrix, raw)
    assert found.converged
    # Its error in the distance is rounding; nnls squares nothing, but knows the points only relative to raw.
    np.testing.assert_allclose(found.values, by_least_squares(matrix, raw), rtol=0, atol=1e-11 * (1 + noise))


@pytest.mark.parametrize("noise", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("size", [1, 2, 40, 300])
def test_the_hull_of_unit_vectors_is_the_simplex(size, noise):
    rng = np.random.default_rng(size)
    raw = rng.dirichlet(np.ones(size)) + noise * rng.normal(size=size)
    found = project_hull(np.eye(size), raw)
    np.testing.assert_allclose(found.values, project_simplex(raw).values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.values[found.support], found.weights, rtol=0, atol=1e-14)


@pytest.mark.parametrize("noise", [1e-3, 0.1, 10.0])
def test_an_operator_needs_no_matrix(noise):
    size = 400
    rng = np.random.default_rng(3)
    raw = np.cumsum(rng.dirichlet(np.full(size, 0.1))) + noise * rng.normal(size=size)
    found = project_hull(Prefix(size), raw)
    assert isinstance(Prefix(size), Operator)
    assert found.converged
    np.testing.assert_allclose(found.values, project_hull(np.tri(size), raw).values, rtol=0, atol=1e-11)
    # A distribution function rises and ends at one.
    assert (np.diff(found.values) >= -1e-14).all()
    assert found.values[-1] == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("symmetric", [False, True])
def test_without_stored_columns_the_operator_gives_the_same(monkeypatch, symmetric):
    rng = np.random.default_rng(4)
    matrix = 3 + rng.normal(size=(20, 90))
    raw = matrix.mean(axis=1) + 0.1 * rng.normal(size=20)
    stored = project_hull(matrix, raw, symmetric=symmetric)
    monkeypatch.setattr(active_set, "_STORED_BYTES", 20 * 8 * 3)
    found = project_hull(matrix, raw, symmetric=symmetric)
    assert found.converged
    np.testing.assert_allclose(found.values, stored.values, rtol=0, atol=1e-12)
    again = project_hull(matrix, raw, symmetric=symmetric, start=(stored.support, stored.weights))
    np.testing.assert_allclose(again.values, stored.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_product_with_the_transpose_serves_many_columns(symmetric):
    rng = np.random.default_rng(5)
    operator = Dense(rng.normal(size=(60, 500)))
    raw = operator.matvec(rng.dirichlet(np.ones(500)))
    found = project_hull(operator, raw, symmetric=symmetric)
    assert found.support.size >= 60
    assert operator.products <= 30
    # Two products choose where to start; every other one is a certificate.
    assert operator.products == found.steps + 2


def test_the_result_says_what_it_is():
    matrix = np.array([[0.0, 2.0, 0.0, 2.0], [0.0, 0.0, 2.0, 0.0]])
    raw = np.array([2.0, 1.0])
    raw.flags.writeable = False
    found = project_hull(matrix, raw)
    assert isinstance(found, HullProjection)
    assert isinstance(found, Projected)
    np.testing.assert_array_equal(raw, [2, 1])
    np.testing.assert_allclose(found.values, [1.5, 0.5], atol=1e-15)
    assert found.support.dtype == np.int64
    assert found.support.size == 2
    assert set(found.support.tolist()) in ({1, 2}, {2, 3})
    assert found.converged
    for array in (found.values, found.support, found.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("matrix", "raw", "expected"),
    [
        ([[3.0]], [5.0], [3.0]),
        ([[0.0]], [5.0], [0.0]),
        ([[0.0]], [0.0], [0.0]),
        ([[1.0, 4.0]], [2.5], [2.5]),
        ([[1.0, 4.0]], [9.0], [4.0]),
        ([[4.0, 4.0]], [9.0], [4.0]),
        ([[1.0, 4.0], [1.0, 4.0]], [0.0, 6.0], [3.0, 3.0]),
        ([[0.0, 0.0, 0.0, 1.0]], [0.25], [0.25]),
        ([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]], [0.0, 0.0], [0.0, 0.0]),
        ([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]], [3.0, 3.0], [0.5, 0.5]),
        ([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]], [7.0, 0.5], [1.0, 0.5]),
        (np.full((3, 70), 2.0), [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]),
    ],
)
def test_small_and_degenerate_hulls(matrix, raw, expected):
    found = project_hull(np.array(matrix), np.array(raw))
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-15)
    assert found.gap <= 1e-15
    assert found.converged


def test_the_symmetric_polytope_has_signed_weights():
    matrix = np.array([[2.0, 0.0], [0.0, 2.0]])
    found = project_hull(matrix, np.array([-3.0, 2.0]), symmetric=True)
    np.testing.assert_allclose(found.values, [-1.5, 0.5], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.support, [0, 1])
    np.testing.assert_allclose(found.weights, [-0.75, 0.25], rtol=0, atol=1e-15)


@pytest.mark.parametrize("raw", [[0.0, 0.0], [0.25, -0.5], [0.0, 1.0]])
def test_what_lies_in_the_symmetric_polytope_stays(raw):
    matrix = np.array([[2.0, 0.0, 2.0], [0.0, 2.0, 2.0]])
    found = project_hull(matrix, np.array(raw), symmetric=True)
    np.testing.assert_allclose(found.values, raw, rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix[:, found.support] @ found.weights, raw, rtol=0, atol=1e-15)
    assert np.abs(found.weights).sum() <= 1 + 1e-15
    assert (found.weights != 0).all()


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-20, 1e20, 1e200, 1e300])
def test_any_unit_will_do(scale, symmetric):
    rng = np.random.default_rng(6)
    matrix, raw = rng.normal(size=(5, 30)), rng.normal(size=5)
    found = project_hull(matrix, raw, symmetric=symmetric)
    scaled = project_hull(scale * matrix, scale * raw, symmetric=symmetric)
    np.testing.assert_allclose(scaled.values, scale * found.values, rtol=0, atol=1e-13 * scale)
    assert scaled.converged
    assert scaled.gap >= 0


@pytest.mark.parametrize("distance", [1e3, 1e9, 1e100, 1e250])
def test_a_raw_estimate_may_be_far_away(distance):
    rng = np.random.default_rng(8)
    matrix = rng.normal(size=(6, 200))
    direction = rng.normal(size=6)
    found = project_hull(matrix, distance * direction)
    farthest = matrix[:, np.argmax(direction @ matrix)]
    assert found.converged
    if distance > 1e8:
        np.testing.assert_allclose(found.values, farthest, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.values @ direction, farthest @ direction, rtol=10 / distance)


@pytest.mark.parametrize("offset", [1e2, 1e5, 1e8])
def test_an_offset_of_all_columns_moves_the_projection_with_them(offset):
    rng = np.random.default_rng(9)
    matrix = np.round(rng.normal(size=(5, 40)), 3)
    raw = np.round(rng.normal(size=5), 3)
    shifted = project_hull(matrix + offset, raw + offset)
    # The sums with the offset are rounded, and what depends on their differences too.
    rounding = 1e-12 + 2.0**-50 * offset
    expected = project_hull(matrix, raw).values
    assert shifted.converged
    assert np.linalg.norm(shifted.values - offset - expected) <= shifted.error_bound + rounding
    if offset < 1e6:
        np.testing.assert_allclose(shifted.values - offset, expected, rtol=0, atol=rounding)


def test_columns_too_different_to_be_seen_together_are_refused():
    matrix = np.array([[1.0, 0.0], [0.0, 1e200]])
    with refuses(ProjectionError, "operator"):
        project_hull(matrix, np.array([3.0, 0.5]), start=(np.array([0]), np.array([1.0])), symmetric=True)


def test_a_start_near_the_end_saves_steps():
    rng = np.random.default_rng(10)
    matrix = rng.normal(size=(50, 400))
    truth = matrix @ rng.dirichlet(np.full(400, 0.2))
    raw = truth + 0.3 * rng.normal(size=50)
    cold = project_hull(matrix, raw)
    same = project_hull(matrix, raw, start=(cold.support, cold.weights))
    assert same.steps == 1 < cold.steps
    np.testing.assert_allclose(same.values, cold.values, rtol=0, atol=1e-13)
    moved = raw + 1e-3 * rng.normal(size=50)
    warm = project_hull(matrix, moved, start=(cold.support, cold.weights))
    cold = project_hull(matrix, moved)
    assert warm.steps < cold.steps
    np.testing.assert_allclose(warm.values, cold.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_start_may_be_poor(symmetric):
    rng = np.random.default_rng(11)
    matrix = rng.normal(size=(4, 30))
    matrix[:, 7] = matrix[:, 3]
    raw = rng.normal(size=4)
    expected = project_hull(matrix, raw, symmetric=symmetric).values
    for support, weights in (
        ([3, 7, 3], [1, 1, 1]),
        (list(range(30)), [1] * 30),
        ([5], [1e-300]),
        ([5, 6], [0.0, 1e300]),
        ([3, 7], [0.0, 1.0]),
    ):
        found = project_hull(matrix, raw, symmetric=symmetric, start=(np.array(support), np.array(weights)))
        assert found.converged
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-13)


def test_a_search_cut_short_has_an_honest_certificate():
    rng = np.random.default_rng(12)
    matrix = rng.normal(size=(50, 400))
    raw = matrix @ rng.dirichlet(np.ones(400))
    full = project_hull(matrix, raw)
    assert full.steps > 5
    gaps = []
    for steps in range(1, full.steps):
        cut = project_hull(matrix, raw, max_steps=steps)
        assert cut.steps == steps
        assert not cut.converged
        assert np.linalg.norm(cut.values - full.values) <= cut.error_bound + full.error_bound
        gaps.append(cut.gap)
    assert gaps == sorted(gaps, reverse=True)  # the best certificate met, not the last


def test_a_full_active_set_ends_the_search(monkeypatch):
    monkeypatch.setattr(hull, "_MOST_ACTIVE", 12)
    rng = np.random.default_rng(13)
    raw = rng.dirichlet(np.ones(40)) + 1e-3 * rng.normal(size=40)
    cut = project_hull(np.eye(40), raw)
    assert not cut.converged
    assert cut.support.size <= 12
    assert np.linalg.norm(cut.values - project_simplex(raw).values) <= cut.error_bound


@pytest.mark.parametrize("symmetric", [False, True])
def test_no_tolerance_ends_too(symmetric):
    """Where only rounding is left to gain, sets come back, and that ends the search."""
    rng = np.random.default_rng(14)
    for _ in range(50):
        matrix = rng.normal(size=(8, 6))[:, rng.integers(0, 6, size=40)] + 1e-9 * rng.normal(size=(8, 40))
        found = project_hull(matrix, rng.normal(size=8), tolerance=0.0, symmetric=symmetric)
        assert found.steps < 150
        assert found.gap <= 1e-13 * 8 * 4


def test_the_factor_follows_its_points():
    rng = np.random.default_rng(15)
    points = np.zeros((0, 200))
    factor = Factor.empty()
    for _ in range(60):
        new = rng.choice([0.5, 1.0, 2.0]) * rng.normal(size=(rng.integers(1, 20), 200))
        new[-1] = new[0] if len(new) > 1 else new[-1]  # a duplicate, which depends
        factor, entered = factor.extended(points @ new.T, new @ new.T)
        assert len(entered) == max(1, len(new) - 1)
        points = np.vstack([points, new[entered]])
        kept = rng.random(len(points)) < 0.9
        kept[rng.integers(len(points))] = True
        if not kept.all():
            factor, points = factor.reduced(kept), points[kept]
        gram = points @ points.T + factor.weight
        rounding = 1e-13 * factor.weight
        np.testing.assert_allclose(factor.upper.T @ factor.upper, gram, rtol=0, atol=rounding)
        np.testing.assert_array_equal(factor.upper, np.triu(factor.upper))
        z = rng.normal(size=len(points))
        z -= z.mean()
        assert factor.length(z) == pytest.approx(np.linalg.norm(z @ points), rel=1e-12, abs=rounding)
        np.testing.assert_allclose(factor.curvature(z), gram @ z, rtol=0, atol=100 * rounding)
        np.testing.assert_allclose(factor.newton_step(gram @ z + 5.0), -z, rtol=0, atol=1e-11)
        affine = z + 1 / len(z)
        np.testing.assert_allclose(factor.dependence(points @ (affine @ points)), affine, rtol=0, atol=1e-11)
    assert len(points) > 64  # more than one block


class Wrong(Dense):
    """An operator one of whose methods answers nonsense."""

    def __init__(self, method, answer):
        super().__init__(np.eye(3))
        setattr(self, method, lambda _: answer)


@pytest.mark.parametrize(
    "operator",
    [
        Wrong("matvec", np.zeros(2)),
        Wrong("rmatvec", np.zeros((3, 1))),
        Wrong("column", np.zeros(4)),
        Wrong("matvec", np.full(3, np.nan)),
        Wrong("rmatvec", np.full(3, np.inf)),
        Wrong("column", np.full(3, np.nan)),
        np.array([[1.0, np.nan]]),
        np.array([[np.inf, 1.0]]),
        np.zeros((3, 0)),
        np.zeros(3),
        np.array([["a"]]),
        np.array([[1j]]),
        [[1.0, 2.0]],
        None,
    ],
)
def test_what_is_no_query_matrix_is_refused(operator):
    with refuses(ProjectionError, "operator"):
        project_hull(operator, np.ones(1 if isinstance(operator, np.ndarray) else 3))


def test_an_operator_without_columns_is_refused():
    empty = Dense(np.eye(3))
    empty.shape = (3, 0)
    with refuses(ProjectionError, "operator"):
        project_hull(empty, np.ones(3))


@pytest.mark.parametrize(
    "raw",
    [
        np.zeros(0),
        np.zeros(4),
        np.zeros((3, 1)),
        np.array([1.0, np.nan, 0.0]),
        np.array([1.0, np.inf, 0.0]),
        np.array([1.0, 1j, 0.0]),
    ],
)
def test_what_is_no_raw_estimate_is_refused(raw):
    with refuses(ProjectionError, "raw"):
        project_hull(np.eye(3), raw)


ONE = np.array([1.0])


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"tolerance": -1e-9}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": 10**400}, "tolerance"),
        ({"tolerance": True}, "tolerance"),
        ({"tolerance": "small"}, "tolerance"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": 2.5}, "max_steps"),
        ({"max_steps": True}, "max_steps"),
        ({"start": (np.array([0, 1]), ONE)}, "start"),
        ({"start": (np.zeros(0, dtype=int), np.zeros(0))}, "start"),
        ({"start": (np.array([[0]]), np.array([[1.0]]))}, "start"),
        ({"start": (np.array([3]), ONE)}, "start"),
        ({"start": (np.array([-1]), ONE)}, "start"),
        ({"start": (np.array([0.0]), ONE)}, "start"),
        ({"start": (np.array([0]), -ONE)}, "start"),
        ({"start": (np.array([0]), 0 * ONE)}, "start"),
        ({"start": (np.array([0]), np.array([np.nan]))}, "start"),
        ({"start": (np.array([0]), np.array([1j]))}, "start"),
    ],
)
def test_options_out_of_range_are_refused(options, field):
    with refuses(ProjectionError, field):
        project_hull(np.eye(3), np.ones(3), **options)
