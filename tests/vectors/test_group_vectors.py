"""vectors/groups.json: surveys with public groups, and statements that are refused for theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sottovoce.core.errors import SurveyError
from sottovoce.randomness import ByteSource
from sottovoce.surveys.survey import Survey, Tracking

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "groups.json").read_text("utf-8"))


def check_member(found: Survey, case: dict[str, Any]) -> None:
    read = Survey.from_json(case["canonical"])
    assert isinstance(read, Survey)
    assert found.id == read.id == case["id"]
    assert read.group is not None
    assert (read.group.number, read.group.values, read.group.label) == (case["number"], case["values"], case["label"])
    tape = iter(bytes.fromhex(case["tape"]))
    source = ByteSource(lambda n: bytes(next(tape) for _ in range(n)))
    for survey in (found, read):
        tape = iter(bytes.fromhex(case["tape"]))
        drawn = survey.mechanism.randomize(survey.private_input(case["value"]), source)
        assert (survey.tag + survey.mechanism.encode(drawn)).hex() == case["report"]


def test_groups_are_part_of_the_statement_and_each_has_a_survey() -> None:
    for case in VECTORS["surveys"]:
        survey = Survey.from_json(case["canonical"])
        assert isinstance(survey, Survey)
        assert survey.id == case["id"]
        for member in case["groups"]:
            check_member(survey.in_group(member["values"]), member)


def test_periods_have_groups() -> None:
    case = VECTORS["tracking"]
    tracking = Survey.from_json(case["canonical"])
    assert isinstance(tracking, Tracking)
    check_member(tracking.period(2).in_group("B"), case["period"])


def test_bad_groups_are_refused() -> None:
    assert len(VECTORS["bad"]) > 20
    for text in VECTORS["bad"]:
        with pytest.raises(SurveyError):
            Survey.from_json(text)
