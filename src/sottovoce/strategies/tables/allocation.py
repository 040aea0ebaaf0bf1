"""How each table is asked for: by which mechanism, and how often, for the least total variance of all answers.

With shares pi the component S is known with precision n W_S, W_S = sum over T of pi_T/(v_T outside(T, S)), and all
answers together have variance sum_S a_S/W_S / n. That is convex in pi. Where tables do not overlap the least is at pi_T
proportional to sqrt(a_T v_T), Neyman's allocation.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.tables import CELL_MECHANISMS

__all__ = ["best_mechanism", "best_shares", "contrast_noise", "integer_weights"]

_STEPS: Final = 3_000
_CLOSE: Final = 1e-4

_HEAVIEST: Final = 2**12
"""The largest weight of a table."""

_RARE: Final = 2**-8
"""Tables that are drawn more rarely than this, beside the commonest, are left out where they are not needed."""


def best_shares(precisions: Floats, costs: Floats) -> Floats:
    """pi on the simplex that minimises sum_S costs_S/(precisions pi)_S, by a multiplicative algorithm.

    Every step multiplies pi_T by the square root of its gradient, which never increases the sum (Yu 2010). The gradient
    of an optimal pi is the same for all tables it uses, and no larger elsewhere: the largest gradient over the value
    bounds what is left.

    Examples
    --------
    >>> best_shares(np.eye(2), np.array([1.0, 9.0])).round(4)
    array([0.25, 0.75])
    """
    shares = np.full(precisions.shape[1], 1 / precisions.shape[1])
    for _ in range(_STEPS):
        known = precisions @ shares
        gradient = (costs / known**2) @ precisions
        value = float(costs @ (1 / known))
        if gradient.max() <= value * (1 + _CLOSE):
            break
        shares = shares * np.sqrt(gradient)
        shares /= shares.sum()
    return shares


def integer_weights(shares: Floats, needed: list[bool]) -> list[int]:
    """Integer weights near the shares, 0 for those that hardly count; at least 1 where a table is needed.

    Examples
    --------
    >>> integer_weights(np.array([0.25, 0.75, 1e-9]), [True, True, False])
    [1365, 4096, 0]
    """
    scaled = [round(_HEAVIEST * share) * (share > _RARE) for share in (shares / shares.max()).tolist()]
    weights = [max(weight, int(must)) for weight, must in zip(scaled, needed, strict=True)]
    common = math.gcd(*weights)
    return [weight // common for weight in weights]


@lru_cache(maxsize=1024)
def best_mechanism(cells: int, epsilon: float, most_bytes: int) -> SupportMechanism:
    """The mechanism of least error whose report is short enough; the shortest if none is."""
    mechanisms = []
    for kind in CELL_MECHANISMS.values():
        try:
            mechanisms.append(kind.best(cells, epsilon))
        except SurveyError:
            continue
    if not mechanisms:
        raise MechanismError(f"no mechanism serves a table of {cells:,} cells at epsilon {epsilon:g}")
    short = [mechanism for mechanism in mechanisms if mechanism.report_bytes <= most_bytes]
    if not short:
        return min(mechanisms, key=lambda mechanism: mechanism.report_bytes)
    return min(short, key=lambda mechanism: (mechanism.worst_total_variance, mechanism.report_bits))


def contrast_noise(mechanism: SupportMechanism) -> float:
    """The mean variance of a cell's contrast where all cells are equally frequent."""
    return mechanism.worst_total_variance / (mechanism.domain_size - 1)
