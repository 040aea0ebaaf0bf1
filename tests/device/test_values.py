"""What a device makes of odd values: it reads each once, and refuses as few as it can, since silence says something."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played
from sottovoce.core.errors import ValueOutsideDomainError


def members(*names: str) -> Iterator[str]:
    yield from names


@pytest.mark.parametrize("otherwise", [None, []])
@pytest.mark.parametrize(
    "make", [members, lambda *names: iter(names), lambda *names: map(str, names)], ids=["generator", "iterator", "map"]
)
def test_an_iterator_is_read_once(
    played: Played, device: MakeDevice, make: Callable[..., Any], otherwise: list[str] | None
) -> None:
    survey = sv.Survey(sv.choices(["tea", "coffee"], most=1), epsilon=16.0)
    played.publish(survey)
    extra = {} if otherwise is None else {"otherwise": otherwise}
    device(cap=16.0, budget=16.0).answer(played.url, survey.id, make("tea"), **extra)
    (row,) = played.reports(survey)
    assert survey.estimate([row[16:]])["tea"].value == pytest.approx(1, abs=0.01)


def test_an_iterator_without_an_end_is_refused(played: Played, device: MakeDevice) -> None:
    survey = sv.Survey(sv.choices(["tea", "coffee"]), epsilon=1.0)
    played.publish(survey)
    with pytest.raises(ValueOutsideDomainError):
        device().answer(played.url, survey.id, itertools.repeat("tea"))
    assert played.reports(survey) == []


NUMBERS = sv.number(0, 600)
GAPS = sv.number(0, 600, missing="as 300")
BINS = sv.number(0, 600, wants="distribution", missing="as 300")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (math.inf, 600),
        (-math.inf, 0),
        (np.float32("inf"), 600),
        (np.float16("-inf"), 0),
        (Decimal("Infinity"), 600),
        (Decimal("-Infinity"), 0),
        (Decimal("1e999999"), 600),
        (Decimal("90.5"), 90.5),
        (Fraction(181, 2), 90.5),
        (Fraction(10**400), 600),
        (-(10**400), 0),
        (np.int8(7), 7),
        (np.float32(90.5), 90.5),
        (np.longdouble(90.5), 90.5),
    ],
)
def test_numbers_of_every_type_are_clipped(value: Any, number: float) -> None:
    for question in (NUMBERS, GAPS, BINS):
        assert question.private_input(value) == question.private_input(number)
        assert question.people([value]).between(0, 1) == question.people([number]).between(0, 1)
    form = sv.records({"hours": NUMBERS})
    assert form.private_input({"hours": value}) == form.private_input({"hours": number})


def test_arrays_of_people_are_clipped_too() -> None:
    odd, plain = np.array([math.inf, -math.inf, 7]), np.array([600.0, 0, 7])
    assert NUMBERS.people(odd).between(0, 3).tolist() == NUMBERS.people(plain).between(0, 3).tolist()


@pytest.mark.parametrize(
    "missing", [None, math.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), np.timedelta64("NaT")], ids=str
)
def test_missing_numbers_follow_the_policy(missing: Any) -> None:
    assert GAPS.private_input(missing) == GAPS.private_input(300)
    assert BINS.private_input(missing) == BINS.private_input(300)
    with pytest.raises(ValueOutsideDomainError):
        NUMBERS.private_input(missing)


def test_whole_numbers_of_every_type_are_integers() -> None:
    ages = sv.shares(range(100), missing="as 0")
    for seven in (7, 7.0, np.int8(7), np.float32(7), Decimal(7), Decimal("7.00"), Fraction(14, 2)):
        assert ages.private_input(seven) == 7
        assert ages.people([seven]).between(0, 1).tolist() == [7]
    for odd in (Decimal("7.5"), Fraction(7, 2), Decimal("1e999999"), Decimal("Infinity"), math.inf, 10**400):
        assert not ages.admits(odd)
    assert ages.private_input(Decimal("sNaN")) == 0


def test_entries_of_vectors_of_every_type() -> None:
    for value in ([Decimal(1), Fraction(2), np.int8(3)], np.array([1, 2, 3], dtype=np.uint8), (1, 2.0, 3)):
        assert sv.vector(3).private_input(value).tolist() == [1, 2, 3]
    for odd in (10**400, Decimal("sNaN"), None, Fraction(10**400), Decimal("1e999999")):
        entries = np.where(np.isfinite(sv.vector(2).private_input([odd, 1])), sv.vector(2).private_input([odd, 1]), 0)
        assert entries.tolist() == [0, 1]
    assert sv.vector(1).private_input(Decimal("0.5")).tolist() == [0.5]
