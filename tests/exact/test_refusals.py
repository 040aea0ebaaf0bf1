"""What cannot be made is refused, with the reason: strategies that ask on, strategies for queries, rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.adaptive.maximize import Maximize
from sottovoce.adaptive.quantile import Quantile
from sottovoce.audit.empirical import certify
from sottovoce.errors import (
    DomainError,
    MechanismError,
    PlanError,
    SessionError,
    SurveyError,
    ValueOutsideDomainError,
    WorkloadError,
)
from sottovoce.mechanisms.registry import create as finite
from sottovoce.mechanisms.vector_registry import create_vector
from sottovoce.strategies import Setting, create
from sottovoce.strategies.histogram import Histogram
from sottovoce.workloads import Prefix

PEOPLE = sv.Domain.product(age=range(100), city=["Oslo", "Rome"], name=sv.Domain.text(4))


# --- strategies that ask one question after another ---------------------------------------------


@pytest.mark.parametrize("attributes", ["age", [], ["age", "age"], ["age", 7]], ids=repr)
def test_maximize_needs_a_list_of_names(attributes: Any) -> None:
    with pytest.raises(SurveyError, match="list of distinct names"):
        Maximize(attributes)


@pytest.mark.parametrize("name", ["height", 7, None], ids=repr)
def test_an_attribute_that_there_is_not(name: Any) -> None:
    with pytest.raises(SurveyError, match=r"there is no attribute .*there are 'age', 'city', 'name'"):
        Quantile(name).plan(PEOPLE, 1.0)


def test_attributes_of_the_wrong_kind() -> None:
    with pytest.raises(DomainError, match="'city' has no quantiles"):
        Quantile("city").plan(PEOPLE, 1.0)
    with pytest.raises(DomainError, match="'city' has labels, which have no prefixes"):
        HeavyHitters("city").plan(PEOPLE, 1.0)
    with pytest.raises(DomainError, match="'name' has no short list of alternatives"):
        Maximize(["name"]).plan(PEOPLE, 1.0)


@pytest.mark.parametrize("level", [0, 1, -0.5, float("nan"), True, "0.5"], ids=repr)
def test_a_level_is_a_share(level: Any) -> None:
    with pytest.raises(SurveyError, match="level must be a number above 0 and below 1"):
        Quantile("age", level)


def test_an_error_that_no_crowd_brings() -> None:
    plan = Quantile("age").plan(PEOPLE, 1.0)
    enough = plan.users_needed(0.1)
    assert plan.error_of(enough) <= 0.1 < plan.error_of(enough * 9 // 10)
    assert plan.to_dict()["users_per_round"] == plan.users_per_round == plan.users / plan.rounds
    with pytest.raises(PlanError, match="brings the error to 1e-15"):
        plan.users_needed(1e-15)


def test_a_session_with_too_few_rounds_left_is_not_begun() -> None:
    survey = sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0)
    session = survey.session({"age": [5] * 9, "city": ["Rome"] * 9, "name": ["anna"] * 9}, seed=1)
    with pytest.raises(SessionError, match="asks 7 questions and the session has 3 left"):
        Quantile("age").run(session)
    assert session.remaining == 3


# --- strategies for queries ---------------------------------------------------------------------


def test_a_histogram_needs_a_symmetric_mechanism_of_its_size() -> None:
    with pytest.raises(MechanismError, match="the histogram strategy uses one of"):
        Histogram(Prefix(8), finite("hadamard_blocks", 8, 1.0))  # type: ignore[arg-type]
    with pytest.raises(WorkloadError, match="another number of values"):
        Histogram(Prefix(8), finite("randomized_response", 9, 1.0))  # type: ignore[arg-type]


def test_reports_too_short_for_any_mechanism() -> None:
    with pytest.raises(MechanismError, match="no mechanism over 1,000 values fits into 0 bytes"):
        create("histogram", Setting(Prefix(1000), 1.0, 0.0, 10**6, max_report_bytes=0))


@pytest.mark.parametrize("strategy", ["factorized", "optimized"])
def test_a_strategy_for_other_values(strategy: str) -> None:
    made = create(strategy, Setting(Prefix(4), 1.0, 0.0, 1000))
    with pytest.raises(WorkloadError, match="another number of values"):
        replace(made, workload=Prefix(5))


def test_a_factorization_with_a_mechanism_of_another_size() -> None:
    made = create("factorized", Setting(Prefix(4), 1.0, 0.0, 1000))
    other = create_vector("codebook", made.mechanism.dimension + 1, 1.0, 1.0, 0.0, 1000)
    with pytest.raises(WorkloadError, match="another number of coordinates"):
        replace(made, mechanism=other)


# --- surveys ------------------------------------------------------------------------------------


def test_a_mechanism_for_another_survey() -> None:
    mean = sv.Survey.mean(3, 1.0, 1.0)
    with pytest.raises(SurveyError, match="for another dimension, radius, epsilon or delta"):
        replace(mean, mechanism=sv.Survey.mean(4, 1.0, 1.0).mechanism)
    choice = sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0).choice(1, "find(city, ('Oslo', 'Rome'))", 3)
    with pytest.raises(SurveyError, match="another number of choices or epsilon"):
        replace(choice, mechanism=finite("randomized_response", 4, 1.0))


@pytest.mark.parametrize(
    "values", [[["x", 1, 2]], [[1, 2]], [1, 2, 3], [[1, 2, float("nan")]], [[10**400] * 3]], ids=str
)
def test_vectors_that_are_none(values: Any) -> None:
    with pytest.raises(ValueOutsideDomainError, match="a vector of 3 finite numbers"):
        sv.Survey.mean(3, 1.0, 1.0).simulate(values, seed=1)


def test_answers_of_rounds_by_name() -> None:
    survey = sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0)
    question = survey.question(1, "age < 30")
    assert question.answer_index(question.query.text) == question.answer_index(0) == 0
    with pytest.raises(SurveyError, match="answer number"):
        question.answer_index(1)
    choice = survey.choice(1, "find(city, ('Oslo', 'Rome'))", 3)
    assert [choice.answer_index(name) for name in ("2", 2)] == [2, 2]
    for bad in ("3", 3, "two", -1):
        with pytest.raises(SurveyError, match="choice"):
            choice.answer_index(bad)


# --- certificates -------------------------------------------------------------------------------


def test_a_certificate_needs_pairs_and_samples() -> None:
    def device(value: int) -> bytes:
        return bytes([value])

    with pytest.raises(ValueError, match="at least one pair"):
        certify(device, [], samples=8)
    for samples in range(4):
        with pytest.raises(ValueError, match="at least four samples"):
            certify(device, [(0, 1)], samples=samples)
    assert certify(device, [(0, 1)], samples=4).lower_bound == 0  # four reports prove nothing
    assert certify(device, [(0, 1)], samples=400).lower_bound > 1
