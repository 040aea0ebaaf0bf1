"""How people are distributed over the values: benign ones, and those that come near the worst case."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evidence.reproduce.records import Case
from sottovoce.core.errors import SimulationError
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.theory.bounds import debias

__all__ = ["ANALYSTS_TOLD", "POPULATIONS", "shares", "spread_over"]

POPULATIONS: Final[dict[str, str]] = {
    "point": "everybody has the first value: a corner of what can be true, where projecting gains most",
    "pair": "half have the first value, half the second, whose column is the opposite one in the offline figures",
    "spread": "alike over just so many values that none stands out of the noise: nearly the worst case",
    "uniform": "alike over all values",
    "zipf": "value v has a share proportional to 1/v",
}

ANALYSTS_TOLD: Final[dict[str, str]] = {
    "random": "all questions are fixed before anybody is asked",
    "overfit": "every second question is made of the answers so far, so that their errors add up",
}
"""For adaptive queries people are alike over 1,020 values, and every true answer is 0."""


def spread_over(case: Case) -> int:
    """Over how many values `spread` would have people, if there were so many; see `shares`."""
    threshold = debias(case.epsilon) * math.sqrt(2 * math.log(case.values) / case.users)
    return max(1, round(2 / threshold))


def shares(case: Case) -> NDArray[np.float64]:
    """The share of people at each value.

    The largest of J noises of standard deviation s = c/sqrt(n) is about t = s sqrt(2 log J). `spread` gives 2/t values
    the share t/2 each: too little to stand out, so that projecting takes most of it for noise. The error is then of
    the order of their norm, sqrt(t/2), which is half of the bound (8 c^2 log J/n)^(1/4); twice or half as many values
    give less.

    Examples
    --------
    >>> shares(Case("distribution", "users", "pair", 1000, 4, 4, 1.0))
    array([0.5, 0.5, 0. , 0. ])
    >>> int(np.count_nonzero(shares(Case("distribution", "users", "spread", 10**6, 4096, 4096, 1.0))))
    227
    """
    match case.population:
        case "point":
            occupied = 1
        case "pair":
            occupied = 2
        case "spread":
            occupied = min(case.values, spread_over(case))
        case "uniform" | "zipf":
            return frequencies(case.population, case.values)
        case _:
            raise SimulationError(f"population must be one of {', '.join(POPULATIONS)}")
    found = np.zeros(case.values)
    found[:occupied] = 1 / occupied
    return found
