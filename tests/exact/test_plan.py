"""Plans: one error, one list of designs, and the survey that "auto" makes."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import PlanError, SurveyError
from sottovoce.core.limits import MAX_PEOPLE
from sottovoce.estimates.half_width import half_width
from sottovoce.planning.curves import curve_by_epsilon, curve_by_people
from sottovoce.questions import Queries, Shares, Vector
from sottovoce.workloads import Marginals, Prefix, Ranges

PEOPLE = 50_000

QUESTIONS = [
    Shares(sv.Domain.of(40)),
    Queries(Prefix(64)),
    Queries(Ranges(12)),
    Queries(Marginals(k=2, age=3, sex=2, city=4)),
    Vector(50, 3.0),
]

every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q.kind}-{q.n_answers}")


def recreated(question, plan: sv.Plan, **others) -> sv.Survey:
    return sv.Survey(question, epsilon=plan.epsilon, people=plan.people, criterion=plan.criterion, **others)


@every_question
@pytest.mark.parametrize("criterion", ["l2", "margin"])
def test_a_plan_is_the_survey_that_auto_makes(question, criterion) -> None:
    plan = sv.plan(question, epsilon=1.0, people=PEOPLE, criterion=criterion)
    assert plan.solved_for == "error"
    survey = plan.survey()
    assert survey.id == recreated(question, plan).id
    assert survey.design.name == plan.best.strategy
    assert plan.margin == half_width(survey.design, PEOPLE)
    assert plan.l2 == survey.design.expected_error(PEOPLE)
    fitting = [option for option in plan.options if option.fits]
    errors = [option.error(criterion) for option in fitting]
    assert errors == pytest.approx(sorted(errors), rel=1e-9)  # equal ones are ordered by the size of their reports
    assert all(option.reason for option in plan.options if not option.fits)


@every_question
@pytest.mark.parametrize("criterion", ["l2", "margin"])
def test_people_are_the_fewest_that_are_enough(question, criterion) -> None:
    there = sv.plan(question, epsilon=1.0, people=12_345, criterion=criterion)
    target = getattr(there, criterion)
    plan = sv.plan(question, epsilon=1.0, **{criterion: target})
    assert (plan.solved_for, plan.target, plan.criterion) == ("people", target, criterion)
    assert getattr(plan, criterion) <= target
    # The half-width of an interval is found to a thousandth or so, on the side of more people.
    people = plan.people - 1 if criterion == "l2" else round(0.99 * plan.people)
    fewer = sv.plan(question, epsilon=1.0, people=people, criterion=criterion)
    assert getattr(fewer, criterion) > target
    assert plan.survey().id == recreated(question, plan).id


@every_question
def test_epsilon_is_the_least_to_three_digits(question) -> None:
    target = sv.plan(question, epsilon=0.7, people=PEOPLE, criterion="margin", strategy=_solvable(question)).margin
    plan = sv.plan(question, people=PEOPLE, margin=target, strategy=_solvable(question))
    assert plan.solved_for == "epsilon"
    assert 0.699 <= plan.epsilon <= 0.7021
    assert plan.margin <= target
    less = sv.plan(
        question, epsilon=plan.epsilon * 0.99, people=PEOPLE, strategy=_solvable(question), criterion="margin"
    )
    assert less.margin > target


def _solvable(question) -> str:
    """A channel is searched for one epsilon; where one would be searched, another strategy is named."""
    return "haar" if isinstance(question, Queries) and question.n_answers in (26, 78) else "auto"


def test_a_searched_channel_is_compared_at_the_epsilon_that_the_others_reach() -> None:
    plan = sv.plan(sv.queries(Prefix(8)), people=20_000, margin=0.05)
    assert plan.margin <= 0.05
    assert "optimized" in [option.strategy for option in plan.options if option.fits]
    assert plan.survey().id == recreated(Queries(Prefix(8)), plan).id
    with refuses(PlanError, "epsilon"):
        sv.plan(sv.queries(Prefix(8)), people=20_000, margin=0.05, strategy="optimized")


def test_what_takes_minutes_is_listed_as_not_tried() -> None:
    plan = sv.plan(sv.queries(Prefix(2**14)), epsilon=1.0, people=PEOPLE)
    reasons = {option.strategy: option.reason for option in plan.options}
    assert plan.best.strategy == "haar"
    assert "not tried" in reasons["optimized"]
    assert "sottovoce optimize" in reasons["optimized"]
    assert "not tried" in reasons["factorized"]


def test_the_margin_is_of_the_worst_answer() -> None:
    plan = sv.plan(sv.shares(40), epsilon=2.0, margin=0.01)
    variance = plan.design.variance(n_reports=plan.people)
    assert variance.status == "exact"
    standard = 1.959964 * math.sqrt(float(np.max(variance.value)))
    assert plan.best.margin == pytest.approx(standard, rel=1e-6)
    assert standard < plan.margin <= 0.01
    assert plan.margin < 1.01 * standard, "a count of many bits is nearly normal"
    assert plan.best.status == "exact"


def test_a_survey_explains_itself_as_its_plan_does() -> None:
    for asked in (sv.Domain.of(10_000), Prefix(64)):
        question = Queries(asked) if isinstance(asked, Prefix) else Shares(asked)
        plan = sv.plan(question, epsilon=1.0, people=PEOPLE)
        assert plan.survey().explain(people=PEOPLE) == plan.reason
    assert "cannot be chosen: its report takes" in sv.plan(sv.shares(10_000), epsilon=1.0, people=PEOPLE).reason


def test_a_population_makes_the_plan_its_own() -> None:
    shares = np.array([0.7, 0.2, 0.1, 0.0])
    worst, stated = (sv.plan(sv.shares(4), epsilon=1.0, margin=0.02, population=p) for p in (None, shares))
    assert stated.people < worst.people
    assert (worst.to_dict()["population"], stated.to_dict()["population"]) == ("worst case", "given")
    variance = stated.design.variance(None, shares, stated.people).value
    assert stated.best.margin == pytest.approx(1.959964 * math.sqrt(float(np.max(variance))), rel=1e-6)
    assert stated.margin <= 0.02


def test_the_factor_of_forty_one_is_gone() -> None:
    """Prefix(128) at epsilon 1: planner, page and survey once named 440,339 people by codebook and 10,680 by haar."""
    plan = sv.plan(sv.queries(Prefix(128)), epsilon=1.0, l2=0.5)
    assert plan.best.strategy == "haar"
    assert 10_000 < plan.people < 12_000
    assert plan.survey().design.name == "haar"


def test_curves_pass_through_the_plan() -> None:
    for criterion in ("l2", "margin"):
        plan = sv.plan(sv.queries(Prefix(16)), epsilon=1.0, people=10_000, criterion=criterion)
        for curve, here in ((curve_by_people(plan), 10_000.0), (curve_by_epsilon(plan), 1.0)):
            place = curve.x.index(here)
            assert plan.best.name in curve.lines
            for option in plan.stated_options:
                if option.name in curve.lines:
                    line = curve.lines[option.name]
                    error = option.stated_margin if criterion == "margin" else option.l2
                    assert line[place] == pytest.approx(error)
                    known = [number for number in line if not math.isnan(number)]
                    # Rotations come in whole numbers, so that sharing them wobbles a little.
                    assert all(later <= 1.05 * earlier for earlier, later in pairwise(known))


@pytest.mark.parametrize(
    ("asked", "kind", "field"),
    [
        ({"question": None}, SurveyError, "question"),
        ({"question": 4}, SurveyError, "question"),
        ({"question": {"a": [1, 2]}}, SurveyError, "question"),
        ({"question": Prefix(4)}, SurveyError, "question"),
        ({"question": sv.vector(4), "delta": 1.0}, SurveyError, "delta"),
        ({"question": sv.vector(4), "max_report_bytes": 0}, SurveyError, "max_report_bytes"),
        ({"question": sv.shares(4), "margin": 0.1}, PlanError, None),
        ({"question": sv.shares(4), "people": None}, PlanError, None),
        ({"question": sv.shares(4), "people": None, "margin": 0}, PlanError, "margin"),
        ({"question": sv.shares(4), "people": None, "margin": 1.0}, PlanError, "margin"),
        ({"question": sv.shares(4), "people": None, "margin": 0.1, "l2": 0.1}, PlanError, "l2"),
        ({"question": sv.shares(4), "people": None, "l2": 1.5}, PlanError, "l2"),
        ({"question": sv.vector(4), "people": None, "margin": 2.0}, PlanError, "margin"),
        ({"question": sv.queries(Prefix(4)), "people": None, "l2": 4.0}, PlanError, "l2"),
        ({"question": sv.shares(4), "people": None, "margin": 0.1, "criterion": "l2"}, PlanError, "criterion"),
        ({"question": sv.shares(4), "criterion": "best"}, PlanError, "criterion"),
        ({"question": sv.shares(4), "population": [0.5, 0.5]}, SurveyError, "population"),
        ({"question": sv.shares(2), "population": [0.5, 0.6]}, SurveyError, "population"),
        ({"question": sv.vector(2), "population": [0.5, 0.5]}, PlanError, "population"),
        ({"question": sv.shares(4), "strategy": "haar"}, SurveyError, "strategy"),
        ({"question": sv.shares(4), "strategy": "best"}, SurveyError, "strategy"),
        ({"question": sv.shares(4), "epsilon": 0.01, "people": None, "margin": 1e-6}, PlanError, "margin"),
        ({"question": sv.shares(10**6), "max_report_bytes": 1}, PlanError, "max_report_bytes"),
    ],
)
def test_refusals(asked, kind, field) -> None:
    settings = {"epsilon": 1.0, "people": 100} | asked
    with refuses(kind, field):
        sv.plan(**settings)


@pytest.mark.parametrize(
    ("question", "call"), [(4, r"shares\(4\)"), ({"a": [1, 2]}, r"records\("), (Prefix(4), "queries")]
)
def test_what_is_no_question_is_answered_with_the_right_call(question, call) -> None:
    with pytest.raises(SurveyError, match=call):
        sv.plan(question, epsilon=1.0, people=100)


@pytest.mark.parametrize("given", [{"people": PEOPLE}, {"epsilon": 1.0}], ids=str)
def test_what_no_design_serves_is_no_error_out_of_reach(given) -> None:
    with refuses(PlanError, "mechanism"):
        sv.plan(sv.shares(40), mechanism="binary", l2=0.1, **given)
    with refuses(PlanError, "max_report_bytes"):
        sv.plan(sv.shares(2**40), max_report_bytes=1, margin=0.1, **given)


def test_a_searched_channel_is_for_one_epsilon_by_either_name() -> None:
    for named in ({"strategy": "optimized"}, {"mechanism": "matrix_channel"}):
        with refuses(PlanError, "epsilon"):
            sv.plan(sv.queries(Prefix(5)), people=PEOPLE, l2=0.1, **named)


def test_surveys_and_plans_take_the_same_settings() -> None:
    for people in (0, MAX_PEOPLE + 1):
        for ask in (
            lambda people: sv.plan(sv.shares(5), epsilon=1.0, people=people),
            partial(sv.Survey, sv.shares(5), epsilon=1.0),
        ):
            with refuses(SurveyError, "people"):
                ask(people=people)
    with refuses(SurveyError, "criterion"):
        sv.Survey(sv.shares(5), epsilon=1.0, criterion="L2")  # type: ignore[arg-type]


def test_a_delta_that_no_design_uses_is_refused_as_by_the_survey() -> None:
    for ask in (partial(sv.plan, people=1000), sv.Survey):
        with refuses(SurveyError, "delta"):
            ask(sv.shares(4), epsilon=1.0, delta=1e-6)
    assert sv.plan(sv.vector(4), epsilon=1.0, delta=1e-6, people=1000).delta <= 1e-6
    assert sv.plan(sv.shares(4), central_epsilon=0.5, delta=1e-6, people=1000).delta == 0
