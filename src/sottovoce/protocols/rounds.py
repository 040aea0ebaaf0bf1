"""One round of an adaptive survey: a survey of its own, which names the one it belongs to.

A round asks either for the mean of a number (one bit a person), or how people are distributed over a few choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import QueryError, SurveyError
from sottovoce.estimate import Estimate
from sottovoce.expressions import Checked, Query, numbers, positions
from sottovoce.limits import check_epsilon, check_integer
from sottovoce.mechanisms import FiniteMechanism, choose, restore
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.vector_registry import restore_vector
from sottovoce.projections import project_simplex
from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.simulation import People, check_histogram
from sottovoce.statement import Attachments, check_fields, from_statement
from sottovoce.survey import Ends, Survey, mechanism_statement
from sottovoce.theory.bounds import Bound, projected_distribution_bound

__all__ = ["MAX_CHOICES", "ChoiceRound", "QuestionRound", "Round"]

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[np.int64]]

MAX_CHOICES = 2**20
"""Most choices of a round: the collector transforms as many counts, and a device draws among as many reports."""


class Round(Survey):
    """What both kinds share: the adaptive survey, the round's number, and the query that a device evaluates.

    A device evaluates a checked tree and nothing else. Whether a query is refused depends on the query and the domain
    alone, never on the record.
    """

    survey: AdaptiveSurvey
    round: int
    query: Query

    @final
    def _check_round(self) -> None:
        object.__setattr__(self, "round", check_integer("round", self.round, 1, self.survey.rounds))
        object.__setattr__(self, "epsilon", self.survey.epsilon)
        self._check_title()

    @cached_property
    def checked(self) -> Checked:
        """What is known of the query's values before anybody is asked."""
        return self.query.check(self.survey.domain)

    @final
    def _own_fields(self) -> dict[str, Any]:
        return {
            "survey": self.survey.to_statement(),
            "round": self.round,
            "query": self.query.tree,
            **self._round_fields(),
        }

    def _round_fields(self) -> dict[str, Any]:
        """The fields that only this kind of round has."""
        return {}

    def inputs(self, columns: Columns) -> NDArray[Any]:
        """What the mechanism randomizes, for people whose attributes have these numbers."""
        raise NotImplementedError

    @final
    def _private_input(self, value: object) -> Any:
        domain = self.survey.domain
        record = np.array([domain.index(value)], dtype=np.int64)
        found = self.inputs(domain.split(record))[0]
        return found if isinstance(found, np.ndarray) else int(found)

    @final
    def people(self, columns: Columns) -> People:
        """Simulated people with these attributes."""

        def between(start: int, stop: int) -> NDArray[Any]:
            return self.inputs({name: column[start:stop] for name, column in columns.items()})

        return People(len(next(iter(columns.values()))), between)

    @final
    def _people(self, values: Any) -> People:
        return self.people(self.survey.domain.columns(values))

    @final
    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        domain = self.survey.domain
        listed = People.with_histogram(check_histogram(histogram, domain.size))
        return People(listed.n, lambda start, stop: self.inputs(domain.split(listed.between(start, stop))))

    @final
    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism."""
        return f"{self.mechanism.name}: {self.mechanism.use_when}"


def _read(statement: dict[str, Any], own: set[str]) -> tuple[AdaptiveSurvey, Query]:
    """The adaptive survey and the query of a round's statement."""
    check_fields(statement, {"mechanism", "survey", "round", "query"} | own)
    inner = statement["survey"]
    # Looked at before it is read: a round inside a round inside a round would be read to the depth of the stack.
    if not isinstance(inner, dict) or inner.get("kind") != AdaptiveSurvey.kind:
        raise SurveyError("the survey of a round must be an adaptive one")
    survey = from_statement(inner)
    if not isinstance(survey, AdaptiveSurvey) or check_epsilon(statement["epsilon"]) != survey.epsilon:
        raise SurveyError("epsilon must be that of the adaptive survey the round belongs to")
    return survey, Query.from_tree(statement["query"])


