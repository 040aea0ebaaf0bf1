"""vectors/words.json: as the library answers, and as a second client answers, in plain integers."""

from __future__ import annotations

import json
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import errors
from sottovoce.domain.words.code import spelt
from sottovoce.domain.words.codes import code_from_statement
from sottovoce.randomness import tape_source
from sottovoce.randomness.philox import key_of, philox4x32

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


@cache
def read() -> Any:
    return json.loads((VECTORS / "words.json").read_text("utf-8"))


def text_of(points: str | None) -> str | None:
    return None if points is None else "".join(chr(int(point, 16)) for point in points.split())


def test_spellings() -> None:
    for case in read()["spelling"]:
        for rule in ("lower", "keep"):
            assert spelt(text_of(case["text"]) or "", rule) == text_of(case[rule]), case


def test_codes() -> None:
    for case in read()["codes"]:
        code = code_from_statement(case["code"])
        assert code.to_statement() == case["code"]
        assert (code.bits, code.unit_bits, code.row_bytes) == (case["bits"], case["unit_bits"], case["row_bytes"])
        for one in case["values"]:
            row = code.row(code.typed(one["typed"])).tobytes()
            value = code.value(int.from_bytes(row, "big") >> 8 * len(row) - code.bits)
            assert row.hex() == one["row"], one
            assert (one["shown"] is None) == (not any(row)) == (not code.admits(code.typed(one["typed"])))
            assert value is None if one["shown"] is None else code.shown(value) == one["shown"]


@pytest.mark.parametrize("case", read()["surveys"], ids=lambda case: case["id"][:8])
def test_reports(case: dict[str, Any]) -> None:
    survey: Any = sv.Survey.from_json(case["canonical"])
    m, code = survey.mechanism, survey.question.code
    assert (survey.to_json(), survey.id, m.report_bytes) == (case["canonical"], case["id"], case["report_bytes"])
    first = code.row(code.typed(case["reports"][0]["typed"]))
    assert [bucket(case, first.tobytes(), row) for row in range(len(case["buckets"]))] == case["buckets"]
    for one in case["reports"]:
        row = survey.private_input(code.typed(one["typed"]))
        assert bucket(case, row.tobytes(), one["drawn"]) == one["bucket"]
        source = tape_source(bytes.fromhex(one["tape"]))
        report = m.randomize(row, source)
        assert (report // m.buckets, m.encode(report).hex()) == (one["drawn"], one["payload"])
        with pytest.raises(EOFError):
            source.below(2)


def bucket(case: dict[str, Any], code: bytes, row: int) -> int:
    """A row's bucket of a code, written from the page: words of Philox, and the points of a projective space."""
    stated = json.loads(case["canonical"])["design"]["mechanism"]
    points = sum(stated["order"] ** place for place in range(stated["dimension"]))
    end = next(e for e, last in zip(stated["ends"], accumulate(stated["rows"]), strict=True) if row < last)
    hashed = 0
    for place in range(end):
        if code[place // 8] >> 7 - place % 8 & 1:
            counter = np.array([[place // 4, 0, row, 4]], dtype=np.uint32)
            hashed ^= int(philox4x32(key_of(bytes.fromhex(case["id"])), counter)[0][place % 4])
    return int(hashed * points >> 32)


@pytest.mark.parametrize("case", read()["bad_surveys"], ids=lambda case: case["fault"])
def test_refusals(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(case["text"])
