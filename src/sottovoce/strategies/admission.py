"""Mechanisms of other packages: what they pass before a survey uses them."""

from __future__ import annotations

from typing import TypeVar

from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.registry import REGISTRY, find

__all__ = ["admit_foreign", "find_admitted"]

M = TypeVar("M", bound=Mechanism)


def find_admitted(name: object, family: type[M]) -> type[M]:
    """The mechanism of that name; one of another package passes its battery before any other code of it runs."""
    kind = find(name, family)
    if REGISTRY.is_foreign(kind):
        from sottovoce.auditing.conformance import admit_class

        admit_class(kind)
    return kind


def admit_foreign(mechanism: Mechanism) -> None:
    """Raise `MechanismError` unless the mechanism is of this package, or a survey may use it all the same."""
    if REGISTRY.is_foreign(type(mechanism)):
        from sottovoce.auditing.conformance import admit

        admit(mechanism)
