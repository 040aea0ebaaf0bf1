"""The lower bounds against the best channels there are, found by convex optimisation, and against closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from cases import each
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms import create
from sottovoce.strategies.laws.roots import root_of
from sottovoce.strategies.search.factorize import factorize
from sottovoce.strategies.search.lower_bound import (
    bound_and_gradient,
    information_limits,
    least_noise,
    mean_variance_bound,
    worst_variance_bound,
)
from sottovoce.workloads import Dense, Identity, Marginals, Prefix, Ranges

RNG = np.random.default_rng(7)


def two_level_rows(size, epsilon):
    """All rows with entries 1 and e^epsilon but the two constant ones."""
    patterns = itertools.product((1.0, math.exp(epsilon)), repeat=size)
    return np.array([row for row in patterns if len(set(row)) == 2])


def best_channel(matrix, epsilon, weights):
    """The channel with the least mean second moment under the weights, which is a convex problem.

    The information of a row q is q q^T/(q w), jointly convex and homogeneous in q. So splitting a row into two-level
    rows, the extreme rays of the rows allowed, never loses information, and only their multiples are to be found.
    """
    size = matrix.shape[1]
    rows = two_level_rows(size, epsilon)
    scaled = rows / np.sqrt(rows @ weights)[:, None]
    gram = matrix.T @ matrix

    def moment(multiples):
        inverse = np.linalg.inv((scaled * multiples[:, None]).T @ scaled + 1e-9 * np.eye(size))
        slope = inverse @ gram @ inverse
        return np.trace(gram @ inverse) / scale, -np.einsum("ia,ab,ib->i", scaled, slope, scaled) / scale

    scale = 1.0
    start = np.ones(len(rows)) / rows[:, 0].sum()
    scale = moment(start)[0]
    sums = {"type": "eq", "fun": lambda x: rows.T @ x - 1, "jac": lambda x: rows.T}
    options = {"maxiter": 150, "ftol": 1e-8}
    found = minimize(
        moment, start, jac=True, bounds=[(0, None)] * len(rows), constraints=[sums], options=options, method="SLSQP"
    )
    # A little of the start keeps every direction visible; the sums of columns are then exactly 1.
    multiples = 0.999 * np.maximum(found.x, 0) + 0.001 * start
    channel = multiples[:, None] * rows
    return channel / channel.sum(axis=0)


def noise(matrix, channel, weights):
    """For every value the noise of the best unbiased reconstruction under the weights; checks all that is claimed."""
    likely = np.sqrt(channel @ weights)
    reconstruction = matrix @ np.linalg.pinv(channel / likely[:, None]) / likely
    assert np.allclose(channel.sum(axis=0), 1)
    assert np.allclose(reconstruction @ channel, matrix)
    return (reconstruction**2).sum(axis=0) @ channel - (matrix**2).sum(axis=0)


def true_epsilon(channel):
    return float(np.log(channel.max(axis=1) / channel.min(axis=1)).max())


def bound_under(weights, workload, epsilon):
    """What the mean noise under the weights cannot fall below."""
    root = root_of(workload, centred=True)
    return np.ldexp(bound_and_gradient(root.matrix, weights, epsilon)[0], 2 * root.exponent)


SMALL = {
    "prefix": lambda size: Prefix(size),
    "ranges": lambda size: Ranges(size),
    "identity": lambda size: Identity(size),
    "normal": lambda size: Dense(np.random.default_rng(size).normal(size=(3, size))),
    "tall": lambda size: Dense(np.random.default_rng(size).integers(0, 2, size=(9, size)).astype(float)),
    "sizes": lambda size: Dense(np.vander(np.arange(1.0, size + 1), 3).T),
}


@each("epsilon", [0.2, 1.0, 4.0])
@each("size", [2, 3, 4, 5, 6])
@each("make", SMALL.values())
def test_no_channel_is_below_the_bounds(make, size, epsilon):
    workload = make(size)
    matrix = workload.dense()
    mean, worst = mean_variance_bound(workload, epsilon), worst_variance_bound(workload, epsilon)
    assert 0 < mean <= worst
    uneven = factorize(workload, centred=True).weights + 0.01 / size
    for weights in (np.full(size, 1 / size), uneven / uneven.sum()):
        channel = best_channel(matrix, epsilon, weights)
        found = noise(matrix, channel, weights)
        # Rescaling the columns may cost a little privacy; the bounds are held to what the channel really has.
        exact = true_epsilon(channel)
        assert exact < epsilon + 1e-3
        assert mean_variance_bound(workload, exact) <= found.mean() * (1 + 1e-9)
        assert worst_variance_bound(workload, exact) <= found.max() * (1 + 1e-9)
        assert bound_under(weights, workload, exact) <= weights @ found * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "share"), [(0.2, 0.9), (1.0, 0.8)])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_the_bound_is_nearly_attained(size, epsilon, share):
    """Power: a bound that were much too small would pass the test above."""
    for workload in (Prefix(size), Ranges(size)):
        weights = np.full(size, 1 / size)
        found = noise(workload.dense(), best_channel(workload.dense(), epsilon, weights), weights)
        assert mean_variance_bound(workload, epsilon) >= share * found.mean()


def test_random_channels_are_not_below_them_either():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 7))
        matrix = rng.normal(size=(int(rng.integers(1, 6)), size))
        channel = rng.uniform(0.2, 1, size=(size + 3, size)) ** rng.uniform(0.2, 3)
        channel /= channel.sum(axis=0)
        weights = rng.dirichlet(np.ones(size))
        found = noise(matrix, channel, weights)
        epsilon = min(true_epsilon(channel) * (1 + 1e-12), 16.0)
        assert mean_variance_bound(Dense(matrix), epsilon) <= found.mean()
        assert worst_variance_bound(Dense(matrix), epsilon) <= found.max()
        assert bound_under(weights, Dense(matrix), epsilon) <= weights @ found


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("size", [2, 3, 5, 17, 100])
def test_subset_selection_attains_the_bound_of_histograms(size, epsilon):
    """Ye and Barg's mechanism is optimal for histograms: the bound is its variance, up to rounded thresholds."""
    mechanism = create("subset_selection", size, epsilon)
    p = np.zeros(size)
    p[0] = 1.0  # given the value, the variance over people is none: what is left is noise
    attained = float(mechanism.variance(p, 1).sum())
    bound = mean_variance_bound(Identity(size), epsilon)
    assert bound <= attained * (1 + 1e-9)
    assert attained == pytest.approx(bound, rel=1e-9)
    assert worst_variance_bound(Identity(size), epsilon) == pytest.approx(bound, rel=1e-2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_one_bit_attains_the_bound_of_one_query(epsilon):
    """Randomized response about the extremes of one query: half their distance squared over sinh^2."""
    for answers in ([0.0, 1.0], [-3.0, 5.0], [-1.0, -1.0, 1.0, 1.0]):
        half = (max(answers) - min(answers)) / 2
        exact = half**2 / math.sinh(epsilon / 2) ** 2
        found = worst_variance_bound(Dense([answers]), epsilon, tolerance=1e-6)
        assert found == pytest.approx(exact, rel=1e-5)
        assert found <= exact * (1 + 1e-9)


def test_the_trace_is_the_largest_over_two_level_rows():
    for size, epsilon in itertools.product((2, 3, 5, 8), (0.1, 1.0, 3.0)):
        rows = two_level_rows(size, epsilon)
        rows /= rows.mean(axis=1, keepdims=True)
        eigenvalue, trace = information_limits(epsilon, size)
        assert trace == pytest.approx((rows**2).mean(axis=1).max() - 1, rel=1e-12)
        assert trace <= information_limits(epsilon)[1]
        assert eigenvalue == information_limits(epsilon)[0]


def test_limits_of_random_channels():
    """Information matrices of random channels, under random weights, stay below eigenvalue and trace."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 8))
        channel = rng.uniform(0.05, 1, size=(int(rng.integers(2, 9)), size)) ** rng.uniform(0.1, 3)
        channel /= channel.sum(axis=0)
        weights = rng.dirichlet(np.full(size, rng.uniform(0.2, 5)))
        eigenvalue, trace = information_limits(true_epsilon(channel))
        root = np.sqrt(weights)
        information = (channel.T / (channel @ weights)) @ channel * root * root[:, None]
        assert np.allclose(information @ root, root)
        centred = information - np.outer(root, root)
        assert np.linalg.eigvalsh(centred)[-1] <= eigenvalue * (1 + 1e-9)
        assert np.trace(centred) <= trace * (1 + 1e-9)


def test_least_noise_is_the_least():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sizes = rng.exponential(size=6) ** 3
        eigenvalue, trace = rng.uniform(0.05, 0.9), rng.uniform(0.1, 3.0)
        least = least_noise(sizes, eigenvalue, trace)
        attained = np.inf
        for scale in np.geomspace(1e-4, 1e4, 2000):
            z = np.minimum(eigenvalue, scale * sizes)
            if z.sum() <= trace:
                attained = min(attained, float((sizes**2 * (1 / z - 1)).sum()))
        assert least <= attained * (1 + 1e-12)
        assert attained <= least * 1.02
        for _ in range(20):
            z = rng.uniform(0.01, 1, size=6) * eigenvalue
            z *= min(1.0, trace / z.sum())
            assert least <= (sizes**2 * (1 / z - 1)).sum() * (1 + 1e-12)
    assert least_noise([0.0, 0.0], 0.5, 0.5) == 0.0


def test_the_bound_moves_with_nothing_but_differences():
    """Adding a constant to a query changes nothing; scaling scales; copies of values change only the mean."""
    matrix = RNG.normal(size=(4, 6))
    plain = worst_variance_bound(Dense(matrix), 1.0)
    assert worst_variance_bound(Dense(matrix + RNG.normal(size=(4, 1))), 1.0) == pytest.approx(plain, rel=1e-6)
    assert worst_variance_bound(Dense(matrix * 1e90), 1.0) == pytest.approx(plain * 1e180, rel=1e-9)
    assert worst_variance_bound(Dense(matrix * 1e-90), 1.0) == pytest.approx(plain * 1e-180, rel=1e-9)
    assert worst_variance_bound(Dense(np.ones((2, 5))), 1.0) == 0.0
    assert mean_variance_bound(Dense(np.full((3, 4), 0.1)), 1.0) == 0.0


def test_the_factorization_gives_the_weights():
    """For small epsilon the bound is the factorization's, over sinh^2, less the spread of the answers themselves."""
    workload, epsilon = Prefix(32), 0.1
    found = factorize(workload, centred=True)
    matrix = workload.dense()
    spread = found.weights @ ((matrix - (matrix @ found.weights)[:, None]) ** 2).sum(axis=0)
    bound = bound_under(found.weights, workload, epsilon)
    assert bound == pytest.approx(found.lower_bound / math.sinh(epsilon / 2) ** 2 - spread, rel=1e-9)


def test_a_published_figure_respects_the_bound():
    """Prefix over 128 values at epsilon 1: the best worst-case variance in print is 1,911."""
    assert 1500 < worst_variance_bound(Prefix(128), 1.0) < 1911


def test_marginals_have_their_bound():
    workload = Marginals(k=2, a=2, b=2, c=2, d=3)
    assert 0 < mean_variance_bound(workload, 1.0) <= worst_variance_bound(workload, 1.0)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, 100.0, "1"])
def test_bad_epsilons_are_refused(epsilon):
    with refuses(SurveyError, "epsilon"):
        mean_variance_bound(Prefix(3), epsilon)
    with refuses(SurveyError, "epsilon"):
        worst_variance_bound(Prefix(3), epsilon)
