"""Every mechanism, by its name in a survey's JSON. To add one: write its file, add its line here.

Mechanisms of other packages are found by their entry points, or registered in this process with `register`.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.registry import Registry
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.products import Products
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.tables import Tables
from sottovoce.mechanisms.unary import UnaryOptimized, UnarySymmetric
from sottovoce.mechanisms.wheel import Wheel

__all__ = [
    "MECHANISMS",
    "REGISTRY",
    "candidates",
    "create",
    "find",
    "register",
    "serving",
]

M = TypeVar("M", bound=Mechanism)


_FOREIGN_FAMILIES: Final = (FiniteMechanism, SetMechanism)
"""Families that the battery of checks can run, so that other packages may bring mechanisms of them."""


def _check_usable(kind: type[Mechanism]) -> None:
    if not issubclass(kind, _FOREIGN_FAMILIES):
        names = " or ".join(f"{family.__name__} (for {family.serves})" for family in _FOREIGN_FAMILIES)
        raise MechanismError(
            f"{kind.__qualname__} is for {kind.serves}, which no battery of checks covers: another package may bring a "
            f"subclass of {names}"
        )
    if not kind.deployable:
        raise MechanismError(f"{kind.__qualname__} is not deployable: it exists to be measured")


def complete(kind: Any) -> type[Mechanism]:
    """The class itself, if it has an audit reference, as every mechanism of this package must."""
    if kind.audit_reference is Mechanism.audit_reference:
        raise TypeError(f"{kind.__qualname__} lacks audit_reference, the second implementation that audits need")
    mechanism: type[Mechanism] = kind
    return mechanism


REGISTRY: Final[Registry[Mechanism]] = Registry(
    "mechanism",
    Mechanism,
    map(
        complete,
        (
            RandomizedResponse,
            Hadamard,
            HadamardBlocks,
            ProjectiveGeometry,
            SubsetSelection,
            UnaryOptimized,
            UnarySymmetric,
            Codebook,
            Gaussian,
            Rejection,
            Sphere,
            Binary,
            Hierarchical,
            Haar,
            Fourier,
            MatrixChannel,
            RoundedChannel,
            Tables,
            Products,
            HashedPrefixes,
            SetSelection,
            Wheel,
            OneOption,
        ),
    ),
    error=MechanismError,
    check=_check_usable,
)
"""Every mechanism; where two are equally good, the first is chosen."""

MECHANISMS: Final = REGISTRY.ours
"""Every mechanism of this package."""


def serving(family: type[M]) -> dict[str, type[M]]:
    """Every mechanism of this package that serves what the family serves.

    Examples
    --------
    >>> from sottovoce.mechanisms import VectorMechanism
    >>> list(serving(VectorMechanism))
    ['codebook', 'gaussian', 'rejection', 'sphere', 'binary']
    """
    return {
        name: kind for name, kind in MECHANISMS.items() if issubclass(kind, family) and kind.serves == family.serves
    }


def find(name: object, family: type[M]) -> type[M]:
    """The mechanism of that name, if a survey may use it for what the family serves; else raises `MechanismError`."""
    kind = REGISTRY.lookup(name)
    if kind is None or not (kind.deployable and issubclass(kind, family) and kind.serves == family.serves):
        known = ", ".join(name for name, kind in serving(family).items() if kind.deployable)
        remedy = "" if kind is not None else f"; {REGISTRY.remedy}"
        raise MechanismError(
            f"no mechanism for {family.serves} is named {name!r}; choose among {known}, or 'auto'{remedy}"
        ).at("mechanism")
    return kind


def create(name: object, domain_size: int, epsilon: float) -> FiniteMechanism:
    """The named mechanism for values, with its own parameters chosen for least error."""
    return find(name, FiniteMechanism).best(domain_size, epsilon)


def candidates(family: type[M], *setting: float) -> list[M]:
    """Every deployable mechanism of this package that can serve the setting, in the registry's order.

    Examples
    --------
    >>> [mechanism.name for mechanism in candidates(FiniteMechanism, 2**24, 1.0)][:2]
    ['randomized_response', 'hadamard']
    """
    mechanisms = []
    for kind in serving(family).values():
        if kind.deployable:
            try:
                mechanisms.append(kind.best(*setting))  # type: ignore[attr-defined]
            except SurveyError:
                continue
    return mechanisms


def register(kind: type[Mechanism]) -> None:
    """Let surveys of this process name a mechanism of another package.

    "auto" never chooses it: every client must be able to answer a survey that names no mechanism.
    """
    REGISTRY.register(kind)
