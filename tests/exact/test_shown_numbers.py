"""No number is shown outside its interval or its range, and no interval is a point: estimates at random, every kind."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from cases import each
from shown import KINDS, LEVELS, Row, check, drawn_estimate, rows_of
from sottovoce.core.answer import Answer
from sottovoce.estimates.combinations import UNBOUNDED

SEARCHED = "words"
FURTHER = 10
"""Of so many estimates one is also asked for sums, differences, ratios, means and quantiles, which take longer."""

FEW, MANY, SEARCHES = 12, 1_000 // (len(KINDS) - 1) + 1, 5
"""Estimates of each kind; those of words take seconds, so fewer of these are made."""


@pytest.mark.parametrize("name", [name for name in KINDS if name != SEARCHED])
@pytest.mark.parametrize("runs", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_every_number_shown_is_possible(name: str, runs: int) -> None:
    _render(name, runs)


@pytest.mark.parametrize("runs", [2, pytest.param(SEARCHES, marks=pytest.mark.slow)])
def test_every_number_shown_of_words_is_possible(runs: int) -> None:
    _render(SEARCHED, runs)


def _render(name: str, runs: int) -> None:
    kind, rng, doors = KINDS[name], np.random.default_rng([len(name), runs]), Counter[str]()
    for run in range(runs):
        _, estimate = drawn_estimate(kind, rng)
        for row in rows_of(kind, estimate, LEVELS[run % len(LEVELS)], further=run % FURTHER == 0):
            check(row)
            doors[row.door] += 1
    assert set(doors) >= {"answers", "json", "csv", "page"}


@each(
    "wrong",
    [
        Row("csv", "a", 1.1, 0.0, 1.0, 0, 1),
        Row("csv", "a", 0.1, 0.2, 0.9, 0, 1),
        Row("csv", "a", 1.0, 1.0, 1.0, 0, 1),
        Row("csv", "a", 1.0, 0.9, 1.2, 0, 1),
        Row("csv", "a", 0.1, -0.5, 0.2, 0, 1),
    ],
)
def test_the_rule_is_noticed_when_it_is_broken(wrong: Row) -> None:
    with pytest.raises(AssertionError):
        check(wrong)


def test_an_answer_is_moved_into_its_interval_and_keeps_its_raw_one() -> None:
    answer = Answer(label="tea", value=-0.02, raw=-0.02, low=0.0, high=0.04, is_share=True)
    assert (answer.value, answer.raw) == (0.0, -0.02)
    assert Answer(label="tea", value=math.nan, raw=7.0, low=0.0, high=math.inf).to_dict()["value"] is None


def test_a_ratio_whose_denominator_may_be_zero_is_unknown() -> None:
    kind = KINDS["a hundred values"]
    survey = kind.survey
    estimate = survey.estimate(survey.simulate_aggregate([50] * 300, seed=3))
    answer = estimate.ratio(["0"], ["1"])
    assert answer.value_text == "unknown"
    assert UNBOUNDED in answer.method
    assert (answer.low, answer.high, answer.to_dict()["high"]) == (0.0, math.inf, None)
    part = estimate.ratio(["0"], ["0", "1"])
    assert (part.value_text, part.low, part.high) == ("unknown", 0.0, 1.0)
