"""What every question is: what a person holds, what is to be known of it, and how both are named.

A question is a set of linear queries over a finite domain (a `Workload`) or over a ball (a `Ball`). How it is asked
is the business of a design, see `sottovoce.strategies`.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.domain import Domain
from sottovoce.errors import SimulationError, SurveyError
from sottovoce.questions.parameter import Parameter, check_parameters
from sottovoce.questions.people import People, check_histogram
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.base import Workload

__all__ = ["Ends", "Question"]

Floats = NDArray[np.float64]
Ends = float | Floats


class Question(abc.ABC):
    """What is asked. Frozen; abstract or final. To add one: write its file, add its line in `registry`."""

    kind: ClassVar[str]
    """Name in a survey's JSON, on the command line and in forms."""
    summary: ClassVar[str]
    """What is to be known, in a few words."""
    parameters: ClassVar[tuple[Parameter, ...]]
    """What it is made with; every door derives its own from this."""
    strategies: ClassVar[tuple[str, ...]]
    """Names of the strategies it can be asked by."""
    projected_on: ClassVar[str]
    """What the raw answers are projected on, in words."""

    # --- what a kind writes -----------------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def _of(cls, **given: Any) -> Self:
        """The question with these parameters, each of which is known and in range."""

    @classmethod
    @abc.abstractmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        """The question behind a statement with exactly the fields of `to_statement`."""

    @abc.abstractmethod
    def _statement(self) -> dict[str, Any]:
        """The fields of the JSON besides the kind."""

    if TYPE_CHECKING:  # a kind has each as a field or as a property; at run time a property here would be in the way

        @property
        def workload(self) -> Workload | Ball:
            """The linear queries."""

        @property
        def domain(self) -> Domain | None:
            """What a person's value can be; None where it is a vector."""

    @abc.abstractmethod
    def private_input(self, value: object) -> Any:
        """One person's value as designs take it: a number of the domain, or a vector. Never names the value."""

    @abc.abstractmethod
    def people(self, values: Any) -> People:
        """Simulated people with these values."""

    @abc.abstractmethod
    def find(self, name: object) -> int:
        """Where the answer with that name, value or number stands."""

    @abc.abstractmethod
    def label(self, index: int) -> str:
        """What an answer is called."""

    # --- what follows from it ---------------------------------------------------------------

    @classmethod
    @final
    def of(cls, **given: Any) -> Self:
        """The question with these parameters; unknown, missing and ill-formed ones are refused by name."""
        return cls._of(**check_parameters(f"a {cls.kind} question", cls.parameters, given))

    @classmethod
    @final
    def from_statement(cls, statement: dict[str, Any]) -> Self:
        """The question behind its part of a survey's JSON; every field is checked again."""
        expected = {"kind", *cls._fields()}
        if set(statement) != expected:
            raise SurveyError(f"a {cls.kind} question must hold exactly these fields: {', '.join(sorted(expected))}")
        return cls._from_statement(statement)

    @classmethod
    @abc.abstractmethod
    def _fields(cls) -> tuple[str, ...]:
        """Names of the fields of `_statement`."""

    @final
    def to_statement(self) -> dict[str, Any]:
        """The question as it stands in a survey's JSON."""
        return {"kind": self.kind, **self._statement()}

    @property
    @final
    def n_answers(self) -> int:
        """How many numbers an estimate holds."""
        return self.workload.n_queries

    @property
    @final
    def answer_range(self) -> tuple[Ends, Ends]:
        """Between which numbers the answers must lie: for all of them, or one pair each."""
        return self.workload.answer_range

    def people_of_histogram(self, histogram: ArrayLike) -> People:
        """Simulated people, a stated number with each value."""
        domain = self.domain
        if domain is None:
            raise SimulationError("vectors cannot be counted by value; give values, one vector per person").at(
                "histogram"
            )
        return People.with_histogram(check_histogram(histogram, domain.size))
