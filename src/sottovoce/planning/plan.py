"""A plan: the number of people, epsilon or the error, and the best design.

Python, the command line, HTTP and the dashboard all call `plan`, and `Plan.survey` is the survey that "auto" makes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import PlanError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_USERS, MAX_EPSILON
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.planning.solve import Solved, Target, check_target, solve
from sottovoce.questions.base import Question
from sottovoce.questions.queries import Queries
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.options import Criterion, Option, explain, join_reasons, least_error, options, usable_designs
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.strategies.variance import Population
from sottovoce.surveys.choosing import check_setting
from sottovoce.surveys.survey import Survey

__all__ = ["Plan", "plan"]

_SEARCHED: Final = OptimizedStrategy.name
"""Its channel is searched for one epsilon, so it is not used when solving for epsilon."""


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A planned survey: two of epsilon, users and error were given, and the third is computed.

    Attributes
    ----------
    solved_for
        "users", "epsilon" or "error".
    criterion
        The error by which designs were compared: the "margin" of the worst answer, or "l2" over all answers.
    target
        The error to reach; None if the error was computed.
    options
        Every design, the best first; unusable ones last, each with its reason.
    setting
        The arguments of the choice of designs.
    population
        The given population; None for the worst case.
    """

    question: Question
    epsilon: float
    users: int
    solved_for: Solved
    criterion: Criterion
    target: float | None
    options: tuple[Option, ...]
    setting: Setting
    population: Population | None = None

    @property
    def best(self) -> Option:
        """The design to use."""
        return self.options[0]

    @cached_property
    def design(self) -> Strategy:
        """The best option's design."""
        if self.best.design is None:
            raise PlanError(self.best.reason)
        return self.best.design

    @property
    def delta(self) -> float:
        """The delta of the best design; 0 for pure epsilon-LDP."""
        return self.design.delta

    @property
    def margin(self) -> float:
        """The margin of the worst answer (95 %)."""
        return self.best.margin

    @property
    def l2(self) -> float:
        """The expected L2 error of all answers."""
        return self.best.l2

    @property
    def reason(self) -> str:
        """Why this design, in a sentence or two."""
        return explain(self.options, self.best, self.criterion, self.question.unit)

    def survey(self, title: str = "") -> Survey:
        """The planned survey: what "auto" makes with the same epsilon, users, limits and criterion."""
        return Survey(self.question, self.design, title)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        bound = self.design.bound(self.users)
        return {
            "question": self.question.kind,
            "answers": self.question.n_answers,
            "unit": self.question.unit,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "users": self.users,
            "solved_for": self.solved_for,
            "criterion": self.criterion,
            "target": self.target,
            "population": "worst case" if self.population is None else "given",
            "margin": self.margin,
            "l2": self.l2,
            "bound": {"l2": bound.value, "statement": bound.statement},
            "strategy": self.best.strategy,
            "mechanism": self.best.mechanism,
            "reason": self.reason,
            "options": [option.to_dict() for option in self.options],
        }


def plan(
    asked: object = None,
    *,
    workload: Any = None,
    dimension: int | None = None,
    radius: float | None = None,
    epsilon: float | None = None,
    users: int | None = None,
    margin: float | None = None,
    l2: float | None = None,
    criterion: Criterion | None = None,
    delta: float = 0.0,
    strategy: str = AUTO,
    mechanism: str = AUTO,
    population: ArrayLike | Population | None = None,
    max_report_bytes: int = DEFAULT_REPORT_BYTES,
    max_counters: int = DEFAULT_COUNTERS,
) -> Plan:
    """Compute the one of epsilon, users and error that is not given, and compare all designs.

    Parameters
    ----------
    asked
        A question of `sottovoce.questions`; or, for shares, anything `Domain.of` takes: labels, a size, a range, named
        attributes.
    workload
        For query answers: one of `sottovoce.workloads`.
    dimension, radius
        For a mean: the number of entries of a person's vector, and its largest norm (1 by default).
    margin
        The margin of error (95 %) of the least certain answer: 1.96 times its standard error, in the answers' unit.
    l2
        The expected L2 error of all answers.
    criterion
        If neither is given: by which of them designs are compared, "l2" by default.
    population
        The share of people with each value; the worst case by default.
    strategy, mechanism, delta, max_report_bytes, max_counters
        As for `Survey.ask`.

    Examples
    --------
    >>> found = plan(40, epsilon=2.0, margin=0.01)
    >>> found.solved_for, found.best.strategy
    ('users', 'histogram')
    >>> from sottovoce.workloads import Prefix
    >>> plan(workload=Prefix(128), epsilon=1.0, l2=0.5).best.strategy
    'haar'
    """
    question = _question(asked, workload, dimension, radius)
    target, by = _target(question, margin, l2, criterion)
    setting = check_setting(
        question,
        Setting(
            question.workload,
            1.0 if epsilon is None else epsilon,
            delta,
            DEFAULT_USERS if users is None else users,
            strategy,
            mechanism,
            max_report_bytes,
            max_counters,
        ),
    )
    people = _population(question, population)
    solver = _Solver(setting, question.strategies, by, people, epsilon is not None)
    searched = strategy == _SEARCHED or mechanism == MatrixChannel.name or question.strategies == (_SEARCHED,)
    if epsilon is None and searched:
        raise PlanError(
            f"{_SEARCHED} searches a channel for one epsilon: give epsilon, and ask for users or the error"
        ).at("epsilon")
    if target.value is not None and (epsilon is None) != (users is None):
        _check_served(question, setting if solver.given else replace(setting, epsilon=MAX_EPSILON), solver)
    found_epsilon, found_users, solved = solve(solver.error, epsilon, users, target)
    final = replace(setting, epsilon=found_epsilon, users=found_users)
    found = options(final, question.strategies, by, people)
    if not found[0].fits:
        raise _unserved(question, final, found)
    return Plan(question, found_epsilon, found_users, solved, by, target.value, found, final, people)


