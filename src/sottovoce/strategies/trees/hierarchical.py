"""The hierarchical strategy: intervals from a tree of intervals, combined by weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.sampled import MAX_TILT
from sottovoce.strategies.sampled import best_tilt
from sottovoce.strategies.trees.levels import LevelStrategy, asks_intervals, intervals
from sottovoce.strategies.trees.tree import Tree, add_children, spread_parents
from sottovoce.workloads.base import Workload

__all__ = ["HierarchicalStrategy"]

Floats = NDArray[np.float64]

_MOST_LOOKED_UP: Final = 2**28
"""Products of queries, levels and children that a full tree is looked up for."""

_BRANCHINGS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64)


@final
@dataclass(frozen=True)
class HierarchicalStrategy(LevelStrategy):
    """Shares of all levels made consistent: the weighted least-squares estimate, in O(nodes).

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> strategy = HierarchicalStrategy.best(Prefix(128), 1.0)
    >>> strategy.mechanism.branching, round(strategy.worst)
    (2, 3046)
    """

    mechanism: Hierarchical

    name: ClassVar[str] = "hierarchical"
    summary: ClassVar[str] = "a tree of intervals, a level drawn in public"
    response: ClassVar[type[Hierarchical]] = Hierarchical

    @classmethod
    def best(cls, workload: Workload, epsilon: float) -> Self:
        """The branching and the levels' weights with the least exact `moment`.

        If that needs the matrix, the branching is chosen first, with equal weights.
        """
        size = workload.shape[1]
        branchings = sorted({min(branching, size) for branching in (*_BRANCHINGS, size)})

        def made(branching: int, tilt: int = 0) -> Self:
            return cls(workload, Hierarchical(size, epsilon, branching, tilt))

        if not asks_intervals(workload):
            branchings = [min(branchings, key=lambda branching: made(branching).moment)]
        tilted = (best_tilt(partial(made, branching), lambda s: s.moment, MAX_TILT) for branching in branchings)
        return min(tilted, key=lambda strategy: strategy.moment)

    @property
    def branching(self) -> int:
        return self.mechanism.branching

    @cached_property
    def tree(self) -> Tree:
        """a: the variance of a node's share as its own subtree estimates it, children and own level together."""
        noise, B = self._noise, self.branching
        regular, last = [noise[-1]], [noise[-1]]
        for level in range(len(noise) - 2, -1, -1):
            parents, nodes = self.mechanism.nodes[level], self.mechanism.nodes[level + 1]
            others = nodes - B * (parents - 1) - 1
            last.append(1 / (1 / noise[level] + 1 / (others * regular[-1] + last[-1])))
            regular.append(1 / (1 / noise[level] + 1 / (B * regular[-1])))
        return Tree(B, self.mechanism.nodes, tuple(regular[::-1]), tuple(last[::-1]))

    def _shares(self, levels: list[Floats]) -> Floats:
        """Up: average each node's estimate with its children's sum. Down: distribute the difference."""
        noise, tree, B = self._noise, self.tree, self.branching
        sums: list[Floats] = []
        below = levels[-1]
        combined = [below]
        for level in range(len(levels) - 2, -1, -1):
            sums.append(add_children(below, B))
            own = np.full(len(levels[level]), tree.regular[level] / noise[level])
            own[-1] = tree.last[level] / noise[level]
            below = sums[-1] + own * (levels[level] - sums[-1])
            combined.append(below)
        sums.append(add_children(below, B))
        shares = np.ones(1)
        for level, (here, children) in enumerate(zip(combined[::-1], sums[::-1], strict=True)):
            missing = spread_parents(shares - children, B, len(here))
            shares = here + tree.split_weights(level) * missing
        return shares

    # --- what one report can do -------------------------------------------------------------------

    def _spread_of_intervals(self) -> tuple[Floats, bool]:
        looked_up = self.workload.n_queries * len(self.mechanism.spans) * self.branching
        if self._is_full and looked_up <= _MOST_LOOKED_UP:
            return self._spread_of_full_tree(), True
        return np.minimum(self._spread_by_moments(), self._spread_by_signs()), False

    @property
    def _is_full(self) -> bool:
        """Whether every node has all its children, as many as a Hadamard matrix has rows."""
        B = self.branching
        return B.bit_count() == 1 and self.mechanism.domain_size == B ** len(self.mechanism.spans)

    def _spread_of_full_tree(self) -> Floats:
        """Exact for intervals of a full tree whose branching B is a power of two, in O(levels B) each.

        Write a column in digits of base B, and let g be its last digit that is not zero, of level j. Below j all
        siblings are moved alike, so nothing is left to share out; above j children cancel, g's row of H_B summing to
        zero. So x is moved on level j only: by what the children before x's own have in that row, and a part of its
        own, added up.
        """
        m, B = self.mechanism, self.branching
        numbers = np.arange(B)
        rows = 1.0 - 2.0 * (np.bitwise_count(numbers[:, None] & numbers) & 1)
        sums = np.cumsum(rows, axis=0) - rows
        blocks = []
        for first, last in intervals(self.workload) or ():
            each = np.zeros(len(first))
            for span, most in zip(m.spans, self._largest_of_subtrees(), strict=True):
                (d_first, b_first), (d_end, b_end) = (np.divmod(x, span) for x in (first, last + 1))
                together = d_first // B == d_end // B
                for g in range(1, B):
                    a_first = sums[d_first % B, g] + rows[d_first % B, g] * (b_first / span)
                    a_end = sums[d_end % B, g] + rows[d_end % B, g] * (b_end / span)
                    moved = np.where(together, np.abs(a_end - a_first), np.abs(a_end) + np.abs(a_first))
                    each = np.maximum(each, most * moved)
            blocks.append(each)
        return np.asarray(2 * np.concatenate(blocks) * float(1 / m.signal))

    def _largest_of_subtrees(self) -> Floats:
        """For every level, the most that a node's estimate from its own subtree moves, over the levels reported on."""
        noise, weights = self._noise, self.mechanism.weights
        own = np.array(self.tree.regular) / np.array(noise)
        most = np.zeros(len(weights))
        for level, weight in enumerate(weights):
            moved = own[level] * sum(weights) / weight
            for upper in range(level, -1, -1):
                most[upper] = max(most[upper], moved)
                moved *= self.branching * (1 - own[upper - 1])
        return most

    def _spread_by_signs(self) -> Floats:
        """An upper bound for intervals: any signs on the nodes of a level, not only a Hadamard column's.

        The share below x is a sum over the levels, each of (k - kappa) C over the children of the node that x lies in:
        C is a child's estimate from its own subtree, k says which part of the child is below x, and kappa is the mean
        of k by the weights in which a parent's share is split. It is convex in k, hence largest where x lies between
        two children.
        """
        m, drawn = self.mechanism, sum(self.mechanism.weights)
        below = max(drawn / weight * self._largest_prefix(level) for level, weight in enumerate(m.weights)) * float(
            1 / m.signal
        )
        ends = [
            (first > 0).astype(np.float64) + (last < m.domain_size - 1)
            for first, last in intervals(self.workload) or ()
        ]
        return np.asarray(2 * below * np.concatenate(ends))

    def _largest_prefix(self, level: int) -> float:
        """The most that a share below some x moves where all nodes of one level move by 1 up or down."""
        tree, noise, nodes, B = self.tree, self._noise, self.mechanism.nodes, self.branching
        regular, last = tree.regular[level] / noise[level], tree.last[level] / noise[level]
        total = 0.0
        for upper in range(level, -1, -1):
            children, last_sum, _ = tree._groups[upper]
            split = np.full(children, tree.regular[upper] / last_sum)
            moves = np.full(children, regular)
            split[-1], moves[-1] = tree.last[upper] / last_sum, last
            middle = B // 2
            even = 2 * middle * (B - middle) / B * regular if nodes[upper] > children else 0.0
            total += max(even, _parting(split, moves))
            if upper:
                own, own_last = tree.regular[upper - 1] / noise[upper - 1], tree.last[upper - 1] / noise[upper - 1]
                regular, last = (1 - own) * B * regular, (1 - own_last) * float(moves.sum())
        return total


def _parting(split: Floats, moves: Floats) -> float:
    """max over a of sum |k - kappa| moves, k = 1 for the first a children and 0 for the others."""
    kappa, before = np.cumsum(split)[:-1], np.cumsum(moves)[:-1]
    moved = (1 - kappa) * before + kappa * (moves.sum() - before)
    return float(moved.max(initial=0.0))
