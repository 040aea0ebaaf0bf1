"""Sums, differences, ratios and tables of raw answers: their values, their intervals, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError, UnknownAnswerError
from sottovoce.estimates.estimate import Estimate
from sottovoce.workloads import Bins, Identity, Marginals, Prefix, Stack

PEOPLE = {"country": ["DE", "FR", "IT"], "plan": ["free", "pro"], "age": range(4)}
RECORDS = 24


def shares(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(RECORDS))


def estimated(survey: sv.Survey, people: np.ndarray, n: int = 40_000, seed: int = 1) -> Estimate:
    histogram = np.random.default_rng(seed).multinomial(n, people)
    return survey.estimate(survey.simulate_aggregate(histogram=histogram, seed=seed))


SURVEYS = {
    "shares": sv.Survey(sv.shares(PEOPLE), epsilon=2.0),
    "randomized response": sv.Survey(sv.shares(PEOPLE), epsilon=2.0, mechanism="randomized_response"),
    "fourier": sv.Survey(sv.queries(Marginals(PEOPLE, k=2)), epsilon=2.0, strategy="fourier"),
    "histogram": sv.Survey(sv.queries(Marginals(PEOPLE, k=2)), epsilon=2.0, strategy="histogram", mechanism="hadamard"),
    "direct": sv.Survey(sv.queries(Marginals(PEOPLE, k=2)), epsilon=2.0, strategy="direct"),
    "stack": sv.Survey(
        sv.queries(Stack([Marginals(PEOPLE, k=2), Identity(PEOPLE)], weights=[2.0, 0.5])),
        epsilon=2.0,
        strategy="histogram",
    ),
}


@pytest.mark.parametrize("name", SURVEYS)
def test_tables_and_their_parts_are_near_the_truth_and_inside(name: str) -> None:
    """At level 1 - 1e-6 no interval of these dozens should fail; they are narrow enough to."""
    people = shares()
    cube = people.reshape(3, 2, 4)
    found = estimated(SURVEYS[name], people)
    table, level = found.table("plan", "country"), 1 - 1e-6
    truth = cube.sum(axis=2).T
    low, high = table.interval(level)
    assert low.shape == (2, 3)
    assert ((low <= truth) & (truth <= high)).all()
    assert (high - low).max() < 0.3
    part = table.sum(level=level, country=["DE", "IT"], plan="pro")
    assert part.value == pytest.approx(table.raw[1, [0, 2]].sum())
    assert part.low <= cube[[0, 2], 1].sum() <= part.high
    share = table.share({"plan": "pro"}, given={"country": "FR"}, level=level)
    assert share.value == pytest.approx(table.raw[1, 1] / table.raw[:, 1].sum())
    assert share.low <= cube[1, 1].sum() / cube[1].sum() <= share.high
    alone = found.table("age")
    low, high = alone.interval(level, simultaneous=True)
    assert ((low <= cube.sum(axis=(0, 1))) & (cube.sum(axis=(0, 1)) <= high)).all()
    assert found.table("age", "country").sum(level=level, age=range(1, 3), country=["DE", "FR"]).value == pytest.approx(
        found.table("age", "country").raw[1:3, :2].sum()
    )


@pytest.mark.parametrize("name", SURVEYS)
def test_a_sum_of_everything_is_certain(name: str) -> None:
    found = estimated(SURVEYS[name], shares())
    whole = found.table("country").sum(country=["DE", "FR", "IT"])
    assert (whole.low, whole.high) == pytest.approx((1.0, 1.0))


def test_a_single_answer_is_its_own_combination() -> None:
    """A weight of one gives the answer's own interval, exactly, whatever the design."""
    for survey in SURVEYS.values():
        found = estimated(survey, shares())
        low, high = found.interval()
        for index in (0, 3):
            one = found.sum([index])
            assert one.raw == found.raw[index]
            assert one.value == min(max(one.raw, one.low), one.high)
            assert (one.low, one.high) == pytest.approx((low[index], high[index]), rel=1e-5, abs=1e-7)


