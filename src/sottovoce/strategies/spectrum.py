"""Sizes of a query matrix: the length of its rows, and how far it can stretch a vector."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.factorize_root import gram_of
from sottovoce.workloads import Workload

__all__ = ["MAX_LISTED", "listed", "operator_norm", "squared_norms"]

MAX_LISTED: Final = 2**27
"""Most entries of a matrix that is gone through column by column."""

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
