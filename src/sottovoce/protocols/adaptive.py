"""Adaptive questions (Alg. 6): so many rounds, everybody in one of them, every question after the answers before."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from sottovoce.domain import Domain, domain_from_statement
from sottovoce.limits import check_epsilon, check_radius
from sottovoce.mechanisms.binary import Binary
from sottovoce.statement import Attachments, Stated, check_fields
from sottovoce.theory.adaptive_bounds import check_rounds

if TYPE_CHECKING:
    from sottovoce.adaptive.seat import Seat
    from sottovoce.adaptive.session import Session
    from sottovoce.expressions import Query
    from sottovoce.protocols.rounds import ChoiceRound, QuestionRound
    from sottovoce.simulation import Seed

__all__ = ["AdaptiveSurvey"]


@final
@dataclass(frozen=True, repr=False)
class AdaptiveSurvey(Stated):
    """How many questions may be asked, about whose records, at what epsilon.

    Published before any question is known. A device draws its round from it once, for life; what it answers then is a
    `QuestionRound` or a `ChoiceRound`, each a survey of its own that names this one.
    """

    domain: Domain
    rounds: int
    epsilon: float
    radius: float = 1.0
    title: str = ""

    kind: ClassVar[str] = "adaptive"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", check_rounds(self.rounds))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "radius", check_radius(self.radius))
        self._check_title()
        Binary(1, self.radius, self.epsilon, 0.0)  # refuses what no round could use

    @classmethod
    def make(cls, domain: object, rounds: int, epsilon: float, radius: float, title: str) -> Self:
        """See `Survey.adaptive`."""
        return cls(Domain.of(domain), rounds, epsilon, radius, title)

    def _own_statement(self) -> dict[str, Any]:
        return {"domain": self.domain.to_statement(), "rounds": self.rounds, "radius": self.radius}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        check_fields(statement, {"domain", "rounds", "radius"})
        domain = domain_from_statement(statement["domain"])
        return cls(domain, statement["rounds"], statement["epsilon"], statement["radius"], statement["title"])

    def __repr__(self) -> str:
        return (
            f"<adaptive survey {self.id[:12]}: {self.rounds:,} rounds over {self.domain.size:,} records, "
            f"epsilon {self.epsilon:g}, radius {self.radius:g}>"
        )

    # --- the analyst's side -----------------------------------------------------------------

    def question(self, round: int, query: Query | str) -> QuestionRound:
        """The survey of one round that asks for a query's mean."""
        from sottovoce.expressions import query as as_query
        from sottovoce.protocols.rounds import QuestionRound

        return QuestionRound(self, round, as_query(query))

    def choice(self, round: int, query: Query | str, size: int) -> ChoiceRound:
        """The survey of one round that asks how an integer query is distributed over 0 .. size-1."""
        from sottovoce.expressions import query as as_query
        from sottovoce.protocols.rounds import ChoiceRound

        return ChoiceRound.make(self, round, as_query(query), size)

    def session(self, values: Any, seed: Seed = None, *, path: str | PathLike[str] | None = None) -> Session:
        """Ask simulated people with these records, one question after another.

        Parameters
        ----------
        values
            Everybody's record: a mapping of columns, a DataFrame, a list of records, or an array of their numbers.
        seed
            Makes the session repeat itself exactly; None for a fresh one.
        path
            A file that keeps the session, written after every answer. If it is there already, the session goes on
            from it; the same values must be given again.
        """
        from sottovoce.adaptive.crowd import SimulatedCrowd
        from sottovoce.adaptive.session import Session

        return Session.start(self, lambda kept: SimulatedCrowd.of(self, values, seed, kept), path)

    # --- the device's side ------------------------------------------------------------------

    def enrol(self, path: str | PathLike[str]) -> Seat:
        """A device's seat: its round, drawn from the operating system's entropy the first time, then kept for ever.

        `path` is where the seat is kept; asked again with the same path, it is read and never redrawn.
        """
        from sottovoce.adaptive.seat import Seat

        return Seat.open(self, path)
