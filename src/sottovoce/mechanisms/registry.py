"""Every mechanism a distribution survey may name. To add one: write its file, add its line here."""

from __future__ import annotations

from typing import Final

from sottovoce.errors import MechanismError, SurveyError
from sottovoce.limits import DEFAULT_REPORT_BYTES
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.unary_optimized import UnaryOptimized
from sottovoce.mechanisms.unary_symmetric import UnarySymmetric

__all__ = ["MECHANISMS", "candidates", "choose", "create", "find", "restore"]

MECHANISMS: Final[dict[str, type[FiniteMechanism]]] = {
    "randomized_response": RandomizedResponse,
    "hadamard": Hadamard,
    "hadamard_blocks": HadamardBlocks,
    "projective_geometry": ProjectiveGeometry,
    "subset_selection": SubsetSelection,
    "unary_optimized": UnaryOptimized,
    "unary_symmetric": UnarySymmetric,
}


def find(name: object) -> type[FiniteMechanism]:
    """The mechanism of that name, if a survey may use it."""
    known = ", ".join(MECHANISMS)
    if not isinstance(name, str):
        raise MechanismError(f"mechanism has type {type(name).__name__}: give one of {known}")
    found = MECHANISMS.get(name)
    if found is None or not found.deployable:
        raise MechanismError(f"mechanism {name!r} is none for distributions; choose among {known}, or 'auto'")
    return found


def create(name: object, domain_size: int, epsilon: float) -> FiniteMechanism:
    """The named mechanism with its own parameters chosen for least error."""
    return find(name).best(domain_size, epsilon)


def restore(name: object, domain_size: int, epsilon: float, parameters: dict[str, int]) -> FiniteMechanism:
    """The named mechanism with the parameters a survey states; anything missing or extra is refused."""
    found = find(name)
    expected = found.parameter_names()
    if sorted(parameters) != sorted(expected):
        raise SurveyError(
            f"mechanism {name!r} has parameters {sorted(expected) or 'none'}; the survey states "
            f"{sorted(parameters) or 'none'}: it must state exactly the mechanism's own"
        )
    return found(domain_size, epsilon, **parameters)


def candidates(domain_size: int, epsilon: float) -> list[FiniteMechanism]:
    """Every deployable mechanism that can serve this domain at all, in the registry's order."""
    served = []
    for name in MECHANISMS:
        try:
            served.append(create(name, domain_size, epsilon))
        except MechanismError:
            continue
    return served


def choose(domain_size: int, epsilon: float, max_report_bytes: int = DEFAULT_REPORT_BYTES) -> FiniteMechanism:
    """The mechanism of least worst-case expected error whose report is small enough.

    Compared by `worst_total_variance`, which is exact; ones equal up to rounding by report size, then the simpler.
    """
    fitting = [m for m in candidates(domain_size, epsilon) if m.report_bytes <= max_report_bytes]
    if not fitting:
        raise MechanismError(
            f"no mechanism fits into {max_report_bytes} bytes a report for {domain_size:,} values; allow a few more"
        )
    least = min(m.worst_total_variance for m in fitting)
    return min((m for m in fitting if m.worst_total_variance <= least * (1 + 1e-9)), key=lambda m: m.report_bits)
