"""Records and choices as people use them: messages that say what to mend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce import Survey, number
from sottovoce.core.errors import MechanismError, SurveyError, ValueOutsideDomainError


def test_too_many_tables_are_refused_before_they_are_listed() -> None:
    with refuses(MechanismError, "strategy"):
        Survey(sv.records({f"a{place}": 2 for place in range(100)}, tables=4), epsilon=1.0)


def test_mistakes_name_the_column_and_the_attribute() -> None:
    survey = Survey(sv.records({"country": np.array(["DE", "FR"]), "minutes": number(0, 600)}), epsilon=1.0)
    for column, wrong in (("country", "secret"), ("minutes", float("nan"))):
        people = {"country": ["DE"], "minutes": [5.0], column: [wrong]}
        with pytest.raises(ValueOutsideDomainError, match=f"column '{column}': the value at position 0") as caught:
            survey.simulate(people, seed=1)
        assert "secret" not in str(caught.value)
    estimate = survey.estimate(survey.simulate({"country": ["DE", "FR"] * 50, "minutes": [5.0] * 100}, seed=1))
    with pytest.raises(SurveyError, match="country, minutes"):
        estimate.table("plan")
    with refuses(SurveyError, "field"):
        estimate.mean()
    with refuses(SurveyError, "tables"):
        sv.records({"country": ["DE", "FR"]}, tables=2)
    assert sv.records({"country": ["DE", "FR"]}).tables == 1


def test_choices_name_the_person_and_refuse_other_columns() -> None:
    survey = Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0)
    for people in ([["a", "b"], ["secret"]], [["a"], "a"], [set(), ["a", "a"]]):
        with pytest.raises(ValueOutsideDomainError, match="the value at position 1 is not a set of options") as caught:
            survey.simulate(people, seed=1)
        assert "secret" not in str(caught.value)
    ticks = pd.DataFrame({"c": [1, 0], "b": [0, 0], "a": [0, 1]})
    found = [survey.simulate_aggregate(people, seed=1).counts.tolist() for people in (ticks, [["c"], ["a"]])]
    assert found[0] == found[1]
    for wrong in (ticks.drop(columns="a"), ticks.assign(d=0)):
        with refuses(ValueOutsideDomainError, "values"):
            survey.simulate(wrong, seed=1)


@pytest.mark.parametrize(
    "question",
    [sv.shares(3), sv.number(0, 1), sv.choices(["a", "b"]), sv.records({"x": 2, "y": 2}), sv.words(longest=4)],
    ids=lambda question: question.kind,
)
def test_a_delta_that_no_design_can_use_is_refused(question: Any) -> None:
    """It would be dropped, and the survey would promise more than was asked for."""
    with refuses(SurveyError, "delta"):
        sv.Survey(question, epsilon=1.0, delta=1e-6)
    assert sv.Survey(sv.vector(4), epsilon=1.0, delta=1e-6).delta in (0.0, 1e-6)
