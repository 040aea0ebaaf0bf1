"""Published mechanisms for sets of at most m out of J items, by the closed forms of their variances.

All are n Var of the share of an item that nobody holds: the floor that every item of a large domain is near. Reference
values for `compare`; what a survey deploys is in `sottovoce.mechanisms`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sottovoce.core.extras import full_install

with full_install:
    from scipy.optimize import minimize_scalar

__all__ = ["SET_CITATIONS", "padding_and_sampling_variance", "privset_variance", "wheel_variance"]

SET_CITATIONS: Final = {
    "PrivSet": "Wang, Huang, Nie, Wang, Xu, Yang: PrivSet: set-valued data analyses with local differential privacy. "
    "INFOCOM 2018",
    "wheel": "Wang, Qian, Du, Yang, Huang, Xu: Set-valued data publication with local privacy: tight error bounds and "
    "efficient mechanisms. PVLDB 13(8), 2020",
    "padding and sampling": "Wang, Li, Jha: Locally differentially private frequent itemset mining. IEEE S&P 2018",
}


def privset_variance(size: int, most: int, epsilon: float, *, padded: bool = True) -> float:
    """PrivSet: a subset of k items, e^eps times as likely if it meets the set, at the best k.

    Parameters
    ----------
    padded
        Whether sets are padded with dummy items to m, so that their size is hidden; otherwise all must have m items.

    Examples
    --------
    >>> [round(privset_variance(1000, 5, epsilon) / 5, 4) for epsilon in (1, 2, 4)]
    [4.0934, 0.7422, 0.0654]
    >>> [round(privset_variance(100, 3, epsilon, padded=False) / 3, 4) for epsilon in (1, 2, 4)]
    [3.7727, 0.6485, 0.0301]
    """
    items = size + most if padded else size
    reported = np.arange(1, items - most + 1, dtype=np.float64)
    ratio = math.exp(epsilon)
    # P(the subset misses m given items), with and without one further item that is in the subset.
    missing = np.prod([(items - reported - i) / (items - i) for i in range(most)], axis=0)
    missing_others = np.prod([(items - reported - i) / (items - 1 - i) for i in range(most)], axis=0)
    total = missing + ratio * (1 - missing)
    share = reported / items
    held = share * ratio / total
    other = share * (missing_others + ratio * (1 - missing_others)) / total
    with np.errstate(divide="ignore"):
        return float(np.min(np.where(held > other, other * (1 - other) / (held - other) ** 2, np.inf)))


def wheel_variance(most: int, epsilon: float) -> float:
    """The wheel: a point of a circle, at the best total length s = m p of a set's arcs.

    Examples
    --------
    >>> [round(wheel_variance(10, epsilon) / 10, 4) for epsilon in (1, 2, 4)]
    [4.6815, 0.8042, 0.0773]
    """
    gain = math.expm1(epsilon)

    def variance(s: float) -> float:
        p = s / most
        held = p * math.exp(epsilon) / (1 + s * gain)
        return p * (1 - p) / (held - p) ** 2

    return float(minimize_scalar(variance, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12}).fun)


def padding_and_sampling_variance(size: int, most: int, epsilon: float) -> float:
    """Padding and sampling: one of the m padded items, drawn at random, reported by the better of two mechanisms.

    Optimized local hashing at epsilon, or randomized response over J + m values at ln(m (e^eps - 1) + 1), where the
    sampling amplifies.

    Examples
    --------
    >>> [round(padding_and_sampling_variance(1000, 5, epsilon) / 5, 3) for epsilon in (1, 2, 4)]
    [18.413, 3.62, 0.089]
    """
    gain = math.expm1(epsilon)
    hashing = most**2 * 4 * math.exp(epsilon) / gain**2
    response = (size + most - 1 + most * gain) / gain**2
    return min(hashing, response)
