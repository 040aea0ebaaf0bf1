"""Is binary response private? Its device code on every outcome, for numbers inside, outside and at the ends."""

from __future__ import annotations

from fractions import Fraction

from sottovoce.auditing.channel import Enumerator
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.binary import Binary

__all__ = ["binary_channel", "binary_ratio"]


def binary_channel(mechanism: Binary, vector: Floats) -> dict[bytes, Fraction]:
    """The exact probability of every encoded report, by running the device on every outcome of its randomness."""
    found: dict[bytes, Fraction] = {}
    source = Enumerator()
    while True:
        payload = mechanism.encode(mechanism.randomize(vector, source))
        found[payload] = found.get(payload, Fraction(0)) + source.probability
        if not source.advance():
            return found


def binary_ratio(mechanism: Binary, vectors: list[Floats]) -> tuple[Fraction | None, bool]:
    """The worst ratio of two numbers' chances of one report (None: infinite), and whether it is the stated one.

    The chance of a 1 grows with the number and the vectors hold both ends of the ball, so no other number can do
    worse: the stated ratio is (1/2 + a)/(1/2 - a) with a the integer `amplitude` over 2**64.
    """
    channels = [binary_channel(mechanism, vector) for vector in vectors]
    reports = {payload for channel in channels for payload in channel}
    chances = [[channel.get(payload, Fraction(0)) for channel in channels] for payload in reports]
    if any(min(row) == 0 for row in chances):
        return None, False
    worst = max(max(row) / min(row) for row in chances)
    ends = mechanism.probability(1, mechanism.radius), mechanism.probability(1, -mechanism.radius)
    return worst, worst == ends[0] / ends[1] and all(sum(channel.values()) == 1 for channel in channels)
