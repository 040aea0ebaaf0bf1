"""A panel (Alg. 6 of the paper): several rounds in sequence, with everybody in exactly one of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import DomainError, QueryError, SurveyError
from sottovoce.core.limits import MAX_RADIUS, MIN_RADIUS, check_epsilon, check_integer, check_radius
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import plural
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.expressions import Checked, Query, numbers, positions
from sottovoce.mechanisms import Mechanism
from sottovoce.mechanisms.binary import Binary
from sottovoce.questions.base import Question, plain_attributes
from sottovoce.questions.parameter import DOMAIN_PARAMETERS, Parameter, check_parameters
from sottovoce.questions.people import People
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.surveys.statement import FORMAT, Stated, check_fields, check_format, check_title
from sottovoce.theory.adaptive_bounds import MAX_ROUNDS, check_rounds
from sottovoce.workloads.ball import Ball

__all__ = ["MAX_CHOICES", "Panel", "Seat"]

Columns = dict[str, NDArray[np.int64]]

MAX_CHOICES = 2**20
"""Maximum number of choices of a round: the collector transforms that many counts."""


@final
@dataclass(frozen=True, repr=False, init=False)
class Panel(Stated):
    """Questions in sequence, each chosen after the answers before it.

    A panel is published before any question is known. A device draws its round once, permanently; it then answers a
    survey with a seat in this panel.

    Parameters
    ----------
    domain
        The possible records, as for `shares`; products of up to 2**63 records.
    rounds
        Maximum number of questions. Everybody answers one of them: more rounds mean fewer people per round.
    epsilon
        The privacy parameter of the one answer that a person gives.
    radius
        Values of queries must stay within [-radius, radius].
    """

    domain: Domain
    rounds: int
    epsilon: float
    radius: float
    title: str

    kind: ClassVar[str] = "panel"
    called: ClassVar[str] = "One question after another"
    noun: ClassVar[str] = "panel"
    part: ClassVar[str] = "round"
    summary: ClassVar[str] = "questions that depend on earlier answers"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        *DOMAIN_PARAMETERS,
        Parameter("rounds", "integer", "maximum number of questions", "20", low=1, high=MAX_ROUNDS),
        Parameter(
            "radius",
            "number",
            "largest absolute value of a query",
            "1",
            default=1.0,
            low=MIN_RADIUS,
            high=MAX_RADIUS,
        ),
    )
    delta: ClassVar[float] = 0.0

    @with_clear_calls('sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=20, epsilon=1.0)')
    def __init__(self, domain: object, *, rounds: int, epsilon: float, radius: float = 1.0, title: str = "") -> None:
        try:
            object.__setattr__(self, "domain", Domain.of(plain_attributes(domain)))
        except DomainError as error:
            raise error.at("domain") from None
        object.__setattr__(self, "rounds", check_rounds(rounds))
        object.__setattr__(self, "epsilon", check_epsilon(epsilon))
        object.__setattr__(self, "radius", check_radius(radius))
        object.__setattr__(self, "title", title)
        check_title(title)
        _ = self.mechanism  # refuses parameters that no round could use

    @classmethod
    def of(cls, epsilon: float, title: str = "", **given: Any) -> Self:
        """The panel with these parameters; unknown, missing and malformed ones are refused by name."""
        fields = check_parameters("a panel", cls.parameters, given)
        rounds, radius = fields.pop("rounds"), fields.pop("radius")
        (domain,) = fields.values()
        return cls(Domain.of(domain), rounds=rounds, epsilon=epsilon, radius=radius, title=title)

    @property
    def mechanism(self) -> Binary:
        """The mechanism of rounds that ask for a mean."""
        return Binary(1, self.radius, self.epsilon, 0.0)

    def amplified(self, *, people: int | None = None, delta: float | None = None) -> NoReturn:
        """Refuses: what shuffling adds is stated for surveys that are forwarded in batches."""
        raise SurveyError(
            "the rounds of a panel have no certificate of a shuffler: each question waits for the answers before it, "
            "and a batch holds answers back; ask all at once with queries, or in periods with Tracking"
        )

    def parse(self, text: str) -> object:
        """The record that typed text stands for; text that stands for none is returned as it is."""
        return self.domain.parse(text)

    def to_statement(self) -> dict[str, Any]:
        """The panel as plain JSON values."""
        own = {"domain": self.domain.to_statement(), "rounds": self.rounds, "radius": self.radius}
        return {"format": FORMAT, "title": self.title, "epsilon": self.epsilon, "panel": own}

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """Read a panel from JSON, checking every field."""
        stated = check_format(statement)
        check_fields(stated, "a panel", {"format", "title", "epsilon", "panel"})
        own = stated["panel"]
        check_fields(own, "the field 'panel'", {"domain", "rounds", "radius"})
        domain = domain_from_statement(own["domain"])
        promise = {"rounds": own["rounds"], "epsilon": stated["epsilon"], "radius": own["radius"]}
        return cls(domain, **promise, title=stated["title"])

    def __repr__(self) -> str:
        return (
            f"<panel {self.id[:12]}: {plural(self.rounds, 'round')} over {plural(self.domain.size, 'record')}, "
            f"epsilon {self.epsilon:g}, radius {self.radius:g}>"
        )

    def _repr_html_(self) -> str:
        facts = {
            "title": self.title,
            "rounds": f"{self.rounds:,}",
            "records": f"{self.domain.size:,}",
            "guarantee": f"epsilon {self.epsilon:g}",
            "values of a query": f"-{self.radius:g} to {self.radius:g}",
            "id": self.id,
        }
        return facts_html("panel", facts)


@final
@dataclass(frozen=True)
class Seat:
    """The round of a panel that a survey belongs to, and the query that maps a record to a value.

    A device evaluates only checked trees. Whether a query is refused depends on the query and the domain alone, never
    on the record.
    """

    panel: Panel
    round: int
    query: Query

    def __post_init__(self) -> None:
        object.__setattr__(self, "round", check_integer("round", self.round, 1, self.panel.rounds))
        _ = self.checked  # refuses a query that could fail for some record

    @cached_property
    def checked(self) -> Checked:
        """The kind and bounds of the query."""
        return self.query.check(self.panel.domain)

    def to_statement(self) -> dict[str, Any]:
        """The seat in a survey's JSON, including the whole panel, so that a round is self-contained."""
        return {"panel": self.panel.to_statement(), "round": self.round, "query": self.query.tree}

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """Read a seat from JSON."""
        check_fields(statement, "a survey's seat", {"panel", "round", "query"})
        stated: Any = statement
        return cls(Panel.from_statement(stated["panel"]), stated["round"], Query.from_tree(stated["query"]))

    # --- questions of a round ------------------------------------------------------------------

    def mean(self) -> Vector:
        """The question for the mean of the query; its answer is named after the query and lies in its range."""
        r = self.panel.radius
        low, high = (min(r, max(-r, float(end))) for end in (self.checked.low, self.checked.high))
        return Vector(1, r, ball=Ball(1, r, names=(self.query.text,), low=low, high=high))

    def choice(self, size: int) -> Shares:
        """The question for the distribution of an integer query over 0 .. size-1.

        Everybody in the round answers about all choices.
        """
        choices = check_integer("size", size, 2, MAX_CHOICES)
        if self.checked.kind not in ("integer", "truth"):
            raise QueryError(
                f"the query gives a {self.checked.kind}; a choice needs an integer query, the number of the choice"
            ).at("query")
        return Shares(Domain.of(choices))

    def question(self, stated: Question) -> Question:
        """The question of a round with that statement; raises `SurveyError` if a round cannot ask it."""
        question = stated.in_round(self)
        if question is None:
            raise SurveyError(
                "a round must ask for a mean (one number within the panel's radius) or for shares of the integers "
                "from 0"
            ).at("question")
        return question

    def check_promise(self, question: Question, mechanism: Mechanism, delta: float) -> None:
        """Refuse a round with another promise than its panel's, or a mean by another mechanism."""
        if mechanism.epsilon != self.panel.epsilon or delta != 0:
            raise SurveyError("epsilon must be that of the round's panel, and delta 0").at("epsilon")
        if not question.round_choices and mechanism.name != self.panel.mechanism.name:
            raise SurveyError("the mechanism of a round that asks for a mean must be 'binary'").at("mechanism")

    def check_radius(self) -> None:
        """Refuse a query whose values can exceed the panel's radius; a device would clip them."""
        low, high, radius = self.checked.low, self.checked.high, self.panel.radius
        if low < -radius or high > radius:
            raise QueryError(
                f"the query's values range from {float(low):.6g} to {float(high):.6g}; this panel allows "
                f"[-{radius:g}, {radius:g}]: scale the query, wrap it in clip(.., {-radius:g}, {radius:g}), or make a "
                "panel with a larger radius"
            ).at("query")

    # --- answers of a person --------------------------------------------------------------

    def inputs(self, question: Question, columns: Columns) -> NDArray[Any]:
        """The inputs of a design for people whose attributes have these numbers.

        Clipped to the question's range, whatever the query gives.
        """
        domain, r = self.panel.domain, self.panel.radius
        if question.round_choices:
            return positions(self.query, domain, columns, question.round_choices)
        return numbers(self.query, domain, columns).clip(-r, r)[:, None]

    def people(self, question: Question, columns: Columns) -> People:
        """Simulated people with these attributes."""

        def between(start: int, stop: int) -> NDArray[Any]:
            return self.inputs(question, {name: column[start:stop] for name, column in columns.items()})

        return People(len(next(iter(columns.values()))), between)
