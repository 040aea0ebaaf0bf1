"""Domains: a value and its number name each other, one at a time or in columns, and nothing else gets in."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from cases import each
from refusing import refuses
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.domain import Domain, LabelDomain, ProductDomain, RangeDomain, ValueNumbers, domain_from_statement
from sottovoce.domain.labels import as_seen

EXACT = 2**53 - 1
PLAIN = settings(deadline=None)

readable = st.text(st.characters(codec="utf-8"), max_size=8).filter(as_seen)
text_labels = st.lists(readable, min_size=2, max_size=12, unique_by=as_seen)
integer_labels = st.lists(st.integers(-EXACT, EXACT), min_size=2, max_size=12, unique=True)


@st.composite
def ranges(draw: st.DrawFn) -> range:
    start = draw(st.integers(-(10**6), 10**6))
    step = draw(st.integers(-1000, 1000).filter(bool))
    return range(start, start + step * draw(st.integers(2, 50)), step)


simple = st.one_of(text_labels, integer_labels, ranges(), st.integers(2, 60))
names = st.lists(st.sampled_from(["age", "country", "x", "größe", "_"]), min_size=1, max_size=3, unique=True)


@st.composite
def domains(draw: st.DrawFn) -> tuple[Domain, list[Any]]:
    """A domain and its values in the order of their numbers."""
    if draw(st.booleans()):
        given_as = draw(simple)
        return Domain.of(given_as), list(range(given_as) if isinstance(given_as, int) else given_as)
    attributes = {name: draw(simple) for name in draw(names)}
    lists = [list(range(a) if isinstance(a, int) else a)[:5] for a in attributes.values()]
    cut = dict(zip(attributes, lists, strict=True))
    records: list[dict[str, Any]] = [{}]
    for name, entries in cut.items():
        records = [{**record, name: entry} for record in records for entry in entries]
    return Domain.of(cut), records


@PLAIN
@given(domains())
def test_values_are_numbered_from_zero_in_order(case: tuple[Domain, list[Any]]) -> None:
    domain, values = case
    assert domain.size == len(values)
    assert [domain.index(value) for value in values] == list(range(domain.size))
    assert domain.indices(values).tolist() == list(range(domain.size))
    assert domain.indices(values).dtype == np.int64
    assert domain.indices(iter(values)).tolist() == list(range(domain.size))
    assert domain.labels() == [domain.label(i) for i in range(domain.size)]


@PLAIN
@given(domains(), st.data())
def test_one_at_a_time_and_all_at_once_agree(case: tuple[Domain, list[Any]], data: st.DataObject) -> None:
    """On values of the domain and on anything else, whatever is refused by one is refused by the other."""
    domain, values = case
    strangers = st.one_of(
        st.integers(-(2**70), 2**70), st.text(max_size=3), st.floats(), st.booleans(), st.none(), st.binary(max_size=3)
    )
    mixed = data.draw(st.lists(st.sampled_from(values) | strangers, max_size=6))

    def number(value: Any) -> int | None:
        try:
            return domain.index(value)
        except ValueOutsideDomainError:
            return None

    numbers = [number(value) for value in mixed]
    if None in numbers:
        with pytest.raises(ValueOutsideDomainError):
            domain.indices(mixed)
    else:
        assert domain.indices(mixed).tolist() == numbers


@PLAIN
@given(domains())
def test_statements_restore_the_domain(case: tuple[Domain, list[Any]]) -> None:
    domain, values = case
    again = domain_from_statement(domain.to_statement())
    assert again == domain
    assert hash(again) == hash(domain)
    assert again.index(values[-1]) == domain.size - 1
    assert Domain.of(domain) is domain


@PLAIN
@given(text_labels)
def test_labels_say_what_was_given(labels: list[str]) -> None:
    assert Domain.of(labels).labels() == labels
    assert Domain.of(tuple(labels)).labels() == labels
    assert Domain.of(np.array(labels, dtype=object)).labels() == labels
    assert Domain.of(pd.Series(labels, index=range(7, 7 + len(labels)), dtype=object)).labels() == labels


def test_the_readable_form_of_every_kind() -> None:
    assert Domain.of(["a", "b", "c", "d"]).label(3) == "d"
    assert Domain.of(range(10, 0, -3)).labels() == ["10", "7", "4", "1"]
    assert Domain.of(3).labels() == ["0", "1", "2"]
    assert Domain.product(a=2, s=["f", "m"]).labels() == ["a=0, s=f", "a=0, s=m", "a=1, s=f", "a=1, s=m"]


INTEGER_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2", "<i8"]


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_integer_arrays_of_every_type(dtype: str) -> None:
    array = np.array([3, 0, 4], dtype=dtype)
    assert Domain.of(5).indices(array).tolist() == [3, 0, 4]
    assert Domain.of([4, 3, 0]).indices(array).tolist() == [1, 2, 0]
    assert Domain.of(range(-1, 10)).indices(array).tolist() == [4, 1, 5]
    assert Domain.product(x=5).indices({"x": array}).tolist() == [3, 0, 4]
    with pytest.raises(ValueOutsideDomainError):
        Domain.of(["a", "b", "c", "d", "e"]).indices(array)
    assert [Domain.of(5).index(number) for number in array] == [3, 0, 4]


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_the_ends_of_every_integer_type_are_outside(dtype: str) -> None:
    for extreme in (np.iinfo(dtype).min, np.iinfo(dtype).max):
        array = np.array([1, extreme], dtype=dtype)
        for domain in (
            Domain.of(range(1, 99, 7)),
            Domain.of([1, 2, 5]),
            Domain.of(range(5, -5, -2)),
            Domain.of(["a", "b", "c"]),
        ):
            if domain._find(int(extreme)) < 0:
                with pytest.raises(ValueOutsideDomainError):
                    domain.indices(array)


def test_arrays_may_be_strided_or_read_only() -> None:
    array = np.arange(10)[::-2]
    array.flags.writeable = False
    assert Domain.of(10).indices(array).tolist() == [9, 7, 5, 3, 1]
    assert len(sv.Survey(sv.shares(10), epsilon=1.0).simulate(array, seed=1)) == 5


def test_columns_of_a_table() -> None:
    domain = Domain.product(age=range(18, 100), country=["DE", "FR", "IT"], club=[7, 3])
    table = pd.DataFrame(
        {"club": [3, 7, 7], "country": ["IT", "DE", "FR"], "age": [18, 99, 30]}, index=pd.Index([50, 3, 50])
    )
    expected = [domain.index(record) for record in table.to_dict("records")]
    assert domain.indices(table).tolist() == expected
    assert domain.indices(dict(table.items())).tolist() == expected
    assert domain.indices({name: table[name].tolist() for name in table}).tolist() == expected
    assert domain.indices(table.astype({"country": "category", "age": "Int64"})).tolist() == expected
    assert (
        domain.indices(list(table[["age", "country", "club"]].itertuples(index=False, name=None))).tolist() == expected
    )
    assert domain.indices(ValueNumbers(np.array(expected))).tolist() == expected
    with pytest.raises(ValueOutsideDomainError):
        domain.indices(np.array(expected))


def test_a_column_keeps_its_order_whatever_its_index() -> None:
    column = pd.Series(["b", "a", "b"], index=[9, 0, 4])
    assert Domain.of(["a", "b"]).indices(column).tolist() == [1, 0, 1]
    assert Domain.of(["a", "b"]).indices(column[column == "b"]).tolist() == [1, 1]


@pytest.mark.parametrize(
    "table",
    [
        {"age": [1]},
        {"age": [1], "country": ["DE"], "more": [0]},
        {"age": [1], "Country": ["DE"]},
        {"age": [1, 2], "country": ["DE"]},
        {"age": [1], "country": ["GB"]},
        {"age": [-1], "country": ["DE"]},
        {"age": [1.5], "country": ["DE"]},
        {"age": [math.nan], "country": ["DE"]},
        {"age": [True], "country": ["DE"]},
        {"age": [1], "country": [None]},
        {"age": 1, "country": "DE"},
        {"age": [[1]], "country": ["DE"]},
    ],
)
def test_tables_that_do_not_fit(table: dict[str, Any]) -> None:
    with pytest.raises(ValueOutsideDomainError):
        Domain.product(age=range(100), country=["DE", "FR"]).indices(table)


STRANGERS = [True, False, np.True_, 1.5, np.float64(1.5), 2.0**60, math.nan, math.inf, None, b"a", b"", "z", "1"]
STRANGERS += [10**30, -(10**30)]
STRANGERS += [
    -1,
    3,
    2**63,
    2**64,
    Fraction(1, 2),
    Decimal("0.5"),
    1j,
    [1, 1],
    (1, 1),
    {"x": 1},
    {1},
    object,
    np.array(1.5),
]


@each("stranger", STRANGERS)
@each(
    "domain",
    [
        Domain.of(["a", "b", "c"]),
        Domain.of(3),
        Domain.of([0, 1, 2]),
        Domain.product(q=3),
        Domain.product(q=["a", "b", "c"]),
    ],
)
def test_values_outside_are_refused(domain: Domain, stranger: Any) -> None:
    for refuse in (domain.index, lambda value: domain.indices([value]), lambda value: domain.indices([0, value])):
        with pytest.raises(ValueOutsideDomainError):
            refuse(stranger)


@pytest.mark.parametrize(
    "values", ["abc", b"abc", {"a": 5}, {"a"}, 3, None, np.array("a"), np.zeros((2, 2), int)], ids=repr
)
def test_values_come_one_a_person(values: Any) -> None:
    """A text's characters, a histogram's keys and a set's members are no list of people."""
    for domain in (Domain.of(["a", "b", "c"]), Domain.of(5)):
        with refuses(ValueOutsideDomainError, "values"):
            domain.indices(values)


