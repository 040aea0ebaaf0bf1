"""Vectors of sets of options: inputs, thresholds, reports drawn from known bytes, and what a device must refuse."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.randomness import ByteSource

__all__ = ["set_vectors"]

Tape = Callable[[str], Any]

TRAVEL = ["bus", "tram", "bike", "Fähre", "car"]


def set_vectors(tape: Tape) -> dict[str, Any]:
    """Surveys with reports, and refusals; `tape` makes a recorder of known bytes from a label."""
    return {
        "about": "Surveys of choices. `input` is what is randomized for a person's `value`: the numbers of the options "
        "in increasing order, then dummies, the numbers from that of the options on. `thresholds` are out of 2**64. "
        "`bins` are those of the first options under the first seeds of the wheel. `bad_surveys` are refused.",
        "surveys": [_survey(json.dumps(stated), people, tape) for stated, people in _cases()],
        "bad_surveys": [_refused(fault, json.dumps(stated, separators=(",", ":"))) for fault, stated in _bad()],
    }


def _stated(domain: dict[str, Any], most: int, epsilon: float, **mechanism: Any) -> dict[str, Any]:
    question = {"kind": "choices", "domain": domain, "most": most}
    design = {"strategy": "sets", "mechanism": mechanism}
    return {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question, "design": design}


def _cases() -> Iterator[tuple[dict[str, Any], list[list[Any] | None]]]:
    few, many = {"labels": TRAVEL}, {"start": 10, "step": 1, "size": 1000}
    short: list[list[Any] | None] = [[], ["bike"], ["car", "bus"], ["Fähre", "tram", "bike"], [TRAVEL[0], TRAVEL[4]]]
    long: list[list[Any] | None] = [[], [10], [1009, 10], [500, 499, 498, 12, 1008], [10, 11, 12, 13, 14]]
    yield _stated(few, 3, 1.0, name="set_selection", subset_size=2), short
    yield _stated(few, 5, 2.0, name="set_selection", subset_size=1), [*short, TRAVEL]
    yield _stated(many, 5, 4.0, name="set_selection", subset_size=4), long
    yield _stated(many, 5, 0.5, name="set_selection", subset_size=60), long[:4:3]
    yield _stated(few, 3, 1.0, name="wheel", bins=4, seeds=3), short
    yield _stated(many, 5, 1.0, name="wheel", bins=24, seeds=30_000), long
    yield _stated(many, 5, 8.0, name="wheel", bins=2**20, seeds=2**32), long
    yield _stated(few, 5, 1.0, name="one_option"), [*short, TRAVEL]
    yield _stated(many, 5, 3.0, name="one_option"), long
    yield _stated({**few, "missing": "car"}, 3, 1.0, name="set_selection", subset_size=2), [None, ["car"], [None], []]
    yield _stated({**many, "missing": 12}, 5, 1.0, name="one_option"), [None, [12, 13]]


def _survey(text: str, people: list[list[Any] | None], tape: Tape) -> dict[str, Any]:
    survey: Any = sv.Survey.from_json(text)
    m = survey.mechanism
    found = {"canonical": survey.to_json(), "id": survey.id, "report_bytes": m.report_bytes}
    if isinstance(m, SetSelection):
        found["thresholds"] = [str(threshold) for threshold in m.thresholds]
    if isinstance(m, Wheel):
        found["bins"] = [[int(m.bins_of([option], seed)[0]) for option in range(5)] for seed in range(min(3, m.seeds))]
    return found | {"reports": [_report(survey, value, tape) for value in people]}


def _report(survey: Any, value: list[Any] | None, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {value}")
    row = survey.private_input(value)
    payload = survey.mechanism.encode(survey.mechanism.randomize(row, ByteSource(recorder)))
    return {"value": value, "input": row.tolist(), "tape": recorder.read.hex(), "payload": payload.hex()}


def _bad() -> Iterator[tuple[str, dict[str, Any]]]:
    cases = [stated for stated, _ in _cases()]
    selection, wheel, single = cases[0], cases[4], cases[7]

    def changed(fault: str, good: dict[str, Any], part: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        stated = copy.deepcopy(good)
        place = {"question": stated["question"], "mechanism": stated["design"]["mechanism"], "survey": stated}[part]
        place.update(fields)
        return fault, stated

    yield changed("no options to tick", selection, "question", most=0)
    yield changed("more ticks than options", single, "question", most=6)
    yield changed("a number of ticks that is no integer", single, "question", most=2.5)
    yield changed("a single option", single, "question", domain={"labels": ["bus"]}, most=1)
    yield changed("an option twice", single, "question", domain={"labels": ["bus", "bus"]})
    yield changed("records as options", single, "question", domain={"attributes": []})
    yield changed("texts as options", single, "question", domain={"alphabet": "ab", "length": 3})
    yield changed("missing that is no option", single, "question", domain={"labels": TRAVEL, "missing": "boat"})
    yield changed("another field of the question", single, "question", more=1)
    yield changed("an empty subset", selection, "mechanism", subset_size=0)
    yield changed("a subset of more than all options", selection, "mechanism", subset_size=6)
    yield changed("a parameter too many", single, "mechanism", subset_size=1)
    yield changed("a mechanism for values", single, "mechanism", name="hadamard")
    yield changed("as many bins as ticks", wheel, "mechanism", bins=3)
    yield changed("too many bins", wheel, "mechanism", bins=2**20 + 1)
    yield changed("no seed", wheel, "mechanism", seeds=0)
    yield changed("too many seeds", wheel, "mechanism", seeds=2**32 + 1)
    yield changed("a positive delta", single, "survey", delta=1e-6)
    yield changed("another strategy", single, "survey", design={"strategy": "direct", "mechanism": {"name": "binary"}})
    wide = {"start": 0, "step": 1, "size": 2**17}
    yield "sets that are too large", _stated(wide, 257, 1.0, name="set_selection", subset_size=1)


def _refused(fault: str, text: str) -> dict[str, Any]:
    try:
        sv.Survey.from_json(text)
    except SottovoceError as error:
        return {"fault": fault, "text": text, "error": type(error).__name__}
    raise ValueError(f"{fault} is accepted")
