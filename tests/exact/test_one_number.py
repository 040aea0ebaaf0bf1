"""Means of vectors: a vector of one number may be that number, coordinates may have names, and examples clip nobody."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.cli.parser import build_parser, commands_of
from sottovoce.core import limits

SURVEY = sv.Survey(sv.vector(1, 5.0), epsilon=1.0)


@pytest.mark.parametrize("value", [3, 3.5, np.float64(3.5), np.int64(-2), [3], (3.5,), np.array([3.5])])
def test_one_number_is_a_vector_of_one(value: object) -> None:
    expected = np.atleast_1d(np.asarray(value, dtype=np.float64))
    assert np.array_equal(SURVEY.question.private_input(value), expected)
    assert SURVEY.aggregate().add([SURVEY.randomize(value)]).n_reports == 1


@pytest.mark.parametrize("value", ["3", True, [[3]], [3, 4], [], {"x": 3}])
def test_nothing_else_is(value: object) -> None:
    with refuses(sv.errors.ValueOutsideDomainError, "value"):
        SURVEY.randomize(value)


def test_one_number_is_no_vector_of_two() -> None:
    with refuses(sv.errors.ValueOutsideDomainError, "value"):
        sv.Survey(sv.vector(2, 5.0), epsilon=1.0).randomize(3.0)


def test_simulated_people_may_have_numbers() -> None:
    numbers = [1.0, -2.0, 4.5] * 50
    listed = SURVEY.simulate([[number] for number in numbers], seed=1)
    assert list(SURVEY.simulate(numbers, seed=1)) == list(listed)


def test_a_number_on_the_command_line_is_a_value() -> None:
    for survey in (SURVEY, sv.Survey(sv.number(0, 600), epsilon=1.0)):
        assert survey.aggregate().add([survey.randomize(survey.parse("12"))]).n_reports == 1


def test_coordinates_have_the_names_they_are_given() -> None:
    survey = sv.Survey(sv.vector(2, 5.0, labels=["height", "width"]), epsilon=1.0)
    estimate = survey.estimate(survey.simulate([[3.0, 4.0]] * 1000, seed=1))
    assert estimate.labels() == ["height", "width"]
    assert estimate["width"].value == estimate.values[1]
    assert survey.id == sv.Survey(sv.vector(2, 5.0), epsilon=1.0).id, "names are for who reads the estimate"


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], ["a", ""], ["a", 1], "ab", ["a", "b", "c"]])
def test_wrong_names_are_refused(labels: object) -> None:
    with refuses(sv.errors.SurveyError, "labels"):
        sv.Survey(sv.vector(2, 5.0, labels=labels), epsilon=1.0)  # type: ignore[arg-type]


def test_no_example_clips_people_whose_numbers_are_up_to_one() -> None:
    checked = 0
    for words, parser in commands_of(build_parser(["survey"]), "sottovoce").items():
        for line in re.findall(r"^  sottovoce survey create vector .*$", parser.epilog or "", re.MULTILINE):
            given = shlex.split(line)
            dimension = int(given[given.index("--dimension") + 1])
            assert float(given[given.index("--radius") + 1]) >= math.sqrt(dimension), words
            checked += 1
    assert checked >= 3


def test_devices_in_browsers_have_the_same_limits() -> None:
    source = (Path(__file__).parents[2] / "clients/js/src/device/ledger.ts").read_text(encoding="utf-8")
    block = source.partition("ALLOWANCE: Allowance = {")[2].partition("}")[0]
    stated = {name: float(value) for name, value in re.findall(r"(\w+): ([0-9.e-]+),", block)}
    assert stated == {
        "cap": limits.DEFAULT_CAP,
        "budget": limits.DEFAULT_BUDGET,
        "deltaCap": limits.DEFAULT_DELTA_CAP,
        "deltaBudget": limits.DEFAULT_DELTA_BUDGET,
        "maxAnswers": limits.DEFAULT_MAX_ANSWERS,
        "windowBudget": limits.DEFAULT_BUDGET,
        "windowDays": limits.DEFAULT_WINDOW_DAYS,
    }
