"""Sizes of a query matrix: the length of its rows, and how far it can stretch a vector."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sottovoce.errors import MechanismError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.factorize_root import gram_of
from sottovoce.workloads import Workload

__all__ = ["MAX_LISTED", "check_told", "listed", "operator_norm", "squared_norms"]

MAX_LISTED: Final = 2**27
"""Most entries of a matrix that is gone through column by column."""

_UNTOLD: Final = 1e-5
"""Share of a query's own size that may lie where a strategy is blind, by rounding."""

_MOST_VALUES: Final = 2048
_BLOCK: Final = 2**20


def listed(workload: Workload) -> bool:
    """Whether all entries of the matrix can be gone through in a few seconds."""
    queries, values = workload.shape
    return queries * values <= MAX_LISTED


def squared_norms(workload: Workload) -> Floats:
    """Squared lengths of the rows, a block of columns at a time.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> squared_norms(Prefix(3))
    array([1., 2., 3.])
    """
    queries, values = workload.shape
    total, step = np.zeros(queries), max(1, _BLOCK // queries)
    for start in range(0, values, step):
        block = workload.columns(np.arange(start, min(values, start + step)))
        total += np.einsum("ij,ij->j", block, block)
    return total


def operator_norm(workload: Workload) -> float:
    """The largest singular value; for many values the root of the sum of all of their squares, which is larger.

    Examples
    --------
    >>> from sottovoce.workloads import Identity
    >>> operator_norm(Identity(3))
    1.0
    """
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
