"""Queries: the mean answers to a fixed set of linear queries (Sec. 3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain
from sottovoce.questions.base import Question
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.questions.people import People
from sottovoce.workloads.base import MAX_ENTRIES, Workload, check_workload
from sottovoce.workloads.stack import workload_from_statement

__all__ = ["Queries", "queries"]


@clear_question("sv.queries(sv.workloads.Prefix(100))")
def queries(workload: Workload) -> Queries:
    """The question for the mean answers to a fixed set of linear queries.

    Parameters
    ----------
    workload
        One of `sottovoce.workloads`, such as `Prefix(1024)`.
    """
    return Queries(workload)


@final
@dataclass(frozen=True, repr=False)
class Queries(Question):
    """The mean over people of each query of a workload.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> question = Queries(Prefix(["low", "middle", "high"]))
    >>> question.n_answers, question.label(1)
    (3, '<= middle')
    """

    workload: Workload

    kind: ClassVar[str] = "queries"
    called: ClassVar[str] = "Your own queries"
    summary: ClassVar[str] = "mean answers to a set of linear queries"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("workload", "workload", "the queries", "prefix:1024"),)
    strategies: ClassVar[tuple[str, ...]] = (
        "direct",
        "factorized",
        "optimized",
        "hierarchical",
        "haar",
        "fourier",
        "tables",
        "histogram",
    )
    projected_on: ClassVar[str] = "hull of the columns"
    on_hull: ClassVar[bool] = True
    held: ClassVar[str] = "the one value that a person answers, from which all queries of the set are answered"

    def __post_init__(self) -> None:
        check_workload(self.workload)
        if self.workload.n_queries > MAX_ENTRIES:
            raise WorkloadError(
                f"there are {self.workload.n_queries:,} queries; at most {MAX_ENTRIES:,} are allowed: ask for shares "
                "where the queries are the values themselves"
            ).at("workload")

    @classmethod
    def _of(cls, **given: Any) -> Self:
        return cls(**given)

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("workload",)

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(workload_from_statement(statement["workload"]))

    def _statement(self) -> dict[str, Any]:
        return {"workload": self.workload.to_statement()}

    @property
    def domain(self) -> Domain:
        return self.workload.domain

    def private_input(self, value: object) -> int:
        return self.domain.index(value)

    def people(self, values: Any) -> People:
        return People.with_values(self.domain.indices(values))

    def label(self, index: int) -> str:
        return self.workload.name(index)