def test_the_interval_of_a_sum_is_that_of_its_variance() -> None:
    """Neighbouring bins of one histogram are negatively correlated: their sum is more precise than both alone."""
    people = np.full(20, 0.05)
    survey = sv.Survey(sv.shares(20), epsilon=1.0, mechanism="subset_selection")
    found = estimated(survey, people, 1_000_000)
    half = found.sum(list(range(10)))
    deviation = math.sqrt(survey.design.variance(np.repeat([1.0, 0.0], 10), people, 1_000_000).value)
    assert (half.high - half.low) / 2 == pytest.approx(1.96 * deviation, rel=0.03)
    assert half.low <= 0.5 <= half.high or abs(half.value - 0.5) < 4 * deviation


def test_differences_and_weights() -> None:
    found = estimated(sv.Survey(sv.shares(["a", "b", "c"]), epsilon=3.0), np.array([0.6, 0.3, 0.1]))
    gap = found.difference("a", "b", level=1 - 1e-6)
    assert gap.value == pytest.approx(found.raw[0] - found.raw[1])
    assert gap.low <= 0.3 <= gap.high
    assert found.combine({"a": 1, "b": -1}, 1 - 1e-6) == gap
    mean = found.combine({"b": 1, "c": 2.5}, level=1 - 1e-6)
    assert mean.low <= 0.55 <= mean.high
    assert found.difference("a", "a").high == 0.0


def test_ratios_hold_and_say_when_nothing_can_be_said() -> None:
    survey = sv.Survey(sv.shares(["a", "b", "c", "d"]), epsilon=2.0)
    found = estimated(survey, np.array([0.5, 0.25, 0.25, 0.0]))
    double = found.ratio(["a"], ["b"], level=1 - 1e-6)
    assert double.low <= 2.0 <= double.high < 3
    weighted = found.ratio({"a": 1, "b": 1}, {"c": 3}, level=1 - 1e-6)
    assert weighted.low <= 1.0 <= weighted.high
    nothing = found.ratio(["a"], ["d"])
    assert (nothing.low, nothing.high) == (0.0, math.inf)
    assert "the denominator may be zero" in nothing.method
    few = survey.estimate(survey.simulate(["a", "b"], seed=1)).ratio(["a"], ["b"])
    assert (few.low, few.high) == (0.0, math.inf)
    negative = found.ratio({"a": 1, "b": -1}, ["d"])
    assert (negative.low, negative.high) == (-math.inf, math.inf)


def test_ratios_stay_where_they_must() -> None:
    found = sv.Survey(sv.shares(["a", "b", "c", "d"]), epsilon=1.0, mechanism="hadamard")
    few = found.estimate(found.simulate(["a"] * 30 + ["b"] * 70, seed=1))
    part = few.ratio(["a"], ["a", "b"])
    assert 0 <= part.low <= part.high <= 1
    assert few.ratio(["c"], ["a", "b", "c", "d"]).low >= 0
    assert few.ratio(["c"], ["a", "b", "c", "d"]).method != "certain: everybody gives the same answer"
    assert few.ratio({"a": 0.0}, ["a", "b", "c", "d"]).high == 0
    whole = few.sum(["a", "b", "c", "d"])
    assert (whole.value, whole.low, whole.high) == (1.0, 1.0, 1.0)


def test_weights_of_any_size() -> None:
    found = estimated(sv.Survey(sv.shares(["a", "b", "c"]), epsilon=3.0), np.array([0.6, 0.3, 0.1]))
    plain = found.combine({"a": 1, "b": -1})
    for scale in (1e-200, 1e-9, 1e9, 1e100):
        scaled = found.combine({"a": scale, "b": -scale})
        assert (scaled.low / scale, scaled.high / scale) == pytest.approx((plain.low, plain.high), rel=1e-6)


def test_every_kind_of_attribute_has_conditional_shares() -> None:
    """Attributes that are ranges, numbers of values or labels, and one that is called level."""
    attributes = {"level": ["low", "high"], "age": range(18, 21), "kind": 2}
    survey = sv.Survey(sv.queries(Marginals(attributes, k=2)), epsilon=3.0)
    found = survey.estimate(survey.simulate_aggregate(histogram=[1000] * 12, seed=1))
    for name, values in (("age", 3), ("level", 2)):
        shares = found.table("level", "age").conditional(name)
        assert len(shares) == 6
        assert sum(share.value for share in shares[:values]) == pytest.approx(1.0)
    assert found.table("level", "age").sum({"level": "low"}, age=[18, 19]).high <= 1
    assert len(found.table("kind", "age").conditional("kind")) == 6


