"""Planning a survey: its error, number of people or epsilon, with all designs and curves, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

import msgspec

from sottovoce.collector.api.asking import (
    as_refusals,
    check_fields,
    plan_for,
    population_of,
    question_of,
)
from sottovoce.collector.api.drafts import MAX_DRAFT_BYTES
from sottovoce.collector.api.notes import central_body, notes_of
from sottovoce.collector.api.service import Service
from sottovoce.core.errors import SurveyError
from sottovoce.core.words import plural
from sottovoce.mechanisms.binary import Binary
from sottovoce.planning import curves
from sottovoce.planning.comparison import ComparisonPlan
from sottovoce.planning.panel import plan_panel
from sottovoce.planning.plan import Plan
from sottovoce.planning.tracking import TrackingPlan
from sottovoce.protocol.drafts import (
    EveryPeriodCost,
    ExpectedL2,
    Planned,
    PlannedComparison,
    PlannedCurve,
    PlannedCurves,
    PlannedOption,
    PlannedRecall,
    PlannedTracking,
    PlanRequest,
    RecallByLength,
)
from sottovoce.protocol.estimates import ErrorBound
from sottovoce.service.http.route import route
from sottovoce.surveys.panel import Panel
from sottovoce.theory.adaptive_bounds import adaptive_bound, predicted_worst_error

__all__ = ["ROUTES", "make_plan"]

_PANEL: Final = {parameter.name: parameter for parameter in Panel.parameters if not parameter.group}
"""What a panel's error depends on; whose records it asks about plays no part."""

_WORST: Final = "errors are for the population for which they are largest; give the population to have its own"

_BOUND: Final = "its errors are upper bounds: they may turn out smaller"

_LARGEST: Final = "the error is the largest over all rounds, however questions are chosen"


def make_plan(asked: PlanRequest) -> Planned:
    """The plan, or a refusal that names the field, what is allowed, and what to do."""
    with as_refusals():
        return _panel(asked) if asked.kind == Panel.kind else _question(asked)


def _question(asked: PlanRequest) -> Planned:
    if asked.error is not None:
        raise SurveyError("error is for panels; give margin or l2 here").at("error")
    question = question_of(asked)
    people = population_of(question, asked)
    aim = {"people": asked.people, "margin": asked.margin, "l2": asked.l2, "population": people}
    aim |= {"share": asked.share, "probability": asked.probability, "slope_error": asked.slope_error, "of": asked.of}
    aim |= {"central_epsilon": asked.central_epsilon, "least": asked.least}
    comparing = {name: getattr(asked, name) for name in PlannedComparison.__struct_fields__}
    repeats = {"periods": asked.periods, "renews": asked.renews, "change": asked.change}
    if any(value is not None for value in comparing.values()):
        return _groups(plan_for(question, asked, **aim, **repeats, **comparing))
    if asked.periods is None and asked.renews is None:
        if asked.change is not None:
            raise SurveyError("change is between two periods: give periods or renews too, or a margin").at("change")
        return _planned(plan_for(question, asked, **aim))
    planned: TrackingPlan = plan_for(question, asked, **aim, **repeats)
    fields = planned.to_dict()
    extra = {name: fields[name] for name in PlannedTracking.__struct_fields__}
    tracking = PlannedTracking(**extra | {"every_period": EveryPeriodCost(**fields["every_period"])})
    return _planned(planned.period, planned.people, planned.window, survey=None, tracking=tracking)


def _groups(planned: ComparisonPlan) -> Planned:
    """The plan of two groups: that of the first, with the people of both. Each asks under a title of its own."""
    fields = planned.to_dict()
    comparison = PlannedComparison(**{name: fields[name] for name in PlannedComparison.__struct_fields__})
    per_person = planned.people / planned.group.people
    return _planned(
        planned.group, planned.people, per_person, survey=None, target=planned.goal.target, comparison=comparison
    )


def _planned(plan: Plan, people: int | None = None, per_person: float = 1, **more: Any) -> Planned:
    """The plan of a survey, or of one part of it with the people of all, `per_person` for each of the part's."""
    fields = plan.to_dict()
    survey = plan.survey()
    by_people, by_epsilon = curves.curve_by_people(plan), curves.curve_by_epsilon(plan)
    central = plan.central
    fields |= {
        "central": None if central is None else central_body(central.certificate),
        "people": people or plan.people,
        "expected_l2": None if fields["expected_l2"] is None else ExpectedL2(**fields["expected_l2"]),
        "bound": ErrorBound(**fields["bound"]),
        "options": [PlannedOption(**option) for option in fields["options"]],
        "recall": None if fields["recall"] is None else _recall(fields["recall"]),
        "curves": PlannedCurves(people=_curve(by_people, per_person), epsilon=_curve(by_epsilon)),
        "survey": survey.id,
    }
    limits = [] if central is None or not central.limit_note else [central.limit_note]
    own = plan.question.accuracy(plan.design, plan.people)
    notes = [own] * bool(own) + [_WORST] * (plan.population is None) + [_BOUND] * (plan.best.status == "bound")
    notes += [*limits, *notes_of(survey)]
    nothing: dict[str, Any] = dict.fromkeys(("rounds", "radius", "error", "tracking", "comparison"))
    return Planned(**nothing | fields | {"notes": notes} | more)


