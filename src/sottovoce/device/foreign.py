"""Mechanisms, strategies and questions of other packages: a device loads one only if its owner allowed it by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.questions.registry import QUESTIONS
from sottovoce.strategies.registry import STRATEGIES
from sottovoce.surveys.statement import parse_json

__all__ = ["check_foreign_allowed"]

_NAMED: Final[tuple[tuple[str, Any, tuple[str, ...], type[SurveyError]], ...]] = (
    ("mechanism", MECHANISMS, ("design", "mechanism", "name"), MechanismError),
    ("strategy", STRATEGIES, ("design", "strategy"), SurveyError),
    ("question", QUESTIONS, ("question", "kind"), SurveyError),
)
"""The names of this package for every concept, and where a survey's JSON names one."""


def check_foreign_allowed(statement: bytes, allowed: Collection[str]) -> None:
    """Raise an error if a survey's JSON names a class neither of this package nor allowed.

    Nothing is loaded for that.
    """
    stated = parse_json(statement)
    for concept, ours, path, error in _NAMED:
        name: object = stated
        for field in path:
            name = name.get(field) if isinstance(name, dict) else None
        if name is not None and not isinstance(name, str):
            raise error(f"the name of a survey's {concept} must be a text; nothing was answered")
        if name is not None and name not in ours and name not in allowed:
            raise error(
                f"{concept} {name!r} is not part of sottovoce, and this device's owner has not allowed it; nothing was "
                "answered. Allow it with allow_mechanisms (--allow-mechanism) if you trust the package that brings it"
            ).at("allow_mechanisms")
