"""Queries over an ordered domain, answered from the levels of a tree, with exact variances."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.sampled import LevelResponse
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.sampled import SampledStrategy
from sottovoce.strategies.trees.tree import Tree, add_children, spread_parents
from sottovoce.workloads.base import MAX_ENTRIES, Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.ranges import Prefix, Ranges

__all__ = ["LevelCoordinates", "LevelStrategy", "asks_intervals", "intervals", "serves_line"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SMALL: Final = 4096
"""Up to this many values, workloads other than intervals are analysed by their matrix."""

_MOST_WORK: Final = 2**25
"""Steps spent on reading the answers of every report."""

_BLOCK: Final = 2**18


def asks_intervals(workload: Workload) -> bool:
    """Whether all queries are intervals of an ordered domain, whose variances need no matrix."""
    return isinstance(workload, Prefix | Ranges | Identity) or (
        isinstance(workload, Bins) and workload.attribute is None
    )


def serves_line(workload: Workload) -> bool:
    """Whether exact variances can be computed: for intervals, or any small workload."""
    queries, values = workload.shape
    if asks_intervals(workload):
        return queries <= MAX_ENTRIES
    return values <= _SMALL and queries * values <= MAX_ENTRIES


@dataclass(frozen=True)
class LevelCoordinates:
    """V: for every node of every level drawn, its share, or its first half's less its second's; times sqrt(q_level).

    An `Operator`; rows are sorted by level, the widest nodes first. All products take O(rows + J).
    """

    size: int
    branching: int
    nodes: tuple[int, ...]
    spans: tuple[int, ...]
    scales: tuple[float, ...]
    signed: bool

    @cached_property
    def shape(self) -> tuple[int, int]:
        return sum(self.nodes), self.size

    def levels(self, v: Floats) -> list[Floats]:
        """Coordinates level by level."""
        return np.split(v, np.cumsum(self.nodes)[:-1])

    def columns(self, indices: Indices) -> Floats:
        numbers = np.asarray(indices, dtype=np.int64)
        rows = np.zeros((len(numbers), self.shape[0]))
        start = 0
        for nodes, span, scale in zip(self.nodes, self.spans, self.scales, strict=True):
            signs = 1 - 2 * (numbers // (span // 2) % 2) if self.signed else np.ones(len(numbers))
            rows[np.arange(len(numbers)), start + numbers // span] = scale * signs
            start += nodes
        return rows

    def column(self, j: int, /) -> Floats:
        column: Floats = self.columns(np.array([j]))[0]
        return column

    def gram(self, first: Indices, second: Indices, /) -> Floats:
        """Inner products of columns with columns: q of every level where two values share a node, signed.

        They share the first levels, down to the node where they separate. So the product depends only on the first
        digit in which they differ, the highest bit of the exclusive or of their codes.
        """
        parted = np.frexp(np.bitwise_xor.outer(self._codes(first), self._codes(second)).astype(np.float64))[1]
        products: Floats = self._shared[parted]
        return products

    @property
    def _width(self) -> int:
        """Bits of a digit."""
        return (self.branching - 1).bit_length()

    def _codes(self, values: Indices) -> Indices:
        """Values as digits, each a child's number, with separate bits for every digit."""
        if self.branching == 1 << self._width:
            return np.asarray(values)
        codes = np.zeros(len(values), dtype=np.int64)
        for digit, span in enumerate(reversed(self.spans)):
            codes |= values // span % self.branching << digit * self._width
        return codes

    @cached_property
    def _shared(self) -> Floats:
        """Inner products of two columns by the bit length of the exclusive or of their codes."""
        shared = np.zeros(len(self.nodes) * self._width + 1)
        bits = np.arange(len(shared))
        for digit, scale in enumerate(reversed(self.scales)):
            shared += scale**2 * (bits <= digit * self._width)
            if self.signed:  # two halves of one node
                shared -= scale**2 * (bits == digit + 1)
        return shared

    def matvec(self, x: Floats, /) -> Floats:
        """V x, from the leaves up."""
        parts, shares = [], np.asarray(x, dtype=np.float64)
        for scale in reversed(self.scales):
            if self.signed:
                sums = add_children(shares, 2)
                # 2 first - (first + second) where both halves exist; a missing second half is zero.
                parts.append(scale * (2 * shares[::2] - sums))
                shares = sums
            else:
                parts.append(scale * shares)
                shares = add_children(shares, self.branching)
        return np.concatenate(parts[::-1])

    def rmatvec(self, y: Floats, /) -> Floats:
        """V^T y, from the root down."""
        sums = np.zeros(1)
        below = (*self.nodes[1:], self.size)
        for part, scale, children, nodes in zip(self.levels(y), self.scales, below, self.nodes, strict=True):
            if self.signed:
                halves = np.empty(2 * nodes)
                np.add(sums, scale * part, out=halves[::2])
                np.subtract(sums, scale * part, out=halves[1::2])
                sums = halves[:children]
            else:
                sums = spread_parents(sums, self.branching, nodes) + scale * part
        return sums


