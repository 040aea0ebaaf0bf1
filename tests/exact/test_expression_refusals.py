"""What is no expression, and what could go wrong for some record: refused with a place and a remedy, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import each
from refusing import refuses
from sottovoce import Domain
from sottovoce.core.errors import QueryError, SurveyError
from sottovoce.expressions import Query, numbers, positions, query
from sottovoce.expressions.limits import MAX_CONSTANTS, MAX_DEPTH, MAX_NODES, MAX_QUERY_BYTES, MAX_TEXT

PEOPLE = Domain.product(
    age=range(100), country=["DE", "FR"], home=["FR", "DE"], code=[3, 7, 9], name=Domain.text(4, "abc")
)
SOMEBODY = {"age": 0, "country": "DE", "home": "FR", "code": 3, "name": ""}
LONGEST_MESSAGE = 500

UNREADABLE = [
    *("", " ", "\n", "age <", "(age", "age)", "age age", "age < < 3", "'open", '"open', "x if y", "not", "if", "and"),
    *("1 +* 2", "lambda: 1", "(lambda: age)()", "[a for a in age]", "{a for a in age}", "{a: 1 for a in age}"),
    *("(a for a in age)", "f'{age}'", "f'age'", "b'age'", "r'a'", "u'a'", "rb'a'", "'a' 'b'", "''''''", "'''a'''"),
    *('"""a"""', "(x := 3)", "x := 3", "x = 3", "*age", "[*age]", "min(*age)", "min(age, **age)", "min(a=1, b=2)"),
    *("abs(x=age)", "age.real", "age.__class__", "().__class__.__bases__", "'a'.join", "age[0]", "age[1:2]"),
    *("country['DE']", "await age", "yield age", "yield", "age; age", "import os", "del age", "print 1"),
    *("def f(): pass", "pass", "__import__('os')", "open('x')", "eval('1')", "exec('1')", "print(1)", "len(age)"),
    *("sum((1, 2))", "age()", "abs()()", "10 ** 10 ** 10", "2 ** age", "age & 3", "age | 3", "age ^ 3", "~age"),
    *("age << 3", "age >> 3", "age @ age", "+age", "age is 3", "age is not 3", "None", "...", "Ellipsis()", "1j"),
    *("3 + 2j", "0777", "1__0", "30and 1", "0x", "1e", "0b2", "{}", "{1: 2}", "[]", "()", "(1, 2)", "[1, 2]", "{1, 2}"),
    *("age, age", "`age`", "age ? 1 : 2", "age && 3", "!age", "age < 3 # young", "age \\\n < 3", "age\x0b< 3"),
    *("age\xa0< 3", "age\u2028< 3", "age < 3\0", "'a\0b' == name", "\ud800", "'\ud800' == name", "'\\d' == name"),
    *("'\\N{DIGIT ONE}' == name", "'\\8' == name", "'\\x4' == name", "'a\nb' == name", "‘a’ == name", "age ＜ 3"),
    *("age − 3", "age × 3", "３ + age", "ａge < 3", "ﬁ", "€", "🦆", "a\u0300\u200b", "abs()", "abs(1, 2)", "min(1)"),
    *("max()", "clip(1, 2)", "clip(1, 2, 3, 4)", "bit(age)", "prefix(age)", "letter(name)", "find(age)"),
    *("find(age, 3)", "find(age, (1,), (2,))", "table()", "table(1, 2)", "table((1, 2), (3, 4))", "sparse((1,))"),
    *("sparse((1,), (1, 2))", "sparse((2, 1), (1, 1))", "sparse((1, 1), (1, 1))", "sparse((-1,), (1,))"),
    *("sparse((0.5,), (1,))", "age in 3", "age in (3)", "age in ()", "country in 'FR'", "age in (age,)"),
    *("age in (1, 'a')", "age in (True,)", "age in (1 + 1,)", "age in (None,)", "age in ((1,),)", "age in (*age,)"),
    *("find(age, {})", "age in {}", "age in range(3)", "attribute()", "attribute(3)", "attribute(age)"),
    *("attribute('')", "attribute('a', 'b')", "age // 0", "age // -1", "age // 2.5", "age // code", "age % 0"),
    *("age % True", "age % 'a'", "age // (1 + 1)", "bit(age, -1)", "bit(age, code)", "bit(age, 64)", "bit(age, 1.5)"),
    *("bit(age, True)", "prefix(age + 1, 2)", "prefix(3, 2)", "prefix('a', 1)", "letter('a', 0)"),
    *("letter(prefix(name, 1), 0)", "prefix(prefix(name, 2), 1)", "prefix(age, code)", "1" * 400),
    *("9223372036854775808", "-9223372036854775809", "0x" + "f" * 4000, "1" * 4096, "1e999", "-1e999", "9" * 309 + "."),
    *("x" * (MAX_TEXT + 1), " " * MAX_TEXT + "x", "(" * 4000, "(" * 150 + "x" + ")" * 150 + "+", "[" * 199 + "]" * 199),
    *("-" * 4095 + "x", "not " * 1000 + "x", "~" * 4095 + "x", "x" + ".y" * 2000, "x" + "[0]" * 1300),
    *("x" + "()" * 2000, "f(" * 190 + ")" * 190, "x if x else " * 300 + "x", "+".join("x" * 2000)),
    *("<".join("x" * 2000), "x in (" * 100, "lambda: " * 500 + "1", "'" + "a" * 5000, "abs(" * 40 + "age" + ")" * 40),
    *("+".join("x" * (MAX_DEPTH + 1)), "min(" + ",".join("x" * MAX_NODES) + ")", " and ".join(["x<y<z"] * 200)),
]


@each("text", UNREADABLE)
def test_unreadable_texts(text: str) -> None:
    with pytest.raises(QueryError, match=r"^column [0-9]+: ") as caught:
        query(text)
    column = int(str(caught.value).split()[1][:-1])
    assert 1 <= column <= max(len(text), 1)
    assert len(str(caught.value)) < LONGEST_MESSAGE
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert isinstance(caught.value, SurveyError)


@each(
    ("text", "column", "words"),
    [
        ("age < thirty", 7, "unknown attribute 'thirty'; the attributes are 'age', 'country'"),
        ("\u0430ge < 30", 1, r"unknown attribute '\u0430ge'"),
        ("value < 30", 1, "unknown attribute 'value'"),
        ("country == 'UK'", 12, "'UK' is not in the attribute's domain; allowed: 'DE', 'FR'"),
        ("country in ('DE', 'UK')", 19, "'UK' is not in"),
        ("name == 'abcab'", 9, "texts of at most 4 characters out of 'abc'"),
        ("name == 'x'", 9, "'x' is not in"),
        ("find(name, ('a', 'd'))", 18, "'d' is not in"),
        ("country == age", 1, "cannot compare a text with an integer"),
        ("1.5 == country", 1, "cannot compare a real number with a text"),
        ("(age < 3) == country", 2, "cannot compare a truth value with a text"),
        ("country < 'FR'", 1, "texts have no order"),
        ("country == home", 1, "different domains"),
        ("country == name", 1, "different domains"),
        ("'FR' == 'FR'", 1, "both sides are constant texts"),
        ("country + 1", 1, "+ takes numbers, not texts"),
        ("1 + abs(country)", 9, "abs takes numbers"),
        ("'FR'", 1, "can only be used with"),
        ("age + 'FR'", 7, "can only be used with"),
        ("country", 1, "must give a number or a truth"),
        ("prefix(name, 2)", 1, "must give a number or a truth"),
        ("age and code", 1, "and takes truth values, not an integer"),
        ("age < 3 or 0.5", 12, "or takes truth values, not a real number"),
        ("not country", 5, "not takes truth values, not a text"),
        ("1 if age else 2", 6, "if takes truth values"),
        ("country if age < 3 else 2", 1, "if takes numbers, not texts"),
        ("age in ('DE',)", 8, "cannot search for an integer among texts"),
        ("country in (1, 2)", 12, "cannot search for a text among numbers"),
        ("find(age, (1, 2, 1))", 11, "two of these are equal"),
        ("find(age, (1, 1.0))", 11, "two of these are equal"),
        ("find(age, (9007199254740993, 9007199254740992, 0.5))", 11, "two of these are equal"),
        ("find(age / 2, (9007199254740993, 9007199254740992))", 15, "two of these are equal"),
        ("1 / age", 5, "the divisor may be 0: it lies between 0 and 99"),
        ("1 / (age - 50)", 6, "the divisor may be 0"),
        ("1 / 0", 5, "the divisor may be 0"),
        ("age / (1e-200 * 1e-200)", 8, "the divisor may be 0"),
        ("1 / (age < 3)", 6, "the divisor may be 0"),
        ("0.5 // 2", 1, "// takes integers, not real numbers"),
        ("age / 2 % 2", 1, "% takes integers"),
        ("9223372036854775807 + age", 1, "this + may overflow 64-bit integers"),
        ("-9223372036854775808 - age", 1, "this - may overflow"),
        ("age * 1 * 9223372036854775807", 1, "this * may overflow"),
        ("-(-9223372036854775808)", 1, "this neg may overflow"),
        ("1 + abs(-9223372036854775808)", 5, "this abs may overflow"),
        ("1e308 * 10 * age", 1, "this * may become infinite"),
        ("1e308 + 1e308", 1, "this + may become infinite"),
        ("1 / 5e-324", 1, "this / may become infinite"),
        ("clip(age, 3, 2)", 1, "lower limit first"),
        ("clip(age, age, 50)", 1, "lower limit first"),
        ("bit(age - 1, 3)", 5, "this may be -1"),
        ("bit(age, 63)", 10, "from 0 to 62"),
        ("bit(age / 1, 3)", 5, "bit takes integers"),
        ("prefix(country, 1)", 8, "prefix applies to ranges and texts"),
        ("prefix(code, 1)", 8, "prefix applies to ranges and texts"),
        ("prefix(age, 8)", 13, "have 7 bits"),
        ("prefix(name, 5)", 14, "at most 4 characters"),
        ("prefix(nobody, 1)", 8, "unknown attribute 'nobody'"),
        ("letter(age, 0)", 8, "letter applies to texts"),
        ("letter(country, 0)", 8, "letter applies to texts"),
        ("letter(name, 4)", 14, "counted from 0 to 3"),
        ("1 + table((1, 2))", 5, "2 numbers for 145200 values"),
        ("sparse((5, 145200), (1, 1))", 8, "not below the 145200 values"),
    ],
)
def test_expressions_that_could_go_wrong(text: str, column: int, words: str) -> None:
    asked = query(text)
    with pytest.raises(QueryError) as caught:
        asked.check(PEOPLE)
    assert str(caught.value).startswith(f"column {column}: ")
    assert words in str(caught.value)
    assert len(str(caught.value)) < LONGEST_MESSAGE
    with pytest.raises(QueryError) as again:
        Query.from_tree(asked.tree).evaluate_one(PEOPLE, SOMEBODY)
    assert words in str(again.value), "a tree is refused like its text"
    assert "column" not in str(again.value)


def test_a_tree_says_where_it_is_wrong() -> None:
    with pytest.raises(QueryError, match=r"unknown attribute 'b'; the attributes are 'value' \(at tree\[2\]\[1\]\)$"):
        Query.from_tree(["+", 1, ["abs", ["attribute", "b"]]]).check(Domain.of(3))


@pytest.mark.parametrize("letter", ["a", "\U0001f986", "'", "\\"])
def test_long_names_are_shortened(letter: str) -> None:
    names = [letter * 1000 + str(i) for i in range(20)]
    domain = Domain.product(**{"a" * 1000 + str(i): names for i in range(12)})
    with pytest.raises(QueryError, match="unknown attribute") as unknown:
        Query.from_tree(["attribute", letter * 10_000]).check(domain)
    with pytest.raises(QueryError, match="is not in the attribute's domain") as outside:
        Query.from_tree(["==", ["attribute", "a" * 1000 + "7"], letter * 10_000]).check(domain)
    assert max(len(str(unknown.value)), len(str(outside.value))) < LONGEST_MESSAGE


AGE = ["attribute", "age"]
CYCLE: list[Any] = ["abs"]
CYCLE.append(CYCLE)


def nested(levels: int) -> Any:
    tree: Any = AGE
    for _ in range(levels):
        tree = ["abs", tree]
    return tree


def doubled(levels: int) -> Any:
    """Few objects, many parts: every level holds the one below twice."""
    tree: Any = AGE
    for _ in range(levels):
        tree = ["+", tree, tree]
    return tree


BAD_TREES = [
    *(None, {}, {"op": "+"}, b"x", 1j, object(), np.int64(3), np.array([1, 2]), {1, 2}, range(3), float("nan")),
    *(float("inf"), [], [[]], [1, 2], [None], [True], ["power", 1, 2], ["ABS", 1], ["attribute"], ["attribute", 1]),
    *(["attribute", ""], ["attribute", "a", "b"], ["attribute", ["a"]], ["attribute", "\ud800"], "\ud800", ["+", 1]),
    *(["+", 1, 2, 3], ["+", 1, None], ["+", 1, {}], ["min", 1], ["and", True], ["not"], ["not", True, True]),
    *(["if", True, 1], ["neg", 1, 2], ["clip", 1, 2], ["integer", 5], ["integer", "5"]),
    *(["integer", "9007199254740991"], ["integer", "09007199254740992"], ["integer", "1" * 99]),
    *(["integer", "+9007199254740992"], ["integer", "9007199254740992 "], ["integer", "９007199254740992"]),
    *(["integer", "x"], ["integer", "9223372036854775808"], ["integer", "-9223372036854775809"]),
    *(["integer", "9007199254740992.0"], ["integer"], 2**53 + 1, 10**400, -(10**400), 2**63 - 1, ["//", AGE, 0]),
    *(["//", AGE, -3], ["//", AGE, 1.5], ["//", AGE, AGE], ["%", AGE, True], ["in", AGE, []], ["in", AGE, 3]),
    *(["in", AGE, "FR"], ["in", AGE, [1, "a"]], ["in", AGE, [True]], ["in", AGE, [None]], ["in", AGE, [[1]]]),
    *(["in", AGE, ["a", ["integer", "9007199254740992"]]], ["in", AGE, [["integer", "5"]]], ["in", AGE, {}]),
    *(["in", AGE, [AGE]], ["in", AGE, [float("nan")]], ["in", AGE, ["\ud800"]], ["in", AGE, [2**53 + 1]], ["in", AGE]),
    *(["bit", AGE, True], ["bit", AGE, -1], ["bit", AGE, 64], ["bit", AGE, AGE]),
    *(["bit", AGE, ["integer", "9007199254740992"]], ["prefix", "age", 1], ["prefix", ["abs", AGE], 1]),
    *(["letter", 3, 1], ["prefix", AGE, 1.5], ["prefix", AGE, "1"], ["table", []], ["table", 3], ["table", ["a"]]),
    *(["table", [True]], ["table", [[1]]], ["table", [None]], ["table", [1], [2]], ["sparse", [1], []]),
    *(["sparse", [], []], ["sparse", [1, 1], [1, 1]], ["sparse", [2, 1], [1, 1]], ["sparse", ["1"], [1]]),
    *(["sparse", [1.5], [1]], ["sparse", [-1], [1]], ["sparse", [True], [1]], ["sparse", [1], [1, 2]]),
    *(["sparse", [1e20], [1]], CYCLE, ["in", AGE, CYCLE], nested(MAX_DEPTH), nested(100_000), doubled(10), doubled(31)),
    *(["min", *[1] * MAX_NODES], ["min", *[1] * 10**6], ["in", AGE, [1] * (MAX_CONSTANTS + 1)]),
    ["table", [0.5] * (MAX_CONSTANTS + 1)],
    *(["and", ["in", AGE, list(range(40_000))], ["in", AGE, list(range(40_000))]], ["table", [1 / 3] * MAX_CONSTANTS]),
    ["in", AGE, ["é" * (MAX_QUERY_BYTES // 2)]],
]


@each("tree", BAD_TREES)
def test_bad_trees(tree: object) -> None:
    with pytest.raises(QueryError) as caught:
        Query.from_tree(tree)
    assert len(str(caught.value)) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "age < 30", "NaN", "Infinity", "[1,]", '["abs",1e999]', '["abs",NaN]', "{}", "null", '"\\ud800"'),
        *("'a'", "[" * 100_000, "[" * 900 + "]" * 900, '["abs",' * 40 + "1" + "]" * 40, "9" * 400, "9" * 5000),
        *("-" + "9" * 10**5, "9007199254740993", b"\xff", b'["attribute","\xff"]', " " * MAX_QUERY_BYTES + "1", 3),
        *(None, ["abs", 1]),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_bad_json(text: Any) -> None:
    with pytest.raises(QueryError) as caught:
        Query.from_json(text)
    assert len(str(caught.value)) < LONGEST_MESSAGE


def test_the_limits_themselves_are_allowed() -> None:
    domain = Domain.product(age=range(100))
    deep = Query.from_tree(nested(MAX_DEPTH - 1))
    assert deep.check(domain).depth == MAX_DEPTH
    assert query(deep.text).evaluate_one(domain, {"age": 7}) == 7
    wide = Query.from_tree(["min", *[AGE] * (MAX_NODES - 1)])
    assert wide.check(domain).nodes == MAX_NODES
    assert wide.evaluate_one(domain, {"age": 7}) == 7
    listed = Query.from_tree(["in", AGE, list(range(MAX_CONSTANTS))])
    assert listed.evaluate_one(domain, {"age": 7}) == 1
    assert query("0" + " " * (MAX_TEXT - 1)).tree == 0
    assert query("'" + "a" * (MAX_TEXT - 7) + "'==x").text
    assert Query.from_tree(["min", *[doubled(8)] * 2]).check(domain).nodes == 1023


def test_a_query_of_a_million_bytes_is_allowed_and_one_more_is_not() -> None:
    label = "a" * (MAX_QUERY_BYTES - len(json.dumps(["in", AGE, [""]], separators=(",", ":"))))
    assert len(Query.from_tree(["in", AGE, [label]]).to_json()) == MAX_QUERY_BYTES
    with pytest.raises(QueryError, match="bytes"):
        Query.from_tree(["in", AGE, [label + "a"]])


class Hidden(dict[str, Any]):
    """Columns under names that nobody can read."""

    def __iter__(self) -> Any:
        return iter(())


AGES, CODES = np.array([77, 3]), np.array([0, 2])
SMALL = Domain.product(age=range(100), code=[3, 7, 9], word=Domain.text(2, "ab"))
WORDS = np.array([0, 6])


@each(
    "columns",
    [
        *(None, 7, "age", [AGES, CODES, WORDS], np.zeros((2, 3), dtype=np.int64), {}, {"age": AGES, "code": CODES}),
        *({"age": AGES, "code": CODES, "words": WORDS}, Hidden(age=AGES, code=CODES, word=WORDS)),
        *({"code": CODES, "word": WORDS, "age": bad} for bad in (None, 77, "77", b"77", {77: 1}, {77, 3}, AGES[:1])),
        *({"code": CODES, "word": WORDS, "age": bad} for bad in (["77", "3"], np.array(["77", "3"]), AGES / 1)),
        *(
            {"code": CODES, "word": WORDS, "age": bad}
            for bad in ([77, None], [[77], [3]], [[77], [3, 4]], AGES[:, None])
        ),
        *({"code": CODES, "word": WORDS, "age": bad} for bad in (AGES > 5, AGES.astype(object), AGES.astype(complex))),
        *({"code": CODES, "word": WORDS, "age": bad} for bad in ([77, 2**70], AGES.astype("datetime64[s]"))),
        *({"code": CODES, "word": WORDS, "age": bad} for bad in ([77, -1], [77, 100], [2**63 - 1, 0], [-(2**63), 0])),
        *({"code": CODES, "word": WORDS, "age": np.array([77, bad], dtype=np.uint64)} for bad in (2**63, 2**64 - 1)),
        *({"age": AGES, "word": WORDS, "code": bad} for bad in ([0, 3], [-1, 0], [0.5, 1], ["7", "7"])),
        *({"age": AGES, "code": CODES, "word": bad} for bad in ([0, 7], [-1, 0], ["a", "b"])),
    ],
)
@each("text", ["age * 2 + code + letter(word, 0)", "sparse((0, 1), (5, 6)) / 3 + age"])
def test_columns_that_hold_no_positions(columns: Any, text: str) -> None:
    asked = query(text)
    ways: list[Callable[[], object]] = [
        lambda: asked.evaluate(SMALL, columns),
        lambda: numbers(asked, SMALL, columns),
        lambda: positions(query("age + code + letter(word, 1)"), SMALL, columns, 9),
    ]
    for ask in ways:
        with refuses(QueryError, "columns") as caught:
            ask()
        assert "7" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("dtype", ["int8", "uint8", ">i4", "uint64", "int64"])
def test_columns_of_any_integers_are_computed_with_as_64_bits(dtype: str) -> None:
    columns = {"age": AGES.astype(dtype), "code": CODES.astype(dtype), "word": WORDS.astype(dtype), "other": None}
    assert query("age * age * code").evaluate(SMALL, columns).tolist() == [77 * 77 * 3, 3 * 3 * 9]
    assert query("age").evaluate(SMALL, {"age": [77, 3], "code": (0, 2), "word": WORDS}).tolist() == [77, 3]
    assert query("1").evaluate(SMALL, {name: column[:0] for name, column in SMALL.split([0]).items()}).size == 0
