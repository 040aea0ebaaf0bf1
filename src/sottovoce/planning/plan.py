"""A plan of one survey: the number of people, epsilon or the error, and the best design.

`Plan.survey` is the survey that "auto" makes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, final

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import MAX_EPSILON
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import figure, guarantee, plural
from sottovoce.estimates.half_width import half_width, widening
from sottovoce.estimates.words.recall import Recall
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.planning.central import Central
from sottovoce.planning.expected_error import ExpectedError, expected_l2
from sottovoce.planning.solve import Solved, Target, solve
from sottovoce.questions.base import Question
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.options import (
    Criterion,
    Option,
    error_of,
    explain,
    join_reasons,
    least_error,
    options,
    usable_designs,
)
from sottovoce.strategies.registry import find
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.groups import Groups
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

__all__ = ["Plan", "solve_plan", "unserved", "with_half_widths"]

_ROUNDS: Final = 6
"""Steps in which the people, or the epsilon, are found whose printed interval is as narrow as asked for."""

_MARGIN, _CLOSE = 2e-4, 1e-3
"""Half-widths are found to this relative precision, on the side of narrower intervals; people to that one."""


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A planned survey: two of epsilon, people and error were given, and the third is computed.

    Attributes
    ----------
    solved_for
        "people", "epsilon" or "error".
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
    central
        Under a shuffler: the central guarantee, asked for and certified. Epsilon is then the local one, which is
        computed too, and every option has its own. None without a shuffler.
    goal
        The question's own: for words the share that is to be found, and with what probability, see `recall`; for
        relations the error of a slope.
    """

    question: Question
    epsilon: float
    people: int
    solved_for: Solved
    criterion: Criterion
    target: float | None
    options: tuple[Option, ...]
    setting: Setting
    population: Population | None = None
    central: Central | None = None
    goal: Any = None

    @property
    def best(self) -> Option:
        """The design to use."""
        return self.options[0]

    @cached_property
    def stated_options(self) -> tuple[Option, ...]:
        """The options, each with the margin that its intervals would have; computed when they are shown."""
        return (self.best, *with_half_widths(self.options[1:], self.population))

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
        """Half the width of the widest interval that the estimate will print (95 %): of the least certain answer."""
        return self.best.stated_margin

    @property
    def l2(self) -> float:
        """A bound on the expected L2 error of all answers, for every population or the given one."""
        return self.best.l2

    @cached_property
    def expected_l2(self) -> ExpectedError | None:
        """The L2 error to expect for a population that is named; None where values cannot be listed."""
        return None if self.question.is_searched else expected_l2(self.design, self.people, self.population)

    @property
    def reason(self) -> str:
        """Why this design, in a sentence or two."""
        return explain(self.options, self.best, self.criterion, self.question.unit)

    @property
    def design_text(self) -> str:
        """The reason, without the errors that `accuracy` states."""
        return explain(self.options, self.best, self.criterion, self.question.unit, errors=False)

    @cached_property
    def recall(self) -> Recall | None:
        """The probability that a word is found, by its share and length; None unless the question asks for words."""
        recall: Recall | None = self.question.recall(self.design, self.people, self.goal)
        return recall

    @property
    def promise(self) -> str:
        """The guarantee; under a shuffler both, each with what it rests on."""
        return guarantee(self.epsilon, self.delta) if self.central is None else self.central.promise

    @property
    def accuracy(self) -> str:
        """How well one answer is known, and all of them together, in a phrase."""
        question = self.question
        own = question.accuracy(self.design, self.people)
        if own:
            return own
        which, noun = "the" if question.n_answers == 1 else "each", "share" if question.answers_are_shares else "answer"
        single = f"{which} {noun} is known to about ±{question.amount(self.margin)} (95 %)"
        if question.n_answers == 1:
            return single
        usual = (
            "" if self.expected_l2 is None else f", about {figure(self.expected_l2.l2)} for {self.expected_l2.people}"
        )
        return f"{single}; all {question.n_answers:,} together: L2 at most {figure(self.l2)}{usual}"

    def __str__(self) -> str:
        return f"{plural(self.people, 'person', 'people')}, {self.promise}: {self.accuracy}. {self.design_text}"

    def __repr__(self) -> str:
        design = f"{self.best.strategy} with {self.best.mechanism}"
        return f"<plan of {self.question.kind}: {self.people:,} people, epsilon {self.epsilon:.4g}, {design}>"

    def _repr_html_(self) -> str:
        return facts_html(f"plan of {self.question.kind}", self._facts())

    def _facts(self) -> dict[str, object]:
        """The facts that a notebook shows."""
        return {
            "people": f"{self.people:,}",
            "guarantee": self.promise,
            "accuracy": self.accuracy,
            "design": f"{self.best.strategy} with {self.best.mechanism}",
            "report": plural(self.best.report_bytes, "byte"),
            "reason": self.design_text,
        }

    def survey(
        self, title: str = "", relay: Relay | None = None, groups: Mapping[str, Sequence[str]] | Groups | None = None
    ) -> Survey:
        """The planned survey: what "auto" makes with the same epsilon, people, limits and criterion.

        Under a shuffler "auto" would compare all designs at one local epsilon: name the plan's strategy and mechanism.
        """
        made = None if groups is None else Groups.of(groups)
        return Survey.of_design(self.question, self.design, title, relay=relay, groups=made)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        bound = self.design.bound(self.people)
        return {
            "question": self.question.kind,
            "answers": self.question.n_answers,
            "unit": self.question.unit,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "central": None if self.central is None else self.central.to_dict(),
            "people": self.people,
            "solved_for": self.solved_for,
            "criterion": self.criterion,
            "target": self.target,
            "population": "worst case" if self.population is None else "given",
            "margin": self.margin,
            "l2": self.l2,
            "expected_l2": None if self.expected_l2 is None else self.expected_l2._asdict(),
            "bound": {"l2": bound.value, "statement": bound.statement},
            "strategy": self.best.strategy,
            "mechanism": self.best.mechanism,
            "reason": self.reason,
            "recall": None if self.recall is None else self.recall.to_dict(),
            "options": [option.to_dict() for option in self.stated_options],
        }