def test_no_index_counts_from_the_end() -> None:
    for domain in (Domain.of(["a", "b", "c"]), Domain.of(3), Domain.product(x=["a", "b", "c"])):
        for index in (-1, -3, 3, True, 1.0, None):
            with refuses(ValueOutsideDomainError, "index"):
                domain.label(index)  # type: ignore[arg-type]


def test_a_truth_value_is_no_integer_in_a_list_either() -> None:
    for values in ([True, 2], [2, False], np.array([True, False]), (np.True_, 1)):
        with pytest.raises(ValueOutsideDomainError):
            Domain.of(5).indices(values)


BAD_DOMAINS = {
    "no label": [],
    "one label": ["a"],
    "a label twice": ["a", "b", "a"],
    "an integer twice": [1, 2, 1],
    "mixed": ["a", 1],
    "floats": [1.0, 2.0],
    "none": [None, "a"],
    "bytes": [b"a", b"b"],
    "unhashable": [["a"], ["b"]],
    "lone surrogate": ["ok", "\ud800"],
    "split surrogate pair": ["a\ud83d", "\ude00b"],
    "label too large for JSON": [1, 2**53],
    "label too small for JSON": [1, -(2**53)],
    "size 0": 0,
    "size 1": 1,
    "negative size": -5,
    "float size": 5.0,
    "nan": math.nan,
    "truth value": True,
    "beyond int64": 2**63,
    "huge": 10**5000,
    "empty range": range(0),
    "range of one": range(1),
    "backwards range": range(5, 0),
    "range beyond int64": range(2**63 - 5, 2**63 + 1),
    "range below int64": range(-(2**63) - 1, -(2**63) + 5),
    "range down below int64": range(0, -(2**64), -(2**62)),
    "all of int64": range(-(2**63), 2**63),
    "huge range": range(2**70),
    "text": "abc",
    "bytes object": b"abc",
    "nothing": None,
    "set": {"a", "b"},
    "frozen set": frozenset(["a", "b"]),
    "no attribute": {},
    "attribute without a name": {"": 5},
    "attribute with a space": {"first name": 5},
    "attribute with a number for a name": {1: 5},
    "attribute of size 1": {"a": ["x"], "b": 5},
    "nested product": {"a": {"b": 5}},
    "more than 2**63 records": {"a": range(2**40), "b": range(2**23), "c": 2},
    "two-dimensional": np.zeros((2, 2), dtype=int),
}


