"""Numbers between two ends: their positions, what is refused, and that nothing private is told."""

from __future__ import annotations

import math
import traceback
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import DomainError, SurveyError, ValueOutsideDomainError
from sottovoce.domain.number import STEPS, NumberGrid

GRID = NumberGrid(0, 600, "minutes", points=5)


def test_grid_points_are_positions_and_ends_are_exact() -> None:
    assert [GRID.position(v) for v in GRID.values] == [k * STEPS for k in range(5)]
    for low, high in ((0.1, 0.7), (-1e50, 1e50), (-7.3, -7.2), (1e9, 1e9 + 1e7), (0, 5e-40)):
        grid = NumberGrid(low, high, points=33)
        assert (grid.position(low), grid.position(high)) == (0, 32 * STEPS)
        assert (grid.values[0], grid.values[-1]) == (low, high)


def test_positions_follow_the_formula_and_are_near() -> None:
    numbers = np.random.default_rng(5).uniform(-100, 700, 1000)
    found = GRID.positions_of(numbers)
    assert found.tolist() == [GRID.position(x) for x in numbers.tolist()]
    inside = np.clip(numbers, 0, 600)
    assert found.tolist() == [math.floor(x / 600 * (4 * STEPS) + 0.5) for x in inside.tolist()]
    assert (np.abs(found / (4 * STEPS) * 600 - inside) <= GRID.position_error).all()
    assert GRID.clipped([-1, 3, 601]).tolist() == [0.0, 3.0, 600.0]


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int8(3), Fraction(3)])
def test_all_real_numbers_may_be_given(value: Any) -> None:
    assert GRID.position(value) == GRID.positions_of([value])[0] == GRID.position(3)


NO_NUMBERS = ["7319", None, True, np.True_, math.nan, 1j, [7319.0], {}, Decimal("NaN")]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_everything_else_is_refused_without_being_named(value: Any) -> None:
    for give, field in ((lambda: GRID.position(value), "value"), (lambda: GRID.positions_of([1.0, value]), "values")):
        with refuses(ValueOutsideDomainError, field) as caught:
            give()
        assert "7319" not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__cause__ is None


def test_columns_with_gaps_are_refused_by_their_place() -> None:
    with pytest.raises(ValueOutsideDomainError, match="position 1"):
        GRID.positions_of(np.array([1.0, np.nan]))
    with refuses(ValueOutsideDomainError, "values"):
        GRID.positions_of("123")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"low": 1, "high": 1}, "low"),
        ({"low": 2, "high": 1}, "low"),
        ({"low": -math.inf, "high": 1}, "low"),
        ({"low": 0, "high": math.inf}, "high"),
        ({"low": 0, "high": math.nan}, "high"),
        ({"low": "0", "high": 1}, "low"),
        ({"low": 0, "high": True}, "high"),
        ({"low": 0, "high": None}, "high"),
        ({"low": 0, "high": 10**400}, "high"),
        ({"low": 1e9, "high": 1e9 + 86_400}, "low"),
        ({"low": 0, "high": 1e-51}, "low"),
        ({"low": 0, "high": 1, "unit": "a\nb"}, "unit"),
        ({"low": 0, "high": 1, "unit": 3}, "unit"),
        ({"low": 0, "high": 1, "unit": "x" * 41}, "unit"),
        ({"low": 0, "high": 1, "points": 1}, "points"),
        ({"low": 0, "high": 1, "points": 2.5}, "points"),
    ],
)
def test_bad_ends_are_refused_by_name(given: dict[str, Any], field: str) -> None:
    with refuses(SurveyError, field):
        NumberGrid(**given)


def test_statement_round_trip_and_public_name() -> None:
    assert NumberGrid.from_statement(GRID.to_statement()) == GRID
    assert GRID.to_statement() == {"low": 0.0, "high": 600.0, "unit": "minutes", "points": 5}
    assert sv.number(-0.0, 1).grid == NumberGrid(0, 1, "", 65)
    assert math.copysign(1, sv.number(-0.0, 1).grid.low) == 1
    assert sv.number(0, 1).as_attribute() == NumberGrid(0, 1, "", 3)
    assert sv.number(0, 1, points=65).as_attribute() == NumberGrid(0, 1, "", 65)
    for odd in (None, {}, {"low": 0, "high": 1, "unit": ""}, {**GRID.to_statement(), "more": 1}):
        with pytest.raises(DomainError, match="exactly low, high, unit and points"):
            NumberGrid.from_statement(odd)


def test_labels() -> None:
    assert [NumberGrid(0, 1, points=3).label(k) for k in range(3)] == ["0", "0.5", "1"]
    assert NumberGrid(1.7e9, 1.8e9, "s").label(1) == "1750000000 s"


def test_spans_of_time_are_numbers_in_a_unit_of_time() -> None:
    grid = NumberGrid(0, 600, "minutes")
    hour = timedelta(hours=1)
    spans = [hour, np.timedelta64(90, "s"), np.timedelta64(90 * 10**9, "ns"), Decimal("2.5")]
    assert grid.clipped(spans).tolist() == [60.0, 1.5, 1.5, 2.5]
    assert grid.position(hour) == grid.position(60.0)
    assert grid.position(np.timedelta64(90, "s")) == grid.position(1.5)
    assert grid.clipped(np.array([60, 120], dtype="m8[s]")).tolist() == [1.0, 2.0]
    assert grid.clipped(pd.Series(pd.to_timedelta([1, 700], unit="min"))).tolist() == [1.0, 600.0]
    assert NumberGrid(0, 1, "h").clipped([timedelta(minutes=15)]).tolist() == [0.25]
    survey = sv.Survey(sv.number(0, 600, "minutes"), epsilon=1.0)
    assert len(survey.simulate(pd.Series([hour, hour]), seed=1)) == len([survey.randomize(hour)] * 2)


@pytest.mark.parametrize(
    "value",
    [
        *(np.timedelta64("NaT"), np.timedelta64(3, "M"), np.timedelta64(3), date(2027, 1, 4), datetime(2027, 1, 4)),
        *(True, Decimal("NaN"), pd.NaT),
    ],
    ids=repr,
)
def test_what_has_no_length_in_minutes_is_refused(value: Any) -> None:
    grid = NumberGrid(0, 600, "minutes")
    for give in (
        lambda: grid.position(value),
        lambda: grid.clipped([1.0, value]),
        lambda: grid.clipped(np.array([value])),
    ):
        with pytest.raises(ValueOutsideDomainError):
            give()


@pytest.mark.parametrize("unit", ["", "EUR", "months"])
def test_spans_of_time_need_a_unit_of_time(unit: str) -> None:
    grid = NumberGrid(0, 600, unit)
    for value in (timedelta(hours=1), np.timedelta64(90, "s")):
        with pytest.raises(ValueOutsideDomainError):
            grid.position(value)
        with pytest.raises(ValueOutsideDomainError):
            grid.clipped(pd.Series([value]))
