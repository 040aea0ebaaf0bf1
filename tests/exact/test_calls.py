"""Calls with wrong, missing and doubled arguments: the error names the argument and shows a right call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import (
    BudgetError,
    DomainError,
    LedgerError,
    PlanError,
    QueryError,
    SottovoceError,
    SurveyError,
    WorkloadError,
)
from sottovoce.device import MemoryStore

X: Any = sv
"""The package without its types, which would refuse these calls before they are made."""

LABELS = ["a", "b"]


def made() -> Any:
    """An estimate, without its types."""
    survey = sv.Survey(LABELS, epsilon=1.0)
    return survey.estimate(survey.simulate(LABELS * 50, seed=1))


WRONG: dict[str, tuple[Callable[[], object], str, type[SottovoceError]]] = {
    "a number of values": (lambda: X.Survey(40, epsilon=1), "question", SurveyError),
    "epsilon without its name": (lambda: X.Survey(sv.shares(LABELS), 1.0), "epsilon", SurveyError),
    "no epsilon": (lambda: X.Survey(LABELS), "epsilon", SurveyError),
    "no question": (lambda: X.Survey(epsilon=1), "question", SurveyError),
    "two questions": (lambda: X.Survey(LABELS, question=LABELS, epsilon=1), "question", SurveyError),
    "a misspelt setting": (lambda: X.Survey(LABELS, epsilon=1, titel="x"), "titel", SurveyError),
    "epsilon as text": (lambda: X.Survey(LABELS, epsilon="1"), "epsilon", SurveyError),
    "tracking without a calendar": (lambda: X.Tracking(LABELS, epsilon=1), "every", SurveyError),
    "tracking without a start": (lambda: X.Tracking(LABELS, epsilon=1, every="week"), "starts", SurveyError),
    "tracking with a misspelt setting": (
        lambda: X.Tracking(LABELS, epsilon=1, every="week", starts="2027-01-04", periods=3, titel="x"),
        "titel",
        SurveyError,
    ),
    "a panel by places": (lambda: X.Panel(LABELS, 3, 1.0), "rounds", SurveyError),
    "a panel without epsilon": (lambda: X.Panel(LABELS, rounds=3), "epsilon", SurveyError),
    "a question with epsilon": (lambda: X.number(0, 600, epsilon=1), "epsilon", SurveyError),
    "a question with people": (lambda: X.shares(LABELS, people=100), "people", SurveyError),
    "a question without values": (lambda: X.shares(), "values", SurveyError),
    "values as one text": (lambda: X.shares("tea"), "values", DomainError),
    "values as a set": (lambda: X.shares({"tea", "coffee"}), "values", DomainError),
    "a label that is missing": (lambda: X.shares(["tea", None]), "values", DomainError),
    "a label twice": (lambda: X.shares(["tea", "tea"]), "values", DomainError),
    "one value": (lambda: X.shares(1), "values", DomainError),
    "a number without an end": (lambda: X.number(0), "high", SurveyError),
    "a number with two ends too many": (lambda: X.number(0, 600, "minutes", 3, 4), "wants", SurveyError),
    "an end as text": (lambda: X.number("0", 600), "low", SurveyError),
    "choices with a third argument": (lambda: X.choices(LABELS, 1, 2), "missing", SurveyError),
    "a vector without a dimension": (lambda: X.vector(radius=1.0), "dimension", SurveyError),
    "words with a misspelt option": (lambda: X.words(longset=3), "longset", SurveyError),
    "queries without a workload": (lambda: X.queries(), "workload", SurveyError),
    "records without attributes": (lambda: X.records(tables=1), "attributes", SurveyError),
    "a plan of a mapping": (lambda: X.plan({"a": LABELS}, epsilon=1, people=100), "question", SurveyError),
    "a plan of nothing": (lambda: X.plan(epsilon=1), "question", PlanError),
    "a plan with places": (lambda: X.plan(LABELS, 1.0), "epsilon", PlanError),
    "a plan with a misspelt size": (lambda: X.plan(LABELS, epsilon=1, peple=100), "peple", PlanError),
    "a plan with the goal of words": (lambda: X.plan(LABELS, epsilon=1, share=0.1), "share", PlanError),
    "a plan of a panel by places": (lambda: X.plan_panel(20, 1000), "rounds", PlanError),
    "an audit of nothing": (lambda: X.audit(), "subject", SurveyError),
    "an audit by places": (lambda: X.audit("hadamard", 1.0), "epsilon", SurveyError),
    "a disclosure of nothing": (lambda: X.disclose(), "survey", SurveyError),
    "a composition without delta": (lambda: X.compose([]), "delta", SurveyError),
    "an audit of a question": (lambda: X.audit(sv.shares(LABELS)), "subject", SurveyError),
    "an audit of a number": (lambda: X.audit(5), "subject", SurveyError),
    "a collector without a token": (lambda: X.connect("https://stats.example.org"), "token", SurveyError),
    "a collector with a misspelt setting": (lambda: X.connect("https://x.example", "t", keys="k"), "keys", SurveyError),
    "a query of nothing": (lambda: X.query(), "expression", QueryError),
    "queries by a name": (lambda: X.queries("prefix:16"), "workload", WorkloadError),
    "a panel of a question": (lambda: X.Panel(sv.shares(LABELS), rounds=3, epsilon=1), "domain", DomainError),
    "a domain of nothing": (lambda: X.Domain.of(), "values", DomainError),
    "a session of nobody": (lambda: X.Session.simulated(5), "values", SurveyError),
    "a device without a file": (lambda: X.Device(5), "store", LedgerError),
    "a device in SQLite's memory": (lambda: X.Device(":memory:"), "store", LedgerError),
    "a cap as text": (lambda: X.Device(MemoryStore(), cap="2"), "cap", BudgetError),
    "a mechanism that is misspelt": (
        lambda: X.Survey(LABELS, epsilon=1, mechanism="hadamrd"),
        "mechanism",
        SurveyError,
    ),
    "a strategy that is misspelt": (lambda: X.Survey(LABELS, epsilon=1, strategy="histgram"), "strategy", SurveyError),
    "a simulation of nobody": (lambda: made().survey.simulate(), "values", SurveyError),
    "a simulation with epsilon": (lambda: made().survey.simulate(LABELS, epsilon=1), "epsilon", SurveyError),
    "an estimate of nothing": (lambda: made().survey.estimate(), "reports", SurveyError),
    "people as text": (lambda: made().survey.explain(people="many"), "people", SurveyError),
    "a difference of one answer": (lambda: made().difference("a"), "second", SurveyError),
    "a difference of three": (lambda: made().difference("a", "b", "a"), "level", SurveyError),
    "a sum of nothing": (lambda: made().sum(), "labels", SurveyError),
    "a ratio of one answer": (lambda: made().ratio("a"), "under", SurveyError),
    "no weights": (lambda: made().combine(), "weights", SurveyError),
    "a file as a number": (lambda: made().to_csv(5), "path", SurveyError),
    "a strategy by places": (lambda: X.adaptive.Quantile("age").plan({"age": 9}, 1.0), "epsilon", PlanError),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_error_names_the_argument(case: str) -> None:
    call, field, kind = WRONG[case]
    with refuses(kind, field):
        call()


def test_the_nearest_name_and_a_right_call_are_shown() -> None:
    for call, near in ((lambda: X.plan(LABELS, peple=1), "people"), (lambda: X.words(longset=3), "longest")):
        with pytest.raises(SottovoceError, match=f"did you mean {near}"):
            call()
    with pytest.raises(SurveyError, match=r"epsilon=1\.0"):
        X.Survey(LABELS)


def test_an_error_shows_no_value() -> None:
    with pytest.raises(SurveyError) as caught:
        X.Survey("a secret", "another secret", epsilon="a third")
    assert "secret" not in str(caught.value)
    assert "third" not in str(caught.value)


def test_a_type_error_inside_stays_what_it_is() -> None:
    @with_clear_calls("add(1)")
    def add(number: Any) -> Any:
        return number + 1

    assert add(1) == 2
    with pytest.raises(TypeError, match="NoneType"):
        add(None)


PUBLIC = [getattr(sv, name) for name in sv.__all__ if not name.startswith("_")]


@pytest.mark.parametrize("function", [one for one in PUBLIC if inspect.isfunction(one) or inspect.isclass(one)])
def test_epsilon_is_a_keyword_and_sizes_are_people(function: Any) -> None:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return
    if "epsilon" in parameters and not issubclass_of_results(function):
        assert parameters["epsilon"].kind is inspect.Parameter.KEYWORD_ONLY
    assert not {"n", "users", "n_people"} & set(parameters)


def issubclass_of_results(function: Any) -> bool:
    """Whether it is a class that nobody makes: a plan is what `plan` returns."""
    return function in (sv.Plan,)


def test_the_signature_of_a_plan_has_no_goal_of_one_question() -> None:
    assert not {"share", "probability"} & set(inspect.signature(sv.plan).parameters)
    found = sv.plan(sv.words(longest=3, alphabet="digits"), epsilon=4.0, share=0.05, probability=0.8)
    assert found.solved_for == "people"
