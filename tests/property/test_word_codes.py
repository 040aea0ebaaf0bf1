"""Spellings and codes of words: one form, one code, and all ways to go on from a prefix."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import DomainError, SottovoceError
from sottovoce.domain.words.code import CASES, spelt
from sottovoce.domain.words.codes import ENDED, WordCode, code_from_statement, word_code
from sottovoce.surveys.survey import Survey

CODES = {
    "letters": word_code("abc", 4),
    "latin": word_code("latin", 8),
    "emoji": word_code("👍👎Aaé -", 3, "keep"),
    "unicode": word_code("unicode", 6),
    "keep": word_code("unicode", 64, "keep"),
    "bytes": word_code("bytes", 3),
    "few": word_code(below=10),
    "many": word_code(below=2**64),
}

TEXTS = st.text(st.characters(), max_size=12) | st.text("aAbBcC' -é\u0301\u212b\u0130Σ\u3000\t👍", max_size=8)
VALUES = TEXTS | st.binary(max_size=4) | st.integers(-2, 2**65) | st.floats() | st.none() | st.booleans()


def number_of(code: WordCode, value: Any) -> int:
    return int.from_bytes(code.row(value).tobytes(), "big") >> 8 * code.row_bytes - code.bits


@given(TEXTS, st.sampled_from(CASES))
@example("\u0130\u0323", "lower")
@example("H\u0331", "lower")
@example("a \u0301", "keep")
def test_a_spelling_is_spelt_as_it_is(text: str, case: str) -> None:
    found = spelt(text, case)
    if found is not None:
        assert spelt(found, case) == found
        assert spelt(f"\ufeff {found}\n", case) == found
        assert spelt(f"{found}\u202e", case) is spelt(f"{found}\ud800", case) is spelt(f"{found}\0", case) is None


def test_every_character_is_spelt_once() -> None:
    """A second time changes nothing, in the planes whose characters have other forms."""
    for point in (*range(0x20000), *range(0x2F800, 0x2FA20)):
        found = spelt(chr(point), "lower")
        if found is not None and found != chr(point):
            assert spelt(found, "lower") == found, hex(point)


@pytest.mark.parametrize("name", CODES)
@given(values=st.lists(TEXTS | st.text("abcAB '-?1", max_size=9), max_size=6), others=st.lists(VALUES, max_size=2))
@example(values=["", "a", " a", "a  b", "a b", "\ud83d", "\udc4d", "aaaaa", "A\n", "\u212a"], others=[])
@settings(max_examples=60)
def test_values_together_are_read_as_each_alone(name: str, values: list[Any], others: list[Any]) -> None:
    code = CODES[name]
    for given_values in (values, values + others):
        rows, labels = code.labelled_rows(given_values)
        assert rows.shape == (len(given_values), code.row_bytes)
        for value, row, label in zip(given_values, rows, labels, strict=True):
            assert row.tobytes() == code.row(value).tobytes()
            if row.any():
                assert label == code.shown(code.value(number_of(code, value)))


@pytest.mark.parametrize("name", CODES)
@given(value=VALUES)
@settings(max_examples=60)
def test_a_value_is_read_back_or_is_other(name: str, value: Any) -> None:
    code = CODES[name]
    number = number_of(code, value)
    assert code.row(value).shape == (code.row_bytes,)
    assert code.admits(value) == (number != 0)
    if number:
        found = code.value(number)
        if isinstance(value, str):
            expected: Any = spelt(value, code.case)  # type: ignore[attr-defined]
        else:
            expected = int(value) if isinstance(value, float) else value
        assert (found, type(found)) == (expected, type(expected))
        assert code.typed(code.shown(found)) == found


@pytest.mark.parametrize("name", CODES)
def test_rows_of_many_are_those_of_each(name: str) -> None:
    code = CODES[name]
    values = ["ab", "AB ", b"ab", bytearray(b"b"), bytearray(b"c"), 3, True, np.int64(3), np.uint64(2**63), 10**30, -1]
    values += [None, float("nan"), ([],), {}, "ab", "", "\0", "\ud83d", "👍", np.str_("ab"), "x" * 10_000]
    rows = code.rows(values)
    assert [row.tobytes() for row in rows] == [code.row(value).tobytes() for value in values]
    assert code.rows([]).shape == (0, code.row_bytes)


@pytest.mark.parametrize("code", [word_code("ab ", 3), word_code("bytes", 1), word_code(below=11)], ids=str)
def test_every_number_stands_for_one_value_or_none(code: WordCode) -> None:
    values = [value for value in map(code.value, range(1 << code.bits)) if value is not None]
    every = {
        "letters": {spelt("".join(word), "lower") for n in (1, 2, 3) for word in product("ab ", repeat=n)} - {None},
        "bytes": {bytes([byte]) for byte in range(256)},
        "integers": set(range(11)),
    }[code.kind]
    assert set(values) == every
    assert len(values) == len(every)


@pytest.mark.parametrize("name", ["letters", "emoji", "few"])
def test_prefixes_go_on_in_every_way_and_in_no_other(name: str) -> None:
    """Level by level from the left, by unequal steps, the automaton reaches each code of a value exactly once."""
    code = CODES[name]
    for cut in range(1, code.units):
        first, rest = code.extensions(0, cut, last=False), code.units - cut
        found = []
        for bits, state in zip(first.bits.tolist(), first.states.tolist(), strict=True):
            after = code.extensions(state, rest, last=True)
            assert (after.states == ENDED).all()
            found += [bits << rest * code.unit_bits | more for more in after.bits.tolist()]
        assert sorted(found) == sorted(set(found)) == code.extensions(0, code.units, last=True).bits.tolist()
        assert {n for n in range(1 << code.bits) if code.value(n) is not None} <= set(found)


@given(st.text(max_size=6))
@settings(max_examples=25)
def test_the_automaton_reads_every_text(text: str) -> None:
    """Unit by unit: each is one of the ways to go on, and a word that has ended stays so."""
    code = CODES["unicode"]
    number, state = number_of(code, text), 0
    for place in range(code.units - 1, -1, -1):
        unit = number >> place * code.unit_bits & 31
        ways = code.extensions(state, 1, last=False)
        assert unit in ways.bits
        state = int(ways.states[ways.bits == unit][0])
    assert state in (0, ENDED)


@pytest.mark.parametrize("name", CODES)
def test_a_code_is_restored_from_its_statement(name: str) -> None:
    assert code_from_statement(CODES[name].to_statement()) == CODES[name]


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("longest", {"longest": 0}),
        ("longest", {"longest": 10**6}),
        ("longest", {"longest": True, "alphabet": "bytes"}),
        ("alphabet", {"alphabet": "a"}),
        ("alphabet", {"alphabet": "aba"}),
        ("alphabet", {"alphabet": "aB"}),
        ("alphabet", {"alphabet": "a\u212b", "case": "keep"}),
        ("alphabet", {"alphabet": "a\ud800"}),
        ("alphabet", {"alphabet": 7}),
        ("case", {"case": "upper"}),
        ("below", {"below": 1}),
        ("below", {"below": 2**64 + 1}),
        ("below", {"below": 10.0}),
    ],
)
def test_a_code_that_cannot_be_is_refused_with_its_field(field: str, given: dict[str, Any]) -> None:
    with refuses(SottovoceError, field):
        word_code(**given)


@pytest.mark.parametrize(
    ("alphabet", "remedy"),
    [
        ("aab", "contains 'a' more than once: write each of its characters once, or give a name: unicode, latin"),
        ("greek", "contains 'e' more than once"),
        ("Latin", "write 'latin'"),
        ("hex", "write 'hexadecimal'"),
        ("UTF-8", "write 'unicode'"),
        ("a-z", "write 'latin'"),
        ("a-z0-9_", "contains 'a-z', which would be three characters and not a range"),
        ("aB", "character 2 of the alphabet, 'B', is spelt otherwise"),
    ],
)
def test_a_name_or_a_range_is_not_taken_for_a_few_characters(alphabet: str, remedy: str) -> None:
    with pytest.raises(DomainError, match=re.escape(remedy)):
        word_code(alphabet)


def test_a_hyphen_that_is_no_range_is_a_character() -> None:
    assert word_code("abc-").admits("a-b")
    assert word_code("z-a").admits("-")
    assert word_code("a-1b").admits("-1")


def test_byte_strings_say_how_they_are_typed() -> None:
    code = word_code("bytes", 4)
    assert code.allowed.endswith("typed as 0x and two hexadecimal digits for every byte")
    assert code.typed("0x4142") == b"AB"


def test_a_survey_of_words_claims_no_number_of_answers() -> None:
    assert "answer" not in repr(Survey(sv.words(4, "digits"), epsilon=1.0))
    assert ": 1 answer, " in repr(Survey(sv.number(0, 1), epsilon=1.0))


@pytest.mark.parametrize("stated", [None, [], {"code": "letters"}, {"code": "bytes", "longest": 3, "more": 1}])
def test_a_statement_of_another_form_is_refused(stated: object) -> None:
    with refuses(DomainError, "code"):
        code_from_statement(stated)
