"""What cannot be made is refused, with the reason: strategies that ask on, strategies for queries, rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
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
    UnknownAnswerError,
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
    with refuses(SurveyError, "attributes"):
        Maximize(attributes)


@pytest.mark.parametrize("name", ["height", 7, None], ids=repr)
def test_an_attribute_that_there_is_not(name: Any) -> None:
    with refuses(SurveyError, "attribute"):
        Quantile(name).plan(PEOPLE, epsilon=1.0)


def test_attributes_of_the_wrong_kind() -> None:
    with refuses(DomainError, "attribute"):
        Quantile("city").plan(PEOPLE, epsilon=1.0)
    with refuses(DomainError, "attribute"):
        HeavyHitters("city").plan(PEOPLE, epsilon=1.0)
    with refuses(DomainError, "attributes"):
        Maximize(["name"]).plan(PEOPLE, epsilon=1.0)


@pytest.mark.parametrize("level", [0, 1, -0.5, float("nan"), True, "0.5"], ids=repr)
def test_a_level_is_a_share(level: Any) -> None:
    with refuses(SurveyError, "level"):
        Quantile("age", level)


def test_an_error_that_no_crowd_brings() -> None:
    plan = Quantile("age").plan(PEOPLE, epsilon=1.0)
    enough = plan.people_needed(0.1)
    assert plan.error_of(enough) <= 0.1 < plan.error_of(enough * 9 // 10)
    assert plan.to_dict()["people_per_round"] == plan.people_per_round == plan.people / plan.rounds
    with refuses(PlanError, "target"):
        plan.people_needed(1e-15)


def test_a_session_with_too_few_rounds_left_is_not_begun() -> None:
    survey = sv.Panel(PEOPLE, rounds=3, epsilon=1.0)
    session = sv.Session.simulated(survey, {"age": [5] * 9, "city": ["Rome"] * 9, "name": ["anna"] * 9}, seed=1)
    with refuses(SessionError, "session"):
        Quantile("age").run(session)
    assert session.remaining == 3


# --- strategies for queries ---------------------------------------------------------------------


def made(strategy: str) -> Strategy:
    """Its design for four prefixes."""
    return STRATEGIES[strategy].designs(Setting(Prefix(4), 1.0, 0.0, 1000))[0]


def test_a_histogram_needs_a_mechanism_of_its_size() -> None:
    with refuses(WorkloadError, "mechanism"):
        Histogram(Prefix(8), finite("randomized_response", 9, 1.0))


def test_reports_too_short_for_any_mechanism() -> None:
    with refuses(SurveyError, "max_report_bytes"):
        sv.Survey(sv.queries(Prefix(1000)), epsilon=1.0, strategy="histogram", max_report_bytes=0)
    with refuses(MechanismError, "max_report_bytes"):
        sv.Survey(sv.queries(Prefix(1000)), epsilon=1.0, strategy="histogram", max_report_bytes=1)


@pytest.mark.parametrize("strategy", ["factorized", "optimized"])
def test_a_strategy_for_other_values(strategy: str) -> None:
    with refuses(WorkloadError, "workload"):
        replace(made(strategy), workload=Prefix(5))  # type: ignore[type-var]


def test_a_factorization_with_a_mechanism_of_another_size() -> None:
    design: Any = made("factorized")
    other = find("codebook", VectorMechanism).best(design.mechanism.dimension + 1, 1.0, 1.0, 0.0, 1000)
    with refuses(WorkloadError, "mechanism"):
        replace(design, mechanism=other)


# --- surveys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "radius"), [(4, 1.0), (3, 2.0)])
def test_a_mechanism_for_another_ball(dimension: int, radius: float) -> None:
    mechanism = sv.Survey(sv.vector(dimension, radius), epsilon=1.0).mechanism
    with refuses(WorkloadError, "mechanism"):
        Direct(Ball(3, 1.0), mechanism)  # type: ignore[arg-type]


def test_a_design_for_another_question() -> None:
    mean, shares, queries = (
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0),
        sv.Survey(sv.shares(4), epsilon=1.0),
        sv.Survey(sv.queries(Prefix(4)), epsilon=1.0),
    )
    for question, design in (
        (Vector(4, 1.0), mean.design),
        (Vector(3, 2.0), mean.design),
        (Shares(5), shares.design),
        (Shares(4), queries.design),
        (queries.question, shares.design),
    ):
        with refuses(SurveyError, "design"):
            sv.Survey.of_design(question, design)
    seat = Seat(sv.Panel(PEOPLE, rounds=3, epsilon=1.0), 1, sv.query("find(city, ('Oslo', 'Rome'))"))
    with refuses(SurveyError, "design"):
        sv.Survey.of_design(
            seat.choice(3), Histogram(Identity(4), finite("randomized_response", 4, 1.0)), "", seat=seat
        )


@pytest.mark.parametrize(
    "values", [[["x", 1, 2]], [[1, 2]], [1, 2, 3], [[1, 2, float("nan")]], [[10**400] * 3]], ids=str
)
def test_vectors_that_are_none(values: Any) -> None:
    with refuses(ValueOutsideDomainError, "values"):
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0).simulate(values, seed=1)


def test_answers_of_rounds_by_name() -> None:
    panel = sv.Panel(PEOPLE, rounds=3, epsilon=1.0)
    mean = sv.adaptive.round_of(panel, 1, "age < 30")
    assert mean.answer_index(mean.query_text) == mean.answer_index(0) == 0
    for bad in (1, "age < 31"):
        with pytest.raises(SurveyError):
            mean.answer_index(bad)
    choice = sv.adaptive.round_of(panel, 1, "find(city, ('Oslo', 'Rome'))", 3)
    assert choice.answer_index(2) == 2
    for bad in ("3", 3, "two", -1):
        with pytest.raises(UnknownAnswerError):
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
