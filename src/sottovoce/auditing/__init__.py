"""Is it private? The exact epsilon where a channel is finite, a certified lower bound from real reports always."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.auditing.result import AuditResult

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism, VectorMechanism

__all__ = ["DEFAULT_DELTA", "AuditResult", "audit", "auditable"]

DEFAULT_DOMAIN_SIZE = 16
DEFAULT_SAMPLES = 20_000
DEFAULT_DELTA = 1e-6

_VECTOR_USERS = 10_000
_VECTOR_SAMPLES = 2_000
"""A vector device takes a millisecond per report, and its guarantee rests on integers, not on samples."""


def auditable() -> dict[str, type[ChannelMechanism | VectorMechanism]]:
    """Every mechanism that a survey may use, those of other packages last."""
    from sottovoce.mechanisms.registry import MECHANISMS, registered

    return {**{name: kind for name, kind in MECHANISMS.items() if kind.deployable}, **registered()}


def audit(
    mechanism: str | ChannelMechanism | VectorMechanism,
    epsilon: float = 1.0,
    *,
    domain_size: int = DEFAULT_DOMAIN_SIZE,
    delta: float = DEFAULT_DELTA,
    samples: int = DEFAULT_SAMPLES,
    alpha: float = 1e-9,
) -> AuditResult:
    """Audit a mechanism by its registry name, or any mechanism object.

    Parameters
    ----------
    mechanism
        A registry name (then `epsilon` and `domain_size` say which instance; for a vector mechanism
        `domain_size` is the dimension, and `delta` counts for `gaussian` alone), or a mechanism.
    samples
        Real device reports drawn for each value of each pair in the empirical part.
    alpha
        Chance that the certified lower bound is wrong.

    Examples
    --------
    >>> result = audit("hadamard", epsilon=1.0, samples=2000)
    >>> result.sound, round(result.exact_epsilon, 6)
    (True, 1.0)
    """
    from sottovoce.auditing.finite import audit_finite
    from sottovoce.auditing.vector import audit_vector
    from sottovoce.core.errors import MechanismError
    from sottovoce.core.limits import check_integer
    from sottovoce.mechanisms import VectorMechanism

    check_integer("samples", samples, 100, 10**9)
    subject: ChannelMechanism | VectorMechanism
    if not isinstance(mechanism, str):
        subject = mechanism
    else:
        kind = auditable().get(mechanism)
        if kind is None:
            known = ", ".join(auditable())
            raise MechanismError(f"mechanism {mechanism!r} cannot be audited; choose among {known}")
        if issubclass(kind, VectorMechanism):
            allowed = delta if mechanism == "gaussian" else 0.0
            dimension = min(domain_size, kind.largest_dimension)
            subject = kind.best(dimension, 1.0, epsilon, allowed, _VECTOR_USERS)
        else:
            subject = kind.typical(domain_size, epsilon)
    if isinstance(subject, VectorMechanism):
        return audit_vector(subject, samples=min(samples, _VECTOR_SAMPLES), alpha=alpha)
    return audit_finite(subject, samples, alpha)
