"""Every mechanism a survey of queries or means may name. To add one: write its file, add its line here."""

from __future__ import annotations

from typing import Any, Final

from sottovoce.errors import MechanismError, SurveyError
from sottovoce.limits import MAX_COUNTERS, check_integer
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "VECTOR_MECHANISMS",
    "choose_vector",
    "create_vector",
    "fitting_vectors",
    "restore_vector",
    "vector_candidates",
    "within_counters",
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


def fitting_vectors(
    dimension: int, radius: float, epsilon: float, delta: float, users: int, max_report_bytes: int
) -> list[VectorMechanism]:
    """Every deployable mechanism whose report is small enough; there is one, or it is an error."""
    found = vector_candidates(dimension, radius, epsilon, delta, users)
    fitting = [m for m in found if m.report_bytes <= max_report_bytes]
    if not fitting:
        raise MechanismError(f"no mechanism fits into {max_report_bytes} bytes a report; allow a few more")
    return fitting


def choose_vector(
    dimension: int, radius: float, epsilon: float, delta: float, users: int, max_report_bytes: int
) -> VectorMechanism:
    """The mechanism of least total variance whose report is small enough; what sharing rotations adds is not counted.

    How much that is depends on how many counters the survey may have, which is settled afterwards.
    """
    fitting = fitting_vectors(dimension, radius, epsilon, delta, users, max_report_bytes)
    return min(fitting, key=lambda m: (m.worst_total_variance, m.report_bits))


def within_counters(
    mechanism: VectorMechanism, users: int, max_counters: int, max_report_bytes: int
) -> VectorMechanism:
    """The mechanism with as many public rotations as so many counters allow, if it has any; the others as they are."""
    counters = check_integer("max_counters", max_counters, 1, MAX_COUNTERS)
    if not isinstance(mechanism, Codebook):
        return mechanism
    widened = mechanism.for_users(users, counters)
    if widened.report_bytes > max_report_bytes:
        raise MechanismError(
            f"with max_counters {counters:,} a report takes {widened.report_bytes} bytes, above {max_report_bytes}: "
            "allow fewer counters or longer reports"
        )
    return widened
