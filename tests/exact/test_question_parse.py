"""One parser per question: typed text becomes the value it stands for, and text that stands for none is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.domain.number import NumberGrid
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.registry import QUESTIONS
from sottovoce.questions.relation import Relation
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words
from sottovoce.workloads import Prefix

PEOPLE = sv.Domain.product(age=range(18, 21), city=["Rome", "Oslo, N", "a=b"])
LINE = Relation({"age": NumberGrid(18, 90)}, {"minutes": NumberGrid(0, 600)})
FORM = Records({"plan": ["free", "pro"], "minutes": NumberGrid(0, 600)})

LISTED: list[Question] = [
    Shares(sv.Domain.of(["tea", "coffee", "1"])),
    Shares(sv.Domain.of([3, 5, 7])),
    Shares(sv.Domain.of(range(-5, 5))),
    Shares(sv.Domain.text(2, "01")),
    Shares(PEOPLE),
    Queries(Prefix(["low", "middle", "high"])),
]


@pytest.mark.parametrize("question", LISTED, ids=repr)
def test_every_label_of_a_domain_is_the_text_of_its_value(question: Question) -> None:
    domain = question.domain
    assert domain is not None
    for number, label in enumerate(domain.labels()):
        assert question.private_input(question.parse(label)) == number


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        (Number.of(low=0, high=600), " 1e2", 100.0),
        (Number.of(low=0, high=600), "-7", -7.0),
        (Choices(["bus", "tram, fast", "1"], most=2), 'bus,"tram, fast"', ["bus", "tram, fast"]),
        (Choices(["bus", "tram", "1"], most=2), "", []),
        (Choices([1, 2, 3], most=2), "3,1", [3, 1]),
        (FORM, "minutes=30.5, plan=pro", {"minutes": 30.5, "plan": "pro"}),
        (LINE, "minutes=30.5, age=40", {"minutes": 30.5, "age": 40.0}),
        (Vector(3), "0.5,-1, 2e-3", [0.5, -1.0, 0.002]),
        (Words.of(longest=8, alphabet="latin"), "Tea", "Tea"),
        (Words.of(longest=4, alphabet="bytes"), "0x00ff", b"\x00\xff"),
        (Words.of(below=1000), "042", 42),
    ],
)
def test_text_stands_for_a_value_that_the_question_takes(question: Question, text: str, value: object) -> None:
    assert question.parse(text) == value
    question.private_input(value)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        *((question, "no-such-value-1234") for question in LISTED),
        (Shares(PEOPLE), "age=18,age=19,city=Rome"),
        (Shares(PEOPLE), "age=18,town=Rome"),
        (Shares(PEOPLE), "age=18"),
        (Number.of(low=0, high=600), "12 km"),
        (Number.of(low=0, high=600), "nan"),
        (Choices(["bus", "tram", "1"], most=2), "bus,boat-1234"),
        (Choices(["bus", "tram", "1"], most=2), "bus,bus"),
        (FORM, "minutes=30,plan=gold-1234"),
        (LINE, "minutes=30,age=old-1234"),
        (FORM, "minutes=half-1234,plan=pro"),
        (Vector(3), "0.5,x-1234,1"),
        (Vector(3), "0.5,-1"),
    ],
)
def test_text_that_stands_for_no_value_is_refused_without_repeating_it(question: Question, text: str) -> None:
    with pytest.raises(ValueOutsideDomainError) as refusal:
        question.private_input(question.parse(text))
    said = f"{refusal.value} {refusal.value.args} {refusal.value.__cause__}"
    assert text not in said
    assert "1234" not in said
    assert "12 km" not in said


@pytest.mark.parametrize("text", ["日本", "far-too-long-a-word", "12!"])
def test_text_that_is_no_word_answers_as_other(text: str) -> None:
    for question in (Words.of(longest=8, alphabet="latin"), Words.of(below=1000), Words.of(alphabet="bytes")):
        assert not question.private_input(question.parse(text)).any()


def test_every_kind_is_parsed_here() -> None:
    kinds = {question.kind for question in (*LISTED, FORM, LINE, Vector(3))} | {"number", "choices", "words"}
    assert kinds == set(QUESTIONS)


def test_surveys_panels_and_tracking_surveys_ask_their_question() -> None:
    once = sv.Survey(Choices(["bus", "tram"], most=2), epsilon=1.0)
    panel = sv.Panel({"age": range(4)}, rounds=2, epsilon=1.0)
    calendar: dict[str, Any] = {"every": "week", "starts": "2027-01-04", "periods": 3}
    tracking = sv.Tracking(Choices(["bus", "tram"], most=2), epsilon=1.0, **calendar)
    assert once.parse("tram") == tracking.parse("tram") == tracking.period(1).parse("tram") == ["tram"]
    assert panel.parse("age=3") == sv.adaptive.round_of(panel, 1, "age < 3").parse("age=3") == {"age": 3}


def test_columns_of_a_file_make_one_value() -> None:
    assert FORM.value_of_columns({"plan": "pro", "minutes": 3}) == {"plan": "pro", "minutes": 3}
    assert Vector(2).value_of_columns({"b": 1.0, "a": 2.0}) == [1.0, 2.0], "in the order in which they are named"
    FORM.check_columns(["minutes", "plan"])
    Shares(PEOPLE).check_columns(["city", "age"])
    Vector(2).check_columns(["x", "y"])
    np.testing.assert_equal(FORM.private_input(FORM.value_of_columns({"plan": "pro", "minutes": 0})), [1, 0])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (FORM, ["plan"]),
        (Shares(PEOPLE), ["age", "town"]),
        (Vector(2), ["x"]),
        (LISTED[0], ["drink"]),
        (Number.of(low=0, high=1), ["a", "b"]),
        (Choices(["bus", "tram"], most=1), ["bus", "tram"]),
        (Words.of(), ["word"]),
    ],
)
def test_columns_that_make_no_value_are_refused(question: Question, names: list[str]) -> None:
    with refuses(SurveyError, "columns"):
        question.check_columns(names)


def test_a_record_is_typed_as_json_too() -> None:
    typed = {"plan": "pro", "minutes": 3}
    assert FORM.parse(json.dumps(typed)) == FORM.parse(" " + json.dumps(typed, indent=1)) == typed
    people = Shares(PEOPLE)
    assert people.admits(people.parse('{"age": 3, "city": "Oslo"}')) == people.admits({"age": 3, "city": "Oslo"})
    for text in ('{"plan": "pro"', '{"plan": "pro", "plan": "free", "minutes": 3}', "{plan=pro,minutes=3}", "{}"):
        assert not FORM.admits(FORM.parse(text))
