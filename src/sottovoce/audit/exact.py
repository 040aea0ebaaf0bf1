"""The exact epsilon of a finite channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.audit.channel import device_channel, stated_channel, worst_ratio

if TYPE_CHECKING:
    from sottovoce.mechanisms import FiniteMechanism

__all__ = ["ExactAudit", "exact_ratio"]


@dataclass(frozen=True)
class ExactAudit:
    """The worst likelihood ratio (None: infinite), how it was found, and whether the device does what it states."""

    ratio: Fraction | None
    method: str
    agrees: bool


def exact_ratio(mechanism: FiniteMechanism) -> ExactAudit:
    """The worst likelihood ratio of the device's encoded reports.

    On the mechanism's miniatures, which take every branch of its device code, the code is run on every
    outcome of its randomness, over all pairs of values. For the domain asked about the ratio is the
    mechanism's closed form, whose symmetry argument stands in `privacy_ratio`'s docstring; it is believed
    only after the same formula, and the stated probability of every report, have met brute force to the
    last bit on every miniature at the same epsilon. Where they disagree the mechanism is not what it says,
    so it cannot be sound; the ratio is then the worst that brute force found.
    """
    found: list[Fraction | None] = []
    agrees = True
    for small in type(mechanism).miniatures(mechanism.epsilon):
        channel = device_channel(small)
        found.append(worst_ratio(channel))
        agrees &= found[-1] == small.privacy_ratio() and channel == stated_channel(small)
    if agrees:
        return ExactAudit(mechanism.privacy_ratio(), "closed form, equal to brute force on every miniature", True)
    finite = [ratio for ratio in found if ratio is not None]
    worst = max(finite) if len(finite) == len(found) else None
    return ExactAudit(worst, "brute force; the device does not do what it states", False)
