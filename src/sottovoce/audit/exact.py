"""The exact epsilon of a finite channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.audit.channel import device_channel, stated_channel, worst_ratio

if TYPE_CHECKING:
    from sottovoce.mechanisms import Mechanism

__all__ = ["ExactAudit", "exact_ratio"]


@dataclass(frozen=True)
class ExactAudit:
    """The worst likelihood ratio (None: infinite) and how it was found."""

    ratio: Fraction | None
    method: str


def exact_ratio(mechanism: Mechanism) -> ExactAudit:
    """The worst likelihood ratio of the device's encoded reports.

    On the mechanism's miniatures, which take every branch of its device code, the code is run on every
    outcome of its randomness, over all pairs of values. For the domain asked about the ratio is the
    mechanism's closed form, whose symmetry argument stands in `privacy_ratio`'s docstring; it is believed
    only after the same formula, and the stated probability of every report, have met brute force to the
    last bit on every miniature at the same epsilon. A disagreement is reported as what brute force found.
    """
    for small in type(mechanism).miniatures(mechanism.epsilon):
        channel = device_channel(small)
        ratio = worst_ratio(channel)
        if ratio != small.privacy_ratio() or channel != stated_channel(small):
            return ExactAudit(_above(ratio, small.privacy_ratio()), f"brute force over {small.domain_size} values")
    return ExactAudit(mechanism.privacy_ratio(), "closed form, equal to brute force on every miniature")


def _above(found: Fraction | None, stated: Fraction) -> Fraction | None:
    return None if found is None else max(found, stated)
