"""The families that a stack can hold, which are all but the stack, and how one of them is restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sottovoce.domain import Domain
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
    """The workload over `domain` that a statement of type and parameters describes, strictly, by one of `families`."""
    family = families.get(str(statement["type"]))
    if family is None:
        raise WorkloadError(f"this version does not know such a workload; it knows {', '.join(families)}")
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