def test_ends_are_in_order_where_nothing_is_near() -> None:
    """One report of a vector mechanism can be far from every possible mean: the nearest one remains."""
    survey = sv.Survey(sv.vector(dimension=100, radius=2.0), epsilon=16.0, mechanism="rejection", people=1000)
    vectors = np.zeros((1, 100))
    vectors[0, 0] = 2.0
    for seed in range(30, 45):
        low, high = survey.estimate(survey.simulate_aggregate(vectors, seed=seed)).interval(0.5)
        assert (low <= high).all()


def test_means_combine_too() -> None:
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=4.0)
    vectors = np.tile([0.5, -0.25, 0.1], (20_000, 1))
    found = survey.estimate(survey.simulate(vectors, seed=1))
    low, high = (getattr(found.combine({"x[0]": 1, "x[1]": 1}, 1 - 1e-6), end) for end in ("low", "high"))
    assert low <= 0.25 <= high
    assert high - low < 0.5


def test_tables_of_other_sizes() -> None:
    found = estimated(SURVEYS["shares"], shares())
    assert found.table("country", "plan", "age").raw.shape == (3, 2, 4)
    conditional = found.table("country", "plan").conditional("plan")
    assert [answer.label for answer in conditional[:2]] == ["plan=free among country=DE", "plan=pro among country=DE"]
    assert sum(answer.value for answer in conditional[:2]) == pytest.approx(1.0)
    assert list(found.table("country", "plan").to_pandas().columns) == ["value", "raw", "low", "high"]


@pytest.mark.parametrize("name", ["shares", "fourier", "histogram"])
def test_independence_is_rejected_as_often_as_stated(name: str) -> None:
    """p-values over 60 runs of independent attributes: half below 0.5, none below 1e-6 (chance 6e-5)."""
    people = np.einsum("i,j,k->ijk", [0.5, 0.3, 0.2], [0.6, 0.4], np.full(4, 0.25)).reshape(-1)
    found = [
        estimated(SURVEYS[name], people, 30_000, seed).table("country", "plan").independence() for seed in range(60)
    ]
    p_values = np.array([one.p_value for one in found])
    assert found[0].degrees == 2
    assert p_values.min() > 1e-6
    assert 12 <= (p_values < 0.5).sum() <= 48  # Binomial(60, 1/2), with chance 1 - 4e-6


def test_dependence_is_found() -> None:
    cube = np.zeros((3, 2, 4))
    cube[[0, 1, 2], [0, 1, 1], 0] = [0.5, 0.25, 0.25]
    found = estimated(SURVEYS["fourier"], cube.reshape(-1)).table("country", "plan").independence()
    assert found.p_value < 1e-9
    assert found.largest[0][0] == "DE"
    assert abs(found.largest[1]) > 0.1


