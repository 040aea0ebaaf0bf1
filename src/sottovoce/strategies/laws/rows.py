"""The length, range and mean square of every row of a query matrix.

For rows of zeros and ones they follow from the number of ones, for a stack from its parts; others are enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Floats
from sottovoce.workloads import Bins, Identity, Marginals, Parities, Prefix, Ranges, Stack, Workload
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.base import Body
from sottovoce.workloads.record_tables import RecordTables
from sottovoce.workloads.sets import Sets

__all__ = [
    "MAX_LISTED",
    "blocks_of_columns",
    "combined_ranges",
    "is_listable",
    "mean_squares",
    "row_ranges",
    "squared_norms",
    "two_valued",
]

MAX_LISTED: Final = 2**27
"""Maximum number of entries of a matrix that is enumerated."""

_MOST_COMBINED: Final = 2**22
"""Maximum number of values whose answers to a combination are listed."""

_MOST_VALUES: Final = 2**24
"""Maximum number of values whose columns are summed."""

_BLOCK: Final = 2**20
_INDICATORS: Final = (Identity, Prefix, Ranges, Bins, Marginals)
"""Workloads whose entries are zeros and ones."""


def is_listable(workload: Workload) -> bool:
    """Whether all entries of the matrix can be enumerated in a few seconds."""
    queries, values = workload.shape
    return queries * values <= MAX_LISTED


def blocks_of_columns(workload: Workload, numbers: NDArray[np.int64]) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """The columns of these values, one per row, and the values, in blocks."""
    step = max(1, _BLOCK // workload.n_queries)
    for start in range(0, len(numbers), step):
        part = numbers[start : start + step]
        yield workload.columns(part), part


@lru_cache(maxsize=16)
def squared_norms(workload: Workload) -> Floats:
    """Squared lengths of the rows; read-only.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> squared_norms(Prefix(3))
    array([1., 2., 3.])
    """
    values = workload.n_values
    if isinstance(workload, Stack):
        parts = zip(workload.parts, workload.weights, strict=True)
        total = np.concatenate([squared_norms(part) * weight**2 for part, weight in parts])
    elif isinstance(workload, _INDICATORS):
        total = workload.matvec(np.ones(values))
    elif isinstance(workload, Parities):
        total = np.full(workload.n_queries, float(values))
    else:
        total = np.zeros(workload.n_queries)
        for block, _ in blocks_of_columns(workload, np.arange(values)):
            total += np.einsum("ij,ij->j", block, block)
    total.flags.writeable = False
    return total


@lru_cache(maxsize=16)
def row_ranges(workload: Workload) -> tuple[Floats, Floats, bool]:
    """The least and largest entry of every row, and whether they are exact: very large matrices are not enumerated.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> row_ranges(Prefix(3))
    (array([0., 0., 1.]), array([1., 1., 1.]), True)
    """
    queries, values = workload.shape
    if isinstance(workload, Stack):
        ends = [(weight, row_ranges(part)) for part, weight in zip(workload.parts, workload.weights, strict=True)]
        low, high = (np.concatenate([weight * ranges[side] for weight, ranges in ends]) for side in (0, 1))
        return low, high, all(ranges[2] for _, ranges in ends)
    if isinstance(workload, _INDICATORS) and values <= _MOST_VALUES:
        ones = squared_norms(workload)
        return (ones == values).astype(np.float64), (ones > 0).astype(np.float64), True
    if isinstance(workload, Parities) or not is_listable(workload):
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), queries) for end in workload.answer_range)
        return low, high, isinstance(workload, Parities)
    low, high = np.full(queries, np.inf), np.full(queries, -np.inf)
    for block, _ in blocks_of_columns(workload, np.arange(values)):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return low, high, True


def combined_ranges(workload: Workload | Body, weights: Floats) -> tuple[Floats, Floats]:
    """The least and the largest answer that a person can give to every combination; bounds where values are many.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> combined_ranges(Prefix(3), np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]))
    (array([0., 0.]), array([2., 1.]))
    """
    if isinstance(workload, Sets):
        return workload.combined_range(weights)
    if not isinstance(workload, Body) and workload.n_values <= _MOST_COMBINED:
        listed = np.array([(h.min(), h.max()) for h in map(workload.rmatvec, weights)])
        return listed[:, 0], listed[:, 1]
    if isinstance(workload, RecordTables):
        # A record lies in one cell of every table, so the ends of the tables add up.
        starts = workload.starts[:-1]
        ends = np.minimum.reduceat(weights, starts, axis=1), np.maximum.reduceat(weights, starts, axis=1)
        return ends[0].sum(axis=1), ends[1].sum(axis=1)
    low, high = workload.answer_range if isinstance(workload, Body) else row_ranges(workload)[:2]
    down, up = np.minimum(weights, 0.0), np.maximum(weights, 0.0)
    least, most = (up * low + down * high).sum(axis=1), (up * high + down * low).sum(axis=1)
    if isinstance(workload, Ball):
        reach = workload.radius * np.linalg.norm(weights, axis=1)
        least, most = np.maximum(least, -reach), np.minimum(most, reach)
    return np.asarray(least), np.asarray(most)


@lru_cache(maxsize=16)
def two_valued(workload: Workload) -> NDArray[np.bool_]:
    """Whether all entries of a row are its least or its largest, for every row; False where they are not enumerated.

    Examples
    --------
    >>> from sottovoce.workloads import Dense
    >>> two_valued(Dense([[1.0, 3.0, 3.0], [0.0, 1.0, 2.0]]))
    array([ True, False])
    """
    if isinstance(workload, Stack):
        return np.concatenate([two_valued(part) for part in workload.parts])
    if isinstance(workload, (*_INDICATORS, Parities)):
        return np.ones(workload.n_queries, dtype=np.bool_)
    if not is_listable(workload):
        return np.zeros(workload.n_queries, dtype=np.bool_)
    low, high, _ = row_ranges(workload)
    two_valued_rows = np.ones(workload.n_queries, dtype=np.bool_)
    for block, _ in blocks_of_columns(workload, np.arange(workload.n_values)):
        two_valued_rows &= ((block == low) | (block == high)).all(axis=0)
    return two_valued_rows


def mean_squares(workload: Workload, shares: Floats, about: Floats) -> Floats | None:
    """E (a_i - about_i)^2 of every query for a population with these shares; None if that takes too long.

    Examples
    --------
    >>> from sottovoce.workloads import Dense
    >>> mean_squares(Dense([[1.0, 3.0]]), np.array([0.5, 0.5]), np.zeros(1))
    array([5.])
    """
    if isinstance(workload, Stack):
        cuts = np.cumsum([part.n_queries for part in workload.parts])[:-1]
        parts = []
        for part, weight, shift in zip(workload.parts, workload.weights, np.split(about, cuts), strict=True):
            squares = mean_squares(part, shares, shift / weight)
            if squares is None:
                return None
            parts.append(squares * weight**2)
        return np.concatenate(parts)
    if isinstance(workload, (*_INDICATORS, Parities)):
        answers = workload.matvec(shares)
        own = 1.0 if isinstance(workload, Parities) else answers
        return np.asarray(own - 2 * about * answers + about**2)
    held = np.flatnonzero(shares)
    if len(held) * workload.n_queries > MAX_LISTED:
        return None
    total = np.zeros(workload.n_queries)
    for block, numbers in blocks_of_columns(workload, held):
        total += shares[numbers] @ (block - about) ** 2
    return total
