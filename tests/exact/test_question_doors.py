"""What every door asks a question: its values in words, its pictures, and the people and the truth of simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SimulationError
from sottovoce.domain.number import NumberGrid
from sottovoce.questions.base import Question
from sottovoce.questions.registry import QUESTIONS, make_question
from sottovoce.workloads import Prefix
from sottovoce.workloads.pictures import Bars, Cdf

ASKED: dict[str, Question] = {
    "shares": make_question("shares", labels=["tea", "coffee", "water"]),
    "queries": make_question("queries", workload=Prefix(["low", "middle", "high"])),
    "vector": make_question("vector", dimension=3, radius=2.0),
    "choices": make_question("choices", options=["bus", "tram", "bike"], most=2),
    "number": make_question("number", low=0, high=600, unit="minutes"),
    "records": make_question("records", attributes={"plan": ["free", "pro"], "minutes": NumberGrid(0, 600)}),
    "relation": make_question(
        "relation", regressors={"age": NumberGrid(18, 90)}, outcome={"minutes": NumberGrid(0, 600)}
    ),
    "words": make_question("words", longest=8, alphabet="latin"),
}


def test_every_kind_is_asked_here() -> None:
    assert set(ASKED) == set(QUESTIONS)


@pytest.mark.parametrize("kind", ASKED)
def test_values_are_described_without_listing_them(kind: str) -> None:
    described = ASKED[kind].values_text
    assert described
    assert "\n" not in described
    assert not described.endswith(".")


def test_only_words_are_searched_for() -> None:
    assert [kind for kind, question in ASKED.items() if question.is_searched] == ["words"]


def test_values_that_are_admitted_are_those_that_are_taken() -> None:
    assert ASKED["shares"].admits("tea")
    assert not ASKED["shares"].admits("wine")
    assert ASKED["words"].admits("tea")
    assert not ASKED["words"].admits("42"), "it answers as other"
    assert ASKED["vector"].admits([9, 9, 9]), "it is shortened"
    assert not ASKED["vector"].admits([9, 9])


@pytest.mark.parametrize("kind", ["vector", "choices", "number", "records", "words"])
def test_people_are_invented_where_values_cannot_be_listed(kind: str) -> None:
    question, rng = ASKED[kind], np.random.default_rng(1)
    people = question.invented_people()
    assert people is not None
    assert question.people(people.draw(20, rng)).n == 20
    for value in people.values(20, rng):
        question.private_input(value)
    assert (people.shares is not None) == question.is_searched
    if not question.is_searched:
        assert people.answers.shape == (question.n_answers,)


def test_listed_values_need_no_invented_people() -> None:
    assert ASKED["shares"].invented_people() is ASKED["queries"].invented_people() is None
    with refuses(SimulationError, "population"):
        ASKED["shares"].people_of_lines(["tea"])


def test_the_truth_of_listed_values_is_that_of_the_workload() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    drinks = ASKED["shares"].truth_of(["water", "tea", "coffee"])
    assert drinks is not None
    assert [drinks(name, shares) for name in ("tea", "coffee", "water")] == [0.3, 0.2, 0.5]
    levels = ASKED["queries"].truth_of(["high", "low", "middle"])
    assert levels is not None
    assert levels("<= middle", shares) == pytest.approx(0.5)


def test_the_truth_of_numbers_outside_the_ends_is_that_of_the_clipped_ones() -> None:
    """The estimate is that of the clipped numbers, beside which it stands."""
    minutes = sv.number(0, 60, "minutes")
    truth = minutes.truth_of([-30.0, 30.0, 600.0])
    assert truth is not None
    assert truth("mean", np.array([0.25, 0.5, 0.25])) == 30.0
    assert minutes.truth_text != sv.shares(3).truth_text == "truth"


def test_the_truth_of_a_number_is_its_mean_and_others_are_unknown() -> None:
    minutes = ASKED["number"].truth_of([10.0, 20.0])
    assert minutes is not None
    assert minutes("mean", np.array([0.25, 0.75])) == 17.5
    assert math.isnan(minutes("median", np.array([0.25, 0.75])))
    assert all(ASKED[kind].truth_of([]) is None for kind in ("vector", "choices", "records", "words"))


def test_pictures_follow_the_number_of_answers_only_where_they_are_searched_for() -> None:
    assert ASKED["words"].panels(7) == [Bars("share of people with each word", 0, 7, shares=True)]
    assert [panel.stop for panel in ASKED["shares"].panels(3)] == [3]
    assert ASKED["number"].panels(1) == [], "figures say it"
    bins = make_question("number", low=0, high=4, wants="distribution", points=2)
    assert bins.panels(2) == [Cdf("share of people at or below each number", 0, 2, True, [2.0, 4.0])]


def test_an_estimate_names_each_answer_as_it_names_all() -> None:
    survey = sv.Survey(sv.words(8, "latin"), epsilon=4.0, people=10_000)
    words = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
    drinks = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
    shares = drinks.estimate(drinks.simulate(["tea"] * 10, seed=1))
    for estimate in (words, shares):
        assert [estimate.label(place) for place in range(len(estimate))] == estimate.labels()
