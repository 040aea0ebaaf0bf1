"""Words that nobody listed, spelt, coded and counted in JavaScript as in Python."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sottovoce as sv
from js.bridge import Bridge, Refused, as_sent
from js.surveys import PEOPLE, larger, last_value
from sottovoce.core.errors import SottovoceError
from sottovoce.domain.words.code import spelt

# A character that this Python does not know may be a letter to a newer Node. Of surrogates there is one only, which
# never stands before its other half: to JavaScript both would be one character.
letters = st.characters(exclude_categories=["Cn", "Cs"])
near: Final = "aZ09 '\tΣςİıſKǅʼndßẞé\u0301\u0345\u0327ﬀ字שיم👍🏽\u200d\u202e\u200b\ufeff\x85\x00\ud83d가ᄀ\uac01"
texts = st.one_of(
    st.text(st.sampled_from(near), max_size=12), st.text(letters, max_size=8), st.text("abC -", max_size=9)
)
odd = st.sampled_from([None, True, False, 0.5, -1.5, 2.0**70, [], [1], {}])  # no 1.0: to JavaScript it is 1
values = st.one_of(texts, st.binary(max_size=5), st.integers(-3, 2**64 + 1), st.integers(-2, 12), odd)

CODES: Final = (
    {"code": "letters", "alphabet": "abc' -é字👍", "longest": 6, "case": "lower"},
    {"code": "letters", "alphabet": "aAß ", "longest": 3, "case": "keep"},
    {"code": "unicode", "longest": 5, "case": "lower"},
    {"code": "unicode", "longest": 64, "case": "keep"},
    {"code": "bytes", "longest": 3},
    {"code": "integers", "below": 10},
    {"code": "integers", "below": str(2**64)},
)


def code_of(stated: dict[str, Any]) -> Any:
    """Python's code of this statement."""
    return _code(json.dumps(stated))


@cache
def _code(text: str) -> Any:
    stated = json.loads(text)
    given = {"integers": {"below": int(stated.get("below", 0))}, "bytes": {"alphabet": "bytes"}}
    own = {name: stated[name] for name in ("longest", "alphabet", "case") if name in stated}
    return sv.words(**own, **given.get(stated["code"], {})).code


@settings(max_examples=60)
@given(held=st.lists(values, min_size=1, max_size=12))
@example(
    held=[near, "ΟΔΟΣ", "İ", "\ud800", "👍👍👍", "a\u0301" * 5, b"", b"\x00\xff\x00", True, 9, 10, 2**64 - 1, 2**64]
)
def test_codes_of_values(client: Bridge, held: list[Any]) -> None:
    for stated in CODES:
        code = code_of(stated)
        assert code.to_statement() == stated
        found = client.ask("words", code=stated, values=[as_sent(value) for value in held], typed=[])
        assert found["rows"] == [[code.row(value).tobytes().hex(), code.admits(value)] for value in held]


@settings(max_examples=60)
@given(typed=st.lists(texts, min_size=1, max_size=12))
@example(typed=["", " \u3000", "\u202eabc", "\ud800", "hot chocolate", "CAFE\u0301"])
def test_what_a_page_shows(client: Bridge, typed: list[str]) -> None:
    for stated in CODES[:4]:
        code = code_of(stated)
        found = client.ask("words", code=stated, values=[], typed=typed)["spellings"]
        for text, shown in zip(typed, found, strict=True):
            word = spelt(text, stated["case"]) if code.admits(text) else None
            assert (shown["word"], shown["reason"] is None) == (word, word is not None)
            assert shown["row"] == code.row(text).tobytes().hex()


@pytest.mark.parametrize(
    ("stated", "typed", "word", "reason"),
    [
        (CODES[0], "Cab é", "cab é", None),
        (CODES[0], "  ", None, "it is empty"),
        (CODES[0], "abcabca", None, "it is longer than 6 characters"),
        (CODES[0], "abz", None, "it contains a character that is not in the survey's alphabet"),
        (CODES[0], "a\u202ec", None, "it contains a control character"),
        (CODES[2], "👍👍👍", None, "it is longer than 5 characters; one beyond the basic plane"),
        (CODES[4], " 0x00fF ", "0x00ff", None),
        (CODES[4], "0x", None, "it is empty"),
        (CODES[4], "0x00112233", None, "it is longer than 3 bytes"),
        (CODES[4], "00ff", None, "it is not 0x and hexadecimal digits"),
        (CODES[5], " 9", "9", None),
        (CODES[5], "10", None, "it is none of the integers from 0 to 9"),
        (CODES[5], "-1", None, "it is none of the integers from 0 to 9"),
        (CODES[6], str(2**64 - 1), str(2**64 - 1), None),
    ],
)
def test_why_a_text_is_counted_as_other(
    client: Bridge, stated: dict[str, Any], typed: str, word: str | None, reason: str | None
) -> None:
    [shown] = client.ask("words", code=stated, values=[], typed=[typed])["spellings"]
    assert shown["word"] == word
    assert shown["reason"] == reason if reason is None else shown["reason"].startswith(reason)
    assert (int(shown["row"], 16) == 0) is (word is None)


