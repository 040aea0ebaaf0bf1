"""No value is counted as another one, whatever class it has and however it is written."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.domain import Domain


class OtherText(str):
    """A text that prints as another one."""

    def __str__(self) -> str:
        return "coffee"


class EqualText(str):
    """A text that says it equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("coffee")


class OtherInteger(int):
    """An integer that converts to another one."""

    def __int__(self) -> int:
        return 1

    def __index__(self) -> int:
        return 1

    def __float__(self) -> float:
        return 1.0


class OtherFloat(float):
    """A float that converts to another one."""

    def __float__(self) -> float:
        return 1.0


class Drink(str, Enum):  # noqa: UP042
    """Members that print as "Drink.TEA"."""

    TEA = "tea"
    COFFEE = "coffee"


class Access(Flag):
    """Flags, of which none has no name."""

    READ = 1
    WRITE = 2


LABELS = Domain.of(["tea", "coffee"])
INTEGERS = Domain.of([3, 1, 7])
RANGE = Domain.of(range(1, 9))
TEXTS = Domain.text(8)


@pytest.mark.parametrize(
    ("domain", "value", "plain"),
    [
        (LABELS, OtherText("tea"), "tea"),
        (LABELS, EqualText("tea"), "tea"),
        (LABELS, Drink.TEA, "tea"),
        (LABELS, np.str_("tea"), "tea"),
        (TEXTS, OtherText("tea"), "tea"),
        (TEXTS, Drink.TEA, "tea"),
        (INTEGERS, OtherInteger(7), 7),
        (RANGE, OtherInteger(7), 7),
        (RANGE, np.uint8(7), 7),
        (RANGE, OtherFloat(7.0), 7),
        (INTEGERS, OtherFloat(7.0), 7),
    ],
)
def test_a_value_is_what_it_holds(domain: Domain, value: Any, plain: Any) -> None:
    assert domain.index(value) == domain.index(plain)
    assert domain.indices([value, value]).tolist() == [domain.index(plain)] * 2
    assert domain.indices([value, plain]).tolist() == [domain.index(plain)] * 2


@pytest.mark.parametrize("value", [OtherInteger(300), OtherFloat(300), Decimal(300), Fraction(600, 2)])
@pytest.mark.parametrize("wants", ["mean", "distribution"])
def test_a_number_is_what_it_holds(value: Any, wants: str) -> None:
    question = sv.number(0, 600, "minutes", wants=wants)
    assert question.private_input(value) == question.private_input(300)
    assert question.people([value]).between(0, 1).tolist() == question.people([300]).between(0, 1).tolist()


@pytest.mark.parametrize("domain", [INTEGERS, RANGE], ids=["labels", "range"])
def test_a_span_of_time_is_not_an_integer(domain: Domain) -> None:
    """NumPy counts its spans of time among the integers: seven hours would be the value 7."""
    for span in (np.timedelta64(7, "h"), np.timedelta64("NaT"), timedelta(hours=7), pd.Timedelta(hours=7)):
        with pytest.raises(ValueOutsideDomainError):
            domain.index(span)
        with pytest.raises(ValueOutsideDomainError):
            domain.indices([span])
    with pytest.raises(ValueOutsideDomainError):
        domain.indices(np.array([7, 3], dtype="m8[h]"))


def test_a_flag_without_a_name_is_not_a_missing_value() -> None:
    domain = LABELS.with_missing("as no answer")
    assert domain.index(None) == 2
    with pytest.raises(ValueOutsideDomainError):
        domain.index(Access(0))


@pytest.mark.parametrize("wants", ["mean", "spread", "distribution"])
def test_numbers_beyond_doubles_are_clipped_as_all_others(wants: str) -> None:
    """A refusal would reveal that the number is large."""
    question = sv.number(-600, 600, wants=wants)
    for huge in (10**400, Fraction(10**400, 3), Decimal("1e400"), float("inf"), Decimal("inf"), np.float64("inf")):
        for value, end in ((huge, 600), (-huge, -600)):
            assert question.private_input(value) == question.private_input(end)
            assert question.people([value]).between(0, 1).tolist() == question.people([end]).between(0, 1).tolist()


@pytest.mark.parametrize(
    "row",
    [
        pd.Series([0, 1]),
        pd.Series({"a": 0, "b": 1}),
        pd.DataFrame({0: [0], 1: [1]}),
        pd.DataFrame({0: [0]}),
        bytearray([0, 1]),
        memoryview(bytes([0, 1])),
    ],
    ids=["row", "named row", "table", "one column", "bytearray", "memoryview"],
)
def test_a_row_of_ticks_is_not_a_list_of_options(row: Any) -> None:
    """Its zeros and ones would be taken for the options 0 and 1, and a table's columns for ticks."""
    with pytest.raises(ValueOutsideDomainError):
        sv.choices(2).private_input(row)


