"""Reads a workload from JSON, strictly, so that a device rebuilds exactly the stated operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.domain import domain_from_statement
from sottovoce.workloads.base import Workload
from sottovoce.workloads.parts import PARTS, restore_family
from sottovoce.workloads.stack import Stack

__all__ = ["FAMILIES", "workload_from_statement"]

FAMILIES: Final[Mapping[str, type[Workload]]] = {**PARTS, Stack.kind: Stack}
"""Every family by its type in JSON."""


def workload_from_statement(statement: object) -> Workload:
    """The workload that `Workload.to_statement` wrote; anything else raises `WorkloadError`.

    Only the canonical form is accepted, so a workload has one statement and one digest.

    Examples
    --------
    >>> workload_from_statement({"type": "prefix", "domain": {"start": 0, "step": 1, "size": 1024}})
    <prefix workload: 1,024 queries over 1,024 values, radius 32>
    """
    if not isinstance(statement, dict) or not isinstance(statement.get("type"), str) or "domain" not in statement:
        raise WorkloadError("a workload must have a type and a domain")
    try:
        domain = domain_from_statement(statement["domain"])
    except SurveyError as error:
        raise WorkloadError(f"the workload's domain is malformed: {error}") from error
    return restore_family(FAMILIES, {key: part for key, part in statement.items() if key != "domain"}, domain)
