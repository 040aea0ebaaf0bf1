"""The factorized strategy against its certificate, closed forms, other factorizations and awkward workloads."""

import math

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import CapacityError, PlanError, WorkloadError
from sottovoce.strategies.laws import roots as factorize_root
from sottovoce.strategies.laws.roots import gram_of, root_of
from sottovoce.strategies.search.factorize import factorize, state_at
from sottovoce.workloads import Dense, Identity, Marginals, Parities, Prefix, Ranges

RNG = np.random.default_rng(20)

WORKLOADS = {
    "identity": Identity(7),
    "prefix": Prefix(20),
    "ranges": Ranges(12),
    "marginals": Marginals(k=2, a=3, b=4, c=2),
    "two values": Identity(2),
    "wide": Dense(RNG.normal(size=(6, 40))),
    "tall": Dense(RNG.normal(size=(40, 6))),
    "wide, dependent rows": Dense(RNG.normal(size=(9, 4)) @ RNG.normal(size=(4, 30))),
    "tall, dependent columns": Dense(RNG.normal(size=(30, 4)) @ RNG.normal(size=(4, 9))),
    "equal columns": Dense(np.repeat(RNG.integers(0, 2, size=(30, 8)).astype(float), 3, axis=1)),
    "zero columns": Dense(np.hstack([np.zeros((5, 3)), RNG.normal(size=(5, 4)), np.zeros((5, 1))])),
    "rank one": Dense(np.outer(RNG.normal(size=5), RNG.normal(size=4))),
    "one query": Dense([[3.0, -1.0, 0.5, 0.0]]),
    "huge": Dense(1e98 * RNG.normal(size=(4, 6))),
    "tiny": Dense(1e-98 * RNG.normal(size=(7, 5))),
    "columns of many sizes": Dense(RNG.normal(size=(6, 6)) * 10.0 ** -np.arange(6)),
}

every_workload = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
with_and_without_centre = pytest.mark.parametrize("centred", [False, True], ids=["linear", "centred"])


def objective_of(matrix, coordinates, shift):
    """||R||_F^2 times the largest squared column, from the definition; checks that R V is what it must be."""
    target = matrix - shift[:, None]
    right = target @ np.linalg.pinv(coordinates)
    assert np.abs(right @ coordinates - target).max() <= 1e-9 * np.abs(matrix).max()
    return (right**2).sum() * (coordinates**2).sum(axis=0).max()


def nuclear_bound(matrix, weights, centred):
    """The dual from its definition: the squared sum of singular values of the weighted columns."""
    columns = matrix - (matrix @ weights)[:, None] if centred else matrix
    return np.linalg.svd(columns * np.sqrt(weights), compute_uv=False).sum() ** 2


@every_workload
@with_and_without_centre
def test_the_certificate_is_true(workload, centred):
    found = factorize(workload, centred=centred, tolerance=1e-4)
    matrix = workload.dense()
    shift = matrix @ found.centre if centred else np.zeros(len(matrix))
    assert np.linalg.norm(found.coordinates, axis=0).max() <= 1
    assert np.linalg.matrix_rank(found.coordinates) == len(found.coordinates)
    assert math.isclose(objective_of(matrix, found.coordinates, shift), found.objective, rel_tol=1e-6)
    assert found.lower_bound <= found.objective <= (1 + 1e-4) * found.lower_bound
    assert math.isclose(found.lower_bound, nuclear_bound(matrix, found.weights, centred), rel_tol=1e-5)
    assert found.gap == found.objective / found.lower_bound - 1


@every_workload
@with_and_without_centre
def test_answers_are_those_of_the_population(workload, centred):
    found = factorize(workload, centred=centred)
    matrix = workload.dense()
    for seed in range(3):
        p = np.random.default_rng(seed).dirichlet(np.ones(matrix.shape[1]))
        close = 1e-9 * workload.radius
        np.testing.assert_allclose(found.answers(found.coordinates @ p), matrix @ p, rtol=0, atol=close)
    if not centred:  # linear in everything, not only in distributions
        x = np.random.default_rng(3).normal(size=matrix.shape[1])
        np.testing.assert_allclose(found.answers(found.coordinates @ x), matrix @ x, rtol=0, atol=10 * close)


@every_workload
def test_a_centre_never_costs(workload):
    linear, centred = factorize(workload), factorize(workload, centred=True)
    assert centred.lower_bound <= linear.objective
    assert len(centred.coordinates) <= len(linear.coordinates)


@pytest.mark.parametrize("size", [2, 3, 16])
def test_the_identity_is_its_own_best(size):
    """Orthonormal columns: V = I. With a centre they are a regular simplex of squared radius 1 - 1/J."""
    linear, centred = factorize(Identity(size)), factorize(Identity(size), centred=True)
    assert linear.iterations == centred.iterations == 1
    assert math.isclose(linear.objective, size, rel_tol=1e-12)
    assert math.isclose(centred.objective, (size - 1) * (1 - 1 / size), rel_tol=1e-12)


def test_parities_are_their_own_best():
    """Rows of characters are orthogonal and their columns of one length, so nothing beats V = A: d^2."""
    workload = Parities(6, 2)
    found = factorize(workload)
    matrix = workload.dense()
    assert np.allclose(matrix @ matrix.T, 64 * np.eye(len(matrix)))
    assert found.iterations == 1
    assert math.isclose(found.objective, len(matrix) ** 2, rel_tol=1e-12)


def test_one_query_needs_its_largest_answer():
    """With one row ||R||^2 is the largest square; the best centre is halfway between the extremes."""
    workload = Dense([[3.0, -1.0, 0.5, 2.9]])
    assert math.isclose(factorize(workload, tolerance=1e-6).objective, 9.0, rel_tol=2e-6)
    assert math.isclose(factorize(workload, centred=True, tolerance=1e-6).objective, 4.0, rel_tol=2e-6)


