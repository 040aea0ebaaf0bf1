"""vectors/sets.json: as the library answers, and as a second client answers, in plain integers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.core import errors
from sottovoce.randomness import tape_source
from sottovoce.randomness.thresholds import exp_bounds

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


@cache
def read() -> Any:
    return json.loads((VECTORS / "sets.json").read_text("utf-8"))


def named(case: dict[str, Any]) -> str:
    stated = json.loads(case["canonical"])
    return f"{stated['design']['mechanism']['name']}-{stated['question']['most']}-{stated['epsilon']}"


@pytest.mark.parametrize("case", read()["surveys"], ids=named)
def test_reports(case: dict[str, Any]) -> None:
    survey: Any = sv.Survey.from_json(case["canonical"])
    m, stated = survey.mechanism, json.loads(case["canonical"])
    assert (survey.to_json(), survey.id, m.report_bytes) == (case["canonical"], case["id"], case["report_bytes"])
    own = stated["design"]["mechanism"]
    if "thresholds" in case:
        assert case["thresholds"] == [str(t) for t in coins(m.options, m.most, own["subset_size"], stated["epsilon"])]
    if "bins" in case:
        assert case["bins"] == [m.bins_of(range(5), seed).tolist() for seed in range(len(case["bins"]))]
    for vector in case["reports"]:
        row = survey.private_input(vector["value"])
        assert row.tolist() == vector["input"] == survey.people([vector["value"]]).between(0, 1)[0].tolist()
        source = tape_source(bytes.fromhex(vector["tape"]))
        assert m.encode(m.randomize(row, source)).hex() == vector["payload"]
        with pytest.raises(EOFError):
            source.below(2)


def coins(options: int, most: int, size: int, epsilon: float) -> list[int]:
    """Chances that a member is the first in the subset, in integers and from the last member backwards."""
    low, high = exp_bounds(epsilon, 60)
    found = []
    for e in (low, high):
        over = under = 1
        some = []
        for numbers in range(options + 1, options + most + 1):
            over, under = over * (numbers - size), under * numbers
            n, d = e.numerator, e.denominator
            some.append((size * n * under << 64) // (numbers * (n * (under - over) + d * over)))
        found.append(some[::-1])
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("case", read()["bad_surveys"], ids=lambda case: case["fault"])
def test_refusals(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(case["text"])