@pytest.mark.parametrize("given_as", BAD_DOMAINS.values(), ids=BAD_DOMAINS.keys())
def test_domains_that_cannot_be(given_as: Any) -> None:
    with pytest.raises(DomainError):
        Domain.of(given_as)


def test_step_zero_cannot_be() -> None:
    with refuses(DomainError, "values"):
        RangeDomain(0, 0, 5)


BAD_STATEMENTS: list[Any] = [
    None,
    [],
    {},
    {"labels": "ab"},
    {"labels": ["a", "b"], "more": 1},
    {"labels": [["a"], ["b"]]},
    {"labels": [{}, {}]},
    {"start": 0, "step": 1},
    {"start": 0, "step": 0, "size": 5},
    {"start": True, "step": 1, "size": 5},
    {"start": 0, "step": True, "size": 5},
    {"start": 0, "step": 1, "size": True},
    {"start": 0.0, "step": 1, "size": 5},
    {"start": 0, "step": 1, "size": 5, "labels": ["a", "b"]},
    {"start": 0, "step": 10**300, "size": 5},
    {"alphabet": "ab", "length": True},
    {"alphabet": "ab", "length": "3"},
    {"alphabet": ["a", "b"], "length": 3},
    {"alphabet": "ab"},
    {"alphabet": "ab", "length": 3, "more": 1},
    {"attributes": []},
    {"attributes": {}},
    {"attributes": ["a"]},
    {"attributes": [{"name": "a"}]},
    {"attributes": [{"name": "a", "domain": {"labels": ["x", "y"]}, "more": 1}]},
    {"attributes": [{"name": 1, "domain": {"labels": ["x", "y"]}}]},
    {"attributes": [{"name": "a b", "domain": {"labels": ["x", "y"]}}]},
    {"attributes": [{"name": "a", "domain": {"labels": ["x", "y"]}}] * 2},
    {"attributes": [{"name": "a", "domain": {"attributes": [{"name": "b", "domain": {"labels": ["x", "y"]}}]}}]},
]


