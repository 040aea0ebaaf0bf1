"""How far a query matrix can stretch a vector, and what a strategy is blind to."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from sottovoce.errors import MechanismError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.factorize_root import gram_of
from sottovoce.strategies.rows import listed, squared_norms
from sottovoce.workloads import Identity, Workload

__all__ = ["check_told", "operator_norm"]

_UNTOLD: Final = 1e-5
"""Share of a query's own size that may lie where a strategy is blind, by rounding."""

_MOST_VALUES: Final = 2048


@lru_cache(maxsize=16)
def operator_norm(workload: Workload) -> float:
    """The largest singular value; for many values the root of the sum of all of their squares, which is larger.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> round(operator_norm(Prefix(2)), 3)
    1.618
    """
    if isinstance(workload, Identity):
        return 1.0
    if workload.domain.size <= _MOST_VALUES:
        return math.sqrt(max(0.0, float(np.linalg.eigvalsh(gram_of(workload))[-1])))
    return math.sqrt(float(squared_norms(workload).sum()))


def check_told(workload: Workload, blind: Floats, weights: Floats) -> None:
    """Raise `MechanismError` if a strategy does not tell the answers of some query, for all populations.

    Parameters
    ----------
    blind
        Orthonormal directions of the space of populations, one a column, in which the strategy sees nothing.
    weights
        The population whose answers the strategy takes for granted: only what differs from it must be seen.

    Every query is held against its own size, not the largest one's: a small query beside a huge one is a query too.
    """
    if not listed(workload):
        return
    offset = workload.matvec(weights)
    ones = np.ones(workload.domain.size)
    sizes = squared_norms(workload) + offset**2 * len(ones)
    spread = sizes - 2 * offset * workload.matvec(ones)
    missed = np.zeros(workload.n_queries)
    for direction in blind.T:
        missed += (workload.matvec(direction) - offset * direction.sum()) ** 2
    # Where all values answer alike nothing is left but the rounding of what was subtracted.
    untold = missed > _UNTOLD**2 * np.maximum(spread, 0.0) + 1e-24 * sizes
    if untold.any():
        query = workload.name(int(np.argmax(untold)))
        raise MechanismError(
            f"the strategy would not tell the answer to {query!r}: beside other queries it is too small to be seen; "
            "scale the queries to similar sizes, or ask them in surveys of their own"
        )
