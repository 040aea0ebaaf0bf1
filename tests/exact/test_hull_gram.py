"""The projection on a hull whose operator knows its columns' inner products: the same, without a single column."""

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.projections import active_set, project_hull
from sottovoce.projections.operator import GramOperator, Operator
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Dense, Prefix
from stored_matrix import Stored

both = pytest.mark.parametrize("symmetric", [False, True])

# Prices are sums of d products, of averages of k points; each of these roundings is one part in 2^53.
ROUNDING = 2.0**-46


class Known(Stored):
    """A matrix that knows inner products, and counts the columns asked for."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.columns = 0

    def column(self, j):
        self.columns += 1
        return super().column(j)

    def gram(self, first, second):
        return self.matrix[:, first].T @ self.matrix[:, second]


class Lying(Known):
    """One whose inner products are those of another matrix."""

    def gram(self, first, second):
        return np.cos(np.add.outer(first, second)) + 5 * np.equal.outer(first, second)


class Spoilt(Known):
    """One whose inner products are spoilt after the first few answers."""

    def __init__(self, matrix, spoil):
        super().__init__(matrix)
        self.spoil, self.answers = spoil, 0

    def gram(self, first, second):
        self.answers += 1
        products = super().gram(first, second)
        return self.spoil(products) if self.answers > 2 else products


def defined_gap(matrix, raw, found, symmetric):
    x = np.zeros(matrix.shape[1])
    x[found.support] = found.weights
    g = matrix.T @ (matrix @ x - raw)
    return g @ x + np.abs(g).max() if symmetric else g @ x - g.min()


def terms(matrix, raw, found):
    """The size of what cancels in the gap."""
    longest = np.linalg.norm(matrix, axis=0).max()
    return longest * (longest + np.linalg.norm(found.values - raw))


def assert_same(operator, matrix, raw, symmetric, **options):
    """Both ways end at the projection, with a certificate that is what it is defined to be."""
    known = project_hull(operator, raw, symmetric=symmetric, **options)
    dense = project_hull(matrix, raw, symmetric=symmetric, **options)
    rounding = ROUNDING * terms(matrix, raw, known)
    assert known.converged
    assert dense.converged
    assert abs(known.gap - defined_gap(matrix, raw, known, symmetric)) <= rounding
    distance = np.linalg.norm(known.values - dense.values)
    assert distance <= np.sqrt(known.gap + rounding) + np.sqrt(dense.gap + rounding)
    return known, dense


def test_inner_products_are_optional():
    known = Known(np.eye(2))
    assert isinstance(known, GramOperator)
    assert isinstance(Dense(np.eye(4)), Operator)
    assert not isinstance(Dense(np.eye(4)), GramOperator)


ENTRIES = {
    "normals": lambda rng, shape: rng.normal(size=shape),
    "bits": lambda rng, shape: rng.integers(0, 2, size=shape).astype(np.float64),
    "integers": lambda rng, shape: rng.integers(-2, 3, size=shape).astype(np.float64),
    "repeated": lambda rng, shape: rng.normal(size=shape)[:, rng.integers(0, min(3, shape[1]), size=shape[1])],
    "sizes": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=(1, shape[1])),
}


@both
@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("kind", ENTRIES)
def test_random_matrices_give_the_same(kind, noise, symmetric):
    rng = np.random.default_rng(1)
    for shape in ((1, 40), (4, 3), (6, 90), (40, 200)):
        matrix = ENTRIES[kind](rng, shape)
        raw = matrix @ rng.dirichlet(np.ones(shape[1])) + noise * rng.normal(size=shape[0])
        assert_same(Known(matrix), matrix, raw, symmetric)


@both
def test_no_column_is_asked_for(symmetric):
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(30, 300))
    operator = Known(matrix)
    raw = matrix @ rng.dirichlet(np.ones(300)) + 0.01 * rng.normal(size=30)
    known, dense = assert_same(operator, matrix, raw, symmetric)
    assert operator.columns == 0
    np.testing.assert_allclose(known.values, dense.values, rtol=0, atol=1e-12)


def coordinates(kind, size, *parameters):
    strategy = HaarStrategy if kind is Haar else HierarchicalStrategy
    return strategy(Prefix(size), kind(size, 1.0, *parameters)).coordinates


LEVELS = [
    *((Haar, size, 3) for size in (2, 7, 64, 150)),
    *((Hierarchical, size, branching, -2) for size in (7, 64, 150) for branching in (2, 3, 4, 5, 7)),
    (Hierarchical, 50, 50, 0),
]


def name(parameters):
    kind, *numbers = parameters
    return f"{kind.name}{numbers}"


@pytest.mark.parametrize("parameters", LEVELS, ids=name)
def test_inner_products_of_levels_are_those_of_the_columns(parameters):
    V = coordinates(*parameters)
    everything = np.arange(V.shape[1])
    columns = V.columns(everything)
    np.testing.assert_allclose(V.gram(everything[::3], everything), columns[::3] @ columns.T, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", [(Haar, 2**26), (Hierarchical, 2**26 - 7, 3)], ids=name)
def test_inner_products_of_levels_take_no_memory(kind):
    V = coordinates(*kind)
    first, second = np.array([0, 5, 2**25]), np.array([0, 1, 4, 2**25 - 1, 2**26 - 8])
    expected = np.zeros((3, 5))
    for span, scale in zip(V.spans, V.scales, strict=True):
        for i, u in enumerate(first.tolist()):
            for j, v in enumerate(second.tolist()):
                sign = (-1) ** (u // (span // 2) + v // (span // 2)) if V.signed else 1
                expected[i, j] += sign * scale**2 * (u // span == v // span)
    np.testing.assert_allclose(V.gram(first, second), expected, rtol=0, atol=1e-14)


def refused(*_):
    raise AssertionError("a column was asked for")


@both
@pytest.mark.parametrize("noise", [1e-4, 0.03, 2.0])
@pytest.mark.parametrize("parameters", LEVELS, ids=name)
def test_levels_give_the_same(parameters, noise, symmetric, monkeypatch):
    V = coordinates(*parameters)
    matrix = V.columns(np.arange(V.shape[1])).T
    rng = np.random.default_rng(3)
    raw = matrix @ rng.dirichlet(np.full(V.shape[1], 0.3)) + noise * rng.normal(size=V.shape[0])
    monkeypatch.setattr(type(V), "columns", refused)
    known, dense = assert_same(V, matrix, raw, symmetric)
    np.testing.assert_allclose(known.values, dense.values, rtol=0, atol=1e-7)


@both
@pytest.mark.parametrize("together", [3, 1024])
def test_a_start_may_have_any_length(together, symmetric, monkeypatch):
    monkeypatch.setattr(active_set, "_STARTED", together)
    rng = np.random.default_rng(4)
    matrix = rng.normal(size=(12, 100))
    raw = rng.normal(size=12)
    operator = Known(matrix)
    weights = rng.normal(size=100) if symmetric else rng.random(100)
    _, dense = assert_same(operator, matrix, raw, symmetric, start=(np.arange(100), weights))
    again, _ = assert_same(operator, matrix, raw, symmetric, start=(dense.support, dense.weights))
    assert again.steps == 1
    assert operator.columns == 0


@pytest.mark.parametrize("offset", [1e2, 1e5, 1e8])
def test_an_offset_costs_no_accuracy(offset):
    rng = np.random.default_rng(5)
    matrix = np.round(rng.normal(size=(5, 40)), 3) + offset
    raw = np.round(rng.normal(size=5), 3) + offset
    operator = Known(matrix)
    known, dense = assert_same(operator, matrix, raw, symmetric=False)
    assert operator.columns > 0, "the inner products of such columns say little about their differences"
    np.testing.assert_array_equal(known.values, dense.values)


@both
@pytest.mark.parametrize("power", [-900, -600, -300, 300, 600, 900])
def test_any_unit_will_do(power, symmetric):
    rng = np.random.default_rng(6)
    matrix, raw = rng.normal(size=(5, 30)), rng.normal(size=5)
    found = project_hull(Known(matrix), raw, symmetric=symmetric)
    operator = Known(np.ldexp(matrix, power))
    scaled = project_hull(operator, np.ldexp(raw, power), symmetric=symmetric)
    assert scaled.converged
    assert (operator.columns > 0) == (abs(power) > 400), "squares that vanish or overflow are of no use"
    np.testing.assert_allclose(np.ldexp(scaled.values, -power), found.values, rtol=0, atol=1e-13)


def test_columns_of_zeros_are_a_hull_too():
    found = project_hull(Known(np.zeros((3, 4))), np.ones(3))
    np.testing.assert_array_equal(found.values, np.zeros(3))
    assert found.converged


@both
def test_wrong_inner_products_do_not_make_a_wrong_certificate(symmetric):
    rng = np.random.default_rng(7)
    matrix, raw = rng.normal(size=(8, 50)), rng.normal(size=8)
    found = project_hull(Lying(matrix), raw, symmetric=symmetric)
    true = project_hull(matrix, raw, symmetric=symmetric)
    rounding = ROUNDING * terms(matrix, raw, found)
    assert abs(found.gap - defined_gap(matrix, raw, found, symmetric)) <= rounding
    assert np.linalg.norm(found.values - true.values) <= np.sqrt(found.gap + rounding) + np.sqrt(true.gap + rounding)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda products: products[:, 0],
        lambda products: products * np.nan,
        lambda products: products * 1e250,
    ],
)
def test_inner_products_of_no_use_are_refused(spoil):
    rng = np.random.default_rng(8)
    with refuses(ProjectionError, "operator"):
        project_hull(Spoilt(rng.normal(size=(3, 90)), spoil), rng.normal(size=3))


def test_inner_products_of_the_wrong_shape_are_refused_at_once():
    class Flat(Known):
        def gram(self, first, second):
            return super().gram(first, second).ravel()

    with refuses(ProjectionError, "operator"):
        project_hull(Flat(np.eye(3)), np.ones(3))