def solve_plan(
    question: Question,
    setting: Setting,
    target: Target,
    criterion: Criterion,
    *,
    epsilon: float | None,
    people: int | None,
    population: Population | None = None,
    seats: int = 1,
    factor: float = 1.0,
    goal: Any = None,
    difference: Any = None,
) -> tuple[Plan, int]:
    """The plan of a survey in which everybody takes one of `seats` seats, and the number of people in all seats.

    Parameters
    ----------
    setting
        Limits, delta and named designs; its epsilon and people count where they are given.
    target
        The error to reach, `factor` times that of the criterion.
    epsilon, people
        None for the one that is to be computed; people are those of all seats.
    goal
        For words: the probability with which they are to be found, and the share if that is the target.
    difference
        For two groups: the difference that is to be seen between them; people are those of the first.
    """
    aim = goal if difference is None else difference
    solver = _Solver(setting, question, criterion, population, epsilon is not None, aim)
    tried = question.strategies if setting.strategy == AUTO else (setting.strategy,)
    searched = [name for name in tried if find(name).searched]
    if epsilon is None and (len(searched) == len(tried) or setting.mechanism == MatrixChannel.name):
        named = " and ".join(searched) or setting.mechanism
        raise PlanError(
            f"{named} searches a channel for one epsilon: give epsilon, and ask for people or the error"
        ).at("epsilon")
    if target.value is not None and (epsilon is None) != (people is None):
        _check_served(question, setting if solver.given else replace(setting, epsilon=MAX_EPSILON), solver)

    def solved_for(widening: float) -> tuple[float, int, Solved]:
        def error(strength: float, crowd: int) -> float:
            return widening * factor * solver.error(strength, max(1, crowd // seats))

        return solve(error, epsilon, people, target)

    found_epsilon, found_people, solved = solved_for(1.0)
    if target.name == "margin" and target.value is not None:
        # Designs are compared by standard errors, which are quick; the interval is wider, and the less so the more
        # people there are.
        for _ in range(_ROUNDS):
            widening = solver.widening(found_epsilon, max(1, found_people // seats))
            previous = found_epsilon, found_people
            found_epsilon, found_people, solved = solved_for(widening * (1 + _MARGIN))
            if (found_epsilon, found_people) == previous or _close(previous, (found_epsilon, found_people)):
                break
    final = replace(setting, epsilon=found_epsilon, people=max(1, found_people // seats))
    listed = options(final, question.strategies, criterion, population)
    if not listed[0].fits:
        raise unserved(question, final, listed)
    listed = (*with_half_widths(listed[:1], population), *listed[1:])
    made = Plan(
        question, found_epsilon, final.people, solved, criterion, target.value, listed, final, population, goal=goal
    )
    return made, found_people


def _close(one: tuple[float, int], other: tuple[float, int]) -> bool:
    """Whether a further step would change the people of two solutions by little, the second of which has more."""
    return one[0] == other[0] and 0 <= one[1] - other[1] <= _CLOSE * one[1]


def with_half_widths(listed: tuple[Option, ...], population: Population | None) -> tuple[Option, ...]:
    """The options, each with the half-width of the interval that its estimate would print."""
    return tuple(
        option
        if option.design is None
        else replace(option, half_width=half_width(option.design, option.people, population))
        for option in listed
    )


@dataclass(frozen=True, eq=False)
class _Solver:
    """The least error of all designs as a function of epsilon and people; `given` means epsilon is fixed.

    If there is a goal, the error is how close the best design comes to it.
    """

    setting: Setting
    question: Question
    criterion: Criterion
    population: Population | None
    given: bool
    goal: Any = None

    @cached_property
    def _made(self) -> dict[float, list[Strategy]]:
        return {}

    def error(self, epsilon: float, people: int) -> float:
        """The error of the best design; infinite if none can serve."""
        setting = self.setting
        made = [design.for_people(people, setting.max_counters) for design in self._designs(epsilon)]
        short = [
            design
            for design in made
            if design.mechanism.report_bytes <= setting.max_report_bytes or setting.mechanism != AUTO
        ]
        if self.goal is not None and self.goal.target is not None:
            return min((self.goal.reached(self.question, design, people) for design in short), default=math.inf)
        return least_error(short, people, self.criterion, self.population)

    def widening(self, epsilon: float, people: int) -> float:
        """The half-width of the printed interval over 1.96 standard errors, for the design of the least of these."""
        made = [design.for_people(people, self.setting.max_counters) for design in self._designs(epsilon)]
        best = min(made, key=lambda design: error_of(design, people, "margin", self.population))
        return widening(best, people, self.population)

    def _designs(self, epsilon: float) -> list[Strategy]:
        """The designs, cached per epsilon: the number of people changes only the rotations."""
        if epsilon not in self._made:
            setting = replace(self.setting, epsilon=epsilon)
            every = self.question.strategies
            tried = every if self.given else tuple(name for name in every if not find(name).searched)
            self._made[epsilon] = usable_designs(setting, tried)
        return self._made[epsilon]


def _check_served(question: Question, setting: Setting, solver: _Solver) -> None:
    """Refuse a question that no design can serve, so that it is not reported as an unreachable error."""
    if math.isinf(solver.error(setting.epsilon, setting.people)):
        raise unserved(question, setting, options(setting, question.strategies, solver.criterion, solver.population))


def unserved(question: Question, setting: Setting, listed: tuple[Option, ...]) -> PlanError:
    """The refusal of a question that no design can serve.

    It blames the named strategy or mechanism, or else the report size if a longer report would do.
    """
    error = PlanError(f"no design can serve this {question.kind} question: {join_reasons(listed)}")
    if setting.mechanism != AUTO or setting.strategy != AUTO:
        return error.at("strategy" if setting.mechanism == AUTO else "mechanism")
    return error.at("max_report_bytes") if any(option.design is not None for option in listed) else error
