"""Values as a command line writes them."""

from __future__ import annotations

import argparse

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.cli.survey_options import asked_question, parse_values
from sottovoce.core.errors import DomainError, SurveyError
from sottovoce.questions import Shares


def domain_of(**words):
    """The domain of a question whose options are these words."""
    options = dict.fromkeys(one.name for one in Shares.parameters) | words
    return asked_question(Shares, argparse.Namespace(**options)).domain


def test_the_four_ways(tmp_path):
    (tmp_path / "colours.txt").write_text("red\n\n light green \nblue\n", encoding="utf-8")
    assert domain_of(values=10) == sv.Domain.of(10)
    assert domain_of(range="-5..99") == sv.Domain.of(range(-5, 100))
    assert domain_of(labels="red, green,blue") == sv.Domain.of(["red", "green", "blue"])
    assert domain_of(labels=f"@{tmp_path}/colours.txt") == sv.Domain.of(["red", "light green", "blue"])
    people = domain_of(attributes=["age=-5..9", "sex=f,m", "name=text:3", "score=11"])
    assert people == sv.Domain.product(age=range(-5, 10), sex=["f", "m"], name=sv.Domain.text(3), score=11)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({}, "values"),
        ({"values": 3, "labels": "a,b"}, "labels"),
        ({"range": "18-99"}, "range"),
        ({"attributes": ["age"]}, "attributes"),
        ({"attributes": ["=1..2"]}, "attributes"),
        ({"attributes": ["age=1..2", "age=1..3"]}, "attributes"),
        ({"labels": "@no-such-file"}, "labels"),
        ({"labels": "@."}, "labels"),
        ({"labels": "@nul\0l"}, "labels"),
    ],
)
def test_what_cannot_be_read_is_told(words, field):
    with refuses(SurveyError, field):
        domain_of(**words)


def test_a_binary_file_holds_no_labels(tmp_path):
    (tmp_path / "picture").write_bytes(b"\xff\xfe\x00")
    with refuses(DomainError, "labels"):
        domain_of(labels=f"@{tmp_path}/picture")


@pytest.mark.parametrize("text", ["9..1", "a", "", "text:0", "text:99", "1", "a,a"])
def test_values_that_are_no_domain_are_refused_by_the_domain(text):
    with pytest.raises(DomainError):
        sv.Domain.of({"x": parse_values(text)})