BAD: dict[str, tuple[Any, type[Exception], str | None]] = {
    "unknown label": (lambda e: e.sum(["nobody"]), UnknownAnswerError, "labels"),
    "no label": (lambda e: e.sum([]), SurveyError, "labels"),
    "one text": (lambda e: e.sum("DE"), SurveyError, "labels"),
    "a label twice": (lambda e: e.sum([0, 0]), SurveyError, "labels"),
    "a number": (lambda e: e.sum(3), SurveyError, "labels"),
    "no weights": (lambda e: e.combine({}), SurveyError, "weights"),
    "NaN": (lambda e: e.combine({0: math.nan}), SurveyError, "weights"),
    "infinite": (lambda e: e.combine({0: math.inf}), SurveyError, "weights"),
    "text as weight": (lambda e: e.combine({0: "1"}), SurveyError, "weights"),
    "labels without weights": (lambda e: e.combine([0, 1]), SurveyError, "weights"),
    "level": (lambda e: e.sum([0], level=1.0), SurveyError, "level"),
    "level of a ratio": (lambda e: e.ratio([0], [1], level=95), SurveyError, "level"),
    "no such attribute": (lambda e: e.table("town"), SurveyError, "names"),
    "no attribute": (lambda e: e.table(), SurveyError, "names"),
    "an attribute twice": (lambda e: e.table("age", "age"), SurveyError, "names"),
    "unknown part": (lambda e: e.table("age").sum(town=1), SurveyError, "name"),
    "empty part": (lambda e: e.table("age").sum(age=[]), SurveyError, "age"),
    "no part": (lambda e: e.table("age").sum(), SurveyError, "selected"),
    "a part without names": (lambda e: e.table("age").sum(["age"]), SurveyError, "selected"),
    "a share of a text": (
        lambda e: e.table("age", "plan").share("age", {"plan": "pro"}),
        SurveyError,
        "of",
    ),
    "a share of nothing": (lambda e: e.table("age", "plan").share({}, {"plan": "pro"}), SurveyError, "of"),
    "conditional alone": (lambda e: e.table("age").conditional("age"), SurveyError, "name"),
    "several less one": (lambda e: e.difference([0, 1], 2), SurveyError, "first"),
    "over nothing": (lambda e: e.ratio([0], {1: 0.0}), SurveyError, "under"),
    "together, perhaps": (lambda e: e.interval(simultaneous="no"), SurveyError, "simultaneous"),
    "a value twice": (lambda e: e.table("age").sum(age=[1, 1]), SurveyError, "age"),
    "no such value": (lambda e: e.table("age").sum(age=9), UnknownAnswerError, "age"),
    "given itself": (lambda e: e.table("age").share({"age": 1}, given={"age": 1}), SurveyError, "of"),
    "independence of one": (lambda e: e.table("age").independence(), SurveyError, None),
}


@pytest.mark.parametrize("case", BAD)
def test_odd_combinations_are_refused(case: str) -> None:
    act, kind, field = BAD[case]
    with refuses(kind, field):
        act(estimated(SURVEYS["shares"], shares(), 1000))


def test_unknown_queries_are_refused() -> None:
    found = estimated(sv.Survey(sv.queries(Bins(RECORDS, [0, 5, 24])), epsilon=1.0), shares(), 1000)
    with refuses(UnknownAnswerError, "labels"):
        found.sum(["5-9"])
    with refuses(SurveyError, "kind"):
        found.table("age")


def test_many_answers_are_combined_in_no_time() -> None:
    """A million values: one row of weights, and no matrix beside it."""
    survey = sv.Survey(sv.shares(10**6), epsilon=1.0, mechanism="hadamard")
    histogram = np.zeros(10**6, dtype=np.int64)
    histogram[:10] = 10_000
    found = survey.estimate(survey.simulate_aggregate(histogram=histogram, seed=1)).sum(range(5), level=1 - 1e-6)
    assert found.low <= 0.5 <= found.high


def test_prefixes_subtract_to_ranges() -> None:
    found = estimated(sv.Survey(sv.queries(Prefix(RECORDS)), epsilon=2.0, strategy="haar"), shares())
    part = found.combine({11: 1, 3: -1}, level=1 - 1e-6)
    assert part.low <= shares()[4:12].sum() <= part.high


@pytest.mark.parametrize(
    ("value", "over", "under", "truth"),
    [
        ("a", {"a": 1, "b": -1}, {"a": 1, "b": 1, "c": 1}, 1.0),
        ("b", {"a": 1, "b": 2}, {"a": 1, "b": 1, "c": 1}, 2.0),
        ("a", {"a": 1}, {"a": 1, "b": 10, "c": 10}, 1.0),
    ],
)
def test_a_ratio_at_the_end_of_what_people_can_have_is_no_point(
    value: str, over: dict[str, float], under: dict[str, float], truth: float
) -> None:
    """A raw ratio beyond all possible ones, or over a denominator of the wrong sign, was its own interval."""
    survey = sv.Survey(["a", "b", "c"], epsilon=0.3, mechanism="randomized_response")
    missed = 0
    for seed in range(20):
        answer = survey.estimate(survey.simulate_aggregate([value] * 60, seed=seed)).ratio(over, under)
        assert answer.low < answer.high
        missed += not answer.low <= truth <= answer.high
    assert missed <= 3
