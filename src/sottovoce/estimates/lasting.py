"""Ratios of two independent answers whose intervals hold at every look together, and why they do."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from sottovoce.estimates.combinations import UNBOUNDED, edge_of_possible
from sottovoce.estimates.differences import DifferenceInterval
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.two_arms import ArmProcess, least_product

__all__ = ["LASTING", "LOOKS", "lasting_ratio"]

LASTING: Final = (
    "product of both arms' processes; holds at every look together, for people who come from one population in each "
    "arm, if which arm reports next does not depend on the answer"
)
LOOKS: Final = "a level for every number of reports, all together at this one"

_POINTS: Final = 24


def lasting_ratio(first: ArmProcess, second: ArmProcess, index: int, error: float, miss: float) -> DifferenceInterval:
    """The interval of first/second at one place: all r for which first = r second is not excluded.

    Where the second may be zero, every ratio is possible. `error` is what bias or bins may add to the difference.
    """
    most, some = -math.log(miss), np.array([index])
    least = 0.0 if min(first.low[index], second.low[index]) >= -error else -math.inf

    def possible(ratios: Floats) -> Any:
        # Bias and bins may move the first; by convexity the least they must.
        offsets = (first.centre[index] - ratios * second.centre[index]).clip(-error, error)
        places = np.full(len(ratios), index)
        return least_product(first, second, offsets, ratios, places) <= most

    nobody = least_product(second, first, np.zeros(1), np.zeros(1), some)[0] if second.low[index] <= error else math.inf
    if nobody <= most or abs(second.centre[index]) <= error:
        return DifferenceInterval(least, math.inf, f"{LASTING}; {UNBOUNDED}")
    inside = max(first.centre[index] / second.centre[index], least)
    low, high = (edge_of_possible(possible, inside, end, side, _POINTS) for side, end in ((-1, least), (1, math.inf)))
    return DifferenceInterval(low, high, LASTING)