def test_orthogonal_columns_of_all_lengths_are_solved_at_once():
    lengths = np.array([1.0, 5.0, 1e-3, 40.0])
    found = factorize(Dense(np.diag(lengths)))
    assert found.iterations == 1
    assert math.isclose(found.objective, (lengths**2).sum(), rel_tol=1e-6)


@pytest.mark.parametrize("size", [4, 32, 128])
def test_prefix_beats_the_square_root_of_the_lower_triangle(size):
    """The Toeplitz square root of the matrix of ones has the coefficients binomial(2k, k)/4^k."""
    coefficients = np.cumprod([1.0] + [(2 * k - 1) / (2 * k) for k in range(1, size)])
    root = np.array([[coefficients[i - j] if i >= j else 0.0 for j in range(size)] for i in range(size)])
    assert np.allclose(root @ root, np.tril(np.ones((size, size))))
    known = (root**2).sum() * (root**2).sum(axis=0).max()
    found = factorize(Prefix(size))
    assert objective_of(Prefix(size).dense(), root, np.zeros(size)) == pytest.approx(known)
    assert found.lower_bound < found.objective < known < 1.2 * found.objective


@every_workload
@with_and_without_centre
def test_no_other_coordinates_are_below_the_bound(workload, centred):
    matrix = workload.dense()
    found = factorize(workload, centred=centred)
    shift = matrix @ found.centre if centred else np.zeros(len(matrix))
    rng = np.random.default_rng(5)
    for size in (0.0, 1e-3, 0.1, 1.0):
        rank = len(found.coordinates)
        turned = (np.eye(rank) + size * rng.normal(size=(rank, rank))) @ found.coordinates
        assert objective_of(matrix, turned, shift) >= found.lower_bound * (1 - 1e-9)


@every_workload
@with_and_without_centre
def test_the_root_has_the_same_inner_products(workload, centred):
    matrix = workload.dense()
    if centred:
        matrix = matrix - matrix.mean(axis=1, keepdims=True)
    root = root_of(workload, centred=centred)
    gram = np.ldexp(root.matrix.T @ root.matrix, 2 * root.exponent)
    exact = matrix.T @ matrix
    np.testing.assert_allclose(gram, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    np.testing.assert_allclose(gram_of(workload, centred=centred), exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@with_and_without_centre
def test_the_matrix_need_not_be_written_out(monkeypatch, centred):
    """Where A has too many entries, products with single columns give the same Gram matrix."""
    workload = Marginals(k=2, a=5, b=4, c=6)
    written = gram_of(workload, centred=centred)
    monkeypatch.setattr(factorize_root, "MAX_ENTRIES", 10)
    monkeypatch.setattr(type(workload), "columns", None)
    np.testing.assert_allclose(gram_of(workload, centred=centred), written, rtol=0, atol=1e-13)


def test_more_iterations_only_improve():
    runs = [factorize(Prefix(64), tolerance=1e-6, max_iterations=most) for most in (1, 2, 4, 8, 16)]
    objectives, bounds = [run.objective for run in runs], [run.lower_bound for run in runs]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert math.isclose(
        objective_of(Prefix(64).dense(), runs[1].coordinates, np.zeros(64)), runs[1].objective, rel_tol=1e-9
    )


def test_the_limit_of_iterations_holds():
    found = factorize(Prefix(64), tolerance=1e-6, max_iterations=3)
    assert found.iterations == 3
    assert found.gap > 1e-6


def test_two_points_with_a_centre_do_not_swap_for_ever():
    """The multiplicative step of size 1 maps weights (w, 1 - w) to (1 - w, w)."""
    found = factorize(Dense([[0.0, 1.0, 0.9]]), centred=True, tolerance=1e-6)
    assert found.gap <= 1e-6
    assert found.iterations < 300
    assert math.isclose(found.objective, 0.25, rel_tol=2e-6)


def test_lengths_average_to_the_trace():
    root = root_of(Prefix(12)).matrix
    for centred in (False, True):
        state = state_at(root, np.random.default_rng(1).normal(size=12), centred)
        assert state.weights @ state.lengths == pytest.approx(state.trace, rel=1e-6)
        assert state.certain <= state.trace * (1 + 1e-12)


def test_the_result_cannot_be_changed():
    found = factorize(Identity(4))
    with pytest.raises(ValueError, match="read-only"):
        found.coordinates[0, 0] = 2.0
    with pytest.raises(AttributeError):
        found.objective = 0.0


@pytest.mark.parametrize("tolerance", [0, -1.0, 1.0, math.nan, "tight", True])
def test_bad_tolerances_are_refused(tolerance):
    with refuses(PlanError, "tolerance"):
        factorize(Identity(3), tolerance=tolerance)


@pytest.mark.parametrize("iterations", [0, 1.5, True, None])
def test_bad_limits_are_refused(iterations):
    with refuses(PlanError, "max_iterations"):
        factorize(Identity(3), max_iterations=iterations)


def test_queries_that_ask_nothing_are_refused():
    constant = Dense([[0.1, 0.1, 0.1], [0.7, 0.7, 0.7]])
    assert factorize(constant).objective == pytest.approx(0.5)
    with refuses(WorkloadError, "workload"):
        factorize(constant, centred=True)


def test_too_many_values_are_refused():
    with refuses(CapacityError, "workload"):
        factorize(Prefix(100_000))
    with refuses(CapacityError, "workload"):
        factorize(Marginals(k=4, a=40, b=40, c=40, d=40))


def test_a_wrong_vector_is_refused():
    with pytest.raises(WorkloadError, match="every coordinate"):
        factorize(Identity(3)).answers(np.zeros(2))
