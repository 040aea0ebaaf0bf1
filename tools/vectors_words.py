"""Vectors of words nobody listed: spellings, codes, hashes, reports drawn from known bytes, and surveys to refuse."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.domain.words.code import spelt
from sottovoce.domain.words.codes import ALPHABETS, WordCode, code_from_statement
from sottovoce.randomness import ByteSource

__all__ = ["word_vectors"]

Tape = Callable[[str], Any]

SPELLINGS = [
    *("Covid", "  Guten   Tag\t", "", " \n ", "it's", "ÀÉ", "cafe\u0301", "e\u0323\u0302", "\u1e0b\u0323"),
    *(
        "\u212b",
        "\u2126",
        "I\u0307",
        "\u0130",
        "\u0130\u0323",
        "H\u0331",
        "J\u030c",
        "ΟΔΟΣ",
        "ΣΑΣ",
        "ß",
        "\u1e9e",
        "ﬁ",
        "Ǆ",
        "Ⅻ",
        "Ⓐ",
    ),
    *("a\xa0b", "\u2003a\u3000\u2028b\ufeff", "a \u0301", "\u0301a", "a\u200bb", "a\u200db", "a\u200cb", "\xada"),
    *("שלום", "\u200fשלום", "مرحبا", "\u061ca", "a\u202eb", "a\u2066b\u2069", "日本", "\uac00", "\u1100\u1161\u11a8"),
    *("👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "\U00010400", "\U0001e900", "\U0001d400", "\ufb1d", "\u0958", "\u2adc"),
    *("\x00", "a\x00b", "a\x1fb", "\x7f", "a\x85b", "\x9f", "\ud83d", "a\udc00", "\ufffd", "\uffff", "\ue000"),
]
"""Texts of characters that Unicode 14 and all later versions know."""

LETTERS = {"code": "letters", "alphabet": "abc", "longest": 4, "case": "lower"}
LATIN = {"code": "letters", "alphabet": ALPHABETS["latin"], "longest": 12, "case": "lower"}
SIGNS = {"code": "letters", "alphabet": "👍👎Aaé -", "longest": 3, "case": "keep"}
ANY = {"code": "unicode", "longest": 16, "case": "lower"}
KEPT = {"code": "unicode", "longest": 2, "case": "keep"}
BYTES = {"code": "bytes", "longest": 3}
FEW = {"code": "integers", "below": 10}
MANY = {"code": "integers", "below": str(2**60)}
ALL = {"code": "integers", "below": str(2**64)}

TYPED: list[tuple[dict[str, Any], list[str]]] = [
    (LETTERS, ["a", "C", "cab", "cccc", "abcab", "abd", "", " b "]),
    (LATIN, ["It's", "new  york", "-", "abcdefghijkl", "abcdefghijklm", "naïve", "\u212b"]),
    (SIGNS, ["👍", "👎a👍", "Aa", "é", "e\u0301", "E\u0301", "a -", "👍👍👍👍"]),
    (ANY, ["Hi", "covid-19", "0", "7up", "Ærø", "ΟΔΟΣ", "שלום", "日本", "👍", "a" * 16, "a" * 17, "👍" * 8, "👍" * 9]),
    (KEPT, ["Hi", "hi", "\u0400", "߿", "ࠀ", "耀", "\uffff", "~$", "👍", "👍a"]),
    (BYTES, ["0x00", "0xff", "0xFF00", "0x000000", "0x00000000", "0x", "0x0", "00", " 0x41 ", "A"]),
    (FEW, ["0", "9", "10", "-1", "007", " 5 ", "+1", "1.0", "١", ""]),
    (MANY, ["0", str(2**60 - 1), str(2**60), "123456789012345678"]),
    (ALL, ["0", str(2**64 - 1), str(2**64), "9" * 20, "1" + "0" * 20]),
]
"""What a person types, for every code."""


def word_vectors(tape: Tape) -> dict[str, Any]:
    """All of them; `tape` makes a recorder of known bytes from a label."""
    return {
        "about": "Words nobody listed. `spelling`: code points of a text in hexadecimal, of its spelling with small "
        "letters (`lower`) and with letters as they are (`keep`); null for what is no word. `codes`: `typed` is what a "
        "person types, `row` the bytes of its code, `shown` how the value of this code is shown, null for other. "
        "`surveys`: `threshold` is out of 2**64; `buckets` are those of the first `typed` in rows 0, 1, ..; each "
        "report has its `drawn` row and its `bucket` there. `bad_surveys` are refused.",
        "spelling": [_spelling(text) for text in SPELLINGS],
        "codes": [_code(stated, texts) for stated, texts in TYPED],
        "surveys": [_survey(stated, texts, tape) for stated, texts in _cases()],
        "bad_surveys": [_refused(fault, json.dumps(stated, separators=(",", ":"))) for fault, stated in _bad()],
    }


def points(text: str | None) -> str | None:
    """Code points in hexadecimal: JSON readers differ about lone surrogates."""
    return None if text is None else " ".join(f"{ord(letter):x}" for letter in text)


def _spelling(text: str) -> dict[str, Any]:
    return {"text": points(text), **{case: points(spelt(text, case)) for case in ("lower", "keep")}}


def _code(stated: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    code = code_from_statement(stated)
    sizes = {"bits": code.bits, "unit_bits": code.unit_bits, "row_bytes": code.row_bytes}
    return {"code": stated, **sizes, "values": [_value(code, text) for text in texts]}


def _value(code: WordCode, text: str) -> dict[str, Any]:
    row = code.row(code.typed(text)).tobytes()
    value = code.value(int.from_bytes(row, "big") >> 8 * code.row_bytes - code.bits)
    return {"typed": text, "row": row.hex(), "shown": None if value is None else code.shown(value)}


def _stated(code: dict[str, Any], epsilon: float, **mechanism: Any) -> dict[str, Any]:
    design = {"strategy": "prefixes", "mechanism": {"name": "hashed_prefixes", **mechanism}}
    question = {"kind": "words", "code": code}
    return {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question, "design": design}


def _cases() -> Iterator[tuple[dict[str, Any], list[str]]]:
    yield _stated(LETTERS, 1.0, ends=[4, 8], rows=[2, 1], order=2, dimension=3), ["cab", "ca", "", "other!"]
    yield _stated(LATIN, 2.0, ends=[20, 40, 60], rows=[3, 2, 1], order=9, dimension=4), ["it's", "new york", "naïve"]
    yield _stated(SIGNS, 0.5, ends=[6, 9], rows=[1, 1], order=3, dimension=5), ["👎a👍", "👍"]
    ends = list(range(20, 321, 20))
    spread = [13, 16, 16, 16] + [1] * 12
    yield _stated(ANY, 1.0, ends=ends, rows=spread, order=4, dimension=8), ["covid-19", "👍", "日本" * 8, "日本" * 9]
    yield _stated(BYTES, 4.0, ends=[18, 27], rows=[2, 2], order=53, dimension=3), ["0x00ff41", "0x00", "A"]
    yield _stated(MANY, 1.0, ends=[21, 41, 61], rows=[2, 2, 4], order=4, dimension=10), [str(2**60 - 1), "0", "x"]
    yield _stated(ALL, 8.0, ends=[21, 43, 65], rows=[1, 1, 4094], order=256, dimension=2), [str(2**64 - 1), "0"]


def _survey(stated: dict[str, Any], texts: list[str], tape: Tape) -> dict[str, Any]:
    survey: Any = sv.Survey.from_json(json.dumps(stated))
    m, code = survey.mechanism, survey.question.code
    first = code.row(code.typed(texts[0]))
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "report_bytes": m.report_bytes,
        "threshold": str(m.inner._levels.threshold),
        "buckets": [m.bucket(first, row) for row in range(min(4, sum(m.rows)))],
        "reports": [_report(survey, text, tape) for text in texts],
    }


def _report(survey: Any, text: str, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {text}")
    m = survey.mechanism
    held = survey.private_input(survey.question.code.typed(text))
    report = m.randomize(held, ByteSource(recorder))
    row = report // m.buckets
    drawn = {"drawn": row, "bucket": m.bucket(held, row)}
    return {"typed": text, **drawn, "tape": recorder.read.hex(), "payload": m.encode(report).hex()}


def _bad() -> Iterator[tuple[str, dict[str, Any]]]:
    letters, integers = _stated(LETTERS, 1.0, ends=[4, 8], rows=[2, 1], order=2, dimension=3), list(_cases())[5][0]

    def changed(fault: str, part: str, good: dict[str, Any] = letters, **fields: Any) -> tuple[str, dict[str, Any]]:
        stated = copy.deepcopy(good)
        places = {"code": stated["question"]["code"], "mechanism": stated["design"]["mechanism"], "survey": stated}
        places[part].update(fields)
        return fault, stated

    yield changed("words of no letter", "code", longest=0)
    yield changed("words of too many letters", "code", longest=65)
    yield changed("a length that is no integer", "code", longest=2.5)
    yield changed("another rule for capitals", "code", case="upper")
    yield changed("a letter twice", "code", alphabet="aba")
    yield changed("a single letter", "code", alphabet="a")
    yield changed("a capital letter among small ones", "code", alphabet="abC")
    yield changed("a letter that is not normalised", "code", alphabet="ab\u212b", case="keep")
    yield changed("a mark of direction", "code", alphabet="ab\u200f")
    yield changed("another code", "code", code="words")
    yield changed("another field of the code", "code", more=1)
    yield changed("no integers", "code", integers, below=1)
    yield changed("too many integers", "code", integers, below=str(2**64 + 1))
    yield changed("a limit as text below 2^53", "code", integers, below="100")
    yield changed("a limit as a number above 2^53", "code", integers, below=2**60)
    yield changed("levels that do not increase", "mechanism", ends=[8, 8])
    yield changed("a last level before the end", "mechanism", ends=[4, 6])
    yield changed("a level within a unit", "mechanism", ends=[3, 8])
    yield changed("a level of too many bits", "mechanism", integers, ends=[21, 38, 61])
    yield changed("no level", "mechanism", ends=[], rows=[])
    yield changed("a level without rows", "mechanism", rows=[1, 0])
    yield changed("rows of one level only", "mechanism", rows=[3])
    yield changed("too many rows", "mechanism", rows=[4096, 1])
    yield changed("an order of no field", "mechanism", order=6)
    yield changed("a space of one point", "mechanism", dimension=1)
    yield changed("too many points", "mechanism", order=65537, dimension=5)
    yield changed("another field of the mechanism", "mechanism", bits=8)
    yield changed("another strategy", "survey", design={"strategy": "direct", "mechanism": {"name": "binary"}})
    yield changed("another field of the question", "survey", question={"kind": "words", "code": LETTERS, "more": 1})
    yield changed("a positive delta", "survey", delta=1e-6)


def _refused(fault: str, text: str) -> dict[str, Any]:
    try:
        sv.Survey.from_json(text)
    except SottovoceError as error:
        return {"fault": fault, "text": text, "error": type(error).__name__}
    raise ValueError(f"{fault} is accepted")
