"""The families that a stack can contain (all but the stack), and how they are read from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.domain import Domain
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

__all__ = ["PARTS", "restore_family"]

PARTS: Final[Mapping[str, type[Workload]]] = {
    "identity": Identity,
    "prefix": Prefix,
    "ranges": Ranges,
    "bins": Bins,
    "marginals": Marginals,
    "parities": Parities,
    "dense": Dense,
    "sparse": Sparse,
    "features": Features,
}


def restore_family(families: Mapping[str, type[Workload]], statement: Mapping[str, Any], domain: Domain) -> Workload:
    """The workload over `domain` with the stated type and parameters, read strictly."""
    family = families.get(str(statement["type"]))
    if family is None:
        raise WorkloadError(f"unknown workload type; this version supports {', '.join(families)}")
    parameters = {key: part for key, part in statement.items() if key != "type"}
    try:
        workload = family._restore(domain, parameters)
    except WorkloadError:
        raise
    except SurveyError as error:
        raise WorkloadError(f"the {family.kind} workload is malformed: {error}") from error
    if workload._parameters() != parameters:
        raise WorkloadError(f"the {family.kind} workload is not in canonical form; write it with to_statement")
    return workload
