"""Shares: the distribution of people over the values of a domain, the identity query (Alg. 5 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self, final

from sottovoce.core.errors import DomainError
from sottovoce.core.limits import MAX_DOMAIN_SIZE, check_domain_size
from sottovoce.core.words import plural
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.questions.base import Question
from sottovoce.questions.parameter import DOMAIN_PARAMETERS, Parameter
from sottovoce.questions.people import People
from sottovoce.theory.bounds import Bound, theorem_4_2
from sottovoce.workloads.identity import Identity

__all__ = ["Shares"]


@final
@dataclass(frozen=True)
class Shares(Question):
    """The share of people with each value.

    Examples
    --------
    >>> question = Shares(Domain.of(["tea", "coffee", "water"]))
    >>> question.n_answers, question.label(1), question.find("water")
    (3, 'coffee', 2)
    >>> Shares.of(values=40).to_statement()["kind"]
    'shares'
    """

    domain: Domain

    kind: ClassVar[str] = "shares"
    summary: ClassVar[str] = "how people are distributed over values"
    parameters: ClassVar[tuple[Parameter, ...]] = DOMAIN_PARAMETERS
    strategies: ClassVar[tuple[str, ...]] = ("histogram",)
    projected_on: ClassVar[str] = "simplex"
    printed_strategy: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        domain = self.domain
        if isinstance(domain, (int, float, Integral)):
            domain = Domain.of(check_domain_size(domain))
        object.__setattr__(self, "domain", Domain.of(domain))
        if self.domain.size > MAX_DOMAIN_SIZE:
            raise DomainError(
                f"the domain has {self.domain.size:,} values; shares can be asked for at most {MAX_DOMAIN_SIZE:,}"
            )

    @classmethod
    def _of(cls, **given: Any) -> Self:
        ((name, domain),) = given.items()
        try:
            return cls(domain)
        except DomainError as error:
            raise error.at(name) from None

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("domain",)

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(domain_from_statement(statement["domain"]))

    def _statement(self) -> dict[str, Any]:
        return {"domain": self.domain.to_statement()}

    @cached_property
    def workload(self) -> Identity:
        return Identity(self.domain)

    @property
    def answers_are_shares(self) -> bool:
        return True

    @property
    def answers_text(self) -> str:
        return f"Shares of {plural(self.n_answers, 'value')}"

    def printed_bound(self, epsilon: float, delta: float, users: int) -> Bound:
        """Theorem 4.2.

        Examples
        --------
        >>> Shares.of(values=1024).printed_bound(1.0, 0.0, 20_000).statement
        'Bassily 2019, Theorem 4.2, as printed'
        """
        return theorem_4_2(self.n_answers, epsilon, users)

    @property
    def listed_by_size(self) -> bool:
        return True

    def private_input(self, value: object) -> int:
        return self.domain.index(value)

    def people(self, values: Any) -> People:
        return People.with_values(self.domain.indices(values))

    def find(self, name: object) -> int:
        return self.domain.index(name)

    def in_round(self, seat: Any) -> Shares | None:
        """Shares of the integers from 0, which a query numbers."""
        found: Shares | None = seat.choice(self.domain.size) if self.domain == Domain.of(self.domain.size) else None
        return found

    @property
    def round_choices(self) -> int:
        return self.domain.size

    def _find_answer(self, answer: str | int) -> int:
        # A person's value may be a number or a record; its label is a text.
        return self.workload.find(answer) if isinstance(answer, str) else self.find(answer)

    def label(self, index: int) -> str:
        return self.domain.label(index)
