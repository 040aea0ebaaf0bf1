"""The projection on the hull of columns: what makes a point the projection, on matrices as bad as they come."""

from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce.projections import project_hull

untimed = settings(deadline=None)  # the first call compiles

# Prices are sums of d products, of averages of k points; each of these d + k roundings is one part in 2^53.
ROUNDING = 2.0**-48


def sizeable(number):
    """The number, or zero: in powers of two a matrix may be tiny as a whole, not in some columns alone."""
    return number if abs(number) > 1e-30 else 0.0


@st.composite
def matrices(draw, max_rows=6, max_columns=12):
    """Matrices with columns that are equal, equal but for some digits, opposite, zero, parallel, or of any size."""
    d, J = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    entries = draw(st.sampled_from([st.floats(-4, 4).map(sizeable), st.integers(-2, 2), st.integers(0, 1)]))
    matrix = draw(arrays(np.float64, (d, J), elements=entries))
    kind = draw(st.sampled_from(["any", "repeated", "nearly repeated", "parallel", "sizes", "offset"]))
    if kind in ("repeated", "nearly repeated"):
        matrix = matrix[:, draw(st.lists(st.integers(0, min(J, 3) - 1), min_size=J, max_size=J))]
    if kind == "nearly repeated":
        digits = draw(st.integers(3, 15))
        matrix = matrix + 10.0**-digits * draw(arrays(np.float64, (d, J), elements=st.integers(-3, 3)))
    if kind == "parallel":
        matrix = np.outer(matrix[:, 0], draw(arrays(np.float64, J, elements=st.floats(-2, 2).map(sizeable))))
    if kind == "sizes":
        matrix = matrix * 10.0 ** draw(arrays(np.float64, J, elements=st.integers(-6, 6)))
    if kind == "offset":
        matrix = matrix + 1e3
    return matrix


@st.composite
def problems(draw):
    """A matrix and a raw estimate: near an average of the columns, or anywhere."""
    matrix = draw(matrices())
    d, J = matrix.shape
    size = max(float(np.abs(matrix).max()), 1e-3)
    noise = draw(arrays(np.float64, d, elements=st.floats(-1, 1)))
    scale = draw(st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 100.0]))
    weights = draw(arrays(np.float64, J, elements=st.integers(1, 9)))
    return matrix, matrix @ (weights / weights.sum()) + scale * size * noise


def distribution(found, J):
    x = np.zeros(J)
    x[found.support] = found.weights
    return x


def exact_gap(matrix, raw, x, symmetric):
    """<g, x> - min_j g_j with g = A^T(A x - raw), or <g, x> + max_j |g_j|, in rational numbers."""
    A = [[Fraction(entry) for entry in row] for row in matrix.tolist()]
    x = [Fraction(weight) for weight in x.tolist()]
    residual = [
        sum(a * w for a, w in zip(row, x, strict=True)) - Fraction(b) for row, b in zip(A, raw.tolist(), strict=True)
    ]
    g = [sum(a * r for a, r in zip(column, residual, strict=True)) for column in zip(*A, strict=True)]
    least = -max(abs(price) for price in g) if symmetric else min(g)
    # Divided by the sum, because x sums to one up to rounding only.
    return sum(w * price for w, price in zip(x, g, strict=True)) / (1 if symmetric else sum(x)) - least


def sizes(matrix, raw, found):
    """The size of the terms that cancel in the gap, and of the hull."""
    longest = float(np.linalg.norm(matrix, axis=0).max())
    return longest * (longest + float(np.linalg.norm(found.values - raw))), longest


def reach(matrix, raw, found):
    """How far the true projection may be, the gap itself being known up to rounding."""
    terms, longest = sizes(matrix, raw, found)
    return np.sqrt(found.gap + ROUNDING * terms) + ROUNDING * longest


@untimed
@given(problems())
def test_the_weights_are_a_distribution_that_has_the_answers(problem):
    matrix, raw = problem
    found = project_hull(matrix, raw)
    _, longest = sizes(matrix, raw, found)
    assert (found.weights > 0).all()
    assert abs(found.weights.sum() - 1) <= 1e-14
    assert (np.diff(found.support) > 0).all()
    assert found.support.size <= min(matrix.shape[0] + 1, matrix.shape[1])
    answers = matrix @ distribution(found, matrix.shape[1])
    np.testing.assert_allclose(found.values, answers, rtol=0, atol=ROUNDING * longest)


@untimed
@given(problems())
def test_symmetric_weights_are_in_the_l1_ball_and_have_the_answers(problem):
    matrix, raw = problem
    found = project_hull(matrix, raw, symmetric=True)
    _, longest = sizes(matrix, raw, found)
    assert (found.weights != 0).all()
    assert np.abs(found.weights).sum() <= 1 + 1e-14
    assert (np.diff(found.support) > 0).all()
    answers = matrix @ distribution(found, matrix.shape[1])
    np.testing.assert_allclose(found.values, answers, rtol=0, atol=ROUNDING * longest)


