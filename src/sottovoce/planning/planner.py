"""`plan`: of epsilon, people and error computes the third: of a survey, of every period of a tracking survey, or of two
groups that are compared.

Python, the command line, HTTP and the dashboard all call it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.calls import nearest_name, with_clear_calls
from sottovoce.core.errors import PlanError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES, check_integer
from sottovoce.core.progress import steps
from sottovoce.planning.central import CentralGoal
from sottovoce.planning.comparison import ComparisonPlan, DifferenceGoal
from sottovoce.planning.plan import Plan, solve_plan
from sottovoce.planning.shuffled import plan_shuffled
from sottovoce.planning.solve import MAX_PEOPLE, Target, check_target
from sottovoce.planning.tracking import CHANGE_PER_MARGIN, TrackingPlan
from sottovoce.questions.base import Question
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.options import Criterion
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.calendar import MAX_WINDOWS
from sottovoce.surveys.calendar_fields import MAX_WINDOW
from sottovoce.surveys.choosing import Asked, as_question, check_delta_used, check_setting

__all__ = ["Planning", "plan"]


class Planning(TypedDict, total=False):
    """The arguments of `plan` that are alike for all surveys."""

    epsilon: float | None
    central_epsilon: float | None
    least: int | None
    people: int | None
    margin: float | None
    l2: float | None
    criterion: Criterion | None
    delta: float
    strategy: str
    mechanism: str
    population: ArrayLike | Population | None
    max_report_bytes: int
    max_counters: int


class _PlanningGoals(Planning, total=False):
    """Those, and the goals that questions of this package have; a question refuses one that it has not."""

    share: float | None
    probability: float | None
    slope_error: float | None
    of: str | None


@overload
def plan(question: Asked, **given: Unpack[_PlanningGoals]) -> Plan: ...


@overload
def plan(
    question: Asked,
    *,
    periods: int | None = None,
    renews: int | None = None,
    change: float | None = None,
    **given: Unpack[Planning],
) -> TrackingPlan: ...


@overload
def plan(
    question: Asked,
    *,
    difference: float | None = None,
    power: float | None = None,
    groups: int | None = None,
    ratio: float | None = None,
    **given: Unpack[Planning],
) -> ComparisonPlan: ...


@with_clear_calls("sv.plan(sv.shares(40), epsilon=1.0, margin=0.01)", error=PlanError)
@steps("comparing designs")
def plan(
    question: Asked,
    *,
    epsilon: float | None = None,
    central_epsilon: float | None = None,
    least: int | None = None,
    people: int | None = None,
    margin: float | None = None,
    l2: float | None = None,
    criterion: Criterion | None = None,
    delta: float = 0.0,
    strategy: str = AUTO,
    mechanism: str = AUTO,
    population: ArrayLike | Population | None = None,
    max_report_bytes: int = DEFAULT_REPORT_BYTES,
    max_counters: int = DEFAULT_COUNTERS,
    periods: int | None = None,
    renews: int | None = None,
    change: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    groups: int | None = None,
    ratio: float | None = None,
    **goals: object,
) -> Plan | TrackingPlan | ComparisonPlan:
    """Compute the one of epsilon, people and error that is not given, and compare all designs.

    Parameters
    ----------
    question
        A question, such as `shares` or `number` makes, or labels; as for `Survey`.
    central_epsilon
        Under a shuffler that does not collude: what the reports of one batch together may reveal, with `delta`. Each
        design is compared at the largest local epsilon whose certificate allows that; `epsilon` is then the largest
        local epsilon allowed, and of people and error one is given.
    least
        With `central_epsilon`: people in the smallest batch that the shuffler forwards; all of them by default, in a
        tracking survey all of one period.
    margin
        Half the width of the widest interval that the estimate will print (95 %), in the answers' unit: that of the
        least certain answer, where its variance is largest, or for the given population.
    l2
        A bound on the expected L2 error of all answers; `Plan.expected_l2` is what to expect for a population.
    criterion
        The error by which designs are compared if neither is given: "l2" (default) or "margin".
    population
        The share of people with each value; the worst case by default.
    delta
        The delta of each report, as for `Survey`; with `central_epsilon` that of the central guarantee, above 0.
    strategy, mechanism, max_report_bytes, max_counters
        A named design, and limits of size; as for `Survey`.
    periods
        For a tracking survey: its number of periods; everybody answers in one of them. Margin and L2 error are those of
        one period, people are the people of all.
    renews
        For a tracking survey in which everybody answers more than once: once in that many periods, at epsilon each.
        `periods` is then a multiple of it, or None for a survey without an end.
    change
        For a tracking survey, instead of a margin: the smallest change of the least certain answer between two periods
        that is to be seen, at 95 % with a power of 80 %.
    difference
        For two groups that are compared, each asked in a survey of its own: the smallest difference of the least
        certain answer that is to be seen, at 5 % and two-sided. People are those of both groups. `population` may have
        a row for each group.
    power
        The probability with which it is seen; 0.8 by default.
    groups
        2, for the smallest difference that a given number of people shows, where no difference is given.
    ratio
        People in the second group for each one in the first; 1 by default.
    goals
        The question's own goals, instead of an error. Words have two: `share`, the share of people with a word that is
        to be found, see `Plan.recall`, and `probability`, with which it is to be found, 0.9 by default. Relations have
        `slope_error`, the standard error of the slope on the regressor `of`, which is named where there are several.

    Examples
    --------
    >>> from sottovoce import queries, shares
    >>> found = plan(shares(40), epsilon=2.0, margin=0.01)
    >>> found.solved_for, found.best.strategy
    ('people', 'histogram')
    >>> from sottovoce.workloads import Prefix
    >>> plan(queries(Prefix(128)), epsilon=1.0, l2=0.5).best.strategy
    'haar'
    >>> tracking = plan(["yes", "no"], periods=12, epsilon=1.0, change=0.02)
    >>> tracking.people, tracking.period.people
    (551316, 45943)
    >>> plan(["yes", "no"], epsilon=1.0, difference=0.02, power=0.8).groups
    (45943, 45943)
    >>> shuffled = plan(shares(40), central_epsilon=0.5, delta=1e-8, people=100_000)
    >>> shuffled.epsilon > 4, shuffled.central.certificate.epsilon <= 0.5
    (True, True)
    """
    asked = as_question(question)
    comparing = {"difference": difference, "power": power, "groups": groups, "ratio": ratio}
    named = next((name for name, given in comparing.items() if given is not None), None)
    if named is not None:
        others = {"periods": periods, "renews": renews, "change": change, "central_epsilon": central_epsilon}
        _refuse_beside(named, others | {"margin": margin, "l2": l2, "least": least} | goals)
    window = _window(periods, renews, change, people)
    goal = _goal(asked, goals, {"margin": margin, "l2": l2, "change": change})
    aimed = goal is not None and goal.target is not None
    if aimed and (window is not None or central_epsilon is not None):
        raise PlanError(
            f"{asked.goals[0].name} is solved for one survey without a shuffler: leave out periods, renews and "
            "central_epsilon, or give people or margin instead; the plan's recall says what is found"
        ).at(asked.goals[0].name)
    target, by = _target(asked, margin, l2, change, criterion, tracked=window is not None)
    if aimed:
        target = Target(asked.goals[0].name, goal.target)
    seats = window or 1
    setting = check_setting(
        asked,
        Setting(
            asked.workload,
            1.0 if epsilon is None else epsilon,
            delta,
            DEFAULT_PEOPLE if people is None else people,
            strategy,
            mechanism,
            max_report_bytes,
            max_counters,
        ),
    )
    whom: dict[str, Any] = {
        "people": people,
        "population": None if named is not None else _population(asked, population),
        "seats": seats,
        "factor": 1.0 if change is None else CHANGE_PER_MARGIN,
    }
    if named is not None:
        check_delta_used(asked, setting)
        return _plan_groups(asked, setting, criterion, epsilon, goal, population, people, **comparing)
    if central_epsilon is not None:
        central = CentralGoal.of(central_epsilon, delta, least, None if epsilon is None else setting.epsilon)
        solution, crowd = plan_shuffled(asked, setting, target, by, central, **whom)
        solution = replace(solution, goal=goal)
    elif least is not None:
        raise PlanError("least is the smallest batch of a shuffler: give central_epsilon too, or leave it out").at(
            "least"
        )
    else:
        check_delta_used(asked, setting)
        solution, crowd = solve_plan(asked, setting, target, by, epsilon=epsilon, goal=goal, **whom)
    if window is None:
        return solution
    return TrackingPlan(solution, crowd, window, periods, "" if target.value is None else target.name)


def _plan_groups(
    question: Question,
    setting: Setting,
    criterion: Criterion | None,
    epsilon: float | None,
    goal: Any,
    population: Any,
    people: object,
    *,
    difference: object,
    **comparing: Any,
) -> ComparisonPlan:
    """The plan of two groups, by the margin of the first."""
    if criterion not in (None, "margin"):
        raise PlanError("a plan for a given difference compares designs by their margin: leave criterion out").at(
            "criterion"
        )
    aim = None
    if difference is not None:
        aim = check_target("difference", difference, _widest(question), "what two answers can differ by")
    both = _populations(question, population)
    wanted = DifferenceGoal.of(aim, **comparing, populations=both)
    first = None if people is None else wanted.first_of(people)
    setting = setting if first is None else replace(setting, people=first)
    whom: dict[str, Any] = {"people": first, "population": None if both is None else both[0]}
    target = Target("difference", aim)
    made, _ = solve_plan(question, setting, target, "margin", epsilon=epsilon, goal=goal, difference=wanted, **whom)
    return ComparisonPlan(made, wanted)


def _populations(question: Question, population: Any) -> tuple[Population, Population] | None:
    """The populations of two groups: of one row for both, or of a row for each."""
    rows = None if isinstance(population, Population | None) else np.asarray(population, dtype=object)
    if rows is not None and rows.ndim == 2:
        if len(rows) != 2:
            raise PlanError("population must be one row of shares, or two rows, one for each group").at("population")
        first, second = (_population(question, row) for row in rows.tolist())
    else:
        first = second = _population(question, population)
    return None if first is None or second is None else (first, second)


def _refuse_beside(name: str, others: dict[str, object]) -> None:
    """Refuse what goes with one survey, or with periods, beside what goes with two groups."""
    other = next((other for other, given in others.items() if given is not None), None)
    if other is not None:
        raise PlanError(
            f"{name} is of two groups that are compared: leave {other} out; the plan shows the margin of a group"
        ).at(other)


_NAMES: Final = (*Planning.__annotations__, *("periods", "renews", "change", "difference", "power", "groups", "ratio"))
"""Arguments that every question accepts."""


def _window(periods: object, renews: object, change: object, people: object) -> int | None:
    """The periods in which everybody answers once; None if it is not a tracking survey."""
    if periods is None and renews is None:
        if change is not None:
            raise PlanError("change is between two periods of a tracking survey: give periods too, or margin").at(
                "change"
            )
        return None
    most = MAX_WINDOW if renews is None else MAX_WINDOW * MAX_WINDOWS
    total = None if periods is None else check_integer("periods", periods, 2, most)
    if renews is None:
        window = total or 0
    else:
        window = check_integer("renews", renews, 2, MAX_WINDOW)
        if total is not None and total % window:
            raise PlanError(
                f"periods is {total:,}: with renews {window:,} it must be a multiple of it, so that windows are whole"
            ).at("periods")
    if people is not None and check_integer("people", people, 1, MAX_PEOPLE) < window:
        raise PlanError(
            f"people is {people:,}: a window of {window:,} periods needs at least {window:,} people, one in each; plan "
            "more people or fewer periods"
        ).at("people")
    return window


def _target(
    question: Question, margin: object, l2: object, change: object, criterion: Criterion | None, *, tracked: bool
) -> tuple[Target, Criterion]:
    """The checked error to reach, and the criterion."""
    if margin is not None and l2 is not None:
        raise PlanError("give margin or l2, not both: a plan reaches one of them, and shows the other").at("l2")
    if change is not None and (margin is not None or l2 is not None):
        raise PlanError("give change, margin or l2, one of them: a plan reaches it, and shows the others").at("change")
    if criterion not in (None, "l2", "margin"):
        raise PlanError("criterion must be 'l2' or 'margin'").at("criterion")
    of_one = margin is not None or change is not None
    by: Criterion = "margin" if of_one else "l2" if l2 is not None else criterion or "l2"
    if criterion not in (None, by):
        raise PlanError(f"a plan for a given {by} compares designs by it: leave criterion out").at("criterion")
    if of_one:
        name, value = ("margin", margin) if change is None else ("change", change)
        return Target(name, check_target(name, value, _widest(question), "what two answers can differ by")), by
    if l2 is not None:
        farthest = question.workload.diameter
        return Target(by, check_target(by, l2, farthest, "the largest distance of two sets of answers")), by
    others = "".join(f"{name}, " for name in question.goal_names()[:1])
    return Target("margin, l2 or change" if tracked else f"{others}margin or l2", None), by


def _widest(question: Question) -> float:
    """The largest difference of any answer."""
    low, high = question.answer_range
    return float(np.max(np.subtract(high, low)))


def _goal(question: Question, wanted: dict[str, object], errors: dict[str, object]) -> Any:
    """The question's own goal; None for a question without, which refuses what was given for one."""
    given = {name: value for name, value in wanted.items() if value is not None}
    strange = next((name for name in given if name not in question.goal_names()), None)
    if strange is not None:
        names = [*_NAMES, *question.goal_names()]
        raise PlanError(f"{strange} is not a goal of a {question.kind} question; {nearest_name(strange, names)}").at(
            strange
        )
    other = next((name for name, value in errors.items() if value is not None), None)
    if other is not None and question.goals[:1] and question.goals[0].name in given:
        first = question.goals[0].name
        raise PlanError(f"give {first} or {other}, not both: a plan reaches one of them, and shows the others").at(
            first
        )
    return question.goal(**given)


def _population(question: Question, population: ArrayLike | Population | None) -> Population | None:
    if population is None:
        return None
    if question.domain is None:
        raise PlanError("population goes with values that can be listed; leave it out here").at("population")
    try:
        return Population.of(population, question.workload)
    except SurveyError as error:
        raise error.at("population") from None
