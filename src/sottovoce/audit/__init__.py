"""Is it private? The exact epsilon where a channel is finite, a certified lower bound from real reports always."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.audit.result import AuditResult

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism, VectorMechanism

__all__ = ["DEFAULT_DELTA", "AuditResult", "audit"]

DEFAULT_DOMAIN_SIZE = 16
DEFAULT_SAMPLES = 20_000
DEFAULT_DELTA = 1e-6

_VECTOR_USERS = 10_000
_VECTOR_SAMPLES = 2_000
"""A vector device takes a millisecond a report, and its guarantee rests on integers, not on samples."""


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
    from sottovoce.audit.finite import audit_finite
    from sottovoce.audit.vector import audit_vector
    from sottovoce.errors import MechanismError
    from sottovoce.limits import check_integer
    from sottovoce.mechanisms import MECHANISMS, VectorMechanism, create
    from sottovoce.mechanisms.channel_registry import CHANNELS, typical
    from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS, create_vector

    check_integer("samples", samples, 100, 10**9)
    vectors = [name for name, kind in VECTOR_MECHANISMS.items() if kind.deployable]
    subject: ChannelMechanism | VectorMechanism
    if not isinstance(mechanism, str):
        subject = mechanism
    elif mechanism in vectors:
        allowed = delta if mechanism == "gaussian" else 0.0
        dimension = min(domain_size, VECTOR_MECHANISMS[mechanism].largest_dimension)
        subject = create_vector(mechanism, dimension, 1.0, epsilon, allowed, _VECTOR_USERS)
    elif mechanism in CHANNELS:
        subject = typical(mechanism, domain_size, epsilon)
    elif mechanism in MECHANISMS:
        subject = create(mechanism, domain_size, epsilon)
    else:
        known = ", ".join([*MECHANISMS, *vectors, *CHANNELS])
        raise MechanismError(f"mechanism {mechanism!r} is none that can be audited; choose among {known}")
    if isinstance(subject, VectorMechanism):
        return audit_vector(subject, samples=min(samples, _VECTOR_SAMPLES), alpha=alpha)
    return audit_finite(subject, samples, alpha)
