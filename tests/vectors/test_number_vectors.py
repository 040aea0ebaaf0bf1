"""vectors/numbers.json: as the library answers, and as a second client answers, in plain integers and fractions."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.core import errors
from sottovoce.domain import NumberGrid
from sottovoce.questions import Number
from sottovoce.randomness import tape_source

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
STEPS = 65536
CHANNEL = [[44, 18, 18, 20], [20, 44, 18, 18], [18, 20, 44, 18], [18, 18, 20, 44], [28, 28, 28, 28]]


@cache
def read() -> Any:
    return json.loads((VECTORS / "numbers.json").read_text("utf-8"))


@pytest.mark.parametrize("case", read()["grids"], ids=lambda case: str(case["number"]["low"]))
def test_positions_and_bins(case: dict[str, Any]) -> None:
    grid = NumberGrid.from_statement(case["number"])
    low, high, points = case["number"]["low"], case["number"]["high"], case["number"]["points"]
    for vector in case["positions"]:
        x = float.fromhex(vector["value"])
        assert grid.position(x) == grid.positions_of([x])[0] == vector["position"]
        assert Number(grid, "distribution").private_input(x) == vector["bin"]
        clipped = min(max(x, low), high)
        assert math.floor((clipped - low) / (high - low) * ((points - 1) * STEPS) + 0.5) == vector["position"]
        ends = [low + (high - low) * bin_ / points for bin_ in range(1, points)]
        assert sum(clipped > end for end in ends) == vector["bin"]


@pytest.mark.parametrize("case", read()["surveys"], ids=lambda case: case["wants"])
def test_reports(case: dict[str, Any]) -> None:
    attachments = {case["digest"]: bytes.fromhex(case["attachment"])} if case["digest"] else {}
    survey = sv.Survey.from_json(case["canonical"], attachments)
    assert (survey.to_json(), survey.id, survey.tag.hex()) == (case["canonical"], case["id"], case["tag"])
    assert survey.mechanism.report_bytes == case["report_bytes"]
    for vector in case["reports"]:
        given = survey.private_input(vector["value"] and float.fromhex(vector["value"]))
        assert given == vector["input"]
        source = tape_source(bytes.fromhex(vector["tape"]))
        payload = survey.mechanism.encode(survey.mechanism.randomize(given, source))
        assert (survey.tag + payload).hex() == vector["report"]
        with pytest.raises(EOFError):
            source.below(2)
        if case["wants"] != "distribution":
            assert payload == second_client(bytes.fromhex(vector["tape"]), vector["input"])


def second_client(tape: bytes, position: int) -> bytes:
    """Two bytes round the position, one byte draws from the column: its lowest seven bits."""
    assert len(tape) == 3
    rounding, drawn = int.from_bytes(tape[:2], "little"), tape[2] % 128
    point = position // STEPS + (1 if rounding < position % STEPS else 0)
    sums = [sum(row[point] for row in CHANNEL[: k + 1]) for k in range(5)]
    return bytes([sum(total <= drawn for total in sums)])


@pytest.mark.parametrize("case", read()["bad_surveys"], ids=lambda case: case["fault"])
def test_bad_surveys_are_refused(case: dict[str, Any]) -> None:
    digest = json.loads(case["survey"])["design"]["digest"]
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(case["survey"], {digest: bytes.fromhex(case["attachment"])})
