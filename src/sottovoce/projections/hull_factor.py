"""The small system of Wolfe's method: a triangular factor that is updated as active points enter and leave."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Factor"]

Floats = NDArray[np.float64]

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
