"""vectors/adaptive.json: as the library answers, and the parts a second client derives."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.randomness import tape_source

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


@cache
def read(name: str) -> Any:
    return json.loads((VECTORS / name).read_text("utf-8"))


def rounds() -> list[Any]:
    return [pytest.param(case, id=case["id"][:12]) for case in read("adaptive.json")["rounds"]]


@pytest.mark.parametrize("case", [*read("adaptive.json")["surveys"], *read("adaptive.json")["rounds"]])
def test_the_library_derives_the_same(case: dict[str, Any]) -> None:
    survey = sv.Survey.from_json(json.dumps(case["survey"]))
    assert (survey.to_json(), survey.id) == (case["canonical"], case["id"])
    assert hashlib.sha256(case["canonical"].encode()).hexdigest() == case["id"]


@pytest.mark.parametrize("case", rounds())
def test_the_library_sends_the_same_reports(case: dict[str, Any]) -> None:
    asked: Any = sv.Survey.from_json(case["canonical"])
    for report in case["reports"]:
        columns = {name: np.array([int(digits)]) for name, digits in report["positions"].items()}
        given = asked.design.inputs(asked.seat.inputs(asked.question, columns))[0]
        expected = report["input"]
        assert (float(given[0]) == float.fromhex(expected)) if isinstance(expected, str) else (int(given) == expected)
        drawn = asked.mechanism.randomize(
            given if isinstance(expected, str) else int(given), tape_source(bytes.fromhex(report["tape"]))
        )
        assert (asked.tag + asked.mechanism.encode(drawn)).hex() == report["report"]
        assert asked.aggregate().add([bytes.fromhex(report["report"])]).n_reports == 1


def test_a_second_client_finds_the_same_chances() -> None:
    """floor(2^64 e^eps/(1+e^eps)) - 2^63 with 80 digits; the share of the radius in steps of 2^-53, toward 0."""
    for case in read("adaptive.json")["thresholds"]:
        with localcontext() as context:
            context.prec = 80
            power = Decimal(case["epsilon"]).exp()
            amplitude = int(2**64 * power / (1 + power)) - 2**63
        assert amplitude == int(case["amplitude"])
        for number, chance in case["chances"]:
            steps = int(float.fromhex(number) / case["radius"] * 2.0**53)
            moved = amplitude * min(abs(steps), 2**53) // 2**53
            assert int(chance) == 2**63 + (moved if steps > 0 else -moved)


def test_bits_are_compared_with_the_chance() -> None:
    for case in read("adaptive.json")["rounds"]:
        if case["survey"]["question"]["kind"] == "vector":
            mechanism: Any = sv.Survey.from_json(case["canonical"]).mechanism  # type: ignore[union-attr]
            for report in case["reports"]:
                word = int.from_bytes(bytes.fromhex(report["tape"]), "little")
                bit = word < mechanism.threshold(float.fromhex(report["input"]))
                assert report["report"] == case["tag"] + f"{int(bit):02x}"