def _recall(fields: dict[str, Any]) -> PlannedRecall:
    return PlannedRecall(**fields | {"lengths": [RecallByLength(**length) for length in fields["lengths"]]})


def _curve(curve: curves.ErrorCurve, per_person: float = 1) -> PlannedCurve:
    """People are those of all periods, or of both groups."""
    return PlannedCurve([per_person * x for x in curve.x], {name: list(errors) for name, errors in curve.lines.items()})


def _panel(asked: PlanRequest) -> Planned:
    check_fields(asked, ("epsilon", "people", "error"))
    planned = plan_panel(people=asked.people, epsilon=asked.epsilon, error=asked.error, **_rounds_and_radius(asked))
    line, rounds, radius = planned.line, planned.rounds, planned.radius
    mechanism = Binary(1, radius, planned.epsilon, 0.0)
    option = PlannedOption(
        name=mechanism.name,
        strategy=None,
        mechanism=mechanism.name,
        fits=True,
        reason="",
        epsilon=planned.epsilon,
        people=planned.people,
        margin=None,
        l2=None,
        l2_raw=None,
        status="bound",
        bound=line.bound,
        bound_statement=planned.statement,
        report_bytes=mechanism.report_bytes,
        fetched_bytes=0,
    )
    return Planned(
        question=Panel.kind,
        answers=None,
        unit="",
        epsilon=planned.epsilon,
        delta=0.0,
        central=None,
        people=planned.people,
        solved_for=planned.solved_for,
        criterion=None,
        target=asked.error,
        population="worst case",
        margin=None,
        l2=None,
        expected_l2=None,
        bound=None,
        strategy=None,
        mechanism=mechanism.name,
        reason=(
            f"Everybody answers one of {plural(rounds, 'round')} with one bit; the largest error over all of them "
            f"stays below {line.bound:.3g}, and is about {line.predicted:.3g}: {planned.statement}"
        ),
        recall=None,
        options=[option],
        curves=_panel_curves(rounds, radius, planned.epsilon, planned.people),
        survey=None,
        notes=[_LARGEST],
        rounds=rounds,
        radius=radius,
        error=planned.error,
        tracking=None,
        comparison=None,
    )


def _rounds_and_radius(asked: PlanRequest) -> dict[str, Any]:
    given = {name: value for name, value in asked.parameters.items() if value is not None}
    extra = next((name for name in given if name not in _PANEL), None)
    if extra is not None:
        message = f"{extra} plays no part in how well a panel answers; it takes {', '.join(_PANEL)}"
        raise SurveyError(message).at(extra)
    return {name: _PANEL[name].check(value) for name, value in given.items()}


def _panel_curves(rounds: int, radius: float, epsilon: float, people: int) -> PlannedCurves:
    """What the largest error stays below, and what it comes to."""
    crowd, grid = curves.people_grid(people), curves.epsilon_grid(epsilon)
    lines: dict[str, Callable[[float, int], float]] = {
        "bound": lambda e, n: adaptive_bound(rounds, radius, e, n).value,
        "expected": lambda e, n: predicted_worst_error(rounds, radius, e, n),
    }
    return PlannedCurves(
        people=PlannedCurve(
            [float(n) for n in crowd], {name: [at(epsilon, n) for n in crowd] for name, at in lines.items()}
        ),
        epsilon=PlannedCurve(grid, {name: [at(e, people) for e in grid] for name, at in lines.items()}),
    )


@route(
    "POST",
    "/v1/plans",
    scopes=("read",),
    max_bytes=MAX_DRAFT_BYTES,
    errors={
        422: "no such plan is possible; `field` says why",
        503: "too many requests are in progress, or the database is unavailable; try again later",
    },
)
async def plan_survey(service: Service, body: PlanRequest) -> Planned:
    """Work out the third of epsilon, people and error for a survey; nothing is stored."""
    return await service.compute(_plan_at_hand, service, body)


def _plan_at_hand(service: Service, asked: PlanRequest) -> Planned:
    name = sha256(msgspec.json.encode(asked)).digest()
    return service.plans.get(name) or service.plans.put(name, make_plan(asked))


ROUTES: Final = (plan_survey,)
