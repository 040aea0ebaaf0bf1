"""Expressions: the grammar, every operation against plain Python record by record, and what a query can do."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from cases import each
from expression_oracle import answer, kind
from refusing import refuses
from sottovoce import Domain
from sottovoce.core.errors import QueryError, WorkloadError
from sottovoce.domain import TextDomain
from sottovoce.expressions import Checked, Query, evaluate, numbers, positions, query
from sottovoce.expressions.tree import SHAPES
from sottovoce.workloads import Identity, Parities, Prefix
from sottovoce.workloads.naming import value_at
from tracing import lines_run

PEOPLE = Domain.product(
    age=range(-3, 11, 2),
    country=["DE", "FR", "it's"],
    home=["DE", "FR", "it's"],
    code=[5, -1, 40],
    name=Domain.text(2, "ba"),
)
RECORDS = range(0, PEOPLE.size, 5)  # five divides no attribute's size, so every value and most pairs occur
EVERYBODY = PEOPLE.split(RECORDS)

AGE, COUNTRY, NAME = ["attribute", "age"], ["attribute", "country"], ["attribute", "name"]

TREES: dict[str, Any] = {
    "age < 30": ["<", AGE, 30],
    "age < 30 and country in ('FR', 'DE')": ["and", ["<", AGE, 30], ["in", COUNTRY, ["FR", "DE"]]],
    "18 <= age < 30": ["and", ["<=", 18, AGE], ["<", AGE, 30]],
    "1 < age != 3 in [1, 3]": ["and", ["<", 1, AGE], ["!=", AGE, 3], ["in", 3, [1, 3]]],
    "country not in {'FR'}": ["not", ["in", COUNTRY, ["FR"]]],
    "age if country == 'it\\'s' else 0.5": ["if", ["==", COUNTRY, "it's"], AGE, 0.5],
    'country != "it\'s"': ["!=", COUNTRY, "it's"],
    "not age > 3 or False": ["or", ["not", [">", AGE, 3]], False],
    "age + 1 - 2 * 3": ["-", ["+", AGE, 1], ["*", 2, 3]],
    "(age + 5) // 3 % 2": ["%", ["//", ["+", AGE, 5], 3], 2],
    "-age": ["neg", AGE],
    "-5": -5,
    "-(5)": ["neg", 5],
    "- 5": ["neg", 5],
    "--5": ["neg", -5],
    "age -5": ["-", AGE, 5],
    "0b101 + 0x1F + 0o17 + 1_000": ["+", ["+", ["+", 5, 31], 15], 1000],
    "1.0": 1,
    "1e3": 1000,
    ".5": 0.5,
    "1e20": 1e20,
    "9007199254740991": 2**53 - 1,
    "9007199254740992": ["integer", "9007199254740992"],
    "-9223372036854775808": ["integer", "-9223372036854775808"],
    "9007199254740992.0": 2.0**53,
    "True": True,
    "abs(age)": ["abs", AGE],
    "min(age, 3, 0.5)": ["min", AGE, 3, 0.5],
    "max(age, -1)": ["max", AGE, -1],
    "clip(age, -1, 5)": ["clip", AGE, -1, 5],
    "bit(age + 3, 2)": ["bit", ["+", AGE, 3], 2],
    "prefix(age, 2)": ["prefix", AGE, 2],
    "prefix(name, 1) == 'a'": ["==", ["prefix", NAME, 1], "a"],
    "letter(name, 1)": ["letter", NAME, 1],
    "find(country, ('FR', 'DE'))": ["find", COUNTRY, ["FR", "DE"]],
    "attribute('class')": ["attribute", "class"],
    "table((1, 2.5))": ["table", [1, 2.5]],
    "sparse((1, 9007199254740992), (-1, 2))": ["sparse", [1, ["integer", "9007199254740992"]], [-1, 2]],
    "'\\u0041\\x42\\n\\\\' == country": ["==", "AB\n\\", COUNTRY],
    " (age\n\t+ 1 )\r\n": ["+", AGE, 1],
}


@each("text", TREES)
def test_texts_are_read_into_trees(text: str) -> None:
    asked = query(text)
    # As JSON, so that 1 is neither 1.0 nor true.
    assert json.dumps(asked.tree) == json.dumps(TREES[text])
    assert asked.text == str(asked) == text
    again = Query.from_tree(TREES[text])
    assert again == asked
    assert hash(again) == hash(asked)
    assert query(again.text) == asked, again.text


ASKED = [
    *(f"{a} {op} {b}" for op in ("+", "-", "*") for a, b in [("age", "code"), ("age", "0.1"), ("(age < 3)", "age")]),
    *("age / 3", "age / (code + 1.25)", "(age < 3) / -0.7", "7 / clip(age, 1, 4)"),
    *(f"{a} {op} {k}" for op in ("//", "%") for a in ("age", "code", "(age > 2)") for k in (1, 3, 7, 2**62)),
    *(f"{op}({a})" for op in ("-", "abs") for a in ("age", "age * 0.3", "(age < 3)", "3")),
    *(f"{op}(age, {rest})" for op in ("min", "max") for rest in ("code", "2.5", "code, 3, age * 2", "age < 3")),
    *("clip(age, -1, 3)", "clip(age * 0.5, -1, 3)", "clip(age, code - 45, max(code, 8))", "clip(age < 1, 0, 1)"),
    *(f"{a} {op} {b}" for op in ("<", "<=", ">", ">=", "==", "!=") for a, b in [("age", 3), ("age", "code * 0.2")]),
    *("(age < 3) == (code < 3)", "(age < 3) < 1", "True == (age > 1)"),
    *("country == 'FR'", "'FR' != country", "country == home", "country != home", "prefix(name, 1) == name"),
    *("age < 3 and code > 3 and country == 'DE'", "age < 3 or code > 3 or False", "not age < 3", "not not True"),
    *(
        "age if code > 3 else 0.5",
        "age if code > 3 else 2",
        "age < 3 if code > 3 else code < 3",
        "1 if age < 3 else 0 < age",
    ),
    *(
        "age in (3,)",
        "age in (3, 5, 7.5)",
        "age * 0.5 in (1.5, 2, 0.5)",
        "country in ('FR', 'FR')",
        "name in ('', 'ab')",
    ),
    *(f"age in {tuple(range(-9, 9, 2))}", f"find(age, {tuple(range(9, -9, -1))})", "prefix(name, 1) in ('a', 'ab')"),
    *(
        "find(age, (3, 5, -1))",
        "find(age * 0.5, (1.5, 2))",
        "find(name, ('b', '', 'ab', 'a'))",
        "find(age < 3, (1, 5))",
    ),
    *(f"find(age * {k}, {tuple(range(-900, 900, 7))})" for k in (1, 2**40, 0.5)),
    *(f"bit(age + 3, {k})" for k in (0, 1, 3, 62)),
    *("bit(age < 3, 0)", "prefix(age, 0)", "prefix(age, 1)", "prefix(age, 3)", "prefix(name, 0) == ''"),
    *("letter(name, 0)", "letter(name, 1)", "prefix(name, 2) != 'ab'", "9007199254740993 + age", "1e20 * age"),
    *("3", "0.25", "True", "-9223372036854775808", "9007199254740993 * 1.5", "9007199254740993 == 9007199254740992.0"),
    "sparse((0, 3, 1000), (1, -2, 9007199254740993))",
    "sparse((0, 3, 1000), (0.5, -2, 1)) * age",
    f"sparse({tuple(range(0, 90, 3))}, {tuple(range(30))})",
]
ARRAY = query(np.arange(PEOPLE.size) % 11 - 5)
REALS = query((np.arange(PEOPLE.size) % 11 - 5) / 8)
EVERY = [query(text) for text in ASKED] + [ARRAY, REALS]


@each("asked", EVERY)
def test_answers_are_those_of_plain_python(asked: Query) -> None:
    found = asked.evaluate(PEOPLE, EVERYBODY)
    expected = [answer(asked.tree, PEOPLE, index) for index in RECORDS]
    checked = asked.check(PEOPLE)
    assert checked.kind == kind(asked.tree, PEOPLE)
    assert found.dtype == (np.int64 if checked.kind == "integer" else np.float64)
    assert found.tolist() == expected
    assert checked.low <= min(expected)
    assert max(expected) <= checked.high
    assert numbers(asked, PEOPLE, EVERYBODY).tolist() == [float(value) for value in expected]
    one = asked.evaluate_one(PEOPLE, value_at(PEOPLE, RECORDS[-1]))
    assert one == expected[-1]
    assert type(one) is (int if checked.kind == "integer" else float)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        *(("abs(value)", 0, 4), ("abs(value - 7)", 3, 11), ("abs(value * 0.5)", 0.0, 2.0), ("-value", -4, 4)),
        *(("value * value", -16, 16), ("value - value", -8, 8), ("value // 3", -2, 1), ("value % 3", 0, 2)),
        *(("min(value, 1)", -4, 1), ("max(value, 1)", 1, 4), ("clip(value, -1, 9)", -1, 4), ("value / -8", -0.5, 0.5)),
        *(("value if value < 0 else 9", -4, 9), ("value < 0", 0, 1), ("True", 0, 1), ("find(value, (1, 2))", 0, 2)),
        *(
            ("prefix(value, 2)", 0, 2),
            ("sparse((1, 2), (5, 7))", 0, 7),
            ("value + 0.5", -3.5, 4.5),
            ("1e20", 1e20, 1e20),
        ),
    ],
)
def test_bounds(text: str, low: float, high: float) -> None:
    checked = query(text).check(Domain.of(range(-4, 5)))
    assert (checked.low, checked.high) == (low, high)
    assert {type(checked.low), type(checked.high)} == {type(low)}


def test_numbers_are_known_by_their_value() -> None:
    for raw, kind_of in [(1.0, "integer"), (-0.0, "integer"), (2**53 - 1, "integer"), (2**53, "real"), (0.5, "real")]:
        assert Query.from_tree(raw).check(PEOPLE).kind == kind_of
        assert Query.from_json(Query.from_tree(raw).to_json()) == Query.from_tree(raw)
    assert Query.from_json("1e2").tree == 100
    assert Query.from_json("100000000000000000000") == Query.from_tree(1e20)
    assert Query.from_tree(["<", ["<", 1, 2], ["==", 3, 3]]).text == "(1 < 2) < (3 == 3)"


def operations(tree: Any) -> set[str]:
    if not isinstance(tree, list):
        return set()
    inner = [part for part in tree[1:] if isinstance(part, list) and part and part[0] in SHAPES]
    return {tree[0]}.union(*map(operations, inner))


def test_every_operation_was_asked() -> None:
    assert set().union(*(operations(asked.tree) for asked in EVERY)) | {"integer"} == set(SHAPES)


@pytest.mark.parametrize("size", [2**63 - 1, 2, 3, 1000])
@pytest.mark.parametrize("step", [1, -1, 2**62, 2**63, 2**64 - 1])
def test_ranges_up_to_the_ends_of_int64(size: int, step: int) -> None:
    start = -(2**63) if step > 0 else 2**63 - 1
    size = min(size, 1 + (2**64 - 1) // abs(step))
    domain = Domain.of(range(start, start + step * size, step))
    records = sorted({0, 1, size // 3, size - 2, size - 1})
    for text in ("value", f"prefix(value, {(size - 1).bit_length()})", "value // 4611686018427387904", "value / 3"):
        found = query(text).evaluate(domain, domain.split(records))
        assert found.tolist() == [answer(query(text).tree, domain, index) for index in records]
        checked = query(text).check(domain)
        assert checked.low <= min(found.tolist())
        assert max(found.tolist()) <= checked.high


def test_searching_among_integers_that_only_differ_in_their_last_digit() -> None:
    domain = Domain.of(range(2**62, 2**63 - 1))
    listed = [2**62 + step for step in (1, 3, 4, 900, 901, 5, 77, 2**40, 2**40 + 1, 2**61, 2**61 + 1)]
    asked = query(f"find(value, {tuple(listed)})")
    values = [*listed, *(value + 1 for value in listed), *(value - 1 for value in listed)]
    expected = [listed.index(value) if value in listed else len(listed) for value in values]
    assert asked.evaluate(domain, domain.columns(values)).tolist() == expected


@each("count", [*range(8, 40), 1000, 1023, 1024, 1025])
def test_searching_lists_of_every_length(count: int) -> None:
    # Too wide for a table, and with a gap on both sides of every constant.
    domain = Domain.of(2**40)
    listed = np.random.default_rng(count).permutation(2 * np.arange(count) + 1).tolist()
    expected = [listed.index(value) if value % 2 else count for value in range(2 * count + 1)]
    values = domain.split(range(2 * count + 1))
    assert Query.from_tree(["find", ["attribute", "value"], listed]).evaluate(domain, values).tolist() == expected


def test_prefixes_of_long_texts() -> None:
    domain = Domain.text(13)
    assert isinstance(domain, TextDomain)
    texts = ["", "a", "anna", "annabella", "zzzzzzzzzzzzz", "annz"]
    columns = domain.columns(texts)
    for k in range(14):
        expected = [float(text[:k] == "anna"[:k]) for text in texts]
        assert query(f"prefix(value, {k}) == {'anna'[:k]!r}").evaluate(domain, columns).tolist() == expected


# --- what a query is made from ------------------------------------------------------------


def test_queries_from_numbers_and_workloads() -> None:
    domain = Domain.of(6)
    everybody = domain.split(range(6))
    row = [0.5, 0, 1, -2, 0, 3]
    for made in (query(row), query(tuple(row)), query(np.array(row)), query({0: 0.5, 2: 1, 3: -2, 5: 3})):
        assert made.evaluate(domain, everybody).tolist() == row
    assert query(np.array([True, False])).tree == ["table", [1, 0]]
    assert query(np.array([2**60 + 1, 1])).tree == ["table", [["integer", str(2**60 + 1)], 1]]
    assert query({np.int64(3): np.float32(0.5)}).tree == ["sparse", [3], [0.5]]
    workload = Parities(3)
    cube = workload.domain
    for name in workload.names():
        expected = workload.dense()[workload.find(name)]
        assert numbers(query((workload, name)), cube, cube.split(range(8))).tolist() == expected.tolist()
    assert query((Identity(100), "17")).tree == ["sparse", [17], [1]]
    assert query(query("age")) == query("age")


@pytest.mark.parametrize(
    "bad",
    [
        [],
        [[1, 2], [3, 4]],
        [[1], [2, 3]],
        ["<", 1, 2],
        [1, None],
        [float("nan"), 1],
        [1j, 2],
        np.zeros(2**16 + 1),
        {},
        {"a": 1},
        {True: 1},
        {-1: 1},
        {0: "x"},
        {0: float("inf")},
        {0.5: 1},
        None,
        7,
        b"age",
        {1, 2},
        object(),
        (Prefix(2**17), "<= 3"),
    ],
    ids=lambda bad: repr(bad)[:30].split(" at 0x")[0],
)
def test_what_no_query_is_made_from(bad: object) -> None:
    with pytest.raises(QueryError) as caught:
        query(bad)
    assert len(str(caught.value)) < 400


def test_a_workload_says_which_names_it_has() -> None:
    with refuses(WorkloadError, "name"):
        query((Prefix(10), "median"))


def test_queries_are_values() -> None:
    asked = query("age < 3")
    asked.tree[0] = ">"
    assert asked.tree == ["<", AGE, 3]
    with pytest.raises(AttributeError):
        asked.text = "age > 3"  # type: ignore[misc]
    for other in (copy.deepcopy(asked), pickle.loads(pickle.dumps(asked)), Query.from_json(asked.to_json())):  # noqa: S301
        assert other == asked
        assert other.check(PEOPLE) == Checked("truth", 0, 1, 3, 2)
    assert Query.from_json(b'[ "<" , ["attribute","age"],3.0]') == asked
    assert asked != query("age <= 3")
    assert asked != "age < 3"
    assert query("True") != query("1"), "a truth is no number"
    assert repr(query("1 + " * 30 + "1")) == f"query({'1 + ' * 19 + '1...'!r})"


def test_long_lists_are_shortened_for_people() -> None:
    asked = query(np.arange(2**16) % 7)
    assert asked.text == "table((0, 1, 2, 3, ... 65536 in all))"
    assert Query.from_json(asked.to_json()) == asked


def test_positions_are_clipped_and_integers() -> None:
    columns = PEOPLE.columns([(-3, "DE", "DE", 5, ""), (9, "DE", "DE", 40, "a")])
    assert positions(query("age"), PEOPLE, columns, 6).tolist() == [0, 5]
    assert positions(query("age < 0"), PEOPLE, columns, 2).tolist() == [1, 0]
    with refuses(QueryError, "query"):
        positions(query("age / 2"), PEOPLE, columns, 6)


def test_columns_must_be_the_domains() -> None:
    for columns in ({}, {"age": np.arange(3)}, {**EVERYBODY, "age": np.arange(3)}):
        with refuses(QueryError, "columns"):
            query("age").evaluate(PEOPLE, columns)
    assert query("age").evaluate(PEOPLE, PEOPLE.split([])).shape == (0,)
    with refuses(QueryError, "domain"):
        query("age").check({"age": range(100)})  # type: ignore[arg-type]


# --- time ---------------------------------------------------------------------------------


def branches(source: str) -> set[str]:
    """Whatever decides which code runs next."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            found.add(ast.unparse(node.test))
        elif isinstance(node, ast.comprehension):
            found |= {ast.unparse(test) for test in node.ifs}
        elif isinstance(node, (ast.BoolOp, ast.Match, ast.Try)):
            found.add(ast.unparse(node))
    return found


def test_the_evaluator_has_no_branch_on_values() -> None:
    assert branches(inspect.getsource(evaluate)) == {"part.op == 'column'", "part.op in _FOLDS", "left > 1"}
    assert branches("x = [a for a in b if a]\nwhile c and d: pass") == {"a", "c and d"}


@each("asked", EVERY)
def test_the_same_lines_run_for_every_record(asked: Query) -> None:
    asked.check(PEOPLE)
    first = lines_run(partial(asked.evaluate, PEOPLE, PEOPLE.split([0])))
    assert len(first) > 3
    for record in (1, 5, 6, 700, PEOPLE.size - 1):
        assert lines_run(partial(asked.evaluate, PEOPLE, PEOPLE.split([record]))) == first
