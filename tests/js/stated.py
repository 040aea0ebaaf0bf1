"""What Python states about one report of a survey: its exact probability for a person's value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.vector import clip_to_ball

__all__ = ["probability"]


def probability(survey: Any, report: bytes, value: object) -> Fraction:
    """P(report | value), at the rounded thresholds in use; the report must decode."""
    mechanism, given = survey.mechanism, survey.private_input(value)
    assert report.startswith(survey.tag)
    found = mechanism.decode(report[len(survey.tag) :])
    if isinstance(mechanism, Codebook):
        rotation, place = divmod(found, 2 * mechanism.size)
        block, candidate = divmod(place, mechanism.candidates)
        top = mechanism.audit_reference().marks(given, rotation, block)[candidate]
        share = mechanism.levels.each_inside if top else mechanism.levels.each_outside
        return share * Fraction(mechanism.candidates, 2 * mechanism.size * mechanism.rotations)
    if isinstance(mechanism, Binary):
        given = float(clip_to_ball(given, mechanism.radius)[0])
    stated: Fraction = mechanism.probability(found, given)
    return stated
