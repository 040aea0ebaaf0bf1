"""Offline queries (Sec. 3): counts, unbiased answers, projection on what a distribution can give."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import SurveyError
from sottovoce.estimate import Estimate, SparseDistribution
from sottovoce.limits import MAX_REPORT_BYTES, check_delta, check_epsilon, check_integer
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.mechanisms.vector_registry import within_counters
from sottovoce.protocols.keyed import keyed
from sottovoce.simulation import MAX_PEOPLE, AnyMechanism, People, check_histogram
from sottovoce.statement import Attachments, check_fields
from sottovoce.survey import Ends, Survey, mechanism_statement
from sottovoce.theory.bounds import Bound
from sottovoce.workloads import Workload
from sottovoce.workloads.base import check_workload
from sottovoce.workloads.statement import workload_from_statement

if TYPE_CHECKING:
    from sottovoce.projections.hull import HullProjection
    from sottovoce.strategies.base import Strategy

__all__ = ["QuerySurvey"]

Floats = NDArray[np.float64]

_DIRECT: Final = {"name": "direct"}
"""The strategy of a survey that states none."""


@final
@dataclass(frozen=True, repr=False)
class QuerySurvey(Survey):
    """What are the mean answers to a set of linear queries, fixed beforehand?"""

    workload: Workload
    epsilon: float
    delta: float
    strategy: Strategy
    title: str = ""
    mechanism: AnyMechanism = field(init=False)

    kind: ClassVar[str] = "queries"

    def __post_init__(self) -> None:
        mechanism = self.strategy.mechanism
        object.__setattr__(self, "mechanism", mechanism)
        if self.strategy.workload != self.workload:
            raise SurveyError("the strategy is for another workload than the survey states")
        if (mechanism.epsilon, getattr(mechanism, "delta", 0.0)) != (self.epsilon, self.delta):
            raise SurveyError("the strategy is for another epsilon or delta than the survey states")
        self._check_title()
        with_key = keyed(mechanism, self.id)
        if with_key is not mechanism:
            known: Any = self.strategy
            object.__setattr__(self, "mechanism", with_key)
            object.__setattr__(self, "strategy", replace(known, mechanism=with_key))

    @classmethod
    def make(
        cls,
        workload: Workload,
        epsilon: float,
        delta: float,
        mechanism: str,
        strategy: str | Strategy,
        title: str,
        users: int,
        max_report_bytes: int,
        max_counters: int,
    ) -> Self:
        """See `Survey.queries`."""
        from sottovoce.strategies.base import Setting, Strategy
        from sottovoce.strategies.registry import create

        check_workload(workload)
        stated = check_epsilon(epsilon), check_delta(delta)
        people = check_integer("users", users, 1, MAX_PEOPLE)
        limit = check_integer("max_report_bytes", max_report_bytes, 1, MAX_REPORT_BYTES)
        if not isinstance(strategy, Strategy):
            chosen: Any = create(strategy, Setting(workload, *stated, people, mechanism, limit))
            if isinstance(chosen.mechanism, VectorMechanism):
                chosen = replace(chosen, mechanism=within_counters(chosen.mechanism, people, max_counters, limit))
            # A mechanism without delta serves where one is allowed, and promises more.
            return cls(workload, stated[0], getattr(chosen.mechanism, "delta", 0.0), chosen, title)
        if mechanism != "auto":
            raise SurveyError("a strategy brings its mechanism: name one or give the other")
        if strategy.mechanism.report_bytes > limit:
            raise SurveyError(f"the strategy's report takes {strategy.mechanism.report_bytes:,} bytes, above {limit:,}")
        return cls(workload, *stated, strategy, title)

    def _own_fields(self) -> dict[str, Any]:
        strategy = self.strategy.to_statement()
        stated = {} if strategy == _DIRECT else {"strategy": strategy}
        return {"workload": self.workload.to_statement(), "delta": self.delta, **stated}

    @property
    def attachments(self) -> dict[str, bytes]:
        """The strategy's attachment by its digest, if it has one: publish it beside the survey's JSON."""
        digest, attachment = self.strategy.digest, self.strategy.attachment
        return {} if digest is None or attachment is None else {digest: attachment}

    @classmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        from sottovoce.strategies.registry import restore

        own = {"mechanism", "workload", "delta"}
        check_fields(statement, own | {"strategy"} if "strategy" in statement else own)
        stated = statement.get("strategy", _DIRECT)
        if "strategy" in statement and stated == _DIRECT:
            raise SurveyError("the direct strategy is what a survey without one has; it must not be stated")
        workload = workload_from_statement(statement["workload"])
        epsilon, delta = check_epsilon(statement["epsilon"]), check_delta(statement["delta"])
        mechanism = mechanism_statement(statement["mechanism"])
        strategy = restore(stated, workload, epsilon, delta, mechanism, attachments)
        return cls(workload, epsilon, delta, strategy, statement["title"])

    def _private_input(self, value: object) -> Any:
        found = self.strategy.inputs(np.array([self.workload.domain.index(value)], dtype=np.int64))[0]
        return found if isinstance(found, np.ndarray) else int(found)

    def _answering(self, people: People) -> People:
        return People(people.n, lambda start, stop: self.strategy.inputs(people.between(start, stop)))

    def _people(self, values: Any) -> People:
        return self._answering(People.with_values(self.workload.domain.indices(values)))

    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        return self._answering(People.with_histogram(check_histogram(histogram, self.workload.domain.size)))

    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        strategy = self.strategy
        raw = strategy.raw_coordinates(counts, n_reports)
        projected = strategy.project(raw)
        behind = SparseDistribution(self.workload.domain, projected.support, projected.weights)
        # A copy: estimates freeze their arrays, and the answers may be the coordinates themselves.
        answers = np.array(strategy.answers(raw))
        bound = self.bound(n_reports)
        return Estimate(self, n_reports, answers, np.array(projected.values), projected.gap, bound, behind)

    def bound(self, n_reports: int) -> Bound:
        """The strategy's."""
        return self.strategy.bound(n_reports)

    def project(self, raw: Floats, *, symmetric: bool = False) -> HullProjection:
        """The nearest answers that some distribution gives (or, as in the paper, some point of A B_1).

        In the answers' own space, all directions alike; `strategy.project` goes by the noise's measure.
        """
        from sottovoce.projections.hull import project_hull

        return project_hull(self.workload, raw, symmetric=symmetric)

    @property
    def n_answers(self) -> int:
        """One per query."""
        return self.workload.n_queries

    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """The strategy's."""
        return self.strategy.standard_errors(values, n_reports)

    @property
    def proxy(self) -> Ends | None:
        """The strategy's."""
        return self.strategy.proxy

    def sharing_factor(self, n_reports: int) -> float:
        """The strategy's."""
        return self.strategy.sharing_factor(n_reports)

    @property
    def bias_bound(self) -> Ends:
        """The strategy's."""
        return self.strategy.bias_bound

    @property
    def answer_range(self) -> tuple[Ends, Ends]:
        """What the workload's answers can be."""
        return self.workload.answer_range

    def answer_label(self, index: int) -> str:
        """The query's name."""
        return self.workload.name(index)

    def answer_index(self, name: object) -> int:
        """The query with that name, or number."""
        if isinstance(name, str):
            return self.workload.find(name)
        return check_integer("query number", name, 0, self.n_answers - 1)

    def explain(self, users: int = 1_000_000) -> str:
        """Why this strategy and mechanism, compared with every other that can serve."""
        from sottovoce.strategies.explain import explain

        return explain(self.strategy, users)
