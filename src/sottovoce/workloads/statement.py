"""A workload from its statement: strict, so that a device rebuilds the very operator that was stated."""

from __future__ import annotations

from typing import Final

from sottovoce.domain import Domain, domain_from_statement
from sottovoce.errors import SurveyError, WorkloadError
from sottovoce.workloads.base import Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.dense import Dense
from sottovoce.workloads.features import Features
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities
from sottovoce.workloads.prefix import Prefix
from sottovoce.workloads.ranges import Ranges
from sottovoce.workloads.sparse import Sparse
from sottovoce.workloads.stack import Stack

__all__ = ["part_from_statement", "workload_from_statement"]

_FAMILIES: Final[dict[str, type[Workload]]] = {
    "identity": Identity,
    "prefix": Prefix,
    "ranges": Ranges,
    "bins": Bins,
    "marginals": Marginals,
    "parities": Parities,
    "dense": Dense,
    "sparse": Sparse,
    "features": Features,
    "stack": Stack,
}


def workload_from_statement(statement: object) -> Workload:
    """The workload that `Workload.to_statement` wrote; anything else raises `WorkloadError`.

    What is accepted is written back unchanged, so a workload has one statement and one digest.

    Examples
    --------
    >>> workload_from_statement({"type": "prefix", "domain": {"start": 0, "step": 1, "size": 1024}})
    <prefix workload: 1,024 queries over 1,024 values, radius 32>
    """
    if not isinstance(statement, dict) or not isinstance(statement.get("type"), str) or "domain" not in statement:
        raise WorkloadError("a workload's statement must hold a type and a domain")
    try:
        domain = domain_from_statement(statement["domain"])
    except SurveyError as error:
        raise WorkloadError(f"the workload's domain is not well formed: {error}") from error
    return _restored({key: part for key, part in statement.items() if key != "domain"}, domain)


def part_from_statement(statement: object, domain: Domain) -> Workload:
    """A stack's part, whose statement leaves the domain to the stack."""
    if not isinstance(statement, dict) or not isinstance(statement.get("type"), str) or "domain" in statement:
        raise WorkloadError("a stack's parts must hold a type and no domain of their own")
    if statement["type"] == Stack.kind:  # before descending: nesting without end must not exhaust the stack
        raise WorkloadError("a stack's part is itself a stack; state its parts directly")
    return _restored(statement, domain)


def _restored(statement: dict[str, object], domain: Domain) -> Workload:
    family = _FAMILIES.get(str(statement["type"]))
    if family is None:
        raise WorkloadError(f"this version does not know such a workload; it knows {', '.join(_FAMILIES)}")
    parameters = {key: part for key, part in statement.items() if key != "type"}
    try:
        workload = family._restore(domain, parameters)
    except WorkloadError:
        raise
    except SurveyError as error:
        raise WorkloadError(f"the {family.kind} workload is not well formed: {error}") from error
    if workload._parameters() != parameters:
        raise WorkloadError(
            f"the {family.kind} workload is not stated the one way it can be; write it with to_statement"
        )
    return workload
