"""The active points of Wolfe's method: how they enter, how their weights change, and which of them leave.

Weights solve a small system by a triangular factor that is updated as points enter and leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.projections.hull_points import Choice, Points, PointSubset

__all__ = ["ActiveSet", "Factor"]


_DEPENDENT = 1e-11
"""A point is dependent if its squared distance to the affine hull of the others is below this part of `weight`.

Inner products are off by some 1e-16 of that, which leaves less than five digits of such a distance."""

_BLOCK = 64
"""Rows solved for together."""

_LIGHTEST = 2.0**-800
"""A weight to begin with, below all squares that do not vanish."""


@dataclass(frozen=True, eq=False)
class Factor:
    """R upper triangular with R^T R = P P^T + weight 1 1^T, where the rows of P are the active points.

    The constant keeps the matrix regular as long as the points are *affinely* independent (Wolfe 1976). It is the
    largest squared length of a point so far, which is best for accuracy. For z that sums to zero it does not matter,
    and ||R z|| is the length of sum_i z_i p_i.

    A change updates the factor, at the cost of a solve for each point that enters and of a sweep of reflections for
    those that leave; nothing is factored again.
    """

    upper: Floats
    weight: float

    @classmethod
    def empty(cls, weight: float = _LIGHTEST) -> Factor:
        """Return the factor of no points."""
        return cls(np.zeros((0, 0)), weight)

    def extended(self, with_old: Floats, among_new: Floats) -> tuple[Factor, NDArray[np.intp]]:
        """Append the affinely independent ones of some new points; return which these are, in their new order.

        Parameters
        ----------
        with_old : numpy.ndarray
            Inner products, a row for each active point and a column for each new one.
        among_new : numpy.ndarray
            Inner products of the new points.
        """
        from sottovoce.kernels.compiled.triangular import pivoted_root

        old = self._weighing(float(among_new.diagonal().max()))
        k, weight = len(old.upper), old.weight
        corner = old._solve_transposed(with_old + weight)
        rest = among_new + weight - corner.T @ corner
        # Pivoting takes the most independent first, and stops where the others depend on those taken.
        order, rank = pivoted_root(rest, _DEPENDENT * weight)
        chosen = order[:rank]
        upper = np.zeros((k + rank, k + rank))
        upper[:k, :k] = old.upper
        upper[:k, k:] = corner[:, chosen]
        upper[k:, k:] = np.triu(rest[np.ix_(chosen, chosen)])
        return Factor(upper, weight), chosen

    def reduced(self, kept: NDArray[np.bool_]) -> Factor:
        """Remove the points that are not kept.

        The kept rows and columns of R are triangular already; what R has in the other rows is absorbed into them.
        """
        from sottovoce.kernels.compiled.triangular import absorb, split

        upper, others = split(self.upper, kept)
        starts = np.cumsum(kept)[~kept]
        if starts[0] < len(upper):
            absorb(upper, others, starts)
        return Factor(upper, self.weight)

    def dependence(self, with_old: Floats) -> Floats:
        """Return the affine combination of the active points that is nearest to a point, given its inner products."""
        from sottovoce.kernels.compiled.triangular import solve_normal

        combination = with_old + self.weight
        solve_normal(self.upper, combination)
        return combination

    def newton_step(self, gradient: Floats) -> Floats:
        """Return the change of weights, summing to zero, that makes the gradient the same for all active points."""
        from sottovoce.kernels.compiled.triangular import solve_normal

        # The common part does not matter, and would dominate the rest if the target is far.
        downhill = gradient - gradient.mean()
        constant = np.ones(len(gradient))
        solve_normal(self.upper, downhill)
        solve_normal(self.upper, constant)
        step: Floats = constant * (downhill.sum() / constant.sum()) - downhill
        step -= step.mean()
        return step

    def length(self, z: Floats) -> float:
        """Return || sum_i z_i p_i || for z that sums to zero."""
        from sottovoce.kernels.compiled.triangular import multiply

        return float(np.linalg.norm(multiply(self.upper, z)))

    def curvature(self, z: Floats) -> Floats:
        """Return by how much the gradient grows at each active point as the weights change by z, which sums to zero."""
        from sottovoce.kernels.compiled.triangular import multiply, multiply_transposed

        growth: Floats = multiply_transposed(self.upper, multiply(self.upper, z))
        return growth

    def _weighing(self, weight: float) -> Factor:
        """Return the same factor with at least this weight: the difference is one more row, of equal entries."""
        from sottovoce.kernels.compiled.triangular import absorb

        if weight <= self.weight:
            return self
        upper = self.upper.copy()
        if len(upper):
            absorb(upper, np.full((1, len(upper)), sqrt(weight - self.weight)), np.zeros(1, dtype=np.int64))
        return Factor(upper, weight)

    def _solve_transposed(self, right: Floats) -> Floats:
        """Replace the matrix `right` by R^-T right, mostly by products of blocks."""
        from sottovoce.kernels.compiled.triangular import solve_transposed

        for first in range(0, len(self.upper), _BLOCK):
            block = slice(first, first + _BLOCK)
            right[block] -= self.upper[:first, block].T @ right[:first]
            solve_transposed(np.ascontiguousarray(self.upper[block, block]), right[block])
        return right


Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NOTHING = 1e-14
"""A weight this small changes the average by rounding only."""

_STORED_BYTES = 2**28
"""Active points are stored up to this size; beyond it, inner products are computed through the operator."""

_STARTED = 1024
"""Points that enter together at the start if none is stored."""

_OUTGROWN = 100.0
"""Ratio of squared lengths to earlier points from which on the others' independence is tested again."""

