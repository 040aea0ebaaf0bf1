"""Invented people whose values cannot be listed have the answers that they are said to have."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.fleet.people import respondents_for, true_answers
from sottovoce.questions.base import Question
from sottovoce.questions.invented import VectorPeople
from sottovoce.questions.registry import make_question

N = 40_000
FIELDS = {"plan": ["free", "plus", "pro"], "age": range(3), "minutes": sv.number(0, 600, "minutes", points=4)}

QUESTIONS = {
    "mean": make_question("number", low=-5, high=9),
    "spread": make_question("number", low=0, high=10, wants="spread"),
    "distribution": make_question("number", low=0, high=10, wants="distribution", points=7),
    "choices": make_question("choices", options=sv.Domain.of(20), most=5),
    "few choices": make_question("choices", options=sv.Domain.of(["a", "b"]), most=2),
    "records": make_question("records", attributes=FIELDS, tables=2),
}


def answers_of(question: Question, n: int) -> np.ndarray:
    """The mean answers of n people drawn from the population."""
    population = question.invented_people()
    assert population is not None
    rows = question.people(population.draw(n, np.random.default_rng(4))).between(0, n)
    workload = question.workload
    if workload.n_values is None:
        return workload.columns(rows).mean(axis=0)
    # Bins; or positions, of which one between two points of the grid counts partly for each.
    places = rows / (2**16 if rows.max() >= workload.n_values else 1)
    below = np.floor(places).astype(int)
    points = np.bincount(below, 1 - (places - below), minlength=workload.n_values + 1)
    points[1:] += np.bincount(below, places - below, minlength=workload.n_values)
    return workload.matvec(points[: workload.n_values] / n)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_the_stated_ones(name: str) -> None:
    question = QUESTIONS[name]
    population = question.invented_people()
    assert population is not None
    low, high = question.answer_range
    # Six standard deviations of a mean of independent numbers within the range; random rounding to a grid adds at most
    # a quarter of its squared spacing to a mean square.
    rounding = getattr(question.workload, "rounding_error", 0.0)
    tolerance = 6 * (np.asarray(high) - np.asarray(low)) / 2 / np.sqrt(N) + rounding
    assert (np.abs(answers_of(question, N) - population.answers) <= tolerance).all()


def test_nobody_ticks_too_many_and_some_tick_nothing() -> None:
    question = QUESTIONS["choices"]
    sizes = Counter(len(one) for one in question.invented_people().draw(10_000, np.random.default_rng(1)))
    assert set(sizes) == {0, 2, 3}


def test_a_fleet_is_made_of_them() -> None:
    survey = sv.Survey(sv.records(FIELDS, tables=1), epsilon=1.0)
    crowd, shares = respondents_for(survey, 500, "zipf", 3)
    assert shares is None
    single = crowd.values(100)
    assert all(survey.question.private_input(value) is not None for value in single)
    assert crowd.take(survey, 400).n == 400
    assert crowd.left == 0
    assert len(true_answers(survey, None)) == survey.n_answers


@pytest.mark.parametrize("dimension", [1, 2, 30])
def test_simulated_vectors_have_the_stated_mean_and_stay_in_the_ball(dimension: int) -> None:
    """The mean of n vectors in a ball is within r (1 + sqrt(2 log 1e9))/sqrt(n) of theirs but for a chance of 1e-9
    (E||error|| <= r/sqrt(n), and McDiarmid); a mean off by a third would be 0.1 r away."""
    n, radius = 40_000, 2.0
    vectors = VectorPeople(dimension, radius).crowd(n, seed=6).between(0, n)
    norms = np.linalg.norm(vectors, axis=1)
    tolerance = radius * (1 + math.sqrt(2 * math.log(1e9))) / math.sqrt(n)
    assert tolerance < 0.1 * radius
    assert np.linalg.norm(vectors.mean(axis=0) - VectorPeople(dimension, radius).answers) < tolerance
    assert norms.max() <= radius * (1 + 1e-12)
    # Uniform norms: none of 40,000 below (above) a hundredth (99 hundredths) has a chance of 0.99^40000 < 1e-170.
    assert norms.min() < 0.01 * radius
    assert norms.max() > 0.99 * radius
    if dimension > 1:
        assert vectors @ VectorPeople(dimension, 1.0).answers == pytest.approx(0.6 * norms * 0.3)
