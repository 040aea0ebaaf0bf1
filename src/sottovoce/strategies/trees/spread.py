"""The spread of answers from the levels of a tree: the largest difference between two reports.

A report is a level, a column of that level's Hadamard matrix, and a sign: all nodes of the level get +-c/q at once, as
the column has it, all other levels nothing. Opposite signs give opposite moves, so a spread is twice the largest move.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.strategies.laws.spread import Floats, Spread
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.strategies.trees.levels import LevelStrategy, _intervals, asks_intervals

__all__ = ["spread_of_levels"]

Indices = NDArray[np.int64]

_MOST_WORK: Final = 2**25
"""Steps spent on reading the answers of every report."""

_MOST_LOOKED_UP: Final = 2**28
"""Products of queries, levels and children that a full tree is looked up for."""


def spread_of_levels(strategy: LevelStrategy) -> Spread:
    """Through all reports where they are few; for intervals over many values by the tree's structure."""
    m, (queries, J) = strategy.mechanism, strategy.workload.shape
    coordinates = max(
        math.sqrt(nodes * sum(m.weights) / weight) for nodes, weight in zip(m.nodes, m.weights, strict=True)
    )
    projected = strategy.operator_norm * 2 * float(1 / m.signal) * coordinates
    reading = J + (queries if asks_intervals(strategy.workload) else queries * J)
    if m.cells // 2 * reading <= _MOST_WORK:
        each, l2 = _all_reports(strategy)
        return Spread(each, l2, projected, True, True)
    if isinstance(strategy, HaarStrategy) and asks_intervals(strategy.workload):
        each = haar_intervals(strategy)
        return Spread(each, float(np.linalg.norm(each)), projected, True, False)
    each = _by_moments(strategy)
    if isinstance(strategy, HierarchicalStrategy) and asks_intervals(strategy.workload):
        if is_full(strategy) and queries * len(m.spans) * strategy.branching <= _MOST_LOOKED_UP:
            each = full_intervals(strategy)
            return Spread(each, float(np.linalg.norm(each)), projected, True, False)
        each = np.minimum(each, hierarchical_intervals(strategy))
    return Spread(each, float(np.linalg.norm(each)), projected, False, False)


def _all_reports(strategy: LevelStrategy) -> tuple[Floats, float]:
    """The answers of every level and column, less the offset, through the strategy's own reading."""
    m, scales = strategy.mechanism, strategy.coordinates.scales
    each, far = np.zeros(strategy.workload.n_queries), 0.0
    start = 0
    for nodes, columns, scale in zip(m.nodes, m.columns, scales, strict=True):
        numbers = np.arange(nodes)
        for column in range(columns):
            v = np.zeros(strategy.coordinates.shape[0])
            odd = np.bitwise_count(numbers & column) & 1
            v[start : start + nodes] = (1.0 - 2.0 * odd) / (float(m.signal) * scale)
            moved = strategy._answers(v) - strategy.offset
            each = np.maximum(each, np.abs(moved))
            far = max(far, float(moved @ moved))
        start += nodes
    return 2 * each, 2 * math.sqrt(far)


def _by_moments(strategy: LevelStrategy) -> Floats:
    """Parseval: over the N columns of a level the squared moves of an answer add up to N times its share of m_i."""
    m = strategy.mechanism
    rarest = max(columns * sum(m.weights) / weight for columns, weight in zip(m.columns, m.weights, strict=True))
    return np.asarray(2 * np.sqrt(np.maximum(0.0, strategy._central_moments) * rarest))


def haar_intervals(strategy: HaarStrategy) -> Floats:
    """Exact for intervals of a line, in O(levels) each.

    The share below x is moved, by a level, through the one node that x lies in, by c/(2q) times t: the part of the
    first half that lies below x, or of the second half that does not. An interval has two ends: in one node their
    moves are subtracted, and of two nodes some column has opposite signs.
    """
    m, drawn = strategy.mechanism, sum(strategy.mechanism.weights)
    found = []
    for first, last in _intervals(strategy.workload) or ():
        each = np.zeros(len(first))
        ends = first, last + 1
        fractions = [np.zeros(len(first)), np.zeros(len(first))]
        for span, weight in zip(reversed(m.spans), reversed(m.weights), strict=True):
            parts = [_parted(x, part, span, m.domain_size) for x, part in zip(ends, fractions, strict=True)]
            (t_first, fractions[0]), (t_end, fractions[1]) = parts
            together = ends[0] // span == ends[1] // span
            moved = np.where(together, np.abs(t_end - t_first), t_end + t_first)
            each = np.maximum(each, moved * (drawn / weight))
        found.append(each)
    return np.asarray(np.concatenate(found) * float(1 / m.signal))


