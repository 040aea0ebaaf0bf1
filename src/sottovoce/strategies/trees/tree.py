"""Errors of consistent estimates over a tree of intervals; all nodes of a level are alike, except the last.

Below a node whose share is known exactly, its children's errors have the covariance diag(a) - a a^T/s, s = sum(a),
and are independent of all other nodes' splits. If the node's share has error x, child i has an additional error
x a_i/s. The numbers a, two per level, describe everything.
`docs/contributors/theory/structured_strategies.md` derives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree", "add_children", "spread_parents"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def add_children(shares: Floats, branching: int) -> Floats:
    """The sums of consecutive runs of `branching` entries along the last axis, the last run possibly shorter."""
    missing = -shares.shape[-1] % branching
    if missing:
        shares = np.concatenate([shares, np.zeros((*shares.shape[:-1], missing))], axis=-1)
    sums: Floats = shares.reshape(*shares.shape[:-1], -1, branching).sum(axis=-1)
    return sums


def spread_parents(shares: Floats, branching: int, children: int) -> Floats:
    """Each entry once for every child: the transpose of `add_children`."""
    return np.repeat(shares, branching, axis=-1)[..., :children]


@dataclass(frozen=True)
class Tree:
    """A complete tree over J leaves, the last node of a level possibly with fewer children, and its splits' errors.

    Attributes
    ----------
    branching
        Maximum number of children of a node.
    nodes
        Nodes of each level below the root, the leaves last.
    regular, last
        The number a of a node that is not the last of its level, and of the one that is; one entry per level.
    """

    branching: int
    nodes: tuple[int, ...]
    regular: tuple[float, ...]
    last: tuple[float, ...]

    @cached_property
    def _groups(self) -> tuple[tuple[int, float, float], ...]:
        """For each level: the number of children of its last parent, the sum s of that group, and of any other."""
        groups = []
        for parents, nodes, a, b in zip((1, *self.nodes), self.nodes, self.regular, self.last, strict=False):
            children = nodes - self.branching * (parents - 1)
            groups.append((children, (children - 1) * a + b, self.branching * a))
        return tuple(groups)

    def split_weights(self, level: int) -> Floats:
        """a/s for every node of a level: its part of an error of its parent."""
        children, last_sum, other_sum = self._groups[level]
        weights = np.full(self.nodes[level], self.regular[level] / other_sum)
        weights[-children:] = self.regular[level] / last_sum
        weights[-1] = self.last[level] / last_sum
        return weights

    def intervals(self, first: Indices, last: Indices) -> Floats:
        """Error variance of the share of each interval [first, last] of leaves. O(levels) each.

        Going up from both ends: the part of a node inside the interval has the error r x + independent noise of
        variance v, x the error of the node; (r, v) of a parent follow from those of its children.
        """
        B = self.branching
        left, right = first, last
        r_left: Floats = np.ones(len(first))
        r_right: Floats = np.ones(len(first))
        v_left: Floats = np.zeros(len(first))
        v_right: Floats = np.zeros(len(first))
        parents = (1, *self.nodes)
        for level in range(len(self.nodes) - 1, -1, -1):
            a, b, nodes = self.regular[level], self.last[level], self.nodes[level]
            _, last_sum, other_sum = self._groups[level]
            a_left, a_right = np.where(left == nodes - 1, b, a), np.where(right == nodes - 1, b, a)
            up_left, up_right = left // B, right // B
            s_left = np.where(up_left == parents[level] - 1, last_sum, other_sum)
            s_right = np.where(up_right == parents[level] - 1, last_sum, other_sum)
            alone, meet = left == right, (left != right) & (up_left == up_right)
            # Children entirely inside the interval: between the two ends if they meet, else right of the left end.
            whole: Floats = a * np.where(alone, 0, np.where(meet, right - left, B - left % B) - 1)
            t: Floats = r_left * a_left + whole + np.where(meet, r_right * a_right, 0.0)
            q: Floats = r_left**2 * a_left + whole + np.where(meet, r_right**2 * a_right, 0.0)
            v_left = v_left + np.where(meet, v_right, 0.0) + q - t**2 / s_left
            r_left = np.asarray(t / s_left)
            whole = np.multiply(a, right % B, dtype=np.float64)
            t, q = r_right * a_right + whole, r_right**2 * a_right + whole
            v_right, r_right = v_right + q - t**2 / s_right, t / s_right
            left, right = up_left, up_right
        return v_left

    def quadratic(self, rows: Floats) -> Floats:
        """Error variance of <row, leaves> for each row."""
        r, v = rows, np.zeros(len(rows))
        for level in range(len(self.nodes) - 1, -1, -1):
            a = np.full(self.nodes[level], self.regular[level])
            a[-1] = self.last[level]
            t = add_children(r * a, self.branching)
            _, last_sum, other_sum = self._groups[level]
            s = np.full(t.shape[1], other_sum)
            s[-1] = last_sum
            v = v + (r**2 * a).sum(axis=1) - (t**2 / s).sum(axis=1)
            r = t / s
        return v

    def sum_of_leaves(self) -> float:
        """The sum of the error variances of all leaves, in O(levels)."""
        return self._sum(0.0)

    def sum_of_prefixes(self) -> float:
        """The sum of the error variances of all prefixes [0, k], in O(levels)."""
        return self._sum(1.0)

    def _sum(self, before: float) -> float:
        """Sum over the leaves k of the variance of leaf k and `before` times all leaves before it.

        A node is summarised by the number of its leaves and the sums over them of r, r^2 and v, as in `intervals`.
        """
        regular = last = np.array([1.0, 1.0, 1.0, 0.0])
        for level in range(len(self.nodes) - 1, -1, -1):
            a, b = self.regular[level], self.last[level]
            children, last_sum, other_sum = self._groups[level]
            full = _summary(regular, a, a, 0, self.branching, before, other_sum)
            last = _summary(regular, a, a, 0, children - 1, before, last_sum) + _summary(
                last, b, a, children - 1, children, before, last_sum
            )
            regular = full
        return float(last[3])

    def ramp(self) -> float:
        """Error variance of sum_u (J - u) share(u), the sum of all prefixes, in O(levels branching)."""
        span = 1
        r, v = (0.0, 0.0), (0.0, 0.0)
        for level in range(len(self.nodes) - 1, -1, -1):
            children, last_sum, other_sum = self._groups[level]
            groups = []
            for count, s, tail in ((self.branching, other_sum, 0), (children, last_sum, 1)):
                # Positions are relative to the node's first leaf: an added constant does not change the variance.
                rho = r[0] + span * np.arange(count, dtype=np.float64)
                a = np.full(count, self.regular[level])
                noise = count * v[0]
                if tail:
                    rho[-1] += r[1] - r[0]
                    a[-1] = self.last[level]
                    noise += v[1] - v[0]
                mean = float(rho @ a) / s
                groups.append((mean, noise + float((rho - mean) ** 2 @ a)))
            (r0, v0), (r1, v1) = groups
            r, v = (r0, r1), (v0, v1)
            span *= self.branching
        return v[1]


def _summary(node: Floats, own: float, sibling: float, first: int, end: int, before: float, s: float) -> Floats:
    """The contribution of children first to end - 1, all summarised by `node`, to their parent's summary."""
    n, r, r2, v = node
    count = end - first
    ahead = before * (first + end - 1) * count / 2  # summed over these children: siblings in front of each
    squares = before**2 * ((end - 1) * end * (2 * end - 1) - (first - 1) * first * (2 * first - 1)) / 6
    t = own * r * count + sibling * n * ahead
    q = own * r2 * count + before * sibling * n * ahead
    t2 = own**2 * r2 * count + 2 * own * sibling * r * ahead + sibling**2 * n * squares
    return np.array([n * count, t / s, t2 / s**2, v * count + q - t2 / s])
