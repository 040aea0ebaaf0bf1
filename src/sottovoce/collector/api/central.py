"""The central guarantee of a survey whose reports go through a relay, as JSON."""

from __future__ import annotations

from sottovoce.core.words import both_guarantees
from sottovoce.protocol.surveys import CentralGuarantee
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["central_body", "central_of"]


def central_of(survey: Survey | Panel | Tracking) -> CentralGuarantee | None:
    """The certificate of the batches that its relay forwards; None for a survey without a relay."""
    if isinstance(survey, Panel) or survey.relay is None:
        return None
    return central_body(survey.amplified(), survey.relay.url)


def central_body(found: Amplified, relay: str | None = None) -> CentralGuarantee:
    """A certificate with its assumption and both guarantees in words."""
    return CentralGuarantee(
        local_epsilon=found.local_epsilon,
        epsilon=found.epsilon,
        lower=found.lower,
        delta=found.delta,
        least=found.n,
        method=found.method,
        assumption=found.assumption,
        promise=both_guarantees(found.local_epsilon, found.epsilon, found.delta),
        relay=relay,
    )
