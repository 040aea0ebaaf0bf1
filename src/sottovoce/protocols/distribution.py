"""Distribution estimation (Alg. 5): counts, unbiased estimate, projection on the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.domain import Domain, domain_from_statement
from sottovoce.errors import DomainError, SurveyError
from sottovoce.estimate import Estimate
from sottovoce.limits import MAX_DOMAIN_SIZE, MAX_REPORT_BYTES, check_domain_size, check_epsilon, check_integer
from sottovoce.mechanisms import FiniteMechanism, choose, create, restore
from sottovoce.mechanisms.base import Counts
from sottovoce.projections.simplex import project_simplex
from sottovoce.simulation import People, check_histogram
from sottovoce.statement import Attachments, check_fields
from sottovoce.survey import Ends, Survey, mechanism_statement
from sottovoce.theory.bounds import Bound, projected_distribution_bound

__all__ = ["DistributionSurvey"]


@final
@dataclass(frozen=True, repr=False)
class DistributionSurvey(Survey):
    """How are people distributed over the values of a domain?"""

    domain: Domain
    epsilon: float
    mechanism: FiniteMechanism
    title: str = ""

    kind: ClassVar[str] = "distribution"

    def __post_init__(self) -> None:
        if (self.mechanism.domain_size, self.mechanism.epsilon) != (self.domain.size, self.epsilon):
            raise SurveyError(
                "the mechanism is for another domain size or epsilon than the survey states; "
                "make surveys with Survey.distribution or Survey.from_json"
            )
        self._check_title()

    @classmethod
    def make(cls, domain: object, epsilon: float, mechanism: str, title: str, max_report_bytes: int) -> Self:
        """See `Survey.distribution`."""
        if isinstance(domain, (int, float, Integral)):
            domain = check_domain_size(domain)
        values = _check_size(Domain.of(domain))
        epsilon = check_epsilon(epsilon)
        limit = check_integer("max_report_bytes", max_report_bytes, 1, MAX_REPORT_BYTES)
        chosen = choose(values.size, epsilon, limit) if mechanism == "auto" else create(mechanism, values.size, epsilon)
        return cls(values, epsilon, chosen, title)

    def _own_fields(self) -> dict[str, Any]:
        return {"domain": self.domain.to_statement()}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        check_fields(statement, {"mechanism", "domain"})
        domain = _check_size(domain_from_statement(statement["domain"]))
        epsilon = check_epsilon(statement["epsilon"])
        name, parameters = mechanism_statement(statement["mechanism"])
        return cls(domain, epsilon, restore(name, domain.size, epsilon, parameters), statement["title"])

    def _private_input(self, value: object) -> int:
        return self.domain.index(value)

    def _people(self, values: Any) -> People:
        return People.with_values(self.domain.indices(values))

    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        return People.with_histogram(check_histogram(histogram, self.domain.size))

    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        """The raw estimate is unbiased; the projected one is never farther from any distribution."""
        raw = self.mechanism.estimate(counts, n_reports)
        projected = project_simplex(raw)
        return Estimate(self, n_reports, raw, projected.values, projected.gap, self.bound(n_reports))

    def bound(self, n_reports: int) -> Bound:
        """See `projected_distribution_bound`."""
        m = self.mechanism
        return projected_distribution_bound(m.domain_size, m.proxy, m.worst_total_variance, n_reports)

    @property
    def n_answers(self) -> int:
        """One per value."""
        return self.domain.size

    def answer_label(self, index: int) -> str:
        """The value's label."""
        return self.domain.label(index)

    def answer_index(self, name: object) -> int:
        """The value's index."""
        return self.domain.index(name)

    def standard_errors(self, values: NDArray[np.float64], n_reports: int) -> NDArray[np.float64]:
        """From the mechanism's exact variance."""
        return np.asarray(np.sqrt(self.mechanism.variance(values, n_reports)))

    @property
    def proxy(self) -> Ends:
        """The mechanism's."""
        return self.mechanism.proxy

    @property
    def answer_range(self) -> tuple[Ends, Ends]:
        """Frequencies."""
        return 0.0, 1.0

    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism, compared with every other that can serve."""
        from sottovoce.theory.planner import compare, explain

        return explain(compare(self.domain.size, self.epsilon, users), self.mechanism.name)


def _check_size(domain: Domain) -> Domain:
    if domain.size > MAX_DOMAIN_SIZE:
        raise DomainError(
            f"the domain has {domain.size:,} values; a distribution can be asked over at most {MAX_DOMAIN_SIZE:,}"
        )
    return domain