def test_a_row_with_two_values_of_a_field_is_no_record() -> None:
    row = pd.Series(["free", 3, "pro"], index=["plan", "age", "plan"])
    for question in (sv.records({"plan": ["free", "pro"], "age": 9}), sv.shares({"plan": ["free", "pro"], "age": 9})):
        question.private_input(row.iloc[:2])
        with pytest.raises(ValueOutsideDomainError):
            question.private_input(row)


@pytest.mark.parametrize(
    "vector",
    [
        ["0.5", "0.1"],
        [0.5, "0.1"],
        np.array(["2020", "2021"], dtype="M8[s]"),
        np.array([1, 2], dtype="m8[h]"),
        [np.timedelta64(1, "h"), 0.5],
        np.array([0.5, "0.1"], dtype=object),
    ],
    ids=["texts", "a text", "dates", "spans", "a span", "objects"],
)
def test_what_is_no_number_is_not_a_coordinate(vector: Any) -> None:
    with pytest.raises(ValueOutsideDomainError):
        sv.vector(2).private_input(vector)
    with pytest.raises(ValueOutsideDomainError):
        sv.vector(2, radius=1e12).people([vector])


def test_coordinates_may_be_any_numbers() -> None:
    question = sv.vector(2)
    for vector in ([Decimal("0.5"), Fraction(1, 4)], [True, False], np.array([0.5, 0.25], dtype=np.float16)):
        assert question.private_input(vector).tolist() == [float(entry) for entry in vector]
        assert question.people([vector]).n == 1


@pytest.mark.parametrize(
    "labels",
    [
        ["caf\u00e9", "cafe\u0301"],
        ["\u00c5", "\u212b"],
        ["tea", "te\u200ba"],
        ["tea", "\u2066tea\u2069"],
        ["green tea", "green  tea"],
        ["green tea", "green\u00a0tea"],
        ["tea", "\u200b"],
        ["tea", "tea\x00"],
    ],
)
def test_labels_that_look_the_same_are_refused(labels: list[str]) -> None:
    with pytest.raises(DomainError):
        sv.shares(labels)
    with pytest.raises(DomainError):
        sv.choices(labels)


def test_labels_that_differ_are_kept() -> None:
    for labels in (["tea", "Tea"], ["x2", "x²"], ["a", "а"], ["o", "ö"], ["👩‍👧", "👩👦"]):
        assert sv.shares(labels).domain.labels() == labels


def test_truth_values_are_named_by_their_type() -> None:
    assert sv.shares(bool).domain == sv.shares([False, True]).domain
    records = sv.records({"active": bool, "plan": ["free", "pro"]})
    assert records.private_input({"active": np.True_, "plan": "pro"}).tolist() == [1, 1]


def test_a_question_says_what_a_person_answers() -> None:
    assert repr(sv.shares(["tea", "coffee"])) == "<shares question: one of 2 values>"
    assert repr(sv.number(0, 600)) == "<number question: a number from 0 to 600; others are clipped>"
    for question in (sv.choices(4), sv.words(), sv.vector(3), sv.queries(sv.workloads.Prefix(9)), sv.records({"a": 2})):
        assert question.values_text in repr(question)


def test_what_a_mask_hides_is_not_counted() -> None:
    """NumPy hands out the data below a mask."""
    hidden = np.ma.MaskedArray([7, 8], mask=[False, True])
    for domain in (INTEGERS, RANGE):
        assert domain.indices(np.ma.MaskedArray([7, 7])).tolist() == [domain.index(7)] * 2
        with pytest.raises(ValueOutsideDomainError):
            domain.indices(hidden)
    assert RANGE.with_missing("as 1").indices(hidden).tolist() == [RANGE.index(7), RANGE.index(1)]
    with pytest.raises(ValueOutsideDomainError):
        sv.number(0, 600).people(hidden)
    with pytest.raises(ValueOutsideDomainError):
        sv.vector(2, radius=20).people(hidden[None, :])
    assert np.isnan(sv.vector(2).private_input(hidden)).tolist() == [False, True]
    with pytest.raises(ValueOutsideDomainError):
        sv.choices(2).people(np.ma.MaskedArray([[1, 0], [1, 0]], mask=[[False, False], [True, False]]))
    for nothing in (np.ma.masked, np.array(1)):
        with pytest.raises(ValueOutsideDomainError):
            sv.choices(2).private_input(nothing)
