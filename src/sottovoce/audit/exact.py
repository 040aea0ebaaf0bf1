"""The exact epsilon of a finite channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.audit.channel import device_channel, stated_channel, worst_ratio

if TYPE_CHECKING:
    from sottovoce.mechanisms import Mechanism

__all__ = ["SMALL_DOMAINS", "ExactAudit", "exact_ratio"]

SMALL_DOMAINS = (2, 3, 5)
"""Where every outcome of the device's randomness is run."""


@dataclass(frozen=True)
class ExactAudit:
    """The worst likelihood ratio (None: infinite) and how it was found."""

    ratio: Fraction | None
    method: str


def exact_ratio(mechanism: Mechanism) -> ExactAudit:
    """The worst likelihood ratio of the device's encoded reports.

    On the small domains the device code is run on every outcome of its randomness, over all pairs of
    values. For a larger domain the ratio is the mechanism's closed form, whose symmetry argument
    stands in `privacy_ratio`'s docstring; it is used only after the same formula has met brute force,
    to the last bit, on every small domain at the same epsilon. Any disagreement is reported as the
    brute-force ratio that was found.
    """
    cls = type(mechanism)
    for size in SMALL_DOMAINS:
        small = cls.best(size, mechanism.epsilon)
        channel = device_channel(small)
        ratio = worst_ratio(channel)
        if channel != stated_channel(small) or ratio != small.privacy_ratio():
            return ExactAudit(_above(ratio, small.privacy_ratio()), f"device and statement disagree at {size} values")
        if size == mechanism.domain_size and small == mechanism:
            return ExactAudit(ratio, "every outcome of the device's randomness")
    return ExactAudit(mechanism.privacy_ratio(), "closed form, equal to brute force on every small domain")


def _above(found: Fraction | None, stated: Fraction) -> Fraction | None:
    return None if found is None else max(found, stated)
