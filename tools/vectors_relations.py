"""Vectors of relations: inputs, products of features, reports drawn from known bytes, and what a device must refuse.

Weights and channels are written by hand: the best ones take floating point, and may differ between machines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.randomness import ByteSource
from vectors_strategies import channel_content, channel_digest, pack_channel

__all__ = ["relation_vectors"]

Tape = Callable[[str], Any]
Rows = list[list[int]]

STEEP: Rows = [[92, 76, 60, 48, 36], [36, 48, 60, 76, 92], [128, 132, 136, 132, 128]]
"""Chances of three reports for the five grid points of a product, out of 256, within a factor of e."""

ESTIMATES = [-2.25, 2.25, 0.0]

BITS_32: Rows = [[3 * 2**30, 2**30], [2**30, 3 * 2**30]]
"""Two reports for the two ends of a product, out of 2^32, within a factor of 3."""

PLAN = {"name": "plan", "domain": {"labels": ["free", "pro", "Österreich"]}}
BOUGHT = {"name": "bought", "domain": {"labels": ["no", "yes"]}}


def _number(name: str, low: float, high: float, unit: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "number": {"low": low, "high": high, "unit": unit, "points": 2, **more}}


AGE = _number("age", 18, 90)
MINUTES = _number("minutes", 0, 600, "minutes")


def relation_vectors(tape: Tape) -> dict[str, Any]:
    """Surveys with reports, and refusals; `tape` makes a recorder of known bytes from a label."""
    return {
        "about": "Surveys of how things are related. `input` is what is randomized for a person's `value`: one integer "
        "per field, a value's number or a number's position; `values` are its products, one of which is drawn. "
        "`bad_surveys` are refused: each is the first survey with some of its fields changed, and with its attachment "
        "unless another is given.",
        "surveys": [_survey(*case, tape) for case in _cases()],
        "bad_surveys": [_refused(*case) for case in _bad()],
    }


def _stated(
    epsilon: float, weights: list[int], rows: Rows, estimates: list[float], *fields: dict[str, Any]
) -> dict[str, Any]:
    """The survey of these fields, the last of them the outcome."""
    bits = sum(row[0] for row in rows).bit_length() - 1
    design = {
        "strategy": "products",
        "digest": channel_digest(channel_content(rows, bits), estimates),
        "mechanism": {"name": "products", "weights": weights},
    }
    question = {"kind": "relation", "regressors": list(fields[:-1]), "outcome": fields[-1]}
    return {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question, "design": design}


def _cases() -> Iterator[tuple[dict[str, Any], bytes, list[Any]]]:
    steep = pack_channel(STEEP, 8, ESTIMATES)
    ends = pack_channel(BITS_32, 32, [-2.0, 2.0])
    yield (
        _stated(1, [3, 1, 7, 2, 5], STEEP, ESTIMATES, AGE, MINUTES),
        steep,
        [
            {"age": 18, "minutes": 0},
            {"age": 90, "minutes": 599.5},
            [54, 1e9],
            [-3.25, 123.456],
            {"minutes": 450.25, "age": 33},
        ],
    )
    yield (
        _stated(1.5, [2, 1, 0, 4, 1, 3, 2, 5, 1, 1, 6], STEEP, ESTIMATES, AGE, PLAN, MINUTES),
        steep,
        [{"age": 40, "plan": "pro", "minutes": 90}, [77.7, "free", 600], [18, "Österreich", -1]],
    )
    yield (
        _stated(1.2, [2**20, 1, 2**19], BITS_32, [-2.0, 2.0], {**BOUGHT, "name": "member"}, BOUGHT),
        ends,
        [{"member": "no", "bought": "yes"}, ["yes", "yes"]],
    )
    yield (
        _stated(1.2, [1, 2, 3, 4], BITS_32, [-2.0, 2.0], _number("x", -3, 3, missing=0.5), {**BOUGHT}),
        ends,
        [{"x": 1.0, "bought": "no"}, {"bought": "yes"}, [None, "no"], [2.999, "yes"]],
    )


def _survey(stated: dict[str, Any], attachment: bytes, people: list[Any], tape: Tape) -> dict[str, Any]:
    survey: Any = sv.Survey.from_json(json.dumps(stated), {stated["design"]["digest"]: attachment})
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "digest": survey.design.digest,
        "attachment": attachment.hex(),
        "report_bytes": survey.mechanism.report_bytes,
        "people": [_person(survey, value, tape) for value in people],
    }


def _person(survey: Any, value: Any, tape: Tape) -> dict[str, Any]:
    record = survey.private_input(tuple(value) if isinstance(value, list) else value)
    return {
        "value": value,
        "input": record.tolist(),
        "values": survey.mechanism.features.values(record.tolist()),
        "reports": [_report(survey, record, f"{value} {run}", tape) for run in range(3)],
    }


def _report(survey: Any, record: Any, label: str, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {label}")
    payload = survey.mechanism.encode(survey.mechanism.randomize(record, ByteSource(recorder)))
    return {"tape": recorder.read.hex(), "payload": payload.hex()}


def _bad() -> Iterator[tuple[str, dict[str, Any], bytes | None]]:
    """(fault, what is stated instead, another attachment): of the first survey."""
    good, _, _ = next(_cases())

    def asked(fault: str, **fields: Any) -> tuple[str, dict[str, Any], None]:
        return fault, {"question": {**good["question"], **fields}}, None

    def designed(fault: str, **fields: Any) -> tuple[str, dict[str, Any], None]:
        return fault, {"design": {**good["design"], **fields}}, None

    def weighted(fault: str, weights: Any, **more: Any) -> tuple[str, dict[str, Any], None]:
        return designed(fault, mechanism={"name": "products", "weights": weights, **more})

    def attached(fault: str, rows: Rows, estimates: list[float]) -> tuple[str, dict[str, Any], bytes]:
        digest = channel_digest(channel_content(rows, 8), estimates)
        return fault, {"design": {**good["design"], "digest": digest}}, pack_channel(rows, 8, estimates)

    many = {"name": "town", "domain": {"labels": [str(i) for i in range(32)]}}
    yield weighted("a weight too few", [3, 1, 7, 2])
    yield weighted("a weight too many", [3, 1, 7, 2, 5, 1])
    yield weighted("a negative weight", [3, 1, 7, 2, -5])
    yield weighted("a weight that is too large", [3, 1, 7, 2, 2**20 + 1])
    yield weighted("a weight that is no integer", [3, 1, 7, 2, 0.5])
    yield weighted("weights of zero only", [0] * 5)
    yield weighted("weights that are no list", 3)
    yield weighted("another parameter", [3, 1, 7, 2, 5], scale=65536)
    yield designed("another mechanism", mechanism={"name": "tables", "tables": []})
    yield designed("another strategy", strategy="minimax")
    yield "a positive delta", {"delta": 0.5}, None
    yield "an epsilon below the channel's", {"epsilon": 0.9}, None
    yield asked("no regressor", regressors=[])
    yield asked("regressors that are no list", regressors=AGE)
    yield asked("the outcome among the regressors", regressors=[AGE, MINUTES])
    yield asked("two regressors of one name", regressors=[AGE, AGE])
    yield asked("a field too many", tables=2)
    yield asked("an outcome of three values", outcome=PLAN)
    yield asked("outcomes in a list", outcome=[MINUTES])
    yield asked("a regressor of one value", regressors=[{"name": "plan", "domain": {"labels": ["free"]}}])
    yield asked("a range of integers", regressors=[{"name": "age", "domain": {"start": 18, "step": 1, "size": 12}}])
    yield asked("records as a regressor", regressors=[{"name": "both", "domain": {"attributes": [PLAN, BOUGHT]}}])
    yield asked("a number of three grid points", regressors=[{"name": "age", "number": {**AGE["number"], "points": 3}}])
    yield asked("more than 32 features", regressors=[many, AGE])
    yield asked("a name that is no identifier", outcome={**MINUTES, "name": "the minutes"})
    yield attached("grid points that do not divide the range", [row[:4] for row in STEEP], ESTIMATES)
    yield attached("estimates of another number", STEEP, ESTIMATES[:2])
    yield attached("an estimate that is no number", STEEP, [float("nan"), *ESTIMATES[1:]])
    yield attached("an estimate too large", STEEP, [1e10, *ESTIMATES[1:]])
    yield attached("a column that does not add up", [[93, *STEEP[0][1:]], *STEEP[1:]], ESTIMATES)


def _refused(fault: str, changes: dict[str, Any], attachment: bytes | None) -> dict[str, str]:
    good, usual, _ = next(_cases())
    stated = {**good, **changes}
    own = {} if attachment is None else {"attachment": attachment.hex()}
    try:
        sv.Survey.from_json(json.dumps(stated), {stated["design"]["digest"]: attachment or usual})
    except SottovoceError as error:
        return {
            "fault": fault,
            "changes": json.dumps(changes, separators=(",", ":")),
            **own,
            "error": type(error).__name__,
        }
    raise ValueError(f"{fault} is accepted")