_NEARER = 0.95
"""Clipped weights are taken if they are nearer to the affine minimiser than this part of the present distance."""


class ActiveSet:
    """A few affinely independent points with weights, none negative, that sum to one.

    Attributes
    ----------
    choice
        Which points: column numbers and signs.
    weights
        Their weights.
    spread
        Length of the longest point seen so far, active or not.
    longest
        Length of the longest column seen so far: a point's length is taken from the centre, a column's is not.
    """

    def __init__(self, points: Points, choice: Choice, weights: Floats) -> None:
        """Start with some points; the weights of dependent points are dropped."""
        self.points = points
        self.choice: Choice = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.weights: Floats = np.zeros(0)
        self.spread = self.longest = 0.0
        # Rows of points that have left stay until others enter, which avoids copies.
        self._rows: Floats | None = np.zeros((0, points.dimension)) if points.known is None else None
        self._position = np.zeros(0, dtype=np.intp)
        self._factor = Factor.empty()
        self._start(choice, weights)

    def __len__(self) -> int:
        return len(self.weights)

    def average(self) -> Floats:
        """Return the weighted average of the active points."""
        if self._rows is None:
            return self.points.average(self.choice, self.weights)
        weights = np.zeros(len(self._rows))
        weights[self._position] = self.weights
        average: Floats = weights @ self._rows
        return average

    def costs(self, prices: Floats) -> Floats:
        """Return the prices of the active points."""
        columns, signs = self.choice
        costs: Floats = signs * prices[columns]
        return costs

    def enter(self, choice: Choice) -> bool:
        """Let the affinely independent ones of some points enter, at weight zero; return whether there is one."""
        if not choice[0].size:
            return False
        new = self._measured(choice)
        if self.spread**2 > _OUTGROWN * self._factor.weight:
            # Relative to much longer points, active ones may no longer be independent.
            self._factor = Factor.empty(self.spread**2)
            self._start(self.choice, self.weights)
        return self._append(new).size > 0

    def exchange(self, choice: Choice, prices: Floats) -> bool:
        """Let a point that depends on the active ones replace one of them; return whether that is a gain.

        The point is the first chosen. By its dependence p = sum_i c_i p_i, sum_i c_i = 1, weight can go to it from
        the others in proportion to c: that moves the average by no more than the factor can resolve, and is a gain
        if p costs less than the others do in that proportion. It goes until the first weight is zero; that point
        leaves.
        """
        if not choice[0].size:
            return False
        columns, signs = choice[0][:1], choice[1][:1]
        new = self.points.some((columns, signs))
        with_old = self._with_old(new)
        dependence = self._factor.dependence(with_old[:, 0])
        costs = self.costs(prices)
        level = costs.mean()
        if signs[0] * prices[columns[0]] - level >= dependence @ (costs - level):
            return False
        share, leaving = self._until_zero(-dependence, np.inf)
        kept = ~leaving
        factor, entered = self._factor.reduced(kept).extended(with_old[kept], new.among)
        if not len(entered):
            return False
        weights = np.append((self.weights - share * dependence)[kept], share)
        self._keep(kept)
        self._note(new, entered)
        self._factor = factor
        self.weights = weights / weights.sum()
        return True

    def descend(self, gradient: Floats) -> None:
        """Move to the affine minimiser of the active points, or of those that are left on the way.

        Let x be the present average and y the affine minimiser. On the affine hull the squared distance to the
        target is ||. - y||^2 plus a constant (Pythagoras), so whatever is nearer to y is better. Where weights of
        y are negative, clip them: if the average is then nearer to y than x was, take it, and let all those
        points leave. Otherwise make Wolfe's minor cycle: go from x toward y until the first weight is zero, and
        let that point leave, or all that had no weight to begin with. The distance never grows and each round at
        least one point leaves.

        Parameters
        ----------
        gradient : numpy.ndarray
            <p, x - target> for each active point p, up to a common constant.
        """
        while True:
            step = self._factor.newton_step(gradient)
            goal = self.weights + step
            positive = goal > _NOTHING
            if positive.all():
                self.weights = goal / goal.sum()
                return
            kept, moved = positive, np.where(positive, goal, 0.0)
            moved /= max(float(moved.sum()), _NOTHING)
            if self._factor.length(moved - goal) > _NEARER * self._factor.length(step):
                share, leaving = self._until_zero(step, 1.0)
                moved = np.where(leaving, 0.0, self.weights + share * step)
                kept = ~leaving & (positive | (moved > _NOTHING))
                moved /= moved.sum()
            gradient = (gradient + self._factor.curvature(moved - self.weights))[kept]
            self.weights = moved
            self._factor = self._factor.reduced(kept)
            self._keep(kept)

    def _until_zero(self, change: Floats, most: float) -> tuple[float, Mask]:
        """Return the largest fraction of a change that leaves no weight negative, and which weights become zero."""
        falling = change < 0
        parts = np.full(len(change), np.inf)
        parts[falling] = self.weights[falling] / -change[falling]
        part = min(most, float(parts.min()))
        return part, (parts <= part) | (falling & (self.weights + part * change <= _NOTHING))

    def _start(self, choice: Choice, weights: Floats) -> None:
        """Make these points the active ones; the weights of dependent points are dropped."""
        self._keep(np.zeros(len(self), dtype=np.bool_))
        columns, signs = choice
        part = max(1, _STORED_BYTES // (8 * self.points.dimension)) if self.points.known is None else _STARTED
        entered = []
        for first in range(0, len(columns), part):
            some = columns[first : first + part], signs[first : first + part]
            entered.append(first + self._append(self._measured(some)))
        kept = weights[np.concatenate(entered)]
        self.weights = kept / kept.sum() if kept.any() else np.full(len(kept), 1 / len(kept))

    def _measured(self, choice: Choice) -> PointSubset:
        """Return the points with their inner products, and record their lengths."""
        new = self.points.some(choice)
        self.spread = max(self.spread, new.spread)
        self.longest = max(self.longest, new.longest)
        return new

    def _append(self, new: PointSubset) -> NDArray[np.intp]:
        """Append the affinely independent ones of some points, at weight zero; return their positions."""
        self._factor, entered = self._factor.extended(self._with_old(new), new.among)
        self._note(new, entered)
        return entered

    def _with_old(self, new: PointSubset) -> Floats:
        """Return the inner products of the active points with new ones."""
        if self.points.known is not None:
            return self.points.known.products(self.choice, new.choice)
        if self._rows is not None and (len(self) + len(new.rows)) * new.rows.shape[1] * 8 > _STORED_BYTES:
            self._rows = None
        if self._rows is not None:
            with_old: Floats = (self._rows @ new.rows.T)[self._position]
            return with_old
        return np.column_stack([self.points.products(self.choice, row) for row in new.rows])

    def _note(self, new: PointSubset, entered: NDArray[np.intp]) -> None:
        """Record that these points are in the factor."""
        columns, signs = self.choice
        self.choice = np.append(columns, new.choice[0][entered]), np.append(signs, new.choice[1][entered])
        self.weights = np.append(self.weights, np.zeros(len(entered)))
        if self._rows is not None:
            self._rows = np.concatenate([self._rows[self._position], new.rows[entered]])
            self._position = np.arange(len(self))

    def _keep(self, kept: Mask) -> None:
        self.choice = self.choice[0][kept], self.choice[1][kept]
        self.weights = self.weights[kept]
        if self._rows is not None:
            self._position = self._position[kept]
