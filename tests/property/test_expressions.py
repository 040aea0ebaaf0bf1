"""Random expressions over random domains: bounds that bound, answers of plain Python, round trips, garbage refused."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from expression_oracle import answer, kind
from sottovoce import Domain
from sottovoce.core.errors import QueryError
from sottovoce.domain import LabelDomain, RangeDomain, TextDomain
from sottovoce.expressions import Query, query
from sottovoce.expressions.limits import LARGEST, MAX_TEXT, SMALLEST
from sottovoce.expressions.tree import SHAPES, integer_node

# --- domains ------------------------------------------------------------------------------

NAMES = ("age", "b", "été", "class")
edges = st.sampled_from([0, 1, -1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**53), -(2**63)])
integers = st.one_of(st.integers(-20, 20), st.integers(SMALLEST, LARGEST), edges)
reals = st.one_of(st.sampled_from([0.5, -0.25, 0.1, 1e-300, 1e20, 2.0**53, -1e300]), st.floats(-1e6, 1e6))
labels = st.lists(st.text("ab'\"\\\n é😀", max_size=3), min_size=2, max_size=4, unique=True)


@st.composite
def ranges(draw: st.DrawFn) -> RangeDomain:
    start, step = draw(integers), draw(st.sampled_from([1, 2, -1, -7, 2**40, 2**62]))
    room = ((LARGEST - start) if step > 0 else (start - SMALLEST)) // abs(step) + 1
    start, room = (start, room) if room > 1 else (0, 2)
    return RangeDomain(start, step, min(room, draw(st.one_of(st.integers(2, 12), st.just(2**20)))))


attributes = st.one_of(
    ranges(),
    labels.map(lambda names: LabelDomain(tuple(names))),
    st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=2, max_size=4, unique=True).map(
        lambda names: LabelDomain(tuple(names))
    ),
    st.builds(TextDomain, st.sampled_from(["ab", "é'z", "01"]), st.integers(1, 5)),
)
domains = st.one_of(
    attributes,
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries(dict.fromkeys(names, attributes)).map(Domain.of)
    ),
)


# --- trees of a wanted kind ---------------------------------------------------------------


def is_text(domain: Domain) -> bool:
    return isinstance(domain, TextDomain) or (isinstance(domain, LabelDomain) and isinstance(domain.names[0], str))


@st.composite
def truths(draw: st.DrawFn, domain: Domain, depth: int) -> Any:
    texts = [(name, inner) for name, inner in Domain.attributes_of(domain) if is_text(inner)]
    forms = ["constant"] + ["compare", "logic", "not", "in", "bit", "if"] * (depth > 0) + ["text"] * bool(texts)
    form = draw(st.sampled_from(forms))
    number, truth = figures(domain, depth - 1), truths(domain, depth - 1)
    if form == "constant":
        return draw(st.booleans())
    if form == "compare":
        return [draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="])), draw(number), draw(number)]
    if form == "logic":
        return [draw(st.sampled_from(["and", "or"])), *draw(st.lists(truth, min_size=2, max_size=3))]
    if form == "not":
        return ["not", draw(truth)]
    if form == "in":
        return ["in", draw(number), draw(st.lists(constants, min_size=1, max_size=12))]
    if form == "bit":
        return ["bit", ["max", 0, draw(figures(domain, depth - 1, whole=True))], draw(st.integers(0, 62))]
    if form == "if":
        return ["if", draw(truth), draw(truth), draw(truth)]
    name, inner = draw(st.sampled_from(texts))
    label = inner.label(draw(st.integers(0, inner.size - 1)))
    side: Any = ["attribute", name]
    if isinstance(inner, TextDomain) and draw(st.booleans()):
        side = ["prefix", side, draw(st.integers(0, inner.max_length))]
    sides = [side, draw(st.sampled_from([label, ["attribute", name]]))]
    if draw(st.booleans()):
        return ["in", side, draw(st.lists(st.just(label), min_size=1, max_size=2))]
    return [draw(st.sampled_from(["==", "!="])), *(sides[::-1] if draw(st.booleans()) else sides)]


constants = st.one_of(integers.map(integer_node), reals)


@st.composite
def figures(draw: st.DrawFn, domain: Domain, depth: int, whole: bool = False) -> Any:
    """A tree that gives a number, an integer where it must be whole."""
    held = Domain.attributes_of(domain)
    forms = ["constant", "attribute"]
    if depth > 0:
        forms += ["arithmetic"] * 3 + ["sign", "extreme", "clip", "steps", "find", "if", "count", "sparse"]
        forms += ["arithmetic", "divide"] * (not whole) + ["table"] * (domain.size < 50)
    form = draw(st.sampled_from(forms))
    number, integer = figures(domain, depth - 1, whole), figures(domain, depth - 1, whole=True)
    member = integers.map(integer_node) if whole else constants
    if form == "arithmetic":
        return [draw(st.sampled_from(["+", "-", "*"])), draw(number), draw(number)]
    if form == "divide":
        return ["/", draw(number), draw(st.sampled_from([["+", 1, ["abs", draw(number)]], 3, -0.7]))]
    if form == "sign":
        return [draw(st.sampled_from(["neg", "abs"])), draw(number)]
    if form == "extreme":
        return [draw(st.sampled_from(["min", "max"])), *draw(st.lists(number, min_size=2, max_size=3))]
    if form == "clip":
        ends = sorted(draw(st.lists(st.integers(-100, 100), min_size=2, max_size=2)))
        return ["clip", draw(number), *ends]
    if form == "steps":
        return [draw(st.sampled_from(["//", "%"])), draw(integer), integer_node(draw(st.integers(1, LARGEST)))]
    if form == "find":
        listed = draw(st.lists(st.integers(-30, 30), min_size=1, max_size=12, unique=True))
        return ["find", draw(number), listed]
    if form == "if":
        return ["if", draw(truths(domain, depth - 1)), draw(number), draw(number)]
    if form == "count":
        return ["+", draw(truths(domain, depth - 1)), draw(truths(domain, depth - 1))]
    if form == "sparse":
        listed = sorted(draw(st.sets(st.integers(0, min(domain.size - 1, 40)), min_size=1, max_size=12)))
        return ["sparse", listed, draw(st.lists(member, min_size=len(listed), max_size=len(listed)))]
    if form == "table":
        return ["table", draw(st.lists(member, min_size=domain.size, max_size=domain.size))]
    if form == "constant":
        return draw(member)
    name, inner = draw(st.sampled_from(held))
    if isinstance(inner, TextDomain):
        return ["letter", ["attribute", name], draw(st.integers(0, inner.max_length - 1))]
    if is_text(inner):
        return ["find", ["attribute", name], [inner.label(inner.size - 1), inner.label(0)]]
    if isinstance(inner, RangeDomain) and draw(st.booleans()):
        return ["prefix", ["attribute", name], draw(st.integers(0, (inner.size - 1).bit_length()))]
    return ["attribute", name]


@st.composite
def questions(draw: st.DrawFn) -> tuple[Domain, Any]:
    domain = draw(domains)
    depth = draw(st.integers(0, 4))
    return domain, draw(st.one_of(figures(domain, depth), figures(domain, depth, whole=True), truths(domain, depth)))


# --- what must hold -----------------------------------------------------------------------


@settings(max_examples=300)
@given(questions(), st.data())
def test_answers_bounds_and_kinds(question: tuple[Domain, Any], data: st.DataObject) -> None:
    domain, tree = question
    asked = Query.from_tree(tree)
    try:
        checked = asked.check(domain)
    except QueryError as error:
        # Well-typed trees are refused only for what they may reach, or for constants that rounding makes equal.
        if not any(words in str(error) for words in ("may overflow", "may become infinite", "are equal")):
            raise
        return
    records = [*data.draw(st.lists(st.integers(0, domain.size - 1), max_size=8)), 0, domain.size - 1]
    found = asked.evaluate(domain, domain.split(records)).tolist()
    assert found == [answer(asked.tree, domain, record) for record in records]
    assert checked.kind == kind(asked.tree, domain)
    assert checked.low <= min(found)
    assert max(found) <= checked.high
    assert all(math.isfinite(bound) for bound in (checked.low, checked.high))
    assert asked.evaluate_one(domain, domain.label(0) if is_text(domain) else asked_value(domain)) == found[-2]


def asked_value(domain: Domain) -> Any:
    """The first value as a person would give it."""
    first = [(inner, inner.label(0)) for _, inner in Domain.attributes_of(domain)]
    parts = tuple(label if is_text(inner) else int(label) for inner, label in first)
    return parts if domain is not first[0][0] else parts[0]


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(2, 9), st.integers(2, 9))
def test_bounds_are_reached_where_every_attribute_stands_once(a: int, b: int, m: int, n: int) -> None:
    domain = Domain.product(x=range(a, a + m), y=range(b, b + n))
    everybody = domain.split(np.arange(domain.size))
    for text in (
        "x + y",
        "x - y",
        "x * y",
        "min(x, y)",
        "max(x, y)",
        "abs(x) + y",
        "-x",
        "clip(x, -3, 4)",
        "x * 0.1 + y / 7",
    ):
        checked, found = query(text).check(domain), query(text).evaluate(domain, everybody)
        assert (found.min(), found.max()) == (checked.low, checked.high)


@settings(max_examples=200)
@given(questions())
def test_round_trips(question: tuple[Domain, Any]) -> None:
    _, tree = question
    asked = Query.from_tree(tree)
    assert Query.from_json(asked.to_json()) == asked
    assert Query.from_tree(asked.tree) == asked
    assert json.loads(json.dumps(asked.tree)) == asked.tree
    if len(asked.text) <= MAX_TEXT:
        assert json.dumps(query(asked.text).tree) == json.dumps(asked.tree)


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(2.0**53, 1e21))
def test_every_real_comes_back(real: float) -> None:
    """Also those between 2**53 and 1e21, which canonical JSON spells as whole numbers that they are not."""
    for constant in (real, -real):
        asked = Query.from_tree(["+", ["attribute", "x"], constant])
        again = Query.from_json(asked.to_json())
        assert again == asked
        assert again.to_json() == asked.to_json()


garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(sorted(SHAPES)),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=20,
)
parts = st.recursive(
    st.sampled_from(
        [0, 1, -1, 2.5, True, "a", ["attribute", "x"], ["attribute", "t"], [1, 2], ["a", "b"], [], 2**53, None]
    ),
    lambda inner: (
        st.tuples(st.sampled_from(sorted(SHAPES)), inner, inner).map(list)
        | st.tuples(st.sampled_from(sorted(SHAPES)), inner).map(list)
    ),
    max_leaves=12,
)
SOMEWHERE = Domain.product(x=range(-2, 3), t=Domain.text(2, "ab"))


@settings(max_examples=500)
@given(garbage | parts)
def test_garbage_is_refused_or_harmless(tree: Any) -> None:
    with contextlib.suppress(QueryError):
        asked = Query.from_tree(tree)
        assert Query.from_json(asked.to_json()) == asked
        checked = asked.check(SOMEWHERE)
        found = asked.evaluate(SOMEWHERE, SOMEWHERE.split(np.arange(SOMEWHERE.size)))
        assert checked.low <= found.min()
        assert found.max() <= checked.high


WORDS = """age x t 1 2.5 0x1F 'a' "b" ( ) [ ] { } , . : ; + - * / // % ** < <= == != in not and or if else is lambda
abs min max clip bit prefix letter find table sparse attribute True None f' ' \\ # = := ~ @ 1j ... yield await"""
tokens = st.lists(st.sampled_from(WORDS.split()), max_size=12)


@settings(max_examples=500)
@given(
    tokens.map(" ".join)
    | tokens.map("".join)
    | st.text(max_size=30)
    | st.binary(max_size=20).map(lambda b: b.decode("latin-1"))
)
def test_random_texts_are_refused_or_read_back(text: str) -> None:
    with contextlib.suppress(QueryError):
        asked = query(text)
        assert query(Query.from_tree(asked.tree).text) == asked
