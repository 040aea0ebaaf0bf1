"""vectors/relations.json: as the library answers, and as a second client answers, in fractions."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.core import errors
from sottovoce.randomness import tape_source
from vectors_relations import BITS_32, STEEP

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


@cache
def read() -> Any:
    return json.loads((VECTORS / "relations.json").read_text("utf-8"))


@pytest.mark.parametrize("case", read()["surveys"], ids=lambda case: case["id"][:8])
def test_reports(case: dict[str, Any]) -> None:
    survey: Any = sv.Survey.from_json(case["canonical"], {case["digest"]: bytes.fromhex(case["attachment"])})
    assert (survey.to_json(), survey.id) == (case["canonical"], case["id"])
    assert survey.mechanism.report_bytes == case["report_bytes"]
    for person in case["people"]:
        record = survey.private_input(person["value"])
        assert record.tolist() == person["input"]
        assert survey.mechanism.features.values(person["input"]) == person["values"]
        assert [value * 2**32 for value in second_products(case, person["input"])] == person["values"]
        for vector in person["reports"]:
            source = tape_source(bytes.fromhex(vector["tape"]))
            payload = survey.mechanism.encode(survey.mechanism.randomize(record, source))
            assert payload.hex() == vector["payload"]
            assert payload == second_client(case, bytes.fromhex(vector["tape"]), person["input"])
            with pytest.raises(EOFError):
                source.below(2)


def second_products(case: dict[str, Any], record: list[int]) -> list[Fraction]:
    """1 + f for features, 2 f^2 for squares, 1 + f g for products of two."""
    question = json.loads(case["canonical"])["question"]
    features: list[tuple[str, bool, Fraction]] = []
    for field, entry in zip([*question["regressors"], question["outcome"]], record, strict=True):
        if "number" in field:
            features.append((field["name"], True, Fraction(entry, 2**15) - 1))
        else:
            values = range(1, len(field["domain"]["labels"]))
            features += [(field["name"], False, Fraction(1 if entry == value else -1)) for value in values]
    pairs = [(a, b) for a, b in combinations_with_replacement(features, 2) if a[0] != b[0] or a[1]]
    return [
        *(1 + f for _, _, f in features),
        *(2 * f[2] ** 2 if f is g else 1 + f[2] * g[2] for f, g in pairs),
    ]


def second_client(case: dict[str, Any], tape: bytes, record: list[int]) -> bytes:
    """The product by its weight, the rounding to a grid point, the row: integers below these, one after the other."""
    weights = json.loads(case["canonical"])["design"]["mechanism"]["weights"]
    rows = STEEP if bytes.fromhex(case["attachment"])[0] == len(STEEP) else BITS_32
    spaces = len(rows[0]) - 1
    source = tape_source(tape)
    drawn, rounding, row = (source.below(n) for n in (sum(weights), 2**33 // spaces, sum(line[0] for line in rows)))
    product = sum(end <= drawn for end in accumulate(weights))
    place = second_products(case, record)[product] / 2 * spaces
    point = int(place) + int(Fraction(rounding, 2**33 // spaces) < place - int(place))
    sent = sum(end <= row for end in accumulate(line[point] for line in rows))
    return (product * len(rows) + sent).to_bytes(case["report_bytes"], "little")


@pytest.mark.parametrize("case", read()["bad_surveys"], ids=lambda case: case["fault"])
def test_bad_surveys_are_refused(case: dict[str, Any]) -> None:
    first = read()["surveys"][0]
    stated = {**json.loads(first["canonical"]), **json.loads(case["changes"])}
    attachment = bytes.fromhex(case.get("attachment", first["attachment"]))
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(json.dumps(stated), {stated["design"]["digest"]: attachment})
