"""Vectors of surveys with public groups, of the surveys of their groups, and of statements that are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SurveyError
from sottovoce.randomness import ByteSource

__all__ = ["group_vectors"]

Tape = Callable[[str], Any]

ARMS = {"arm": ["A", "B"]}
CROSSED = {"Länder": ["DE", "Österreich", "CH"], "platform": ["phone", "web, old"]}

BAD: list[dict[str, Any]] = [
    *({"groups": groups} for groups in (None, {}, [], "arm", [["arm"]], [["arm", "AB"]], [["arm", ["A"]]])),
    *({"groups": [["arm", values]]} for values in ([], ["A", "A"], ["A", ""], ["A", " B"], ["A", 3], ["A", "B\n"])),
    {"groups": [["arm", ["A", "B"]], ["arm", ["x", "y"]]]},
    {"groups": [["arm", ["A", "x" * 61]]]},
    {"groups": [["person", [str(number) for number in range(101)]]]},
    *({"group": number} for number in (0, 3, -1, 1.5, True, "A", None)),
]


def group_vectors(tape: Tape) -> dict[str, Any]:
    """Surveys with groups, every group's survey with a report, and refusals."""
    surveys = [
        (sv.Survey(["tea", "coffee"], epsilon=1.0, groups=ARMS, title="Drinks"), "tea"),
        (sv.Survey(["tea", "coffee"], epsilon=2.0, mechanism="randomized_response", groups=CROSSED), "coffee"),
        # A mechanism with public randomness, which all groups of a survey share.
        (sv.Survey(sv.choices(10, most=3), epsilon=1.0, mechanism="wheel", groups=ARMS), [1, 7]),
        (sv.Survey(sv.words(6, "latin"), epsilon=4.0, people=1000, groups=ARMS), "tea"),
    ]
    weekly = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=4, groups=ARMS)
    stated = json.loads(surveys[0][0].in_group("A").to_json())
    lone = {name: entry for name, entry in stated.items() if name != "groups"}
    panel = sv.Panel(range(10), rounds=4, epsilon=1.0)
    seated = json.loads(sv.adaptive.round_of(panel, 2, "value < 5").to_json())
    return {
        "about": "Surveys whose statement has `groups`, and the surveys of their groups in order: the same statement "
        "with the number of the group. Public randomness is that of the statement without it. `period` is one group of "
        "the second period of a tracking survey. Statements in `bad` must be refused.",
        "surveys": [_survey(survey, value, tape) for survey, value in surveys],
        "tracking": {
            "canonical": weekly.to_json(),
            "id": weekly.id,
            "period": _member(weekly.period(2).in_group("B"), "yes", tape),
        },
        "bad": [
            *(_refused(stated | change) for change in BAD),
            _refused(lone),
            _refused(json.loads(weekly.to_json()) | {"group": 1}),
            _refused(stated | {"groups": [[str(number), ["A", "B"]] for number in range(70)]}),
            _refused(seated | {"groups": stated["groups"]}),
        ],
    }


def _survey(survey: sv.Survey, value: Any, tape: Tape) -> dict[str, Any]:
    assert survey.groups is not None
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "groups": [_member(survey.in_group(group), value, tape) for group in survey.groups],
    }


def _member(survey: sv.Survey, value: Any, tape: Tape) -> dict[str, Any]:
    recorder, group = tape(f"sottovoce {survey.id}"), survey.group
    assert group is not None
    report = survey.mechanism.randomize(survey.private_input(value), ByteSource(recorder))
    return {
        "number": group.number,
        "values": group.values,
        "label": group.label,
        "canonical": survey.to_json(),
        "id": survey.id,
        "value": value,
        "tape": recorder.read.hex(),
        "report": (survey.tag + survey.mechanism.encode(report)).hex(),
    }


def _refused(statement: dict[str, Any]) -> str:
    text = json.dumps(statement, separators=(",", ":"), ensure_ascii=False)
    try:
        sv.Survey.from_json(text)
    except SurveyError:
        return text
    raise ValueError(f"{text} is accepted")
