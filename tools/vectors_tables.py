"""Vectors of records and their tables: inputs, reports drawn from known bytes, and what a device must refuse.

Weights are written by hand: the best ones take floating point, and may differ between machines.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.randomness import ByteSource

__all__ = ["table_vectors"]

Tape = Callable[[str], Any]

COUNTRY = {"name": "country", "domain": {"labels": ["DE", "FR", "Österreich"]}}
PLAN = {"name": "plan", "domain": {"labels": ["free", "pro"]}}
AGE = {"name": "age", "domain": {"start": 18, "step": 1, "size": 41}}
MINUTES = {"name": "minutes", "number": {"low": 0, "high": 600, "unit": "minutes", "points": 3}}
RESPONSE = {"name": "randomized_response"}


def table_vectors(tape: Tape) -> dict[str, Any]:
    """Surveys with reports, and refusals; `tape` makes a recorder of known bytes from a label."""
    return {
        "about": "Surveys answered by tables. `input` is what is randomized for a person's `value`: one integer per "
        "attribute, a value's number or a number's position. `bad_surveys` are refused.",
        "surveys": [_survey(json.dumps(stated), people, tape) for stated, people in _cases()],
        "bad_surveys": [_refused(fault, json.dumps(stated, separators=(",", ":"))) for fault, stated in _bad()],
    }


def _table(attributes: list[int], weight: int, mechanism: dict[str, Any]) -> dict[str, Any]:
    return {"attributes": attributes, "weight": weight, "mechanism": mechanism}


def _stated(question: dict[str, Any], epsilon: float, *tables: dict[str, Any]) -> dict[str, Any]:
    design = {"strategy": "tables", "mechanism": {"name": "tables", "tables": list(tables)}}
    return {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question, "design": design}


def _records(tables: int, *attributes: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "records", "attributes": list(attributes), "tables": tables}


def _cases() -> Iterator[tuple[dict[str, Any], list[Any]]]:
    subset = {"name": "subset_selection", "subset_size": 2}
    space = {"name": "projective_geometry", "order": 4, "dimension": 4}
    yield (
        _stated(
            _records(2, COUNTRY, PLAN, MINUTES),
            1.0,
            _table([0], 3, RESPONSE),
            _table([0, 1], 5, subset),
            _table([0, 2], 7, {"name": "subset_selection", "subset_size": 3}),
            _table([1, 2], 4, RESPONSE),
        ),
        [
            {"country": "DE", "plan": "free", "minutes": 0},
            {"country": "Österreich", "plan": "pro", "minutes": 599.5},
            ["FR", "pro", 1e9],
            ["FR", "free", 123.456],
        ],
    )
    yield (
        _stated(_records(1, AGE, PLAN), 2.0, _table([0], 2, space), _table([1], 1, RESPONSE)),
        [{"age": 18, "plan": "free"}, {"age": 58, "plan": "pro"}, [30, "pro"]],
    )
    yield _stated(_records(1, MINUTES), 0.5, _table([0], 1, RESPONSE)), [[0], [450.25], [-5]]
    plan = {"name": "plan", "domain": {"labels": ["free", "pro"], "missing": "free"}}
    age = {"name": "age", "domain": {"start": 18, "step": 1, "size": 41, "missing": 20}}
    minutes = {"name": "minutes", "number": {"low": 0, "high": 600, "unit": "", "points": 3, "missing": 150.5}}
    yield (
        _stated(_records(1, plan, age, minutes), 1.0, *[_table([place], 1, RESPONSE) for place in range(3)]),
        [{}, {"plan": "pro", "age": 18.0, "minutes": None}, ["free", None, 600]],
    )
    marginals = {"type": "marginals", "k": 2, "domain": {"attributes": [COUNTRY, PLAN]}}
    yield (
        _stated({"kind": "queries", "workload": marginals}, 1.5, _table([1], 1, RESPONSE), _table([0, 1], 6, subset)),
        [{"country": "FR", "plan": "pro"}, ["DE", "free"], {"country": "Österreich", "plan": "pro"}],
    )


def _survey(text: str, people: list[Any], tape: Tape) -> dict[str, Any]:
    survey: Any = sv.Survey.from_json(text)
    runs = 1 if '"missing"' in text else 4
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "report_bytes": survey.mechanism.report_bytes,
        "reports": [_report(survey, value, run, tape) for value in people for run in range(runs)],
    }


def _report(survey: Any, value: Any, run: int, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {value} {run}")
    record = survey.private_input(tuple(value) if isinstance(value, list) else value)
    payload = survey.mechanism.encode(survey.mechanism.randomize(record, ByteSource(recorder)))
    return {"value": value, "input": record.tolist(), "tape": recorder.read.hex(), "payload": payload.hex()}


def _bad() -> Iterator[tuple[str, dict[str, Any]]]:
    good, _ = next(_cases())

    def changed(fault: str, change: Callable[[dict[str, Any]], object]) -> tuple[str, dict[str, Any]]:
        stated = copy.deepcopy(good)
        change(stated)
        return fault, stated

    def table(number: int, **fields: Any) -> Callable[[dict[str, Any]], object]:
        return lambda stated: stated["design"]["mechanism"]["tables"][number].update(fields)

    def tables(*rest: Any) -> Callable[[dict[str, Any]], object]:
        return lambda stated: stated["design"]["mechanism"].update(tables=list(rest))

    def asked(**fields: Any) -> Callable[[dict[str, Any]], object]:
        return lambda stated: stated["question"].update(fields)

    yield changed("a weight of zero", table(0, weight=0))
    yield changed("a weight that is too large", table(0, weight=2**20 + 1))
    yield changed("a table without attributes", table(0, attributes=[]))
    yield changed("attributes not in order", table(1, attributes=[1, 0]))
    yield changed("an attribute twice", table(1, attributes=[0, 0]))
    yield changed("an attribute that is not there", table(0, attributes=[3]))
    yield changed("a mechanism that answers no table", table(0, mechanism={"name": "hadamard"}))
    yield changed("a parameter out of range", table(1, mechanism={"name": "subset_selection", "subset_size": 6}))
    yield changed("another field of a table", table(0, more=1))
    yield changed("the same table twice", tables(*[_table([0, 1], 1, RESPONSE)] * 2))
    yield changed("no table", tables())
    yield changed("a pair that is not asked for", tables(_table([0, 1], 1, RESPONSE)))
    yield changed("tables of more attributes than asked for", asked(tables=1))
    yield changed("tables of too many attributes", asked(tables=4))
    yield changed(
        "an attribute of one value", asked(attributes=[COUNTRY, {**PLAN, "domain": {"labels": ["x"]}}, MINUTES])
    )
    yield changed("two attributes of one name", asked(attributes=[COUNTRY, COUNTRY, MINUTES]))
    yield changed("a field that is neither", asked(attributes=[COUNTRY, {"name": "plan"}, MINUTES]))
    yield changed("a number without a range", asked(attributes=[COUNTRY, PLAN, {"name": "minutes", "number": {}}]))
    yield changed("a name that is no identifier", asked(attributes=[COUNTRY, {**PLAN, "name": "a plan"}, MINUTES]))
    yield changed("no attributes", asked(attributes=[]))
    number = {"name": "minutes", "number": {**MINUTES["number"], "missing": None}}
    yield changed("missing that is null", asked(attributes=[COUNTRY, PLAN, number]))
    plan = {"name": "plan", "domain": {**PLAN["domain"], "missing": "x"}}
    yield changed("missing that is no value", asked(attributes=[COUNTRY, plan, MINUTES]))
    yield changed("a positive delta", lambda stated: stated.update(delta=1e-6))


def _refused(fault: str, text: str) -> dict[str, Any]:
    try:
        sv.Survey.from_json(text)
    except SottovoceError as error:
        return {"fault": fault, "text": text, "error": type(error).__name__}
    raise ValueError(f"{fault} is accepted")