def _parted(x: Indices, below: Floats, span: int, size: int) -> tuple[Floats, Floats]:
    """t of the nodes of `span` values that x lies in, and which part of them is below x; `below`: of x's half."""
    second = x % span >= span // 2
    both = (x // span * span + span // 2 < size) & (x < size)
    t = np.where(both, np.where(second, 1 - below, below), 0.0)
    halved = np.where(second, (1 + below) / 2, below / 2)
    return t, np.where(both, halved, below)


def is_full(strategy: HierarchicalStrategy) -> bool:
    """Whether every node has all its children, as many as a Hadamard matrix has rows."""
    B = strategy.branching
    return B.bit_count() == 1 and strategy.mechanism.domain_size == B ** len(strategy.mechanism.spans)


def full_intervals(strategy: HierarchicalStrategy) -> Floats:
    """Exact for intervals of a full tree whose branching B is a power of two, in O(levels B) each.

    Write a column in digits of base B, and let g be its last digit that is not zero, of level j. Below j all siblings
    are moved alike, so nothing is left to share out; above j children cancel, g's row of H_B summing to zero. So x is
    moved on level j only: by what the children before x's own have in that row, and a part of its own, added up.
    """
    m, B = strategy.mechanism, strategy.branching
    numbers = np.arange(B)
    rows = 1.0 - 2.0 * (np.bitwise_count(numbers[:, None] & numbers) & 1)
    sums = np.cumsum(rows, axis=0) - rows
    found = []
    for first, last in _intervals(strategy.workload) or ():
        each = np.zeros(len(first))
        for span, most in zip(m.spans, _largest_of_subtrees(strategy), strict=True):
            (d_first, b_first), (d_end, b_end) = (np.divmod(x, span) for x in (first, last + 1))
            together = d_first // B == d_end // B
            for g in range(1, B):
                a_first = sums[d_first % B, g] + rows[d_first % B, g] * (b_first / span)
                a_end = sums[d_end % B, g] + rows[d_end % B, g] * (b_end / span)
                moved = np.where(together, np.abs(a_end - a_first), np.abs(a_end) + np.abs(a_first))
                each = np.maximum(each, most * moved)
        found.append(each)
    return np.asarray(2 * np.concatenate(found) * float(1 / m.signal))


def _largest_of_subtrees(strategy: HierarchicalStrategy) -> Floats:
    """For every level, the most that a node's estimate from its own subtree moves, over the levels reported on."""
    noise, weights = strategy._noise, strategy.mechanism.weights
    own = np.array(strategy.tree.regular) / np.array(noise)
    most = np.zeros(len(weights))
    for level, weight in enumerate(weights):
        moved = own[level] * sum(weights) / weight
        for place in range(level, -1, -1):
            most[place] = max(most[place], moved)
            moved *= strategy.branching * (1 - own[place - 1])
    return most


def hierarchical_intervals(strategy: HierarchicalStrategy) -> Floats:
    """An upper bound for intervals: any signs on the nodes of a level, not only a Hadamard column's.

    The share below x is a sum over the levels, each of (k - kappa) C over the children of the node that x lies in: C
    is a child's estimate from its own subtree, k says which part of the child is below x, and kappa is the mean of k by
    the weights in which a parent's share is split. It is convex in k, hence largest where x lies between two children.
    """
    m, drawn = strategy.mechanism, sum(strategy.mechanism.weights)
    below = max(drawn / weight * _largest_prefix(strategy, level) for level, weight in enumerate(m.weights)) * float(
        1 / m.signal
    )
    intervals = _intervals(strategy.workload) or ()
    ends = [(first > 0).astype(np.float64) + (last < m.domain_size - 1) for first, last in intervals]
    return np.asarray(2 * below * np.concatenate(ends))


def _largest_prefix(strategy: HierarchicalStrategy, level: int) -> float:
    """The most that a share below some x moves where all nodes of one level move by 1 up or down."""
    tree, noise, nodes, B = strategy.tree, strategy._noise, strategy.mechanism.nodes, strategy.branching
    regular, last = tree.regular[level] / noise[level], tree.last[level] / noise[level]
    total = 0.0
    for place in range(level, -1, -1):
        children, last_sum, _ = tree._groups[place]
        split = np.full(children, tree.regular[place] / last_sum)
        moves = np.full(children, regular)
        split[-1], moves[-1] = tree.last[place] / last_sum, last
        middle = B // 2
        even = 2 * middle * (B - middle) / B * regular if nodes[place] > children else 0.0
        total += max(even, _parting(split, moves))
        if place:
            own, own_last = tree.regular[place - 1] / noise[place - 1], tree.last[place - 1] / noise[place - 1]
            regular, last = (1 - own) * B * regular, (1 - own_last) * float(moves.sum())
    return total


def _parting(split: Floats, moves: Floats) -> float:
    """max over a of sum |k - kappa| moves, k = 1 for the first a children and 0 for the others."""
    kappa, before = np.cumsum(split)[:-1], np.cumsum(moves)[:-1]
    found = (1 - kappa) * before + kappa * (moves.sum() - before)
    return float(found.max(initial=0.0))
