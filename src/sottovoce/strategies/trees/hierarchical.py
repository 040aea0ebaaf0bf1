"""The hierarchical strategy: intervals from a tree of intervals, combined by weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.sampled import MAX_TILT
from sottovoce.strategies.sampled import best_tilt
from sottovoce.strategies.trees.levels import LevelStrategy, asks_intervals
from sottovoce.strategies.trees.tree import Tree, add_children, spread_parents
from sottovoce.workloads.base import Workload

__all__ = ["HierarchicalStrategy"]

Floats = NDArray[np.float64]

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
        found = (best_tilt(partial(made, branching), lambda s: s.moment, MAX_TILT) for branching in branchings)
        return min(found, key=lambda strategy: strategy.moment)

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
