"""Values that are not there, whole floats, and rows of tables: what people's data hold, at every question."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.domain import Domain, NumberGrid, domain_from_statement
from sottovoce.questions import Number


@dataclass
class Row:
    plan: str | None
    age: int


def test_missing_values_are_a_label_where_the_survey_says_so() -> None:
    question = sv.shares(["tea", "coffee"], missing="as prefer not to say")
    survey = sv.Survey(question, epsilon=1.0)
    stated = json.loads(survey.to_json())["question"]["domain"]
    assert stated == {"labels": ["tea", "coffee", "prefer not to say"], "missing": "prefer not to say"}
    assert sv.Survey.from_json(survey.to_json()) == survey
    for value in (None, math.nan, np.float32("nan"), pd.NA, pd.NaT, "prefer not to say", question.parse("")):
        assert survey.private_input(value) == 2
        assert question.domain.indices(["tea", value]).tolist() == [0, 2]
    assert question.domain.indices(pd.Series(["tea", None, math.nan])).tolist() == [0, 2, 2]
    for value in ("beer", "", 0, 2, False):
        with pytest.raises(ValueOutsideDomainError):
            survey.private_input(value)
    assert sv.shares(["tea", "none"], missing="as none").n_answers == 2
    plain = sv.shares(["tea", "coffee"], missing="refuse")
    assert plain == sv.shares(["tea", "coffee"])
    assert plain.to_statement()["domain"] == {"labels": ["tea", "coffee"]}
    with pytest.raises(ValueOutsideDomainError):
        plain.private_input(None)


@pytest.mark.parametrize("missing", ["", "as ", "prefer not to say", None, 3, "drop"], ids=repr)
def test_other_policies_for_missing_values_are_refused(missing: Any) -> None:
    with pytest.raises(DomainError) as refusal:
        sv.shares(["tea", "coffee"], missing=missing)
    assert refusal.value.field == "missing"


def test_missing_must_be_one_of_the_values() -> None:
    for values, missing in (
        (5, "as 5"),
        (5, "as none"),
        (range(1, 6), "as 0"),
        (range(0, 9, 2), "as 3"),
        ([1, 2], "as none"),
        ({"a": 2, "b": 2}, "as 0"),
        (Domain.text(3), "as abc"),
    ):
        with pytest.raises(DomainError) as refusal:
            sv.shares(values, missing=missing)
        assert refusal.value.field == "missing"
    for stated in (
        *({"labels": ["tea", "coffee"], "missing": missing} for missing in ("water", "", None, 3, True)),
        *({"labels": [1, 2], "missing": missing} for missing in ("1", 3, None, True, 1.0)),
        *({"start": 1, "step": 1, "size": 5, "missing": missing} for missing in (0, 6, None, "1", True, 1.0)),
        {"alphabet": "ab", "length": 2, "missing": "a"},
        {"attributes": [{"name": "a", "domain": {"labels": ["x", "y"]}}], "missing": "x"},
    ):
        with pytest.raises(DomainError):
            domain_from_statement(stated)


def test_missing_integers_are_the_one_that_the_survey_says() -> None:
    ages = sv.shares(range(18, 100), missing="as 18")
    assert ages.to_statement()["domain"] == {"start": 18, "step": 1, "size": 82, "missing": 18}
    clubs = sv.shares([7, 3], missing="as 0")
    assert clubs.to_statement()["domain"] == {"labels": [7, 3, 0], "missing": 0}
    large = sv.shares(range(-(2**63), 2**62, 2**60), missing=f"as {-(2**63)}")
    for question, place in ((ages, 0), (clubs, 2), (large, 0)):
        survey = sv.Survey(question, epsilon=1.0)
        assert sv.Survey.from_json(survey.to_json()) == survey
        for value in (None, math.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN"), question.parse(" ")):
            assert survey.private_input(value) == place
            assert question.domain.indices([value]).tolist() == [place]
        assert question.domain.indices(np.array([math.nan, math.nan])).tolist() == [place] * 2
    assert ages.domain.indices(pd.Series([20.0, None, 18.0])).tolist() == [2, 0, 0]
    assert ages.domain.indices(pd.Series([20, None], dtype="Int64")).tolist() == [2, 0]
    assert clubs.domain.indices(pd.Series([3, None])).tolist() == [1, 2]
    with pytest.raises(ValueOutsideDomainError):
        sv.shares(range(18, 100)).private_input(None)


@pytest.mark.parametrize(
    "domain",
    [Domain.of(range(2, 9)), Domain.of([3, 5, 7]), Domain.of(range(2, 9)).with_missing("as 3")],
    ids=repr,
)
def test_a_float_is_an_integer_where_it_is_whole(domain: Domain) -> None:
    for value in (3.0, np.float64(3), np.float16(3), np.longdouble(3)):
        assert domain.index(value) == domain.index(3)
    assert domain.indices([3.0, 5]).tolist() == domain.indices([3, 5]).tolist()
    for floats in (np.float64, np.float32, np.float16):
        assert domain.indices(np.array([3, 5], dtype=floats)).tolist() == domain.indices([3, 5]).tolist()
    for value in (3.5, math.inf, -math.inf, 2.0**60, "3.0", True, Decimal("3.5")):
        for give in (domain.index, lambda value: domain.indices([3, value])):
            with pytest.raises(ValueOutsideDomainError) as refusal:
                give(value)
            assert "3.5" not in str(refusal.value)
    with pytest.raises(ValueOutsideDomainError) as refusal:
        domain.indices(np.array([3.0, 3.5]))
    assert "position 1" in str(refusal.value)
    assert "3.5" not in str(refusal.value)


def test_float_columns_fill_integer_fields() -> None:
    frame = pd.DataFrame({"age": [31.0, 18.0], "plan": ["pro", "free"]})
    form = sv.records({"plan": ["free", "pro"], "age": range(100)})
    assert form.people(frame).between(0, 2).tolist() == [[1, 31], [0, 18]]
    assert form.private_input(frame.iloc[0]).tolist() == [1, 31]
    gaps = sv.records({"plan": ["free", "pro"], "age": sv.shares(range(100), missing="as 0")})
    frame.loc[1, "age"] = math.nan
    assert gaps.people(frame).between(0, 2).tolist() == [[1, 31], [0, 0]]
    with pytest.raises(ValueOutsideDomainError):
        form.people(frame)


@pytest.mark.parametrize("wants", ["mean", "spread", "distribution"])
def test_missing_numbers_are_the_one_that_the_survey_says(wants: str) -> None:
    question = sv.number(0, 600, "minutes", wants=wants, points=8, missing="as 90.5")
    stated = question.to_statement()
    assert stated["missing"] == 90.5
    assert Number.from_statement(json.loads(json.dumps(stated))) == question
    place = question.private_input(90.5)
    gaps = (None, math.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN"), Decimal("sNaN"), np.timedelta64("NaT"))
    for value in (*gaps, question.parse("")):
        assert question.private_input(value) == place
        assert question.people([value, 600]).between(0, 2)[0] == place
    assert question.people(np.array([math.nan, 600])).between(0, 2)[0] == place
    assert question.people(pd.Series([pd.Timedelta("90.5min"), None])).between(0, 2).tolist() == [place] * 2
    for value in ("", "x", True, np.array([math.nan])):
        with pytest.raises(ValueOutsideDomainError):
            question.private_input(value)
    assert question.people(np.array([math.inf, 1.0])).between(0, 2)[0] == question.private_input(600)
    plain = sv.number(0, 600, "minutes", wants=wants, points=8)
    assert "missing" not in plain.to_statement()
    assert question.workload.to_statement() == plain.workload.to_statement(), "the policy does not change the design"
    for values in ([None], np.array([math.nan])):
        with pytest.raises(ValueOutsideDomainError):
            plain.people(values)


def test_missing_numbers_must_lie_between_the_ends() -> None:
    wrong: Any
    for wrong in ("as -1", "as 601", "as nan", "as inf", "as none", "0", "", 3):
        with pytest.raises(DomainError) as refusal:
            sv.number(0, 600, missing=wrong)
        assert refusal.value.field == "missing"
    stated = NumberGrid(0, 600).to_statement()
    for wrong in (-1, 601, "0", True, None, math.nan, [0]):
        with pytest.raises(DomainError):
            NumberGrid.from_statement({**stated, "missing": wrong})


def test_a_missing_set_is_the_option_that_the_survey_says() -> None:
    question = sv.choices(["bus", "tram"], missing="as prefer not to say")
    assert question.most == 3
    assert question.to_statement()["domain"] == {
        "labels": ["bus", "tram", "prefer not to say"],
        "missing": "prefer not to say",
    }
    survey = sv.Survey(question, epsilon=1.0)
    assert sv.Survey.from_json(survey.to_json()) == survey
    alone = question.private_input(["prefer not to say"]).tolist()
    for value in (None, math.nan, pd.NA):
        assert question.private_input(value).tolist() == alone
    rows = question.people([None, ["bus"], math.nan, []])
    assert rows.between(0, 4).tolist() == [alone, question.private_input(["bus"]).tolist(), alone, [3, 4, 5]]
    ticks = pd.DataFrame({"bus": [1.0, math.nan, 0.0], "tram": [1.0, math.nan, 0.0]})
    both = question.private_input(["bus", "tram"]).tolist()
    assert question.people(ticks).between(0, 3).tolist() == [both, alone, [3, 4, 5]]
    objects = ticks.astype(object).where(ticks.notna(), None)
    assert question.people(objects).between(0, 3).tolist() == [both, alone, [3, 4, 5]]
    whole = ticks.assign(**{"prefer not to say": [0.0, math.nan, 0.0]})
    assert question.people(whole).between(0, 3).tolist() == [both, alone, [3, 4, 5]]
    ticks.loc[0, "bus"] = math.nan
    for wrong in (ticks, ticks[["bus"]], [None, "bus"]):
        with pytest.raises(ValueOutsideDomainError):
            question.people(wrong)
    plain = sv.choices(["bus", "tram"])
    for value in (None, math.nan):
        with pytest.raises(ValueOutsideDomainError):
            plain.private_input(value)
        with pytest.raises(ValueOutsideDomainError):
            plain.people([["bus"], value])
    with pytest.raises(DomainError) as refusal:
        sv.choices(5, missing="as 5")
    assert refusal.value.field == "missing"


def test_fields_of_a_form_have_their_own_policies() -> None:
    form = sv.records(
        {
            "plan": sv.shares(["free", "pro"], missing="as unknown"),
            "age": sv.shares(range(100), missing="as 0"),
            "minutes": sv.number(0, 600, missing="as 300"),
            "town": ["Oslo", "Bergen"],
        }
    )
    middle = form.private_input({"minutes": 300, "town": "Oslo"})[2]
    assert form.private_input({"town": "Bergen"}).tolist() == [2, 0, middle, 1]
    frame = pd.DataFrame({"plan": ["pro", None], "age": [3, None], "minutes": [300, None], "town": ["Oslo", "Bergen"]})
    assert form.people(frame).between(0, 2).tolist() == [[1, 3, middle, 0], [2, 0, middle, 1]]
    with pytest.raises(ValueOutsideDomainError):
        form.private_input({"plan": "pro", "age": 3, "minutes": 2})
    survey = sv.Survey(form, epsilon=1.0)
    assert sv.Survey.from_json(survey.to_json()) == survey
    crossed = sv.shares({"plan": sv.shares(["free", "pro"], missing="as free"), "age": range(100)})
    assert crossed.private_input({"age": 3}) == crossed.private_input({"plan": "free", "age": 3})


def test_absent_fields_of_records_are_missing() -> None:
    plan = sv.shares(["free", "pro"], missing="as unknown")
    form = sv.records({"plan": plan, "age": range(100)})
    for record in (
        {"age": 3},
        {"age": 3, "plan": None},
        Row(None, 3),
        pd.Series({"plan": None, "age": 3}, dtype=object),
    ):
        assert form.private_input(record).tolist() == [2, 3]
    for record in ({"plan": "pro"}, {}, {"age": 3, "town": "Oslo"}, Row("beer", 3)):
        with pytest.raises(ValueOutsideDomainError):
            form.private_input(record)
    assert form.people([{"age": 3}, Row("pro", 4)]).between(0, 2).tolist() == [[2, 3], [1, 4]]
    assert form.people(pd.DataFrame({"age": [3, 4], "plan": [None, "pro"]})).between(0, 2).tolist() == [[2, 3], [1, 4]]
    crossed = Domain.of({"plan": plan.domain, "age": range(100)})
    assert crossed.index({"age": 3}) == crossed.index(Row(None, 3)) == 203
    assert crossed.indices([{"age": 3}, Row("free", 4)]).tolist() == [203, 4]


def test_rows_of_a_table_are_records_by_name() -> None:
    """A named tuple in another order than the survey's fields is not read by position."""
    form = sv.records({"plan": ["free", "pro"], "age": range(100)})
    frame = pd.DataFrame({"age": [3], "plan": ["pro"]})
    for record in (*frame.itertuples(index=False), frame.iloc[0], Row("pro", 3), ("pro", 3)):
        assert form.private_input(record).tolist() == [1, 3]
        assert form.people([record]).between(0, 1).tolist() == [[1, 3]]


def test_attributes_of_a_panel_have_their_own_policies() -> None:
    attributes = {"plan": sv.shares(["free", "pro"], missing="as free"), "age": sv.shares(range(100), missing="as 0")}
    panel = sv.Panel(attributes, rounds=2, epsilon=1.0)
    assert sv.Panel.from_statement(panel.to_statement()) == panel
    assert panel.domain.index({}) == panel.domain.index({"plan": "free", "age": 0})
    columns = panel.domain.columns(pd.DataFrame({"plan": ["pro", None], "age": [3.0, math.nan]}))
    assert {name: column.tolist() for name, column in columns.items()} == {"plan": [1, 0], "age": [3, 0]}
