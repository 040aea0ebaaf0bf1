"""Audit of a finite mechanism: its exact channel, and what reports alone prove."""

from __future__ import annotations

import math

from sottovoce.auditing.empirical import certify
from sottovoce.auditing.exact import exact_ratio
from sottovoce.auditing.result import AuditResult
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.randomness import epsilon_of, os_source, within_epsilon

__all__ = ["audit_finite"]


def audit_finite(mechanism: ChannelMechanism, samples: int, alpha: float) -> AuditResult:
    """The exact epsilon over all pairs of values, and a certified lower bound from device reports of three pairs."""
    exact = exact_ratio(mechanism)
    source = os_source()
    last = mechanism.domain_size - 1
    certificate = certify(
        lambda value: mechanism.encode(mechanism.randomize(value, source)),
        sorted({(0, last), (0, 1), (last // 2, last)}),
        samples=samples,
        alpha=alpha,
        stated=lambda payload, value: mechanism.log_prob(mechanism.decode(payload), value),
    )
    sound = exact.agrees and exact.ratio is not None and within_epsilon(exact.ratio, mechanism.epsilon)
    return AuditResult(
        mechanism=mechanism.name,
        epsilon=mechanism.epsilon,
        delta=0.0,
        domain_size=mechanism.domain_size,
        exact_epsilon=math.inf if exact.ratio is None else epsilon_of(exact.ratio),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        sound=sound and certificate.lower_bound <= mechanism.epsilon,
        method=exact.method,
        witness=f"values {certificate.pair[0]} and {certificate.pair[1]}, event on {certificate.event}",
    )
