"""The largest singular value of a query matrix, and queries that a strategy cannot determine."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.laws.rows import is_listable, squared_norms
from sottovoce.workloads import Identity, Workload

__all__ = ["check_determined", "operator_norm"]

_UNDETERMINED: Final = 1e-5
"""Fraction of a query's size that may be in the kernel of a strategy, by rounding."""

_MOST_VALUES: Final = 2048


@lru_cache(maxsize=16)
def operator_norm(workload: Workload) -> float:
    """The largest singular value; for many values the Frobenius norm, which is larger.

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


def check_determined(workload: Workload, blind: Floats, weights: Floats) -> None:
    """Raise `MechanismError` if a strategy does not determine the answer of some query.

    Parameters
    ----------
    blind
        An orthonormal basis of the strategy's kernel in the space of populations, one vector per column.
    weights
        The population whose answers are the strategy's shift: only differences from it must be determined.

    Every query is compared with its own size, so that small queries next to large ones count too.
    """
    if not is_listable(workload):
        return
    offset = workload.matvec(weights)
    ones = np.ones(workload.domain.size)
    sizes = squared_norms(workload) + offset**2 * len(ones)
    spread = sizes - 2 * offset * workload.matvec(ones)
    missed = np.zeros(workload.n_queries)
    for direction in blind.T:
        missed += (workload.matvec(direction) - offset * direction.sum()) ** 2
    # If all values have the same answer, only rounding errors remain.
    undetermined = missed > _UNDETERMINED**2 * np.maximum(spread, 0.0) + 1e-24 * sizes
    if undetermined.any():
        query = workload.name(int(np.argmax(undetermined)))
        raise MechanismError(
            f"the strategy cannot determine the answer to {query!r}: it is too small compared with other queries; "
            "scale the queries to similar sizes, or ask them in separate surveys"
        )
