"""Questions: declared once, made from parameters, stated in JSON and read back, and refused by name."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import DomainError, SimulationError, SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.questions import QUESTIONS, Choices, Queries, Shares, Vector, make_question, question_from_statement
from sottovoce.strategies.registry import STRATEGIES
from sottovoce.surveys.panel import Panel
from sottovoce.workloads import Prefix
from sottovoce.workloads.ball import Ball

EXAMPLES = [
    Shares(sv.Domain.of(["tea", "coffee"])),
    Shares(sv.Domain.product(age=range(3), sex=["f", "m"])),
    Queries(Prefix(5)),
    Vector(3, 2.5),
    Choices(["bus", "tram", "bike"], 2),
]


@pytest.mark.parametrize("question", EXAMPLES, ids=lambda q: q.kind)
def test_a_statement_is_the_whole_question(question) -> None:
    statement = json.loads(json.dumps(question.to_statement()))
    again = question_from_statement(statement)
    assert again == question
    assert again.to_statement() == question.to_statement()
    for field in statement:
        with pytest.raises(SurveyError):
            question_from_statement({name: what for name, what in statement.items() if name != field})
    with refuses(SurveyError, "question"):
        question_from_statement({**statement, "colour": "red"})


@pytest.mark.parametrize("question", EXAMPLES, ids=lambda q: q.kind)
def test_answers_are_found_by_name_and_number(question) -> None:
    for place in range(question.n_answers):
        if not (isinstance(question, Shares) and question.domain.size == 6):  # a record is no label
            assert question.find(question.label(place)) == place
    low, high = question.answer_range
    assert np.all(np.asarray(low) < np.asarray(high))


def test_every_kind_declares_what_the_doors_need() -> None:
    assert list(QUESTIONS) == ["shares", "queries", "vector", "choices", "number", "records", "relation", "words"]
    for kind in (*QUESTIONS.values(), Panel):
        names = [one.name for one in kind.parameters]
        assert len(set(names)) == len(names)
        assert kind.summary
        for one in kind.parameters:
            assert one.help
            assert one.example
            assert json.loads(json.dumps(one.to_dict()))["name"] == one.name
            assert (one.low is None) == (one.kind not in ("integer", "number"))
    for question in QUESTIONS.values():
        assert set(question.strategies) <= set(STRATEGIES)


def test_questions_from_parameters() -> None:
    assert make_question("shares", values=4) == Shares(sv.Domain.of(4))
    assert make_question("shares", labels=["a", "b"]) == Shares(sv.Domain.of(["a", "b"]))
    assert make_question("shares", values=None, range=range(3, 9)).n_answers == 6
    assert make_question("queries", workload=Prefix(7)) == Queries(Prefix(7))
    assert make_question("vector", dimension=np.int64(3)) == Vector(3, 1.0)
    panel = Panel.of(1.0, values=5, rounds=3)
    assert (panel.domain.size, panel.rounds, panel.radius) == (5, 3, 1.0)


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("median", {"values": 3}, "kind"),
        (3, {"values": 3}, "kind"),
        ("shares", {}, "values"),
        ("shares", {"values": 3, "labels": ["a", "b"]}, "labels"),
        ("shares", {"workload": Prefix(3)}, "workload"),
        ("shares", {"values": 1}, "values"),
        ("shares", {"values": 2.5}, "values"),
        ("queries", {}, "workload"),
        ("queries", {"values": 3}, "values"),
        ("vector", {"radius": 2.0}, "dimension"),
        ("vector", {"dimension": 0}, "dimension"),
        ("vector", {"dimension": 2, "radius": 0}, "radius"),
        ("vector", {"dimension": 2, "radius": float("nan")}, "radius"),
    ],
)
def test_refusals_name_the_field(kind, given, field: str) -> None:
    with refuses(SurveyError, field):
        make_question(kind, **given)


def test_refusals_of_what_is_given() -> None:
    with refuses(WorkloadError, "workload"):
        make_question("queries", workload="prefix:3")
    with refuses(DomainError, "values"):
        Shares(sv.Domain.of({"a": 2**30, "b": 2**30}))
    with refuses(SurveyError, "question"):
        question_from_statement(["shares"])
    with refuses(SurveyError, "rounds"):
        Panel.of(1.0, values=5, rounds=0)


def test_vectors_are_checked_without_being_named() -> None:
    question = Vector(2)
    assert question.private_input([3.0, 4.0]).tolist() == [3.0, 4.0]  # the mechanism clips
    with refuses(ValueOutsideDomainError, "value"):
        question.private_input([1.0])
    with pytest.raises(ValueOutsideDomainError, match="outside the ball of radius 1"):
        question.people([[3.0, 4.0]])
    clipped = Vector(2, clip=True).people([[3.0, 4.0]])
    assert clipped.between(0, 1)[0] == pytest.approx([0.6, 0.8])
    with refuses(SimulationError, "histogram"):
        question.people_of_histogram([1, 2])


def test_what_is_no_part_of_a_statement_is_no_part_of_identity() -> None:
    named = Vector(1, 2.0, clip=True, ball=Ball(1, 2.0, names=("age",), low=0.0, high=1.0))
    assert named == Vector(1, 2.0)
    assert (named.label(0), named.answer_range) == ("age", (0.0, 1.0))
    assert named.to_statement() == Vector(1, 2.0).to_statement()


@pytest.mark.parametrize("ball", [Ball(2, 2.5), Ball(3, 5.0)], ids=repr)
def test_a_ball_is_that_of_the_statement(ball: Ball) -> None:
    with refuses(SurveyError, "ball"):
        Vector(3, 2.5, ball=ball)


def test_a_survey_is_asked_with_a_question_and_a_seat() -> None:
    with refuses(SurveyError, "question"):
        sv.Survey(5, epsilon=1.0)  # type: ignore[arg-type]
    asked = sv.Survey(sv.shares(5), epsilon=1.0)
    with refuses(SurveyError, "seat"):
        sv.Survey.of_design(asked.question, asked.design, seat="first row")  # type: ignore[arg-type]
