"""The estimate's own behaviour: intervals, copies, lookups, other forms."""

import copy
import json
import pickle
import tracemalloc

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.workloads import Dense, Identity


@pytest.fixture(scope="module")
def survey():
    return sv.Survey(sv.shares(["a", "b", "c", "d"]), epsilon=1.0, mechanism="hadamard")


@pytest.fixture(scope="module")
def estimate(survey):
    return survey.estimate(survey.simulate(["a"] * 700 + ["b"] * 200 + ["c"] * 100, seed=3))


def test_intervals_nest_and_stay_possible(estimate) -> None:
    narrow, wide = estimate.interval(0.5), estimate.interval(0.99)
    together = estimate.interval(0.95, simultaneous=True)
    single = estimate.interval(0.95)
    assert (wide.low <= narrow.low).all()
    assert (narrow.high <= wide.high).all()
    assert (together.high - together.low >= single.high - single.low).all()
    for low, high in (narrow, wide, together):
        assert ((low >= 0) & (high <= 1) & (low <= high)).all()


def test_the_most_extreme_levels_are_answered(estimate) -> None:
    for level in (1e-12, 1 - 2**-53):
        for simultaneous in (False, True):
            assert all(np.isfinite(end).all() for end in estimate.interval(level, simultaneous=simultaneous))


def test_arrays_are_read_only_in_copies_too(estimate) -> None:
    for twin in (estimate, copy.deepcopy(estimate), pickle.loads(pickle.dumps(estimate))):  # noqa: S301
        for array in (twin.raw, twin.values, twin.standard_errors):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        assert np.array_equal(twin.values, estimate.values)


def test_aggregates_are_read_only_in_copies_too(survey) -> None:
    aggregate = survey.aggregate().add(survey.randomize("a"))
    for twin in (copy.deepcopy(aggregate), pickle.loads(pickle.dumps(aggregate))):  # noqa: S301
        assert twin == aggregate
        with pytest.raises(ValueError, match="read-only"):
            twin.counts[0] = 9


def test_top_is_sorted_and_checked(estimate) -> None:
    shares = [answer.value for answer in estimate.top(10)]
    assert len(shares) == 4
    assert shares == sorted(shares, reverse=True)
    for bad in (0, -1, 2.5, "x", True):
        with refuses(SurveyError, "k"):
            estimate.top(bad)


def test_forms_agree(estimate) -> None:
    table, plain = estimate.to_pandas(), json.loads(estimate.to_json())
    for answer in plain["answers"]:
        row = table.loc[answer["label"]]
        assert (row["value"], row["raw"], row["low"], row["high"]) == tuple(
            answer[key] for key in ("value", "raw", "low", "high")
        )
    assert plain["n_reports"] == 1000
    assert plain["bound"]["l2"] == estimate.bound.value
    assert estimate["a"].value == estimate.values[0]
    assert (
        "<script>"
        not in sv.Survey(sv.shares(["<script>", "b"]), epsilon=1.0)
        .estimate(sv.Survey(sv.shares(["<script>", "b"]), epsilon=1.0).simulate(["<script>", "b"], seed=1))
        ._repr_html_()
    )


def test_the_bound_never_exceeds_the_diameter() -> None:
    survey = sv.Survey(sv.shares(10_000), epsilon=0.01, mechanism="randomized_response")
    assert survey.estimate(survey.simulate([1, 2, 3], seed=1)).bound.value <= 2**0.5


def test_numpy_integers_are_parameters_like_any_other() -> None:
    assert SubsetSelection(7, 1.0, np.int32(2)) == SubsetSelection(7, 1.0, 2)
    assert type(SubsetSelection(7, 1.0, np.int64(2)).subset_size) is int


def test_spaces_far_larger_than_the_domain_are_refused() -> None:
    with refuses(SurveyError, "dimension"):
        ProjectiveGeometry(5, 1.0, order=3, dimension=64)


def test_intervals_of_values_seen_not_once_reach_up() -> None:
    """The variance is taken at the interval's end: a rare value nobody reported still has room above zero."""
    survey = sv.Survey(sv.shares(10), epsilon=8.0, mechanism="randomized_response")
    estimate = survey.estimate(survey.simulate([0] * 1000, seed=1))
    low, high = estimate.interval(0.95)
    rare = estimate.raw <= 0
    assert rare.any()
    assert (high[rare] > 0.0025).all()
    # 1000 people, p = 0.001: the interval must not exclude what would be missed a third of the time.
    assert (high[rare] > 0.001).all()
    assert (low >= 0).all()


def test_hostile_labels_can_be_drawn(tmp_path) -> None:
    labels = ["$\\frac{$", "$x$", "b"]
    survey = sv.Survey(sv.shares(labels), epsilon=1.0)
    survey.estimate(survey.simulate(labels, seed=1)).plot().figure.savefig(tmp_path / "x.png")


def test_labels_of_records_never_collide() -> None:
    domain = sv.Domain.product(a=["x, b=y", "x"], b=["y", "y, b=y"])
    assert len(set(domain.labels())) == 4


def test_integers_are_not_positions_where_labels_look_like_integers() -> None:
    stars = sv.Domain.of(["1", "2", "3"])
    assert stars.index("1") == 0
    for wrong in (1, [1, 2]):
        with pytest.raises(sv.errors.ValueOutsideDomainError):
            stars.indices([wrong]) if isinstance(wrong, int) else stars.indices(wrong)


