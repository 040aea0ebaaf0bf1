"""`Question`: a person's value, the quantities to estimate, and their names.

A question is a set of linear queries over a finite domain (a `Workload`) or on values that cannot be listed (a `Body`).
A design says how it is asked, see `sottovoce.strategies`.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.answer import unknown_answer
from sottovoce.core.entries import as_integer
from sottovoce.core.errors import SimulationError, SottovoceError, SurveyError, ValueOutsideDomainError
from sottovoce.core.words import figure, plural
from sottovoce.domain import Domain, NumberGrid
from sottovoce.domain.trials import NumberedTrials, Trials
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.listed import ListedEstimate
from sottovoce.estimates.series import AnswerOverTime, PickedAnswer, picked_answer, picked_function
from sottovoce.estimates.table_estimate import TableEstimate
from sottovoce.questions.invented import InventedPeople
from sottovoce.questions.parameter import Parameter, check_parameters
from sottovoce.questions.people import People, check_histogram
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import theorem_3_2, theorem_3_4
from sottovoce.workloads.base import Body, Workload
from sottovoce.workloads.naming import value_at

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import NumberFigure, NumberHistogram, Panel

__all__ = ["PerAnswer", "Question", "plain_attributes"]

Floats = NDArray[np.float64]
PerAnswer = float | Floats

_MOST_COMPARED: Final = 10_000
"""Answers that a comparison is about unless they are named."""

_FEWEST_OF_THEOREM: Final = 120
"""People from whom on Theorem 3.4 is stated."""


class Question(abc.ABC):
    """A question of a survey. Frozen; abstract or final. To add one: write its file, add its line in `registry`."""

    kind: ClassVar[str]
    """Name in a survey's JSON, on the command line and in forms."""
    called: ClassVar[str] = ""
    """Its name on pages, in a person's words; by default the kind."""
    summary: ClassVar[str]
    """The estimated quantity, in a few words."""
    parameters: ClassVar[tuple[Parameter, ...]]
    """Its parameters; the command line, HTTP, forms and documentation are derived from them."""
    strategies: ClassVar[tuple[str, ...]]
    """Names of the strategies that can answer it."""
    projected_on: ClassVar[str]
    """What the raw answers are projected on, in words."""
    on_hull: ClassVar[bool] = False
    """Whether that is the hull of the workload's columns, where the paper takes a larger, symmetric polytope."""
    held: ClassVar[str] = "the one value that a person answers"
    """What one report is about, in words: the unit of privacy."""

    is_searched: ClassVar[bool] = False
    """Whether answers are found by a search of the counts, instead of being listed beforehand."""

    # --- implemented by kinds -----------------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def _of(cls, **given: Any) -> Self:
        """The question with these parameters, which are checked."""

    @classmethod
    @abc.abstractmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        """The question from JSON with exactly the fields of `to_statement`."""

    @abc.abstractmethod
    def _statement(self) -> dict[str, Any]:
        """The fields of the JSON besides the kind."""

    if TYPE_CHECKING:  # a field or a property of each kind; a property here would conflict at run time

        @property
        def workload(self) -> Workload | Body:
            """The linear queries."""

        @property
        def domain(self) -> Domain | None:
            """The domain of a person's value; None for vectors."""

    @abc.abstractmethod
    def private_input(self, value: object) -> Any:
        """One person's value as an index or a vector; an error message does not contain the value."""

    def settled(self, value: object) -> object:
        """The value in a form that can be read again: a device asks first whether it is one, and then reads it."""
        return value

    def parse(self, text: str) -> object:
        """The value that typed text stands for, on a command line, in a file of values or on a page.

        Text that stands for no value is returned as it is, and refused where it is randomized.
        """
        return text if self.domain is None else self.domain.parse(text)

    def admits(self, value: object) -> bool:
        """Whether a person may have this value."""
        try:
            self.private_input(value)
        except ValueOutsideDomainError:
            return False
        return True

    def admits_missing(self, field: str = "") -> bool:
        """Whether a missing value counts as one; in a record, whether that field may be missing."""
        if self.domain is None:
            return False
        held = dict(Domain.attributes_of(self.domain))[field] if field else self.domain
        return held.missing is not None

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of a record's fields; empty if values are not records."""
        return () if self.domain is None else self.domain.field_names

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns of a file that do not make one value together."""
        if not self.field_names:
            raise SurveyError(
                "columns is for surveys of records and of vectors; this one asks for one value: name it with column"
            ).at("columns")
        if set(names) != set(self.field_names):
            raise SurveyError(
                f"columns must be the attributes of the survey, which are {', '.join(self.field_names)}; or name with "
                "column one that holds the whole record"
            ).at("columns")

    def value_of_columns(self, row: Mapping[str, Any]) -> object:
        """One person's value from the columns that `check_columns` accepted, in their order."""
        return dict(row)

    @abc.abstractmethod
    def people(self, values: Any) -> People:
        """Simulated people with these values."""

    def _find(self, name: object) -> int:
        """The index of the answer with that label, value or number; -1 if there is none."""
        if isinstance(name, str):
            return self._find_label(name)
        number = as_integer(name)
        return number if number is not None and 0 <= number < self.n_answers else -1

    def _find_label(self, label: str) -> int:
        """The index of the answer with that label, or -1."""
        try:
            return self.workload.find(label)
        except SottovoceError:
            return -1

    @abc.abstractmethod
    def label(self, index: int) -> str:
        """The label of an answer."""

    # --- people's values, for audits: what a kind without a domain states -----------------------

    def audit_trials(self) -> Trials | None:
        """People's values on which an audit runs a device: where faults are likely, at random, and to tell apart.

        None where a kind without a domain states none: then its surveys cannot be audited, only their mechanisms.
        """
        return None if self.domain is None else NumberedTrials(self.domain.size, partial(value_at, self.domain))

    @property
    @final
    def n_possible(self) -> int | None:
        """How many values people may have, as far as a mechanism tells them apart; None if they have no numbers."""
        trials = self.audit_trials()
        return None if trials is None else trials.size

    # --- how answers are shown: what a kind may know better -----------------------------------

    @property
    def unit(self) -> str:
        """The unit of the answers; empty if they have none."""
        return ""

    @property
    def answers_are_shares(self) -> bool:
        """Whether every answer is a share of the people, whose margin is shown in percentage points."""
        return False

    def __repr__(self) -> str:
        return f"<{self.kind} question: {self.values_text}>"

    @property
    def listed_by_size(self) -> bool:
        """Whether answers are listed with the largest first; otherwise in their own order."""
        return False

    @property
    def values_text(self) -> str:
        """The values that a person may have, in words."""
        possible = self.n_possible
        return "a value of the question" if possible is None else f"one of {plural(possible, 'value')}"

    @property
    def allowed(self) -> str:
        """What may be given as a value, for messages."""
        return self.values_text

    @property
    def answers_text(self) -> str:
        """What the answers are, in words, for titles."""
        values = self.workload.n_values
        return f"Answers to {plural(self.n_answers, 'query', 'queries')}" + (
            "" if values is None else f" over {plural(values, 'value')}"
        )

    # --- estimates, and what of them can be followed over time ----------------------------------

    @property
    def estimate_class(self) -> type[Estimate]:
        """The class of its estimates."""
        return TableEstimate if self.workload.has_tables else ListedEstimate

    @final
    def followed(self, answer: AnswerOverTime = None) -> PickedAnswer:
        """The answer that is followed over the periods of a tracking survey.

        Raises `SurveyError` if it is none of the question's, or if none is named and there are several.
        """
        return picked_function(answer, self.unit) if callable(answer) else self._followed(answer)

    def _followed(self, answer: str | int | None) -> PickedAnswer:
        """The answer of that name or number, or the only one."""
        if answer is None and self.n_answers > 1:
            raise SurveyError(
                f"answer must name one of the {self.n_answers:,} answers, for example {self.label(0)!r}; or be a "
                "function of an estimate and a level"
            ).at("answer")
        try:
            return picked_answer(self, 0 if answer is None else self.find(answer))
        except SottovoceError as error:
            raise error.at("answer") from None

    def followed_names(self, latest: Estimate | None, most: int) -> list[str]:
        """Names of what can be followed, the usual one first; `latest` is the estimate of the last period, if any."""
        return [self.label(index) for index in range(min(most, self.n_answers))]

    def compared_names(self) -> list[str]:
        """Names of what a comparison of two estimates is about unless it is said: all answers that can differ."""
        if self.n_answers > _MOST_COMPARED:
            raise SurveyError(
                f"there are {self.n_answers:,} answers, and at most {_MOST_COMPARED:,} are compared: name some, for "
                f"example answers=[{self.label(0)!r}]"
            ).at("answers")
        low, high = (np.broadcast_to(end, self.n_answers) for end in self.answer_range)
        return [self.label(index) for index in np.flatnonzero(low < high).tolist()]

    def compared(self, answer: str | int) -> PickedAnswer:
        """An answer that can be compared between two estimates; raises `SurveyError` for others."""
        return self._followed(answer)

    @final
    def amount(self, size: float) -> str:
        """The size of an error or a change of an answer: in percentage points, or in the unit of the answers."""
        if not self.answers_are_shares:
            return f"{figure(size)} {self.unit}".rstrip()
        points = figure(100 * size)
        return f"{points} point" if points == "1" else f"{points} points"

    # --- goals of a plan ------------------------------------------------------------------------

    goals: ClassVar[tuple[Parameter, ...]] = ()
    """Arguments of `plan` besides margin and l2: the first is what a plan can reach, the others belong to it."""

    @classmethod
    @final
    def goal_names(cls) -> list[str]:
        """The names of these arguments."""
        return [goal.name for goal in cls.goals]

    def goal(self, **given: object) -> Any:
        """The checked goal of a plan, from what was given for `goals`; its `target` is None where it is computed."""
        return None

    def accuracy(self, design: Any, people: int) -> str:
        """How well that is known which people ask for, if it is not the answers themselves; empty if it is."""
        return ""

    def recall(self, design: Any, people: int, goal: Any = None) -> Any:
        """What a design finds for `people`, where answers are searched for; None where they are listed."""
        return None

    # --- attributes of a record, and rounds of a panel ---------------------------------------------

    def as_attribute(self) -> Domain | NumberGrid:
        """What a record holds where this question is one of its attributes; raises `SurveyError` where it cannot be."""
        if self.domain is None:
            raise SurveyError(
                f"a {self.kind} question cannot be an attribute of a record: one is a list of values or a number"
            ).at("attributes")
        return self.domain

    def in_round(self, seat: Any) -> Question | None:
        """The question as a round of a panel asks it; None if a round cannot."""
        return None

    @property
    def round_choices(self) -> int:
        """The number of choices of a round; 0 if it asks for a mean."""
        return 0

    # --- pictures -------------------------------------------------------------------------------

    def panels(self, n_answers: int) -> list[Panel]:
        """How an estimate of `n_answers` answers is drawn."""
        return list(self.workload.panels())

    def figures(self, estimate: Any, level: float) -> list[NumberFigure]:
        """Figures of a number besides the answers of an estimate: mean, deviation and quantiles."""
        return []

    def histogram(self, estimate: Any, level: float) -> NumberHistogram | None:
        """The histogram of an estimate whose answers lie on a line, such as ages; None for others."""
        return None

    # --- what the paper prints: a kind of its own theorem says so -------------------------------

    printed_strategy: ClassVar[str] = "direct"
    """The strategy that the paper's theorem is about."""

    def printed_bound(self, epsilon: float, delta: float, people: int) -> Bound | None:
        """The paper's bound on the L2 error of its own protocol, as printed; None where it needs more people.

        Theorem 3.2 where there is a delta, and else Theorem 3.4. For values that cannot be listed, it is the second
        term of these.
        """
        asked = self.workload
        # Without a finite domain the term with log J bounds nothing.
        values: Any = math.inf if asked.n_values is None else asked.n_values
        if delta > 0:
            return theorem_3_2(asked.n_queries, values, asked.radius, epsilon, delta, people)
        if people < _FEWEST_OF_THEOREM:
            return None
        return theorem_3_4(asked.n_queries, values, asked.radius, epsilon, people)

    # --- derived ---------------------------------------------------------------

    @classmethod
    @final
    def of(cls, **given: Any) -> Self:
        """The question with these parameters; unknown, missing and malformed ones are refused by name."""
        return cls._of(**check_parameters(f"a {cls.kind} question", cls.parameters, given))

    @classmethod
    @final
    def from_statement(cls, statement: dict[str, Any]) -> Self:
        """Read a question from its part of a survey's JSON, checking every field."""
        expected = {"kind", *cls._fields()}
        if not expected <= set(statement) <= expected | set(cls._optional_fields()):
            raise SurveyError(
                f"a {cls.kind} question must have exactly these fields: {', '.join(sorted(expected))}"
            ).at("question")
        return cls._from_statement(statement)

    @classmethod
    @abc.abstractmethod
    def _fields(cls) -> tuple[str, ...]:
        """Names of the fields of `_statement` that always stand in it."""

    @classmethod
    def _optional_fields(cls) -> tuple[str, ...]:
        """Names of the fields of `_statement` that may be left out."""
        return ()

    @final
    def to_statement(self) -> dict[str, Any]:
        """The question's part of a survey's JSON."""
        return {"kind": self.kind, **self._statement()}

    @final
    def find(self, name: object) -> int:
        """The index of the answer with that label, value or number.

        Raises `UnknownAnswerError`, which suggests the nearest label.
        """
        index = self._find(name)
        if index < 0:
            raise unknown_answer(name, map(self.label, range(self.n_answers)))
        return index

    @property
    @final
    def n_answers(self) -> int:
        """The number of answers."""
        return self.workload.n_queries

    @property
    @final
    def answer_range(self) -> tuple[PerAnswer, PerAnswer]:
        """Lower and upper limits of the answers: for all of them, or one per answer."""
        return self.workload.answer_range

    plotted_with_people: ClassVar[bool] = False
    """Whether the picture of a plan simulates the invented people, which must take no more than a second."""

    def invented_people(self) -> InventedPeople | None:
        """People for simulations whose true answers are known; None where all values can be listed."""
        return None

    def people_of_lines(self, lines: Iterable[str]) -> InventedPeople:
        """People for simulations, one per line with their typed value; for questions whose answers are searched."""
        raise SimulationError("people are given by the share of each value, not by lines").at("population")

    def truth_of(self, values: Sequence[object]) -> Callable[[str, Floats], float] | None:
        """The true answer by its name, and by the share of people with each of these values; None if it is unknown."""
        domain, workload = self.domain, self.workload
        if domain is None or not isinstance(workload, Workload):
            return None
        places = [domain.index(value) for value in values]

        def truth(name: str, shares: Floats) -> float:
            histogram = np.bincount(places, weights=shares, minlength=domain.size)
            return float(workload.matvec(histogram)[self.find(name)])

        return truth

    @property
    def truth_text(self) -> str:
        """The heading of true answers that stand beside estimates."""
        return "truth"

    def people_of_histogram(self, histogram: ArrayLike) -> People:
        """Simulated people from the number of people with each value."""
        domain = self.domain
        if domain is None:
            raise SimulationError("vectors cannot be counted by value; give values, one vector per person").at(
                "histogram"
            )
        return People.with_histogram(check_histogram(histogram, domain.size))


def plain_attributes(given: Any) -> Any:
    """Attributes that are questions as what a record holds of them; anything but a mapping as it is."""
    if not isinstance(given, Mapping):
        return given
    return {name: _plain_attribute(name, attribute) for name, attribute in given.items()}


def _plain_attribute(name: object, attribute: Any) -> Any:
    if not isinstance(attribute, Question):
        return attribute
    try:
        return attribute.as_attribute()
    except SurveyError as error:
        raise SurveyError(f"attribute {name!r}: {error}").at("attributes") from None
