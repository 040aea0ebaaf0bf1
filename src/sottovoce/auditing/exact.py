"""The exact epsilon of a finite channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.auditing.channel import device_channel, device_row, outcomes_of, stated_channel, worst_ratio
from sottovoce.mechanisms.unary import Unary
from sottovoce.randomness import ONE

if TYPE_CHECKING:
    from sottovoce.mechanisms import ChannelMechanism

__all__ = ["ExactAudit", "exact_ratio"]

MOST_OUTCOMES = 10_000
"""Sequences of draws that are run for one value of the mechanism asked about."""

MOST_RUNS = 100_000
"""Sequences of draws that are run for all its values together; beyond, the first two, middle and last stand for all."""

MOST_COINS = 64
"""Bits of a unary encoding up to which its device is run for every value, each coin both ways."""


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
    all its values where that can be done and else for its first two, middle and last; a unary encoding, which has too
    many outcomes, on some for every value; `method` says which. Where they disagree the mechanism is not what it
    says, so it cannot be sound; the ratio is then the worst that brute force found.
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
        here = worst_ratio(channel)
        found.append(here)
        agrees &= here is not None and here <= mechanism.privacy_ratio()
        agrees &= all(_is_stated(mechanism, value, row) for value, row in channel.items())
    by_coins = not values and isinstance(mechanism, Unary) and mechanism.domain_size <= MOST_COINS
    agrees &= not by_coins or all(_coins_do_as_stated(mechanism, value) for value in range(mechanism.domain_size))
    if agrees:
        if by_coins:
            size = "this size's device run on some outcomes, each of its coins both ways, for every value"
        elif not values:
            size = "device not run at this size"
        else:
            which = "every value" if len(values) == mechanism.domain_size else "some values"
            size = f"this size's device run on every outcome for {which}"
        method = f"closed form, equal to brute force on every miniature; {size}"
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
    """Whether one value's reports have exactly the stated probabilities, and no report is missing."""
    stated = {report: mechanism.probability(mechanism.decode(report), value) for report in row}
    return row == stated and sum(row.values()) == 1


def _draws_too_many(mechanism: ChannelMechanism) -> bool:
    # A device that draws a bit per value has 2^J outcomes; do not even walk through one of them when J is large.
    return mechanism.report_bits > 64 or outcomes_of(mechanism) > MOST_OUTCOMES


class _Coins:
    """A source whose coins fall as given, with the exact probability that they do."""

    def __init__(self, falls: list[bool]) -> None:
        self._falls = iter(falls)
        self.probability = Fraction(1)
        self.tosses = 0

    def below(self, n: int) -> int:
        self.probability /= n
        return 0

    def bernoulli(self, threshold: int) -> bool:
        fallen = next(self._falls, False)
        self.tosses += 1
        self.probability *= Fraction(threshold if fallen else ONE - threshold, ONE)
        return fallen


def _coins_do_as_stated(mechanism: ChannelMechanism, value: int) -> bool:
    """Whether a unary device tosses one coin per value, and every fall of them gives a report of its own, as likely.

    Were that so for all 2^J falls, the channel would be the stated one. It is looked at for all coins down, all up,
    two random falls, and each of these with one coin turned, which finds every coin that is ignored, biased, set, or
    leans on another's in these falls.
    """
    size = mechanism.domain_size
    bases = [[False] * size, [True] * size, *(np.random.default_rng(value).random((2, size)) < 0.5).tolist()]
    turned = ([fall ^ (i == coin) for i, fall in enumerate(base)] for base in bases for coin in range(-1, size))
    runs: dict[bytes, list[bool]] = {}
    for falls in turned:
        source = _Coins(falls)
        report = mechanism.encode(mechanism.randomize(value, source))
        stated = mechanism.probability(mechanism.decode(report), value)
        if source.tosses != size or source.probability != stated or runs.setdefault(report, falls) != falls:
            return False
    return True