ODD: Final = (None, True, 0, -1, 1, 2, 17, 64, 65, 1.5, 2**53 - 1, "", "a", "aa", "ab", "aB", "ae\u0301", "lower", {})
LISTS: Final = ([], [1], [0, 5], [2, 4095], [True, 4])


def statements() -> list[str]:
    """Surveys of words with one part replaced, left out or put in."""
    found = []
    for code in CODES:
        survey = json.loads(sv.Survey(sv.words(below=3), epsilon=1.0).to_json())
        survey["question"]["code"] = code
        bits, unit = code_of(code).bits, code_of(code).unit_bits
        mechanism = {"name": "hashed_prefixes", "ends": [unit, bits], "rows": [2, 3], "order": 5, "dimension": 3}
        survey["design"]["mechanism"] = mechanism
        found.append(survey)
        for part, fields in (("code", code), ("mechanism", mechanism)):
            for name in (*fields, "more"):
                for wrong in (*ODD, *LISTS, [bits], [unit, bits], [bits, bits], [unit + 1, bits]):
                    changed = {**fields, name: wrong}
                    if wrong is None and name in fields:
                        del changed[name]
                    question = {"kind": "words", "code": changed} if part == "code" else survey["question"]
                    design = {**survey["design"], "mechanism": changed} if part == "mechanism" else survey["design"]
                    found.append({**survey, "question": question, "design": design})
        for order, dimension in ((2**31 - 1, 2), (2**31 - 1, 3), (2, 40), (2, 41), (256, 2), (512, 2)):
            space = {**mechanism, "order": order, "dimension": dimension}
            found.append({**survey, "design": {**survey["design"], "mechanism": space}})
        found.append({**survey, "delta": 0.5})
    return [rfc8785.dumps(statement).decode() for statement in found]


def test_javascript_accepts_exactly_the_statements_that_python_does(client: Bridge) -> None:
    verdicts: Counter[bool] = Counter()
    for text in statements():
        try:
            expected = sv.Survey.from_json(text).id
        except SottovoceError:
            expected = None
        try:
            found = client.ask("survey", statement=text)["id"]
        except Refused:
            found = None
        assert found == expected, text
        verdicts[found is not None] += 1
    assert min(verdicts[True], verdicts[False]) > 30


def test_reports_of_browsers_are_counted(client: Bridge) -> None:
    """Intervals of 1 - 1e-8, so that of a few one misses with a chance of a few in 10^8."""
    survey, people = larger("words")
    estimate: Any = survey.estimate(client.reports(survey, people))
    for word, held in (("tea", " Tea"), ("coffee", "Coffee"), ("lemonade", "lemonade"), (last_value(survey), None)):
        asked = estimate.of(word, 1 - 1e-8)
        assert asked.low <= people.count(held) / PEOPLE <= asked.high
        assert asked.high - asked.low < 0.12
    assert {"tea", "coffee", "lemonade"} <= {one.value for one in estimate.found if one.certain}


def test_a_report_tells_python_and_javascript_the_same_word(client: Bridge) -> None:
    """Of a code of many bits: the chance of a report depends on every bit of its row's prefix, and on no other."""
    survey = sv.Survey(sv.words(64, "unicode"), epsilon=16.0, people=100)
    word = "字" * 63
    [report] = client.reports(survey, [word])
    payload: Any = survey.mechanism.decode(report[len(survey.tag) :])
    likely = survey.mechanism.probability(payload, survey.private_input(word))
    rng = np.random.default_rng()
    others = ["".join(rng.permutation([*"字学校", *map(chr, range(0x4E00, 0x4E3C))]).tolist()) for _ in range(20)]
    chances = [survey.mechanism.probability(payload, survey.private_input(other)) for other in others]
    told = client.about(survey, "explain", reports=[report.hex()], values=[word, *others])[0]
    stated = np.array([float(chance) for chance in (likely, *chances)])
    np.testing.assert_allclose(np.frombuffer(bytes.fromhex(told["likelihoods"]), dtype=">f8"), stated, rtol=1e-9)
