"""Every mechanism a survey of queries or means may name. To add one: write its file, add its line here."""

from __future__ import annotations

from typing import Any, Final

from sottovoce.errors import MechanismError, SurveyError
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "VECTOR_MECHANISMS",
    "create_vector",
    "restore_vector",
    "vector_candidates",
]

VECTOR_MECHANISMS: Final[dict[str, type[VectorMechanism]]] = {
    "codebook": Codebook,
    "gaussian": Gaussian,
    "rejection": Rejection,
    "sphere": Sphere,
    "binary": Binary,
}


def _find(name: object) -> type[VectorMechanism]:
    known = ", ".join(name for name, kind in VECTOR_MECHANISMS.items() if kind.deployable)
    found = VECTOR_MECHANISMS.get(name) if isinstance(name, str) else None
    if found is None or not found.deployable:
        raise MechanismError(f"mechanism {name!r} is none for queries and means; choose among {known}, or 'auto'")
    return found


def create_vector(
    name: object, dimension: int, radius: float, epsilon: float, delta: float, users: int
) -> VectorMechanism:
    """The named mechanism with its own parameters chosen for about `users` people."""
    return _find(name).best(dimension, radius, epsilon, delta, users)


def restore_vector(
    name: object, dimension: int, radius: float, epsilon: float, delta: float, parameters: dict[str, Any]
) -> VectorMechanism:
    """The named mechanism with the parameters a survey states; anything missing or extra is refused."""
    found = _find(name)
    expected = found.parameter_names()
    if sorted(parameters) != sorted(expected):
        raise SurveyError(
            f"mechanism {name!r} has parameters {sorted(expected)}; the survey states {sorted(parameters) or 'none'}: "
            "it must state exactly the mechanism's own"
        )
    return found(dimension, radius, epsilon, delta, **parameters)


def vector_candidates(dimension: int, radius: float, epsilon: float, delta: float, users: int) -> list[VectorMechanism]:
    """Every deployable mechanism that can serve at all, in the registry's order."""
    served = []
    for name, kind in VECTOR_MECHANISMS.items():
        if kind.deployable:
            try:
                served.append(create_vector(name, dimension, radius, epsilon, delta, users))
            except SurveyError:
                continue
    return served