@pytest.mark.parametrize("statement", BAD_STATEMENTS, ids=lambda s: repr(s)[:60])
def test_statements_that_cannot_be(statement: Any) -> None:
    with pytest.raises(DomainError):
        domain_from_statement(statement)


def test_nesting_without_end_does_not_exhaust_the_stack() -> None:
    statement: dict[str, Any] = {"labels": ["a", "b"]}
    for _ in range(20_000):
        statement = {"attributes": [{"name": "a", "domain": statement}]}
    with refuses(DomainError, "domain"):
        domain_from_statement(statement)
    while "attributes" in statement:  # taken apart by hand: freeing it all at once would recurse
        statement = statement["attributes"][0]["domain"]


def test_a_product_of_2_to_the_63_records() -> None:
    """Nothing is listed: it must be instant, and right at both ends."""
    domain = Domain.product(a=range(2**31), b=range(2**20), c=range(100, 100 + 2**12))
    assert domain.size == 2**63
    last = {"a": 2**31 - 1, "b": 2**20 - 1, "c": 99 + 2**12}
    assert domain.index(last) == 2**63 - 1
    assert domain.label(2**63 - 1) == "a=2147483647, b=1048575, c=4195"
    assert domain.index({"a": 1, "b": 2, "c": 103}) == (1 << 32) + (2 << 12) + 3
    columns = {name: np.array([0 if name != "c" else 100, part]) for name, part in last.items()}
    assert domain.indices(columns).tolist() == [0, 2**63 - 1]
    assert domain.indices([last, (0, 0, 100)]).tolist() == [2**63 - 1, 0]
    assert domain.indices(ValueNumbers(np.array([2**63 - 1]))).tolist() == [2**63 - 1]
    for outside in (2**63, 2**63 - 1, 0, -1):
        with pytest.raises(ValueOutsideDomainError):
            domain.index(outside)


@PLAIN
@given(st.integers(0, 2**63 - 1))
def test_a_huge_product_numbers_its_records_both_ways(number: int) -> None:
    domain = Domain.product(a=range(2**31), b=range(2**32))
    record = dict(part.split("=") for part in domain.label(number).split(", "))
    assert domain.index({name: int(value) for name, value in record.items()}) == number


def test_the_largest_plain_domain() -> None:
    domain = Domain.of(2**63 - 1)
    assert domain.index(2**63 - 2) == 2**63 - 2
    assert domain.label(2**63 - 2) == "9223372036854775806"
    assert domain.indices([2**63 - 2, 0]).tolist() == [2**63 - 2, 0]
    for outside in (2**63 - 1, 2**63, -1):
        with pytest.raises(ValueOutsideDomainError):
            domain.indices([0, outside])
    for last in (2**53 + 1, 2**63 - 1):
        edge = Domain.of(range(last - 2, last + 1))
        assert edge.labels() == [str(last - 2), str(last - 1), str(last)]
        assert edge.indices([last]).tolist() == [2]


def test_domains_cannot_be_changed() -> None:
    for domain in (LabelDomain(("a", "b")), RangeDomain(0, 1, 5), ProductDomain((("a", RangeDomain(0, 1, 5)),))):
        for field in fields(domain):
            with pytest.raises(FrozenInstanceError):
                setattr(domain, field.name, None)
