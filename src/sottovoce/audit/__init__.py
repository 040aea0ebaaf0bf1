"""Is it private? The exact epsilon where a channel is finite, a certified lower bound from real reports always."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.mechanisms import FiniteMechanism

__all__ = ["AuditResult", "audit"]

DEFAULT_DOMAIN_SIZE = 16
DEFAULT_SAMPLES = 20_000


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    `exact_epsilon` is that of the rounded probabilities really used, over all pairs of values;
    `certified_lower_bound` is what reports alone prove. A sound mechanism has both at or below
    `epsilon`; a certified bound far below is no proof of anything.
    """

    mechanism: str
    epsilon: float
    delta: float
    domain_size: int
    exact_epsilon: float
    certified_lower_bound: float
    alpha: float
    sound: bool
    method: str
    witness: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values; an infinite epsilon as None, which JSON can hold."""
        found = asdict(self)
        if math.isinf(self.exact_epsilon):
            found["exact_epsilon"] = None
        return found


def audit(
    mechanism: str | FiniteMechanism,
    epsilon: float = 1.0,
    *,
    domain_size: int = DEFAULT_DOMAIN_SIZE,
    samples: int = DEFAULT_SAMPLES,
    alpha: float = 1e-9,
) -> AuditResult:
    """Audit a mechanism of the registry by name, or any mechanism object.

    Parameters
    ----------
    mechanism
        A registry name (then `epsilon` and `domain_size` say which instance), or a `Mechanism`.
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
    from sottovoce.audit.empirical import certify
    from sottovoce.audit.exact import exact_ratio
    from sottovoce.mechanisms import create
    from sottovoce.randomness import epsilon_of, os_source, within_epsilon

    subject = create(mechanism, domain_size, epsilon) if isinstance(mechanism, str) else mechanism
    exact = exact_ratio(subject)
    source = os_source()
    last = subject.domain_size - 1
    certificate = certify(
        lambda value: subject.encode(subject.randomize(value, source)),
        sorted({(0, last), (0, 1), (last // 2, last)} - {(0, 0)}),
        samples=samples,
        alpha=alpha,
        stated=lambda payload, value: subject.log_prob(subject.decode(payload), value),
    )
    sound = exact.agrees and exact.ratio is not None and within_epsilon(exact.ratio, subject.epsilon)
    return AuditResult(
        mechanism=subject.name,
        epsilon=subject.epsilon,
        delta=0.0,
        domain_size=subject.domain_size,
        exact_epsilon=math.inf if exact.ratio is None else epsilon_of(exact.ratio),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        sound=sound and certificate.lower_bound <= subject.epsilon,
        method=exact.method,
        witness=f"values {certificate.pair[0]} and {certificate.pair[1]}, event on {certificate.event}",
    )
