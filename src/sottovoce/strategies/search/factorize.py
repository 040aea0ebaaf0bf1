"""The factorized strategy: coordinates V for which A = R V has the least noise when V is asked instead of A.

A vector mechanism adds noise in proportion to the longest vector, so the total noise of the answers is proportional to
||R||_F^2 times the largest squared length of V's columns. Its minimum is a convex problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import PlanError, WorkloadError
from sottovoce.core.extras import full_install
from sottovoce.strategies.laws.roots import root_of
from sottovoce.strategies.search.factorize_solver import Solution, shifted, solve
from sottovoce.workloads.base import Floats, Workload, check_vector

__all__ = ["Factorization", "factorize"]


@dataclass(frozen=True, eq=False)
class Factorization:
    """Coordinates V with A p = shift + R V p for every distribution p; the shift is zero unless asked for.

    Attributes
    ----------
    workload
        The queries A.
    coordinates
        V, k x J, of full row rank: one column per value, none longer than 1.
    weights
        The distribution over the values that proves `lower_bound`: it is the squared sum of the singular values of
        A diag(weights)^(1/2), with the columns of A less their mean under the weights if there is a shift.
    centre
        The distribution whose answers are the shift and whose coordinates are zero; None without a shift.
    objective
        ||R||_F^2: the total noise of the answers when each coordinate has noise of variance 1.
    lower_bound
        No factorization of this kind has a smaller objective.
    iterations
        Eigendecompositions spent.
    """

    workload: Workload = field(repr=False)
    coordinates: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    centre: Floats | None = field(repr=False)
    objective: float
    lower_bound: float
    iterations: int

    @property
    def gap(self) -> float:
        """How far the objective may be above the least possible, relative to it."""
        return self.objective / self.lower_bound - 1

    def answers(self, v: ArrayLike) -> Floats:
        """The answers that belong to an estimate of V p; R is never formed.

        R v = A x for every x with V x = v, since A and V have the same row space; this takes the shortest. With a
        shift, x + centre (1 - sum(x)) has the same coordinates and sums to 1.
        """
        vector = check_vector(v, len(self.coordinates), "one number for every coordinate")
        x = self._inverse @ vector
        return self.workload.matvec(x if self.centre is None else x + self.centre * (1 - x.sum()))

    @cached_property
    def _inverse(self) -> Floats:
        """The pseudo-inverse of V, J x k, from V^T = Q U: that is Q U^-T."""
        with full_install:
            from scipy.linalg import solve_triangular

        orthonormal, upper = np.linalg.qr(self.coordinates.T)
        inverse: Floats = solve_triangular(upper, orthonormal.T, trans=0).T
        return inverse


def factorize(
    workload: Workload,
    *,
    tolerance: float = 1e-3,
    centred: bool = False,
    max_iterations: int = 1000,
) -> Factorization:
    """Factorize a workload A = R V with the least ||R||_F^2 over all V whose columns are not longer than 1.

    With ``centred``, A = R V + shift 1^T with the best shift: since a distribution sums to 1, its answers change by the
    shift only. Never worse, and much better for queries that most people answer with yes.

    Parameters
    ----------
    workload
        The queries, over at most 8,192 values unless there are fewer queries than values.
    tolerance
        Stop when the objective is within this fraction of its lower bound.
    centred
        Whether to use a shift.
    max_iterations
        Maximum number of eigendecompositions.

    Returns
    -------
    Factorization
        The best found, with its certificate.

    Raises
    ------
    WorkloadError
        If all values have the same answers.
    CapacityError
        If there are too many values.
    PlanError
        If an option is out of range.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> found = factorize(Prefix(16))
    >>> found.coordinates.shape, round(found.objective, 1), found.gap <= 1e-3
    ((16, 16), 45.7, True)
    >>> found.answers(found.coordinates[:, 14]).round(6) + 0.0
    array([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 1., 1.])
    >>> round(factorize(Prefix(16), centred=True).objective, 1)
    21.1
    """
    accuracy, limit = _checked_tolerance(tolerance), _checked_iterations(max_iterations)
    root = root_of(workload, centred=centred)
    if not len(root.matrix):
        raise WorkloadError("all values have the same answers, so there is nothing to ask; leave out such queries")

    def scaled(number: float) -> float:
        return float(np.ldexp(number, 2 * root.exponent))

    found = solve(root.matrix, centred, accuracy, limit)
    coordinates = _coordinates(root.matrix, found, centred)
    for array in (coordinates, found.weights, found.state.weights):
        array.flags.writeable = False
    return Factorization(
        workload,
        coordinates,
        found.weights,
        found.state.weights if centred else None,
        scaled(found.objective),
        scaled(found.lower_bound),
        found.iterations,
    )


def _coordinates(root: Floats, found: Solution, centred: bool) -> Floats:
    """V = Y^(1/2) F for the solution Y, a multiple of W^(-1/2)."""
    state = found.state
    coordinates = state.squares[:, None] ** -0.25 * (state.vectors.T @ shifted(root, state.weights, centred))
    # Rounded down slightly, so that no column is longer than 1.
    longest = float(np.linalg.norm(coordinates, axis=0).max())
    coordinates /= longest * (1 + 1e-14)
    return np.ascontiguousarray(coordinates)


def _checked_tolerance(tolerance: object) -> float:
    number: Any = tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 1e-9 <= number < 1:
        raise PlanError("tolerance must be a number from 1e-9 to 1; the default is 1e-3")
    return float(number)


def _checked_iterations(iterations: object) -> int:
    if isinstance(iterations, bool) or not isinstance(iterations, Integral) or int(iterations) < 1:
        raise PlanError("max_iterations must be an integer of at least 1; the default is 1000")
    return int(iterations)
