"""The table of values that are refused because of what they are, in the threat model: exactly what devices do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest

import sottovoce as sv
from document import ROOT
from sottovoce.device.drawing import _chosen
from sottovoce.domain import Domain
from sottovoce.questions.base import Question
from sottovoce.questions.registry import QUESTIONS

PAGE: Final = ROOT / "docs" / "threat-model.md"
NONE: Final = "–"

COLUMNS: Final = (
    "not listed",
    "beyond the ends",
    "infinite",
    "NaN",
    "None",
    "of another type",
    "too many parts",
    "too few parts",
    "a part twice",
)


@dataclass(frozen=True)
class Hostile:
    """A kind of question, the same with a policy for missing values, and a value for every column that it can have."""

    name: str
    question: Question
    policy: Question | None
    values: dict[str, Any]

    def cell(self, column: str) -> str:
        if column not in self.values:
            return NONE
        if self.question.admits(self.values[column]) or self.question.kind == "words":
            self.question.private_input(self.values[column])
            return "answered"
        by_policy = self.policy is not None and self.policy.admits(self.values[column])
        return "by policy" if by_policy else "refused"

    def row(self) -> str:
        return "| " + " | ".join([self.name, *map(self.cell, COLUMNS)]) + " |"


MISSING = {"NaN": math.nan, "None": None}
FORM = {"age": range(9), "plan": ["free", "pro"]}
GAPS = {
    "age": sv.shares(range(9), missing="as 0"),
    "plan": sv.shares(["free", "pro"], missing="as free"),
}
RECORD: dict[str, Any] = {"age": 3, "plan": "pro"}
NO_RECORDS = {
    "not listed": {**RECORD, "plan": "gold"},
    "infinite": {**RECORD, "age": math.inf},
    "NaN": {**RECORD, "age": math.nan},
    "None": {**RECORD, "age": None},
    "of another type": {**RECORD, "age": "3"},
    "too many parts": {**RECORD, "more": 1},
    "too few parts": {"plan": "pro"},
}

HOSTILE = [
    Hostile(
        "`shares`, labels",
        sv.shares(["tea", "coffee"]),
        sv.shares(["tea", "coffee"], missing="as tea"),
        {"not listed": "wine", **MISSING, "of another type": 0},
    ),
    Hostile(
        "`shares`, integers",
        sv.shares(range(9)),
        sv.shares(range(9), missing="as 0"),
        {"not listed": 2.5, "beyond the ends": 9, "infinite": math.inf, **MISSING, "of another type": "3"},
    ),
    Hostile("`shares`, fields crossed", sv.shares(FORM), sv.shares(GAPS), NO_RECORDS),
    Hostile(
        "`number`",
        sv.number(0, 9),
        sv.number(0, 9, missing="as 0"),
        {"beyond the ends": 1e300, "infinite": math.inf, **MISSING, "of another type": "3"},
    ),
    Hostile(
        "`choices`",
        sv.choices(["tea", "coffee", "water"], most=2),
        sv.choices(["tea", "coffee", "water"], most=2, missing="as tea"),
        {
            "not listed": ["wine"],
            **MISSING,
            "of another type": "tea",
            "too many parts": ["tea", "coffee", "water"],
            "too few parts": [],
            "a part twice": ["tea", "tea"],
        },
    ),
    Hostile(
        "`records`",
        sv.records({**FORM, "hours": sv.number(0, 9)}),
        sv.records({**GAPS, "hours": sv.number(0, 9, missing="as 0")}),
        {name: {"hours": 1, **value} for name, value in NO_RECORDS.items()}
        | {"beyond the ends": {**RECORD, "hours": 1e300}, "infinite": {**RECORD, "hours": math.inf}},
    ),
    Hostile(
        "`relation`",
        sv.relation(FORM, outcome={"hours": sv.number(0, 9)}),
        sv.relation(GAPS, outcome={"hours": sv.number(0, 9, missing="as 0")}),
        {name: {"hours": 1, **value} for name, value in NO_RECORDS.items()}
        | {"beyond the ends": {**RECORD, "hours": 1e300}, "infinite": {**RECORD, "hours": math.inf}},
    ),
    Hostile(
        "`vector`",
        sv.vector(2),
        None,
        {
            "beyond the ends": [1e300, 0],
            "infinite": [math.inf, 0],
            "NaN": [math.nan, 0],
            "None": None,
            "of another type": ["1", 0],
            "too many parts": [1, 2, 3],
            "too few parts": [1],
        },
    ),
    Hostile(
        "`queries`",
        sv.queries(sv.workloads.Prefix(9)),
        sv.queries(sv.workloads.Prefix(Domain.of(range(9)).with_missing("as 0"))),
        {"not listed": 2.5, "beyond the ends": 9, "infinite": math.inf, **MISSING, "of another type": "3"},
    ),
    Hostile(
        "`words`",
        sv.words(8, "latin"),
        None,
        {"not listed": "日本", "infinite": math.inf, **MISSING, "of another type": 3, "too many parts": "x" * 99}
        | {"too few parts": ""},
    ),
]


def test_every_kind_has_its_row() -> None:
    assert {hostile.question.kind for hostile in HOSTILE} == set(QUESTIONS)


def test_the_table_is_what_devices_do() -> None:
    head = "| kind of question | " + " | ".join(COLUMNS) + " |"
    expected = [head, "|" + "---|" * (len(COLUMNS) + 1), *[hostile.row() for hostile in HOSTILE]]
    found = PAGE.read_text(encoding="utf-8").partition(head)
    assert found[1], f"the page has no table with this head:\n{head}"
    assert "\n".join(expected) in "".join(found[1:]), "\n".join(expected)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_with_a_replacement_nothing_is_refused(hostile: Hostile) -> None:
    """`otherwise` of a device: no cell is "refused" any more."""
    survey = sv.Survey(hostile.question, epsilon=1.0)
    trials = hostile.question.audit_trials()
    assert trials is not None
    plain = trials.random(np.random.default_rng(7)).value
    for value in hostile.values.values():
        survey.private_input(_chosen(survey, value, plain))
