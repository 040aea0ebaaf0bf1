"""The exact epsilon of a finite channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.audit.channel import device_channel, device_row, outcomes_of, stated_channel, worst_ratio

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism

__all__ = ["ExactAudit", "exact_ratio"]

MOST_OUTCOMES = 10_000
"""Sequences of draws that are run for one value of the mechanism asked about."""

MOST_RUNS = 100_000
"""Sequences of draws that are run for all its values together; beyond, first, middle and last values stand for them."""


@dataclass(frozen=True)
class ExactAudit:
    """The worst likelihood ratio (None: infinite), how it was found, and whether the device does what it states."""

    ratio: Fraction | None
    method: str
    agrees: bool


def exact_ratio(mechanism: ChannelMechanism) -> ExactAudit:
    """The worst likelihood ratio of the device's encoded reports.

    On the mechanism's miniatures, which take every branch of its device code, the code is run on every
    outcome of its randomness, over all pairs of values. For the domain asked about the ratio is the
    mechanism's closed form, whose symmetry argument stands in `privacy_ratio`'s docstring; it is believed
    only after the same formula, and the stated probability of every report, have met brute force to the
    last bit on every miniature at the same epsilon. The very mechanism asked about is run too, on every outcome, for
    all its values where that can be done and else for its first, middle and last; `method` says for which. Where they
    disagree the mechanism is not what it says, so it cannot be sound; the ratio is then the worst that brute force
    found.
    """
    found: list[Fraction | None] = []
    agrees = True
    for small in type(mechanism).miniatures(mechanism.epsilon):
        channel = device_channel(small)
        found.append(worst_ratio(channel))
        agrees &= found[-1] == small.privacy_ratio() and channel == stated_channel(small)
    values = _values_run(mechanism)
    channel = {value: device_row(mechanism, value) for value in values}
    if channel:
        found.append(worst_ratio(channel))
        agrees &= all(_is_stated(mechanism, value, row) for value, row in channel.items())
    if agrees:
        which = {0: "no", mechanism.domain_size: "every"}.get(len(values), "some")
        size = (
            "device not run at this size"
            if not values
            else f"this size's device run on every outcome for {which} value"
        )
        method = f"closed form, equal to brute force on every miniature; {size}{'s' * (which == 'some')}"
        return ExactAudit(mechanism.privacy_ratio(), method, True)
    finite = [ratio for ratio in found if ratio is not None]
    worst = max(finite) if len(finite) == len(found) else None
    return ExactAudit(worst, "brute force; the device does not do what it states", False)


def _values_run(mechanism: ChannelMechanism) -> list[int]:
    """For which values the device is run on every outcome at this size; none where outcomes are too many."""
    if _draws_too_many(mechanism):
        return []
    if outcomes_of(mechanism) * mechanism.domain_size <= MOST_RUNS:
        return list(range(mechanism.domain_size))
    last = mechanism.domain_size - 1
    return sorted({0, 1, last // 2, last})


def _is_stated(mechanism: ChannelMechanism, value: int, row: dict[bytes, Fraction]) -> bool:
    stated = {report: mechanism.probability(mechanism.decode(report), value) for report in row}
    return row == stated and sum(row.values()) == 1


def _draws_too_many(mechanism: ChannelMechanism) -> bool:
    # A device that draws a bit per value has 2^J outcomes; do not even walk through one of them when J is large.
    return mechanism.report_bits > 64 or outcomes_of(mechanism) > MOST_OUTCOMES