def _question(asked: object, workload: object, dimension: object, radius: float | None) -> Question:
    given = {"a question or domain": asked, "workload": workload, "dimension": dimension}
    named = [name for name, what in given.items() if what is not None]
    if len(named) != 1:
        raise PlanError(
            "give exactly one of: a question or the values (for shares), workload (for query answers), dimension (for "
            f"a mean); got {' and '.join(named) or 'none'}"
        )
    if dimension is None and radius is not None:
        raise PlanError("radius goes with dimension only: shares have none, and a workload has its own").at("radius")
    if isinstance(asked, Question):
        return asked
    if workload is not None:
        return Queries(workload)  # type: ignore[arg-type]
    if dimension is not None:
        return Vector(dimension, 1.0 if radius is None else radius)  # type: ignore[arg-type]
    return Shares(asked)  # type: ignore[arg-type]


def _target(question: Question, margin: object, l2: object, criterion: Criterion | None) -> tuple[Target, Criterion]:
    """The checked error to reach, and the criterion."""
    if margin is not None and l2 is not None:
        raise PlanError("give margin or l2, not both: a plan reaches one of them, and shows the other").at("l2")
    if criterion not in (None, "l2", "margin"):
        raise PlanError("criterion must be 'l2' or 'margin'").at("criterion")
    by: Criterion = "margin" if margin is not None else "l2" if l2 is not None else criterion or "l2"
    if criterion not in (None, by):
        raise PlanError(f"a plan for a given {by} compares designs by it: leave criterion out").at("criterion")
    if margin is not None:
        low, high = question.answer_range
        width = float(np.max(np.subtract(high, low)))
        return Target(by, check_target(by, margin, width, "what two answers can differ by")), by
    if l2 is not None:
        farthest = question.workload.diameter
        return Target(by, check_target(by, l2, farthest, "the largest distance of two sets of answers")), by
    return Target("margin or l2", None), by


def _population(question: Question, population: ArrayLike | Population | None) -> Population | None:
    if population is None:
        return None
    if question.domain is None:
        raise PlanError("population goes with values that can be listed; leave it out here").at("population")
    try:
        return Population.of(population, question.workload)
    except SurveyError as error:
        raise error.at("population") from None


@dataclass(frozen=True, eq=False)
class _Solver:
    """The least error of all designs as a function of epsilon and users; `given` means epsilon is fixed."""

    setting: Setting
    strategies: tuple[str, ...]
    criterion: Criterion
    population: Population | None
    given: bool

    @cached_property
    def _made(self) -> dict[float, list[Strategy]]:
        return {}

    def error(self, epsilon: float, users: int) -> float:
        """The error of the best design; infinite if none can serve."""
        setting = self.setting
        made = [design.for_users(users, setting.max_counters) for design in self._designs(epsilon)]
        short = [
            design
            for design in made
            if design.mechanism.report_bytes <= setting.max_report_bytes or setting.mechanism != AUTO
        ]
        return least_error(short, users, self.criterion, self.population)

    def _designs(self, epsilon: float) -> list[Strategy]:
        """The designs, cached per epsilon: the number of people changes only the rotations."""
        if epsilon not in self._made:
            setting = replace(self.setting, epsilon=epsilon)
            tried = self.strategies if self.given else tuple(name for name in self.strategies if name != _SEARCHED)
            self._made[epsilon] = usable_designs(setting, tried)
        return self._made[epsilon]


def _check_served(question: Question, setting: Setting, solver: _Solver) -> None:
    """Refuse a question that no design can serve, so that it is not reported as an unreachable error."""
    if math.isinf(solver.error(setting.epsilon, setting.users)):
        raise _unserved(question, setting, options(setting, question.strategies, solver.criterion, solver.population))


def _unserved(question: Question, setting: Setting, found: tuple[Option, ...]) -> PlanError:
    """The error, at the named strategy or mechanism, or else at the report size if a longer report would do."""
    error = PlanError(f"no design can serve this {question.kind} question: {join_reasons(found)}")
    if setting.mechanism != AUTO or setting.strategy != AUTO:
        return error.at("strategy" if setting.mechanism == AUTO else "mechanism")
    return error.at("max_report_bytes") if any(option.design is not None for option in found) else error
