"""Mechanisms of other packages: a device loads and runs one only if its owner has allowed it by name."""

from __future__ import annotations

from collections.abc import Collection

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.surveys.statement import parse_json

__all__ = ["check_mechanism_allowed"]


def check_mechanism_allowed(statement: bytes, allowed: Collection[str]) -> None:
    """Raise `MechanismError` if a survey's JSON names a mechanism neither of this package nor allowed.

    Nothing is loaded for that.
    """
    name = parse_json(statement)
    for field in ("design", "mechanism", "name"):
        name = name.get(field) if isinstance(name, dict) else None
    if isinstance(name, str) and name not in MECHANISMS and name not in allowed:
        raise MechanismError(
            f"mechanism {name!r} is not part of sottovoce, and this device's owner has not allowed it; nothing was "
            "answered. Allow it with allow_mechanisms (--allow-mechanism) if you trust the package that brings it"
        )
