"""`estimate.covariance`: against the channel itself, against counts, against many surveys, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError, UnknownAnswerError

LABELS = ["tea", "coffee", "water"]


def drinks(n: int = 3_000) -> sv.Survey:
    return sv.Survey(sv.shares(LABELS), epsilon=1.0, mechanism="randomized_response", people=n)


def test_shares_have_the_covariance_of_their_channel() -> None:
    """X of a report is (1[it is u] - P0)/(P1 - P0): its covariance over reports drawn from the projected shares."""
    survey = drinks()
    estimate = survey.estimate(survey.simulate(["tea"] * 1500 + ["coffee"] * 1000 + ["water"] * 500, seed=1))
    own, other = np.e / (np.e + 2), 1 / (np.e + 2)
    chances = other + (own - other) * estimate.values
    expected = (np.diag(chances) - np.outer(chances, chances)) / (own - other) ** 2 / 3_000
    assert estimate.covariance() == pytest.approx(expected, abs=1e-14)
    assert np.sqrt(np.diag(estimate.covariance())) == pytest.approx(estimate.standard_errors)


def test_every_form_of_weights_is_the_same_combination() -> None:
    survey = drinks()
    estimate = survey.estimate(survey.simulate(["tea"] * 2000 + ["coffee"] * 1000, seed=2))
    rows = np.array([[1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.5, 2.0]])
    named = ["tea", {"tea": 1, "coffee": -1}, {"water": 2, "coffee": 0.5}]
    whole = rows @ estimate.covariance() @ rows.T
    assert estimate.covariance(named) == pytest.approx(whole, abs=1e-15)
    assert estimate.covariance(rows) == pytest.approx(whole, abs=1e-15)
    assert estimate.covariance(named[1]) == pytest.approx(whole[1:2, 1:2])
    assert estimate.covariance(rows[1]) == pytest.approx(whole[1:2, 1:2])
    assert estimate.covariance("tea") == pytest.approx(whole[:1, :1])
    assert estimate.covariance(1e80 * rows) == pytest.approx(1e160 * whole, rel=1e-9)


def test_the_mean_of_a_number_is_read_from_its_counts() -> None:
    survey = sv.Survey(sv.number(0, 60), epsilon=2.0)
    estimate = survey.estimate(survey.simulate(np.linspace(0, 60, 4_000), seed=1))
    answers, counts = survey.design.report_answers, estimate.counts  # type: ignore[attr-defined]
    assert counts is not None
    every = np.repeat(answers, counts)
    assert estimate.covariance()[0, 0] == pytest.approx(every.var(ddof=1) / len(every))


def test_moments_and_distributions_of_a_number_agree_with_their_counts() -> None:
    """Raw answers are linear in the counts: a multinomial covariance carried through that map."""
    for wants in ("spread", "distribution"):
        survey = sv.Survey(sv.number(0, 60, wants=wants), epsilon=1.0)
        estimate = survey.estimate(survey.simulate(np.linspace(0, 60, 2_000), seed=1))
        counts, n = estimate.counts, estimate.n_reports
        assert counts is not None
        reads = np.stack([survey.design.raw_answers(unit, 1) for unit in np.eye(counts.size, dtype=np.int64)], axis=1)
        share = counts / n
        assert reads @ share == pytest.approx(estimate.raw, abs=1e-9)
        expected = reads @ (np.diag(share) - np.outer(share, share)) @ reads.T / (n - 1)
        assert estimate.covariance() == pytest.approx(expected, abs=1e-12)


def test_means_of_a_relation_come_from_different_reports() -> None:
    survey = sv.Survey(sv.relation({"x": sv.number(-1, 1)}, outcome=sv.number(-1, 1, "y")), epsilon=2.0)
    rng = np.random.default_rng(1)
    people = {"x": rng.uniform(-1, 1, 5_000), "y": rng.uniform(-1, 1, 5_000)}
    estimate = survey.estimate(survey.simulate(people, seed=1))
    whole = estimate.covariance()
    seen = survey.design.observed(estimate.counts)  # type: ignore[attr-defined]
    assert whole == pytest.approx(np.diag(seen.variance))
    few = survey.estimate(survey.simulate({"x": [0.5], "y": [0.5]}, seed=1))
    with refuses(SurveyError, "weights"):
        few.covariance()


def test_options_that_different_people_report_on_are_independent() -> None:
    survey = sv.Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0, mechanism="one_option")
    estimate = survey.estimate(survey.simulate([["a", "b"], ["c"]] * 2_000, seed=1))
    counts = estimate.counts
    assert counts is not None
    reports = counts[::2] + counts[1::2]
    share, signal = counts[1::2] / reports, float(survey.mechanism.support.signal)  # type: ignore[union-attr]
    assert estimate.covariance() == pytest.approx(np.diag(share * (1 - share) / reports / signal**2))


@pytest.mark.parametrize("kind", ["tables", pytest.param("words", marks=pytest.mark.slow)])
def test_many_surveys_scatter_as_the_covariance_says(kind: str) -> None:
    """People are drawn anew each time. A covariance of 200 has an error of sqrt((1 + r^2)/200) of its scale, below
    0.1; six of these are allowed, over three numbers of the matrix. It is wrong by far more without sampling of
    people, or if answers were taken for independent."""
    runs, n = 200, 2_000
    if kind == "tables":
        question = sv.records({"a": ["x", "y"], "b": ["u", "v", "w"]}, tables=2)
        weights: list[object] = ["a=x", {"b=u": 1, "a=x, b=u": 1}]
    else:
        question = sv.words(4, "latin")
        weights = ["tea", {"tea": 1, "rum": 1}]
    survey = sv.Survey(question, epsilon=4.0, people=n)
    scattered, spreads = [], []
    for run in range(runs if kind == "tables" else 60):
        rng = np.random.default_rng((1, run))
        if kind == "tables":
            a = rng.choice(["x", "y"], n, p=[0.6, 0.4])
            b = np.where((a == "x") & (rng.random(n) < 0.7), "u", rng.choice(["u", "v", "w"], n))
            estimate = survey.estimate(survey.simulate({"a": a, "b": b}, seed=run))
            found = {label: float(estimate.raw[survey.answer_index(label)]) for label in ("a=x", "b=u", "a=x, b=u")}
            scattered.append([found["a=x"], found["b=u"] + found["a=x, b=u"]])
        else:
            estimate = survey.estimate(survey.simulate(rng.choice(["tea", "rum"], n, p=[0.6, 0.4]).tolist(), seed=run))
            tea, rum = estimate.of_many(["tea", "rum"]).raw
            scattered.append([tea, tea + rum])
        spreads.append(estimate.covariance(weights))
    observed, expected = np.cov(np.array(scattered).T), np.mean(spreads, axis=0)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((observed - expected) / scale).max() < 6 * np.sqrt(2 / len(scattered))
    if kind == "tables":
        assert expected[0, 1] / scale[0, 1] > 0.3


def test_words_take_weights_in_every_form() -> None:
    survey = sv.Survey(sv.words(4, "latin"), epsilon=4.0, people=2_000)
    estimate = survey.estimate(survey.simulate(["tea"] * 1_200 + ["rum"] * 800, seed=1))
    both = estimate.covariance(["tea", "rum", "ale"])
    sums = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    assert estimate.covariance([{"tea": 1, "rum": 1}, {"ale": 2}]) == pytest.approx(sums @ both @ sums.T)
    assert estimate.covariance().shape == (len(estimate), len(estimate))
    assert (np.linalg.eigvalsh(both) > 0).all()
    with refuses(UnknownAnswerError, "weights"):
        estimate.covariance(["too long a word"])
    with refuses(SurveyError, "weights"):
        estimate.covariance([])


def test_bounds_and_odd_weights_are_refused() -> None:
    survey = sv.Survey(sv.choices(["a", "b", "c"], most=2), epsilon=4.0, mechanism="set_selection")
    sets = survey.estimate(survey.simulate([["a", "b"]] * 100, seed=1))
    with refuses(SurveyError, "weights") as refusal:
        sets.covariance()
    assert "do not tell" in str(refusal.value)
    many = sv.Survey(sv.shares(300), epsilon=1.0)
    estimate = many.estimate(many.simulate([0, 1, 2], seed=1))
    with refuses(SurveyError, "weights") as refusal:
        estimate.covariance()
    assert "at most 200" in str(refusal.value)
    assert estimate.covariance([0, 1]).shape == (2, 2)
    with refuses(SurveyError, "weights"):
        estimate.covariance(np.ones((201, 300)))
    with refuses(UnknownAnswerError, "weights"):
        estimate.covariance(["nothing"])
    with refuses(SurveyError, "weights"):
        estimate.covariance({0: float("nan")})
    with refuses(SurveyError, "weights"):
        estimate.covariance(np.ones(3))