@dataclass(frozen=True)
class LevelStrategy(SampledStrategy):
    """Answers from estimated shares of single values that are consistent with all levels."""

    mechanism: LevelResponse

    # --- implemented by subclasses ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def branching(self) -> int:
        """Children of a node."""

    @property
    @abc.abstractmethod
    def tree(self) -> Tree:
        """The errors of the shares."""

    @abc.abstractmethod
    def _shares(self, levels: list[Floats]) -> Floats:
        """Single values' shares from unscaled coordinates, level by level; they sum to one."""

    @abc.abstractmethod
    def _spread_of_intervals(self) -> tuple[Floats, bool]:
        """The spread of every query where all are intervals, by the tree's structure; and whether it is exact."""

    # --- derived -----------------------------------------------------------

    def __post_init__(self) -> None:
        self._check_fit(self.serves)

    @staticmethod
    def serves(workload: Workload) -> bool:
        """Prefix, Ranges, Identity, Bins without attribute, and any small workload."""
        return serves_line(workload)

    @property
    @final
    def _noise(self) -> tuple[float, ...]:
        """c^2/q: second moments of one report's estimate of a node, level by level."""
        square, drawn = float(1 / self.mechanism.signal) ** 2, sum(self.mechanism.weights)
        return tuple(square * drawn / weight for weight in self.mechanism.weights)

    @cached_property
    @final
    def coordinates(self) -> LevelCoordinates:
        m, drawn = self.mechanism, sum(self.mechanism.weights)
        scales = tuple(math.sqrt(weight / drawn) for weight in m.weights)
        return LevelCoordinates(m.domain_size, self.branching, m.nodes, m.spans, scales, m.signed)

    @final
    def _raw(self, counts: Counts, n_reports: int) -> Floats:
        from sottovoce.kernels.walsh import walsh_hadamard

        m, parts = self.mechanism, []
        for offset, size, nodes, scale in zip(m.offsets, m.columns, m.nodes, self.coordinates.scales, strict=False):
            signs = (counts[offset : offset + size] - counts[offset + size : offset + 2 * size]).astype(np.float64)
            walsh_hadamard(signs)
            parts.append(signs[:nodes] / (n_reports * float(m.signal) * scale))
        return np.concatenate(parts)

    @final
    def shares(self, v: Floats) -> Floats:
        """Single values' estimated shares, consistent over all levels; entries may be negative, the sum is one."""
        levels = self.coordinates.levels(v)
        return self._shares([part / scale for part, scale in zip(levels, self.coordinates.scales, strict=True)])

    @final
    def _answers(self, v: Floats) -> Floats:
        return self.workload.matvec(self.shares(v))

    @final
    def central_moments(self) -> Floats:
        """Through the tree: O(log J) per query for intervals."""
        asked = intervals(self.workload)
        if asked is not None:
            return np.concatenate([self.tree.intervals(first, last) for first, last in asked])
        rows = self.workload.dense()
        part = max(1, _BLOCK // rows.shape[1])
        return np.concatenate([self.tree.quadratic(rows[i : i + part]) for i in range(0, len(rows), part)])

    @cached_property
    @final
    def moment(self) -> float:
        """In O(log J) for all prefixes, ranges or values: sum_(i<j) (F_j - F_i)^2 = N sum F^2 - (sum F)^2."""
        match self.workload:
            case Prefix():
                return self.tree.sum_of_prefixes()
            case Identity():
                return self.tree.sum_of_leaves()
            case Ranges():
                return (self.workload.domain.size + 1) * self.tree.sum_of_prefixes() - self.tree.ramp()
        return float(self.central_moments().sum())

    @final
    def _combined_moments(self, weights: Floats) -> Floats:
        return np.concatenate([self.tree.quadratic(self.workload.rmatvec(row)[None, :]) for row in weights])

    @final
    def _distance_to_offset(self, weights: Floats | None) -> float:
        """0: the offset is the answer of `worst_population`."""
        return 0.0

    @property
    @final
    def _centre_distance(self) -> float:
        return 0.0

    @final
    def worst_population(self) -> Floats:
        """The shares for which all coordinates are zero."""
        return self.shares(np.zeros(self.coordinates.shape[0]))

    @cached_property
    @final
    def _deviation_range(self) -> tuple[float, float]:
        squares = self.workload._squared_norms(np.arange(self.workload.shape[1]))
        deviations = squares - 2 * self.workload.rmatvec(self.offset) + self.offset @ self.offset
        return float(deviations.min()), float(deviations.mean())

    # --- what one report tells, and can do --------------------------------------------------------
    #
    # A report is a level, a column of that level's Hadamard matrix, and a sign: all nodes of the level get +-c/q at
    # once, as the column has it, all other levels nothing. Opposite signs give opposite moves, so a spread is twice
    # the largest move.

    @cached_property
    @final
    def spread(self) -> Spread:
        """Through all reports where they are few; for intervals over many values by the tree's structure."""
        m, (queries, J) = self.mechanism, self.workload.shape
        coordinates = max(
            math.sqrt(nodes * sum(m.weights) / weight) for nodes, weight in zip(m.nodes, m.weights, strict=True)
        )
        projected = self.operator_norm * 2 * float(1 / m.signal) * coordinates
        on_a_line = asks_intervals(self.workload)
        if m.cells // 2 * (J + (queries if on_a_line else queries * J)) <= _MOST_WORK:
            each, l2 = self._spread_of_reports()
            return Spread(each, l2, projected, True, True)
        each, exact = self._spread_of_intervals() if on_a_line else (self._spread_by_moments(), False)
        return Spread(each, float(np.linalg.norm(each)), projected, exact, False)

    @final
    def _spread_of_reports(self) -> tuple[Floats, float]:
        """The answers of every level and column, less the offset, through the strategy's own reading."""
        m, scales = self.mechanism, self.coordinates.scales
        each, far = np.zeros(self.workload.n_queries), 0.0
        start = 0
        for nodes, columns, scale in zip(m.nodes, m.columns, scales, strict=True):
            numbers = np.arange(nodes)
            for column in range(columns):
                v = np.zeros(self.coordinates.shape[0])
                odd = np.bitwise_count(numbers & column) & 1
                v[start : start + nodes] = (1.0 - 2.0 * odd) / (float(m.signal) * scale)
                moved = self._answers(v) - self.offset
                each = np.maximum(each, np.abs(moved))
                far = max(far, float(moved @ moved))
            start += nodes
        return 2 * each, 2 * math.sqrt(far)

    @final
    def _spread_by_moments(self) -> Floats:
        """Parseval: over the N columns of a level the squared moves of an answer add up to N times its share of m_i."""
        return np.asarray(2 * np.sqrt(np.maximum(0.0, self._central_moments) * self._rarest))

    @final
    def _combined_reach(self, weights: Floats, moments: Floats) -> Floats:
        parts = np.abs(weights) @ (self.spread.per_answer / 2)
        return np.asarray(np.minimum(parts, np.sqrt(np.maximum(0.0, moments) * self._rarest)))

    @property
    @final
    def _rarest(self) -> float:
        """The inverse of the probability of the rarest level and column."""
        m = self.mechanism
        return max(columns * sum(m.weights) / weight for columns, weight in zip(m.columns, m.weights, strict=True))


def intervals(workload: Workload) -> Iterator[tuple[Indices, Indices]] | None:
    """First and last values of the queries in blocks, if they are intervals."""
    size = workload.shape[1]
    match workload:
        case Prefix() | Identity():
            starts = (np.arange(i, min(i + _BLOCK, size)) for i in range(0, size, _BLOCK))
            is_identity = isinstance(workload, Identity)
            return ((part if is_identity else np.zeros_like(part), part) for part in starts)
        case Ranges():
            part = max(1, _BLOCK // size)
            return (_from(np.arange(first, min(first + part, size)), size) for first in range(0, size, part))
        case Bins(attribute=None):
            return iter([(workload._bounds[:-1], workload._bounds[1:] - 1)])
    return None


def _from(firsts: Indices, size: int) -> tuple[Indices, Indices]:
    """All intervals that begin at the given values, in the order of `Ranges`."""
    lengths = size - firsts
    first = np.repeat(firsts, lengths)
    return first, first + np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
