"""Values as a command line writes them."""

from __future__ import annotations

import argparse

import pytest

import sottovoce as sv
from sottovoce.cli.domain_option import domain_of, parse_values
from sottovoce.errors import DomainError


def given(**options):
    return argparse.Namespace(**({"domain_size": None, "labels": None, "attributes": None} | options))


def test_the_three_ways(tmp_path):
    (tmp_path / "colours.txt").write_text("red\n\n light green \nblue\n", encoding="utf-8")
    assert domain_of(given(domain_size=10)) == 10
    assert domain_of(given(labels="red, green,blue")) == ["red", "green", "blue"]
    assert domain_of(given(labels=f"@{tmp_path}/colours.txt")) == ["red", "light green", "blue"]
    people = sv.Domain.of(domain_of(given(attributes=["age=-5..99", "sex=f,m", "name=text:3", "score=11"])))
    assert people == sv.Domain.product(age=range(-5, 100), sex=["f", "m"], name=sv.Domain.text(3), score=11)


@pytest.mark.parametrize(
    ("options", "helpful"),
    [
        ({}, "exactly one way"),
        ({"domain_size": 3, "labels": "a,b"}, "exactly one way"),
        ({"attributes": ["age"]}, "write it like age=0..99"),
        ({"attributes": ["=1..2"]}, "write it like age=0..99"),
        ({"attributes": ["age=1..2", "age=1..3"]}, "given before"),
        ({"labels": "@no-such-file"}, "no-such-file"),
        ({"labels": "@."}, "cannot be read"),
        ({"labels": "@nul\0l"}, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(options, helpful):
    with pytest.raises(DomainError, match=helpful):
        domain_of(given(**options))


def test_a_binary_file_holds_no_labels(tmp_path):
    (tmp_path / "picture").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DomainError, match="not a text file"):
        domain_of(given(labels=f"@{tmp_path}/picture"))


@pytest.mark.parametrize("text", ["9..1", "a", "", "text:0", "text:99", "1", "a,a"])
def test_values_that_are_no_domain_are_refused_by_the_domain(text):
    with pytest.raises(DomainError):
        sv.Domain.of({"x": parse_values(text)})
