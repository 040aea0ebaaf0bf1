"""Records and choices as people use them: messages that say what to mend."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sottovoce import Survey, number
from sottovoce.core.errors import MechanismError, SurveyError, ValueOutsideDomainError


def test_too_many_tables_are_refused_before_they_are_listed() -> None:
    with pytest.raises(MechanismError, match="there are 4,087,975 tables; at most 2,048 are allowed"):
        Survey.records({f"a{place}": 2 for place in range(100)}, tables=4, epsilon=1.0)


def test_mistakes_name_the_column_and_the_attribute() -> None:
    survey = Survey.records({"country": np.array(["DE", "FR"]), "minutes": number(0, 600)}, epsilon=1.0)
    for column, wrong in (("country", "secret"), ("minutes", float("nan"))):
        people = {"country": ["DE"], "minutes": [5.0], column: [wrong]}
        with pytest.raises(ValueOutsideDomainError, match=f"column '{column}': the value at position 0") as caught:
            survey.simulate(people, seed=1)
        assert "secret" not in str(caught.value)
    estimate = survey.estimate(survey.simulate({"country": ["DE", "FR"] * 50, "minutes": [5.0] * 100}, seed=1))
    with pytest.raises(SurveyError, match="no attribute of that name; they have country, minutes"):
        estimate.table("plan")
    with pytest.raises(SurveyError, match="by name"):
        estimate.mean()
    with pytest.raises(SurveyError, match="tables is 2, more than the 1 attribute given; allowed: an"):
        Survey.records({"country": ["DE", "FR"]}, epsilon=1.0)


def test_choices_name_the_person_and_refuse_other_columns() -> None:
    survey = Survey.choices(["a", "b", "c"], most=2, epsilon=1.0)
    for people in ([["a", "b"], ["secret"]], [["a"], "a"], [set(), ["a", "a"]]):
        with pytest.raises(ValueOutsideDomainError, match="the value at position 1 is no set of options") as caught:
            survey.simulate(people, seed=1)
        assert "secret" not in str(caught.value)
    ticks = pd.DataFrame({"c": [1, 0], "b": [0, 0], "a": [0, 1]})
    found = [survey.simulate_aggregate(people, seed=1).counts.tolist() for people in (ticks, [["c"], ["a"]])]
    assert found[0] == found[1]
    for wrong in (ticks.drop(columns="a"), ticks.assign(d=0)):
        with pytest.raises(ValueOutsideDomainError, match="columns do not match the survey; give one for each"):
            survey.simulate(wrong, seed=1)
