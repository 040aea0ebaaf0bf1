"""The projection on the simplex: what makes a point the projection, and the exact one in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.kernels import reference, threads
from sottovoce.projections import Projected, project_simplex

# Sums are resolved to 2^-50 before clipping, and clipping rounds each entry once more.
ROUNDING = 2.0**-49

untimed = settings(deadline=None)  # the first call compiles

ordinary = st.floats(-4, 4)
crowded = st.floats(0, 1)
tied = st.sampled_from([-1.0, -0.25, 0.0, 0.25, 1 / 3, 1.0])
tiny = st.floats(-1e-300, 1e-300)
near_one = st.floats(1 - 1e-12, 1 + 1e-12)
any_finite = st.floats(allow_nan=False, allow_infinity=False)


def vectors(*entries, max_size=40):
    """Vectors of one kind of entry, or of several mixed."""
    return st.one_of(
        *(arrays(np.float64, st.integers(1, max_size), elements=kind) for kind in (*entries, st.one_of(*entries)))
    )


moderate = vectors(ordinary, crowded, tied, tiny, near_one)
anything = vectors(ordinary, crowded, tied, tiny, near_one, any_finite)


def exact_projection(raw):
    """The projection in rational numbers, by trying every number of active entries."""
    entries = [Fraction(entry) for entry in raw.tolist()]
    descending = sorted(entries, reverse=True)
    thresholds = [(sum(descending[:k]) - 1) / k for k in range(1, len(entries) + 1)]
    tau = next(t for k, t in reversed(list(enumerate(thresholds))) if descending[k] > t)
    return [max(entry - tau, Fraction(0)) for entry in entries]


def exact_gap(x, raw):
    """sum_i x_i (g_i - min_j g_j), g = x - raw: the duality gap of an x that sums to one."""
    g = [Fraction(a) - Fraction(b) for a, b in zip(x.tolist(), raw.tolist(), strict=True)]
    return sum(Fraction(a) * (b - min(g)) for a, b in zip(x.tolist(), g, strict=True))


def squared_distance(x, y):
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))


@untimed
@given(anything)
def test_it_is_a_distribution(raw):
    values = project_simplex(raw).values
    assert values.shape == raw.shape
    assert (values >= 0).all()
    assert abs(sum(map(Fraction, values.tolist())) - 1) <= ROUNDING


@untimed
@given(anything)
def test_it_is_the_projection_in_rational_numbers(raw):
    values = project_simplex(raw).values
    for value, exact in zip(values.tolist(), exact_projection(raw), strict=True):
        assert abs(Fraction(value) - exact) <= ROUNDING


@untimed
@given(anything)
def test_its_gap_is_the_one_defined_and_nearly_zero(raw):
    projected = project_simplex(raw)
    # x rounds each entry to one part in 2^52, and the gap is linear in that.
    assert abs(projected.gap) <= 2.0**-50
    # What the stated gap leaves out is its own rounding, of the order of a rounding of a rounding.
    assert abs(Fraction(projected.gap) - exact_gap(projected.values, raw)) <= 2.0**-95


@untimed
@given(anything)
def test_the_certificate_holds(raw):
    projected = project_simplex(raw)
    distance = float(squared_distance(projected.values.tolist(), exact_projection(raw))) ** 0.5
    assert distance <= projected.error_bound + ROUNDING


@untimed
@given(anything)
def test_the_optimality_conditions_hold(raw):
    """x is the projection where raw - x is one number on the entries above zero, and nowhere larger."""
    values = project_simplex(raw).values
    multipliers = [Fraction(a) - Fraction(b) for a, b in zip(raw.tolist(), values.tolist(), strict=True)]
    active = [m for m, value in zip(multipliers, values.tolist(), strict=True) if value > 0]
    assert max(active) - min(active) <= ROUNDING
    assert max(multipliers) - max(active) <= ROUNDING


@untimed
@given(anything)
def test_order_is_kept(raw):
    values = project_simplex(raw).values
    assert (np.diff(values[np.argsort(raw, kind="stable")]) >= 0).all()


@untimed
@given(anything, st.randoms(use_true_random=False))
def test_a_permutation_may_come_before_or_after(raw, random):
    order = list(range(raw.size))
    random.shuffle(order)
    np.testing.assert_allclose(
        project_simplex(raw[order]).values, project_simplex(raw).values[order], rtol=0, atol=2 * ROUNDING
    )


@untimed
@given(anything)
def test_twice_is_once(raw):
    once = project_simplex(raw).values
    np.testing.assert_allclose(project_simplex(once).values, once, rtol=0, atol=2 * ROUNDING)


@untimed
@given(moderate)
def test_it_agrees_with_sorting(raw):
    tau = reference.simplex_threshold_by_sorting(raw)
    # The reference holds tau in one double of size 5 or less, and sums without care.
    np.testing.assert_allclose(project_simplex(raw).values, np.maximum(raw - tau, 0), rtol=0, atol=1e-13)


@untimed
@given(moderate, st.data())
def test_it_is_never_farther_from_a_distribution_than_raw_is(raw, data):
    weights = data.draw(st.lists(st.integers(0, 1000), min_size=raw.size, max_size=raw.size).filter(any))
    distribution = [Fraction(weight, sum(weights)) for weight in weights]
    values = project_simplex(raw).values
    # Distances are below 5 sqrt(40), so an error of ROUNDING an entry moves their squares by less than this.
    slack = 2 * 5 * 40 * ROUNDING
    assert squared_distance(values.tolist(), distribution) <= squared_distance(raw.tolist(), distribution) + slack


@untimed
@given(moderate, st.integers(-(2**20), 2**20))
def test_a_constant_added_to_all_entries_changes_nothing(raw, constant):
    shifted = raw + constant
    raw = shifted - constant  # what is left of raw after the rounding of the first sum: now both are exact
    np.testing.assert_allclose(project_simplex(shifted).values, project_simplex(raw).values, rtol=0, atol=2 * ROUNDING)


def long_vectors():
    size = 3 * 2**18 + 12_345
    rng = np.random.default_rng(5)
    noise = rng.normal(size=size)
    falling = np.arange(size) / size
    return {
        "noise 1e-6": 1 / size + 1e-6 * noise,
        "noise 1e-3": 1 / size + 1e-3 * noise,
        "noise 1": noise,
        "noise 1e3": 1e3 * noise,
        "all equal": np.full(size, 1e3),
        "three values": rng.integers(0, 3, size=size) / 3,
        "geometric, rising": -np.exp(-700 * falling),
        "geometric, falling": np.exp(-700 * falling),
        "powers of two": -np.exp2(-(np.arange(size) % 1074).astype(np.float64)),
        "one certain": np.where(falling == 0, 1.0, 1e-9 * noise),
        # The search starts from every 48th entry; here these are like no others.
        "misleading sample, below": np.where(np.arange(size) % 48 == 0, -1e308, 1e-6 * noise),
        "misleading sample, above": np.where(np.arange(size) % 48 == 0, 1.0, 0.0) + 1e-6 * noise,
    }


LONG_VECTORS = long_vectors()


@pytest.mark.parametrize("name", LONG_VECTORS)
def test_long_vectors_are_projected_as_exactly(name):
    raw = LONG_VECTORS[name]
    projected = project_simplex(raw)
    assert (projected.values >= 0).all()
    assert abs(projected.values.sum() - 1) <= 1e-13
    assert abs(projected.gap) <= 2.0**-50
    # The reference adds k numbers of size 1 or less one by one, which is off by k^2 2^-53 at most, and then
    # divides by k; k may be all 800,000.
    shifted = raw - raw.max()
    expected = np.maximum(shifted - reference.simplex_threshold_by_sorting(shifted), 0)
    np.testing.assert_allclose(projected.values, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_number_of_cores_changes_no_bit(monkeypatch, cores):
    raw = LONG_VECTORS["noise 1e-6"]
    expected = project_simplex(raw)
    monkeypatch.setattr(threads, "cores", lambda: cores)
    again = project_simplex(raw)
    np.testing.assert_array_equal(again.values, expected.values)
    assert again.gap == expected.gap


@pytest.mark.parametrize("distinct", [1, 2, 7])
def test_sixteen_million_ties_still_sum_to_one(distinct):
    raw = 0.1 + 1e-9 * (np.arange(2**24) % distinct)
    values = project_simplex(raw).values
    assert abs(values.sum() - 1) <= 1e-12


TOP, LEAST = np.finfo(np.float64).max, 5e-324


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([TOP, -TOP, 0.0], [1, 0, 0]),
        ([TOP, TOP, -TOP], [0.5, 0.5, 0]),
        ([-TOP] * 4, [0.25] * 4),
        ([1e300] * 4, [0.25] * 4),
        ([LEAST, 0.0, -LEAST, LEAST], [0.25] * 4),
        ([TOP, -TOP] * 64, [1 / 64, 0] * 64),
        ([LEAST, -LEAST] * 64, [1 / 128] * 128),
    ],
)
def test_the_largest_and_smallest_doubles_are_projected(raw, expected):
    projected = project_simplex(np.array(raw))
    np.testing.assert_array_equal(projected.values, expected)
    assert projected.gap == 0


def test_the_result_is_read_only_and_the_input_untouched():
    raw = np.array([3.0, 1.0, 2.0])
    raw.flags.writeable = False
    projected = project_simplex(raw)
    assert isinstance(projected, Projected)
    np.testing.assert_array_equal(raw, [3, 1, 2])
    np.testing.assert_array_equal(projected.values, [1, 0, 0])
    with pytest.raises(ValueError, match="read-only"):
        projected.values[0] = 0.5
    with pytest.raises(AttributeError):
        projected.gap = 1.0


def test_integers_and_strided_views_are_projected_like_any_vector():
    np.testing.assert_array_equal(project_simplex(np.array([0, 4, 1])).values, [0, 1, 0])
    np.testing.assert_array_equal(project_simplex(np.array([0.5, 9, 0.5, 9])[::2]).values, [0.5, 0.5])


@pytest.mark.parametrize(
    "raw",
    [
        np.array([]),
        np.array(1.0),
        np.ones((2, 2)),
        np.array([1.0, np.nan]),
        np.array([np.inf, 0.0]),
        np.array([0.0, -np.inf]),
        np.array([np.inf, -np.inf]),
        np.append(np.zeros(2**18 + 40), np.nan),
        np.append(-np.inf, np.zeros(100)),
        np.append(np.zeros(2**18), np.full(100, np.nan)),
        np.array([1 + 2j]),
        np.array(["a"]),
        np.array([None]),
    ],
)
def test_what_has_no_projection_is_refused(raw):
    with refuses(ProjectionError, "raw"):
        project_simplex(raw)