@untimed
@given(problems(), st.booleans())
def test_the_gap_is_the_one_defined_and_small(problem, symmetric):
    matrix, raw = problem
    found = project_hull(matrix, raw, symmetric=symmetric)
    terms, _ = sizes(matrix, raw, found)
    assert found.converged
    assert 0 <= found.gap <= 2e-10 * terms
    exact = exact_gap(matrix, raw, distribution(found, matrix.shape[1]), symmetric)
    assert abs(float(exact) - found.gap) <= ROUNDING * terms


@untimed
@given(problems(), st.booleans(), st.integers(1, 3))
def test_a_gap_cut_short_is_the_one_defined_too(problem, symmetric, steps):
    matrix, raw = problem
    found = project_hull(matrix, raw, symmetric=symmetric, max_steps=steps)
    terms, _ = sizes(matrix, raw, found)
    exact = exact_gap(matrix, raw, distribution(found, matrix.shape[1]), symmetric)
    assert abs(float(exact) - found.gap) <= ROUNDING * terms


@untimed
@given(problems(), st.data())
def test_it_is_never_farther_from_a_point_of_the_hull_than_raw_is(problem, data):
    matrix, raw = problem
    J = matrix.shape[1]
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=J, max_size=J).filter(any)), dtype=np.float64)
    point = matrix @ (weights / weights.sum())
    for symmetric in (False, True):
        found = project_hull(matrix, raw, symmetric=symmetric)
        # The true projection is not farther at all, and the certificate says how far that may be.
        limit = np.linalg.norm(raw - point) * (1 + 1e-14) + reach(matrix, raw, found)
        assert np.linalg.norm(found.values - point) <= limit


@untimed
@given(problems())
def test_the_symmetric_polytope_holds_the_hull(problem):
    matrix, raw = problem
    hull, symmetric = project_hull(matrix, raw), project_hull(matrix, raw, symmetric=True)
    distance = np.linalg.norm(symmetric.values - raw)
    limit = np.linalg.norm(hull.values - raw) * (1 + 1e-14) + reach(matrix, raw, hull) + reach(matrix, raw, symmetric)
    assert distance <= limit


@untimed
@given(problems(), st.booleans())
def test_twice_is_once(problem, symmetric):
    matrix, raw = problem
    once = project_hull(matrix, raw, symmetric=symmetric)
    twice = project_hull(matrix, once.values, symmetric=symmetric)
    assert np.linalg.norm(twice.values - once.values) <= reach(matrix, once.values, twice)


@untimed
@given(problems(), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_columns_and_their_copies_do_not_matter(problem, symmetric, random):
    matrix, raw = problem
    order = [*range(matrix.shape[1]), *random.choices(range(matrix.shape[1]), k=4)]
    random.shuffle(order)
    found = project_hull(matrix, raw, symmetric=symmetric)
    shuffled = project_hull(matrix[:, order], raw, symmetric=symmetric)
    limit = reach(matrix, raw, found) + reach(matrix, raw, shuffled)
    assert np.linalg.norm(found.values - shuffled.values) <= limit


@untimed
@given(problems(), st.booleans(), st.data())
def test_any_start_leads_to_the_same(problem, symmetric, data):
    matrix, raw = problem
    J = matrix.shape[1]
    least = -5 if symmetric else 0
    support = np.array(data.draw(st.lists(st.integers(0, J - 1), min_size=1, max_size=8)))
    weights = np.array(data.draw(st.lists(st.integers(least, 5), min_size=len(support), max_size=len(support))))
    assume(weights.any())
    found = project_hull(matrix, raw, symmetric=symmetric)
    started = project_hull(matrix, raw, symmetric=symmetric, start=(support, weights))
    assert started.converged
    limit = reach(matrix, raw, found) + reach(matrix, raw, started)
    assert np.linalg.norm(found.values - started.values) <= limit


@untimed
@given(problems(), st.booleans(), st.integers(-300, 300))
def test_a_power_of_two_changes_nothing_but_the_unit(problem, symmetric, power):
    matrix, raw = problem
    found = project_hull(matrix, raw, symmetric=symmetric)
    scaled = project_hull(np.ldexp(matrix, power), np.ldexp(raw, power), symmetric=symmetric)
    np.testing.assert_array_equal(np.ldexp(scaled.values, -power), found.values)
    np.testing.assert_array_equal(scaled.support, found.support)
    np.testing.assert_array_equal(scaled.weights, found.weights)
    assert np.ldexp(scaled.gap, -2 * power) == found.gap
