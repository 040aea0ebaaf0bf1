"""The spread of a design's answers, one function per strategy.

Projected answers are found in a strategy's coordinates and carried over by R, so they move by no more than R's norm
times what the coordinates move.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.laws.spread import Floats, Spread, norms_of_columns, spread_of_vectors
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.spread_of_histograms import spread_of_histogram
from sottovoce.strategies.tables.spread import spread_of_tables
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.strategies.trees.levels import LevelStrategy
from sottovoce.strategies.trees.spread import spread_of_levels
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.parities import Parities

__all__ = ["spread"]

_MOST_ENTRIES: Final = 2**24
"""Entries of a query matrix up to which its rows are sorted, or its bins transformed."""

_MOST_REPORTS: Final = 4096
"""Reports up to which all pairs are compared."""

_BLOCK: Final = 2**22


def spread(design: Strategy) -> Spread:
    """The largest difference of every raw answer of a design between two reports.

    Examples
    --------
    >>> from sottovoce.strategies.trees.haar import HaarStrategy
    >>> from sottovoce.workloads import Prefix
    >>> found = spread(HaarStrategy.best(Prefix(64), 1.0))
    >>> found.exact, len(found.per_answer)
    (True, 64)
    """
    # Kept with the design, as its cached properties are: every interval asks for it.
    kept = vars(design)
    if "_spread" not in kept:
        kept["_spread"] = _spread(design)
    found: Spread = kept["_spread"]
    return found


def _spread(design: Strategy) -> Spread:
    match design:
        case Direct():
            return spread_of_vectors(design.mechanism)
        case FactorizedStrategy():
            return _factorized(design)
        case OptimizedStrategy():
            return _optimized(design)
        case MinimaxStrategy():
            width = float(np.ptp(design.report_answers))
            return Spread(np.array([width]), width, width, True, True)
        case LevelStrategy():
            return spread_of_levels(design)
        case FourierStrategy():
            return _fourier(design)
        case TablesStrategy():
            return spread_of_tables(design)
        case Histogram():
            return spread_of_histogram(design)
        case SetStrategy():
            each, l2, exact = design.spread_of_supports
            return Spread(each, l2, l2, exact=design.mechanism.groups == 1, l2_exact=exact)
    raise MechanismError(f"what one report can do to the answers of the strategy {design.name!r} is not known")


def _factorized(strategy: FactorizedStrategy) -> Spread:
    inverse, workload = strategy._centred_inverse, strategy.workload
    columns = (workload.matvec(column) for column in inverse.T)
    reading = norms_of_columns(columns, workload.n_queries, inverse.shape[1], strategy.operator_norm)
    return spread_of_vectors(strategy.mechanism, reading)


def _optimized(strategy: OptimizedStrategy) -> Spread:
    """By enumerating all reports: a channel matrix has a few hundred."""
    workload, mean = strategy.workload, strategy._mean
    shares = strategy._inverse / np.sqrt(mean)
    shares = shares - np.outer(strategy._w, shares.sum(axis=0))
    high, low = np.full(workload.n_queries, -np.inf), np.full(workload.n_queries, np.inf)
    step = max(1, _BLOCK // workload.n_queries)
    for start in range(0, shares.shape[1], step):
        block = strategy._answers_of(shares[:, start : start + step])
        high, low = np.maximum(high, block.max(axis=1)), np.minimum(low, block.min(axis=1))
    l2, exact = _farthest(shares, gram_of(workload))
    inverse_chances = np.sort(1 / mean)[-2:]
    return Spread(high - low, l2, strategy.operator_norm * math.sqrt(float(inverse_chances.sum())), True, exact)


def _farthest(columns: Floats, gram: Floats) -> tuple[float, bool]:
    """The largest |A (x - y)| over pairs of columns, and whether it is exact: for very many a diameter bounds it."""
    centred = columns - columns.mean(axis=1, keepdims=True)
    carried = gram @ centred
    lengths = np.einsum("ij,ij->j", centred, carried)
    if columns.shape[1] > _MOST_REPORTS:
        return 2 * math.sqrt(max(0.0, float(lengths.max()))), False
    squares = lengths[:, None] + lengths - 2 * (centred.T @ carried)
    return math.sqrt(max(0.0, float(squares.max()))), True


def _fourier(strategy: FourierStrategy) -> Spread:
    """A report moves one coefficient by c/q up or down, and an answer by its weight on that coefficient."""
    m = strategy.mechanism
    step = 2 * float(1 / m.signal)
    projected = strategy.operator_norm * step / math.sqrt(float(m.shares.min()))
    if isinstance(strategy.workload, Parities):
        each = step / m.shares[strategy._rows]
        return Spread(each, float(each.max()), projected, True, True)
    if isinstance(strategy.workload, Bins):
        return _bins(strategy, step / float(m.shares[0]), projected)
    # Within a table all weights are 2^-bits; the rarest coefficient it needs moves it most.
    rarest = [min(m.weights[: len(table)]) / m.drawn for table in strategy._tables]
    parts = [step / q * 0.5 ** strategy._table_bits(table) for q, table in zip(rarest, strategy._tables, strict=True)]
    each = np.repeat(parts, [strategy._cells(table) for table in strategy._tables])
    return Spread(each, _fourier_l2(strategy, step), projected, True, True)


def _fourier_l2(strategy: FourierStrategy, step: float) -> float:
    """The farthest that one coefficient carries all tables it belongs to."""
    m = strategy.mechanism
    squares: dict[tuple[int, ...], float] = {}
    for table in strategy._tables:
        length = strategy._cells(table) * 0.25 ** strategy._table_bits(table)
        for touched in range(1, len(table) + 1):
            for group in combinations(table, touched):
                squares[group] = squares.get(group, 0.0) + length
    return max(step * m.drawn / m.weights[len(group) - 1] * math.sqrt(square) for group, square in squares.items())


def _bins(strategy: FourierStrategy, step: float, projected: float) -> Spread:
    """A bin's weight on a coefficient is a Walsh-Hadamard sum over the bin: all of them, or their largest possible."""
    from sottovoce.kernels.walsh import walsh_hadamard

    workload = strategy.workload
    assert isinstance(workload, Bins)
    bounds: NDArray[np.int64] = workload._bounds
    cube = len(strategy.mechanism.coefficients) + 1
    if workload.n_queries * cube > _MOST_ENTRIES:
        sizes = np.diff(bounds)
        each = step * np.minimum(sizes, cube - sizes) / cube
        return Spread(each, float(np.linalg.norm(each)), projected, False, False)
    each, squares = np.empty(workload.n_queries), np.zeros(cube)
    for number, (first, end) in enumerate(pairwise(bounds.tolist())):
        inside = np.zeros(cube)
        inside[first:end] = step / cube
        walsh_hadamard(inside)
        inside[0] = 0.0
        each[number] = np.abs(inside).max()
        squares += inside**2
    return Spread(each, math.sqrt(float(squares.max())), projected, True, True)
