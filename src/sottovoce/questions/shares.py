"""Shares: the distribution of people over the values of a domain, the identity query (Alg. 5 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np

from sottovoce.core.errors import DomainError
from sottovoce.core.limits import MAX_DOMAIN_SIZE
from sottovoce.core.words import plural
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.domain.ranges import RangeDomain
from sottovoce.estimates.bins import MOST_CELLS, histogram_bins, readable_starts, rows_of_shares
from sottovoce.questions.base import Question, plain_attributes
from sottovoce.questions.parameter import DOMAIN_PARAMETERS, Parameter, clear_question, missing_parameter
from sottovoce.questions.people import People
from sottovoce.theory.bounds import Bound, theorem_4_2
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.naming import is_text_labelled

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import NumberHistogram

__all__ = ["Shares", "shares"]

_FEWEST: Final = 12
"""Integers from which on they are drawn as a line; fewer are bars with labels."""


@clear_question('sv.shares(["tea", "coffee"])')
def shares(values: object, *, missing: str = "refuse") -> Shares:
    """The question how people are distributed: the share of people with each value.

    Parameters
    ----------
    values
        A list of labels, a number of values, a range of integers, a mapping of names to values (every record is then
        one value), an Enum class, or a `Domain`.
    missing
        "refuse" None and NaN, or count them "as <label>", such as "as prefer not to say"; the label is added to the
        values if it is not one of them, except to a range. It is part of the survey, so every device does the same.
        Where values are records, each attribute has its own: `{"plan": shares(["free", "pro"], missing="as free")}`.

    Examples
    --------
    >>> shares(["tea", "coffee", "water"]).n_answers
    3
    >>> shares({"age": range(100), "country": ["DE", "FR"]}).n_answers
    200
    >>> shares(range(1, 6), missing="as 3").private_input(None)
    2
    """
    return Shares(values)._with_missing(missing)  # type: ignore[arg-type]


@final
@dataclass(frozen=True, repr=False)
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
    called: ClassVar[str] = "One of a list"
    summary: ClassVar[str] = "how people are distributed over values"
    parameters: ClassVar[tuple[Parameter, ...]] = (*DOMAIN_PARAMETERS, missing_parameter())
    strategies: ClassVar[tuple[str, ...]] = ("histogram",)
    projected_on: ClassVar[str] = "simplex"
    printed_strategy: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", Domain.of(plain_attributes(self.domain)))
        if self.domain.size > MAX_DOMAIN_SIZE:
            raise DomainError(
                f"the domain has {self.domain.size:,} values; shares can be asked for at most {MAX_DOMAIN_SIZE:,}"
            ).at("values")

    @classmethod
    def _of(cls, **given: Any) -> Self:
        missing = given.pop("missing")
        ((name, domain),) = given.items()
        try:
            asked = cls(domain)
        except DomainError as error:
            raise error.at(name) from None
        return asked._with_missing(missing)

    def _with_missing(self, policy: str) -> Self:
        return replace(self, domain=self.domain.with_missing(policy))

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

    def printed_bound(self, epsilon: float, delta: float, people: int) -> Bound:
        """Theorem 4.2.

        Examples
        --------
        >>> Shares.of(values=1024).printed_bound(1.0, 0.0, 20_000).statement
        'Bassily 2019, Theorem 4.2, as printed'
        """
        return theorem_4_2(self.n_answers, epsilon, people)

    @property
    def listed_by_size(self) -> bool:
        return True

    def histogram(self, estimate: Any, level: float) -> NumberHistogram | None:
        """The histogram of integers in a range, in bins of several where single ones cannot be told from noise."""
        from sottovoce.workloads.pictures import number_histogram

        line = self.domain
        if not isinstance(line, RangeDomain) or line.step < 0 or not _FEWEST <= line.size <= MOST_CELLS:
            return None
        rows = rows_of_shares(line.size)
        ends = line.start - line.step / 2 + line.step * np.arange(line.size + 1, dtype=np.float64)
        starts = readable_starts(estimate._combinable, line.size, rows)

        def named(first: int, last: int) -> str:
            return line.label(first) if first == last else f"{line.label(first)} to {line.label(last)}"

        bins = histogram_bins(estimate._combinable, rows, starts, ends, named, level)
        return number_histogram("", bins)

    def private_input(self, value: object) -> int:
        return self.domain.index(value)

    def people(self, values: Any) -> People:
        return People.with_values(self.domain.indices(values))

    def _find(self, name: object) -> int:
        # A person's value may be a number or a record; its label is a text.
        index = self._find_label(name) if isinstance(name, str) else -1
        index = index if index >= 0 else self.domain._find(name)
        if index >= 0 or not (is_text_labelled(self.domain) or self.domain.field_names):
            return index
        return super()._find(name)

    def in_round(self, seat: Any) -> Shares | None:
        """Shares of the integers from 0, which a query numbers."""
        question: Shares | None = seat.choice(self.domain.size) if self.domain == Domain.of(self.domain.size) else None
        return question

    @property
    def round_choices(self) -> int:
        return self.domain.size

    def label(self, index: int) -> str:
        return self.domain.label(index)