def test_reports_in_a_set_are_refused(survey) -> None:
    with refuses(sv.errors.ReportError, "reports"):
        survey.aggregate().add({survey.randomize("a")})


def own_share_tells(mechanism: FiniteMechanism) -> bool:
    """Whether the variance of a share depends on that share only; in `hadamard_blocks` also on its block's."""
    alone, among = (np.full(mechanism.domain_size, rest) for rest in (0.0, 0.6 / (mechanism.domain_size - 1)))
    alone[0] = among[0] = 0.4
    return bool(np.isclose(mechanism.variance(alone, 1)[0], mechanism.variance(among, 1)[0], rtol=1e-9))


@pytest.mark.parametrize("mechanism", serving(FiniteMechanism))
@pytest.mark.parametrize("people", [[40, 25, 10, 5, 0, 0, 0], [30_000, 500, 20_000, 1, 0, 900, 8_000]], ids=sum)
def test_shares_are_the_identity_query(mechanism: str, people: list[int]) -> None:
    """The same reports, read as answers to the identity query, give the same estimate and the same intervals."""
    shares = sv.Survey(sv.shares(7), epsilon=1.0, mechanism=mechanism)
    aggregate = shares.simulate_aggregate(histogram=people, seed=5)
    asked = sv.Survey(sv.queries(Identity(7)), epsilon=1.0, strategy="histogram", mechanism=mechanism)
    written = sv.Survey(sv.queries(Dense(np.eye(7))), epsilon=1.0, strategy="histogram", mechanism=mechanism)
    stated = shares.estimate(aggregate)
    for survey in (asked, written):
        assert survey.mechanism == shares.mechanism
        read = survey.estimate_counts(aggregate.counts, aggregate.n_reports)
        np.testing.assert_allclose(read.raw, stated.raw, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(read.values, stated.values, rtol=1e-12, atol=1e-12)
        assert (read.standard_errors >= stated.standard_errors * (1 - 1e-9)).all()
        for level in (0.5, 0.95, 0.999):
            for simultaneous in (False, True):
                one, other = (e.interval(level, simultaneous) for e in (read, stated))
                np.testing.assert_allclose(list(one), list(other), rtol=1e-6, atol=1e-9)
                assert one.method == other.method
        if survey is asked or own_share_tells(shares.mechanism):  # else without the others' shares, the worst of all
            np.testing.assert_allclose(read.standard_errors, stated.standard_errors, rtol=1e-9)


def test_an_estimate_copies_no_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hadamard aggregate has two counters per value; the estimate takes three arrays of one number per value."""
    size = 2**16
    survey = sv.Survey(sv.shares(size), epsilon=1.0, mechanism="hadamard")
    aggregate = survey.simulate_aggregate(histogram=np.ones(size, dtype=np.int64), seed=1)
    survey.estimate(aggregate)
    tracemalloc.start()
    survey.estimate(aggregate)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.75 * aggregate.counts.nbytes
    given: list[np.ndarray] = []
    monkeypatch.setattr(type(survey), "estimate_counts", lambda _, counts, n_reports, **_others: given.append(counts))
    survey.estimate(aggregate)
    assert given[0] is aggregate.counts


@pytest.mark.parametrize("mechanism", ["subset_selection", "randomized_response"])
@pytest.mark.parametrize("shift", [0.0, 1e6, 1e8])
def test_answers_far_from_zero_lose_no_digits(mechanism: str, shift: float) -> None:
    """The same query with a constant added: the same interval, moved, though it is a millionth of the answer."""
    row = np.linspace(0, 1, 12)
    plain, moved = (
        sv.Survey(sv.queries(Dense([row + by, 2 * row])), epsilon=1.0, strategy="histogram", mechanism=mechanism)
        for by in (0.0, shift)
    )
    people = np.arange(1, 13) * 700
    counts = plain.simulate_aggregate(histogram=people, seed=3)
    near, far = (survey.estimate_counts(counts.counts, counts.n_reports).interval() for survey in (plain, moved))
    np.testing.assert_allclose(far.low[0] - shift, near.low[0], atol=1e-6)
    np.testing.assert_allclose(far.high[0] - shift, near.high[0], atol=1e-6)


def test_what_a_kind_cannot_tell_is_not_there_and_says_who_can() -> None:
    """One class per kind; a missing method is an attribute error for `hasattr`, and a clear refusal for people."""
    made = {
        "shares": sv.Survey(sv.shares(["a", "b"]), epsilon=2.0),
        "product": sv.Survey(sv.shares({"a": ["x", "y"], "b": 2}), epsilon=2.0),
        "number": sv.Survey(sv.number(0, 10), epsilon=2.0),
    }
    values = {"shares": ["a"] * 50, "product": [("x", 1)] * 50, "number": [3.0] * 50}
    found = {name: survey.estimate(survey.simulate(values[name], seed=1)) for name, survey in made.items()}
    here = {name: (hasattr(one, "quantile"), hasattr(one, "table"), hasattr(one, "of")) for name, one in found.items()}
    assert here == {
        "shares": (False, False, False),
        "product": (False, True, False),
        "number": (True, False, False),
    }
    with refuses(SurveyError, "kind"):
        found["shares"].quantile(0.5)
    with pytest.raises(AttributeError, match="nonsense") as unknown:
        _ = found["shares"].nonsense
    assert not isinstance(unknown.value, SurveyError)
    for one in found.values():
        assert type(pickle.loads(pickle.dumps(one))) is type(one)  # noqa: S301