@final
@dataclass(frozen=True, repr=False)
class QuestionRound(Round):
    """What is the mean of this number over everybody?"""

    survey: AdaptiveSurvey
    round: int
    query: Query
    title: str = ""
    epsilon: float = field(init=False)
    mechanism: Binary = field(init=False)

    kind: ClassVar[str] = "adaptive_question"

    def __post_init__(self) -> None:
        self._check_round()
        _ = self.checked  # refuses a query that could go wrong for some record
        object.__setattr__(self, "mechanism", Binary(1, self.survey.radius, self.epsilon, 0.0))

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        survey, query = _read(statement, set())
        name, parameters = mechanism_statement(statement["mechanism"])
        if name != Binary.name:
            raise SurveyError("the mechanism of such a round must be 'binary'")
        restore_vector(name, 1, survey.radius, survey.epsilon, 0.0, parameters)
        return cls(survey, statement["round"], query, statement["title"])

    def check_radius(self) -> None:
        """Refuse a query whose values can lie beyond the survey's radius; a device would clip them."""
        low, high, radius = self.checked.low, self.checked.high, self.survey.radius
        if low < -radius or high > radius:
            raise QueryError(
                f"the query's values can lie anywhere from {float(low):.6g} to {float(high):.6g}; this survey's must "
                f"stay within [-{radius:g}, {radius:g}]: scale the query, wrap it in clip(.., {-radius:g}, "
                f"{radius:g}), or make a survey of a larger radius"
            )

    def inputs(self, columns: Columns) -> Floats:
        """The query's values within [-r, r]: a device clips what a hostile query carries beyond."""
        r = self.survey.radius
        return numbers(self.query, self.survey.domain, columns).clip(-r, r)[:, None]

    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        raw = self.mechanism.estimate(counts, n_reports)
        low, high = self.answer_range
        return Estimate(self, n_reports, raw, raw.clip(low, high), 0.0, self.bound(n_reports))

    def bound(self, n_reports: int) -> Bound:
        """By Jensen, the root of the variance at its largest."""
        deviation = float(np.sqrt(self.mechanism.noise / n_reports))
        return Bound(deviation, "exact variance: E|error| <= c r / sqrt(n), whatever the answer is")

    @property
    def n_answers(self) -> int:
        """One."""
        return 1

    def answer_label(self, index: int) -> str:
        """The query."""
        return self.query.text

    def answer_index(self, name: object) -> int:
        """There is only one."""
        return 0 if name == self.query.text else check_integer("answer number", name, 0, 0)

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """Exact: sqrt(((c r)^2 - answer^2)/n)."""
        return np.asarray(np.sqrt((self.mechanism.noise - values**2) / n_reports))

    @property
    def proxy(self) -> Ends:
        """(c r)^2, by Hoeffding's lemma."""
        return self.mechanism.proxy

    @property
    def answer_range(self) -> tuple[float, float]:
        """Between which numbers the query's values are sure to lie, clipping by devices included."""
        r = self.survey.radius
        return min(r, max(-r, float(self.checked.low))), min(r, max(-r, float(self.checked.high)))


@final
@dataclass(frozen=True, repr=False)
class ChoiceRound(Round):
    """How is everybody distributed over the values 0 .. size-1 of an integer query?

    One linear query a candidate would spread people thin; here everybody in the round answers about all of them.
    """

    survey: AdaptiveSurvey
    round: int
    query: Query
    size: int
    mechanism: FiniteMechanism
    title: str = ""
    epsilon: float = field(init=False)

    kind: ClassVar[str] = "adaptive_choice"

    def __post_init__(self) -> None:
        self._check_round()
        object.__setattr__(self, "size", check_integer("size", self.size, 2, MAX_CHOICES))
        if self.checked.kind not in ("integer", "truth"):
            raise QueryError(
                f"the query gives a {self.checked.kind}; a choice needs an integer, the number of a choice"
            )
        if (self.mechanism.domain_size, self.mechanism.epsilon) != (self.size, self.epsilon):
            raise SurveyError("the mechanism is for another number of choices or epsilon than the round states")

    @classmethod
    def make(cls, survey: AdaptiveSurvey, round: int, query: Query, size: int) -> Self:
        """With the mechanism of least error."""
        choices = check_integer("size", size, 2, MAX_CHOICES)
        return cls(survey, round, query, choices, choose(choices, survey.epsilon))

    def _round_fields(self) -> dict[str, Any]:
        return {"size": self.size}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        survey, query = _read(statement, {"size"})
        size = check_integer("size", statement["size"], 2, MAX_CHOICES)
        name, parameters = mechanism_statement(statement["mechanism"])
        mechanism = restore(name, size, survey.epsilon, parameters)
        return cls(survey, statement["round"], query, size, mechanism, statement["title"])

    def inputs(self, columns: Columns) -> NDArray[np.int64]:
        """The query's values within 0 .. size-1: a device clips what a hostile query carries beyond."""
        return positions(self.query, self.survey.domain, columns, self.size)

    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        raw = self.mechanism.estimate(counts, n_reports)
        projected = project_simplex(raw)
        return Estimate(self, n_reports, raw, projected.values, projected.gap, self.bound(n_reports))

    def bound(self, n_reports: int) -> Bound:
        """See `projected_distribution_bound`."""
        m = self.mechanism
        return projected_distribution_bound(self.size, m.proxy, m.worst_total_variance, n_reports)

    @property
    def n_answers(self) -> int:
        """One per choice."""
        return self.size

    def answer_label(self, index: int) -> str:
        """The choice's number."""
        return str(check_integer("choice", index, 0, self.size - 1))

    def answer_index(self, name: object) -> int:
        """The choice of that number."""
        return check_integer(
            "choice", int(name) if isinstance(name, str) and name.isdecimal() else name, 0, self.size - 1
        )

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """From the mechanism's exact variance."""
        return np.asarray(np.sqrt(self.mechanism.variance(values, n_reports)))

    @property
    def proxy(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.proxy

    @property
    def answer_range(self) -> tuple[float, float]:
        """Frequencies."""
        return 0.0, 1.0
