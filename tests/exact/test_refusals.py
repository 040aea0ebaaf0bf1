"""What cannot be made is refused, with the reason: strategies that ask on, strategies for queries, rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.adaptive.maximize import Maximize
from sottovoce.adaptive.quantile import Quantile
from sottovoce.auditing.empirical import certify
from sottovoce.core.errors import (
    DomainError,
    MechanismError,
    PlanError,
    SessionError,
    SurveyError,
    ValueOutsideDomainError,
    WorkloadError,
)
from sottovoce.mechanisms import VectorMechanism, find
from sottovoce.mechanisms.registry import create as finite
from sottovoce.questions import Shares, Vector
from sottovoce.strategies import STRATEGIES, Setting, Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.histogram import Histogram
from sottovoce.surveys.panel import Seat
from sottovoce.workloads import Identity, Prefix
from sottovoce.workloads.ball import Ball

PEOPLE = sv.Domain.product(age=range(100), city=["Oslo", "Rome"], name=sv.Domain.text(4))


# --- strategies that ask one question after another ---------------------------------------------


@pytest.mark.parametrize("attributes", ["age", [], ["age", "age"], ["age", 7]], ids=repr)
def test_maximize_needs_a_list_of_names(attributes: Any) -> None:
    with pytest.raises(SurveyError, match="list of distinct names"):
        Maximize(attributes)


@pytest.mark.parametrize("name", ["height", 7, None], ids=repr)
def test_an_attribute_that_there_is_not(name: Any) -> None:
    with pytest.raises(SurveyError, match=r"unknown attribute .*the attributes are 'age', 'city', 'name'"):
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
    with pytest.raises(PlanError, match="an error of 1e-15 needs more than"):
        plan.users_needed(1e-15)


def test_a_session_with_too_few_rounds_left_is_not_begun() -> None:
    survey = sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0)
    session = sv.Session.simulated(survey, {"age": [5] * 9, "city": ["Rome"] * 9, "name": ["anna"] * 9}, seed=1)
    with pytest.raises(SessionError, match="asks 7 questions and the session has 3 left"):
        Quantile("age").run(session)
    assert session.remaining == 3


# --- strategies for queries ---------------------------------------------------------------------


def made(strategy: str) -> Strategy:
    """Its design for four prefixes."""
    return STRATEGIES[strategy].designs(Setting(Prefix(4), 1.0, 0.0, 1000))[0]


def test_a_histogram_needs_a_mechanism_of_its_size() -> None:
    with pytest.raises(WorkloadError, match="another number of values"):
        Histogram(Prefix(8), finite("randomized_response", 9, 1.0))


def test_reports_too_short_for_any_mechanism() -> None:
    with pytest.raises(SurveyError, match=r"max_report_bytes"):
        sv.Survey.queries(Prefix(1000), 1.0, strategy="histogram", max_report_bytes=0)
    with pytest.raises(MechanismError, match=r"its report takes 2 bytes; 1 are allowed"):
        sv.Survey.queries(Prefix(1000), 1.0, strategy="histogram", max_report_bytes=1)


@pytest.mark.parametrize("strategy", ["factorized", "optimized"])
def test_a_strategy_for_other_values(strategy: str) -> None:
    with pytest.raises(WorkloadError, match="different numbers of values"):
        replace(made(strategy), workload=Prefix(5))  # type: ignore[type-var]


def test_a_factorization_with_a_mechanism_of_another_size() -> None:
    design: Any = made("factorized")
    other = find("codebook", VectorMechanism).best(design.mechanism.dimension + 1, 1.0, 1.0, 0.0, 1000)
    with pytest.raises(WorkloadError, match="another number of coordinates"):
        replace(design, mechanism=other)


# --- surveys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "radius"), [(4, 1.0), (3, 2.0)])
def test_a_mechanism_for_another_ball(dimension: int, radius: float) -> None:
    mechanism = sv.Survey.mean(dimension, radius, 1.0).mechanism
    with pytest.raises(WorkloadError, match="another number of coordinates or another radius"):
        Direct(Ball(3, 1.0), mechanism)  # type: ignore[arg-type]


def test_a_design_for_another_question() -> None:
    mean, shares, queries = (
        sv.Survey.mean(3, 1.0, 1.0),
        sv.Survey.distribution(4, 1.0),
        sv.Survey.queries(Prefix(4), 1.0),
    )
    for question, design in (
        (Vector(4, 1.0), mean.design),
        (Vector(3, 2.0), mean.design),
        (Shares(5), shares.design),
        (Shares(4), queries.design),
        (queries.question, shares.design),
    ):
        with pytest.raises(SurveyError, match="does not match the question"):
            sv.Survey(question, design)
    seat = Seat(sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0), 1, sv.query("find(city, ('Oslo', 'Rome'))"))
    with pytest.raises(SurveyError, match="does not match the question"):
        sv.Survey(seat.choice(3), Histogram(Identity(4), finite("randomized_response", 4, 1.0)), "", seat)


@pytest.mark.parametrize(
    "values", [[["x", 1, 2]], [[1, 2]], [1, 2, 3], [[1, 2, float("nan")]], [[10**400] * 3]], ids=str
)
def test_vectors_that_are_none(values: Any) -> None:
    with pytest.raises(ValueOutsideDomainError, match="a vector of 3 finite numbers"):
        sv.Survey.mean(3, 1.0, 1.0).simulate(values, seed=1)


def test_answers_of_rounds_by_name() -> None:
    panel = sv.Survey.adaptive(PEOPLE, rounds=3, epsilon=1.0)
    mean = sv.Survey.round(panel, 1, "age < 30")
    assert mean.answer_index(mean.query_text) == mean.answer_index(0) == 0
    for bad in (1, "age < 31"):
        with pytest.raises(SurveyError):
            mean.answer_index(bad)
    choice = sv.Survey.round(panel, 1, "find(city, ('Oslo', 'Rome'))", 3)
    assert choice.answer_index(2) == 2
    for bad in ("3", 3, "two", -1):
        with pytest.raises(ValueOutsideDomainError, match="integers from 0 to 2"):
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
