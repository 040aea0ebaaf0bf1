"""Whether a stated blanket, which certificates of shuffling rest on, covers every pair of values of a channel."""

from __future__ import annotations

import math
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.blanket import Blanket
from sottovoce.theory.convex_order import stop_losses

__all__ = ["blanket_fault", "blanket_masses", "pair_excess"]

Floats = NDArray[np.float64]

WEIGHTS: Final = (math.exp(0.05), math.exp(0.7), math.exp(2.0))
"""e^epsilon for which laws are compared."""

_ROUNDING: Final = 1e-11


def blanket_masses(blanket: Blanket, channel: Floats) -> Floats | None:
    """g(y) for every report: the least probability; or what is stated, equal for all reports, where that is smaller.

    None where the stated mass is neither: a larger one hides nobody.
    """
    least = channel.min(axis=0)
    if math.isclose(blanket.mass, least.sum(), rel_tol=1e-13):
        return np.asarray(least)
    even = np.full(len(least), blanket.mass / len(least))
    return even if (even <= least * (1 + 1e-13)).all() else None


def pair_excess(blanket: Blanket, channel: Floats, masses: Floats, weight: float) -> Floats:
    """The excess of the largest stop-loss transform of all pairs over that of the stated law, at its numbers.

    Between these the stated law's transform is a straight line and the others are convex: no other number is worse.
    """
    stated, gamma = blanket.dominating(weight), masses.sum()
    chances, ratios, largest = masses / gamma, gamma * channel / masses, np.zeros(len(stated[1]))
    at = np.sort(stated[1])
    for first, second in product(ratios, repeat=2):
        largest = np.maximum(largest, stop_losses((chances, first - weight * second), at))
    return np.asarray(largest - stop_losses(stated, at))


def blanket_fault(blanket: Blanket, channel: Floats) -> str | None:
    """What is wrong with the blanket of a channel of these probabilities, one row per value; None if nothing is.

    Examples
    --------
    >>> from sottovoce.theory.blanket import PairLaw
    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> law = PairLaw.of([(0.25, 0.75, 0.25, 0.25), (0.25, 0.25, 0.75, 0.75)])
    >>> blanket_fault(Blanket((law,), "two values"), channel)
    >>> blanket_fault(Blanket((law,), "two values"), np.array([[0.8, 0.2], [0.2, 0.8]]))
    'its mass is not that of the least probabilities'
    """
    masses = blanket_masses(blanket, channel)
    if masses is None:
        return "its mass is not that of the least probabilities"
    for weight in WEIGHTS:
        chances, losses = blanket.dominating(weight)
        total, mean = float(chances.sum()), float(chances @ losses)
        if chances.min() < 0 or not math.isclose(total, 1, rel_tol=1e-12) or abs(mean - 1 + weight) > _ROUNDING:
            return "its dominating law is not a law, or its mean is not 1 - e^epsilon"
        if pair_excess(blanket, channel, masses, weight).max() > _ROUNDING:
            return "some pair of values is not covered"
    return None
