"""The Haar strategy: intervals from wavelet coefficients, which are always consistent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.sampled import MAX_TILT
from sottovoce.strategies.sampled import best_tilt
from sottovoce.strategies.trees.levels import LevelStrategy, intervals
from sottovoce.strategies.trees.tree import Tree
from sottovoce.workloads.base import Workload

__all__ = ["HaarStrategy"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@final
@dataclass(frozen=True)
class HaarStrategy(LevelStrategy):
    """Split every share from the root down, by the node's estimated difference of halves.

    A node whose second half is outside the domain passes on its whole share; its own estimate is not used here, but the
    projection on the hull of the coordinates uses it.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> round(HaarStrategy.best(Prefix(128), 1.0).worst)
    2670
    """

    mechanism: Haar

    name: ClassVar[str] = "haar"
    summary: ClassVar[str] = "wavelet coefficients of a line, a level drawn in public"
    response: ClassVar[type[Haar]] = Haar

    @classmethod
    def best(cls, workload: Workload, epsilon: float) -> Self:
        """The levels' weights with the least exact `moment`."""
        size = workload.shape[1]
        return best_tilt(lambda tilt: cls(workload, Haar(size, epsilon, tilt)), lambda made: made.moment, MAX_TILT)

    @property
    def branching(self) -> int:
        return 2

    @cached_property
    def tree(self) -> Tree:
        """a: half the variance of a difference of halves, for each half."""
        halves = tuple(noise / 2 for noise in self._noise)
        return Tree(2, (*self.mechanism.nodes[1:], self.mechanism.domain_size), halves, halves)

    def _shares(self, levels: list[Floats]) -> Floats:
        shares = np.ones(1)
        sizes = (*self.mechanism.nodes[1:], self.mechanism.domain_size)
        for difference, size in zip(levels, sizes, strict=True):
            halves = np.empty(2 * len(shares))
            halves[::2] = (shares + difference) / 2
            halves[1::2] = (shares - difference) / 2
            if size < len(halves):
                halves[-2] = shares[-1]
            shares = halves[:size]
        return shares

    def _spread_of_intervals(self) -> tuple[Floats, bool]:
        """Exact for intervals of a line, in O(levels) each.

        The share below x is moved, by a level, through the one node that x lies in, by c/(2q) times t: the part of the
        first half that lies below x, or of the second half that does not. An interval has two ends: in one node their
        moves are subtracted, and of two nodes some column has opposite signs.
        """
        m, drawn = self.mechanism, sum(self.mechanism.weights)
        blocks = []
        for first, last in intervals(self.workload) or ():
            each = np.zeros(len(first))
            ends = first, last + 1
            fractions = [np.zeros(len(first)), np.zeros(len(first))]
            for span, weight in zip(reversed(m.spans), reversed(m.weights), strict=True):
                parts = [_parted(x, part, span, m.domain_size) for x, part in zip(ends, fractions, strict=True)]
                (t_first, fractions[0]), (t_end, fractions[1]) = parts
                together = ends[0] // span == ends[1] // span
                moved = np.where(together, np.abs(t_end - t_first), t_end + t_first)
                each = np.maximum(each, moved * (drawn / weight))
            blocks.append(each)
        return np.concatenate(blocks) * float(1 / m.signal), True


def _parted(x: Indices, below: Floats, span: int, size: int) -> tuple[Floats, Floats]:
    """t of the nodes of `span` values that x lies in, and which part of them is below x; `below`: of x's half."""
    second = x % span >= span // 2
    both = (x // span * span + span // 2 < size) & (x < size)
    t = np.where(both, np.where(second, 1 - below, below), 0.0)
    halved = np.where(second, (1 + below) / 2, below / 2)
    return t, np.where(both, halved, below)
