"""The factorized strategy: coordinates V for which A = R V has the least noise when V is asked instead of A.

A vector mechanism adds noise in proportion to the longest vector, so the total noise of the answers is proportional to
||R||_F^2 times the largest squared length of V's columns. Its minimum is a convex problem.

It is solved on its dual, with a certificate at every step: for a root F (k x J, columns f_j) minimise tr(Y^-1) over
positive definite Y with f_j^T Y f_j <= 1 for all j. The dual maximises the square of T(w) = tr (F diag(w) F^T)^(1/2)
over distributions w on the values. docs/contributors/theory/strategies.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import PlanError, WorkloadError
from sottovoce.core.extras import full_install
from sottovoce.strategies.laws.roots import root_of
from sottovoce.workloads.base import Floats, Workload, check_vector

__all__ = ["Factorization", "Solution", "SolverState", "factorize", "solve", "state_at"]

MEMORY: Final = 5
"""Number of previous steps used by the acceleration."""

LEAST_LOG_WEIGHT: Final = -600.0
"""exp of it is still a normal number, and negligible as a weight."""


class SolverState(NamedTuple):
    """The state for one set of weights: W = F diag(w) F^T = vectors diag(squares) vectors^T, and derived numbers."""

    log_weights: Floats
    weights: Floats
    squares: Floats
    vectors: Floats
    lengths: Floats
    """f_j^T W^(-1/2) f_j, with mean T(w) under w; all are T(w) or less at the optimum."""
    trace: float
    """T(w), rounded up."""
    certain: float
    """T(w), rounded down: its square is a lower bound."""

    @property
    def objective(self) -> float:
        """tr(Y^-1) of the feasible multiple of W^(-1/2)."""
        return self.trace * float(self.lengths.max())


class Solution(NamedTuple):
    """The state with the least objective, and the largest lower bound with the weights that prove it."""

    state: SolverState
    objective: float
    weights: Floats
    lower_bound: float
    iterations: int


def state_at(root: Floats, log_weights: Floats, centred: bool) -> SolverState:
    """Evaluate one set of weights: one eigendecomposition of size k, and two products of J k^2."""
    log_weights = np.maximum(log_weights - log_weights.max(), LEAST_LOG_WEIGHT)
    weights = np.exp(log_weights)
    weights /= weights.sum()
    columns = shifted(root, weights, centred)
    squares, vectors = np.linalg.eigh((columns * weights) @ columns.T)
    eps = float(np.finfo(np.float64).eps)
    certain = np.sqrt(np.maximum(squares - len(squares) * eps * squares[-1], 0)).sum()
    # Y may be any positive definite matrix, so a floor affects optimality in negligible directions, not validity.
    squares = np.maximum(squares, 4 * eps * squares[-1])
    rotated = vectors.T @ columns
    rotated *= rotated
    lengths = squares**-0.5 @ rotated
    return SolverState(log_weights, weights, squares, vectors, lengths, float(np.sqrt(squares).sum()), float(certain))


def shifted(root: Floats, weights: Floats, centred: bool) -> Floats:
    """The columns, less their mean under the weights if the centre is free."""
    return root - (root @ weights)[:, None] if centred else root


def solve(root: Floats, centred: bool, tolerance: float, max_iterations: int) -> Solution:
    """Maximise T(w) until the objective is within the relative tolerance of the lower bound.

    The step is w_j <- w_j (lengths_j / T)^size, normalised, which climbs for every size that is small enough. Size 2
    solves orthogonal columns at once. Steps are accelerated (Anderson) over the last few; one that does not climb is
    taken back and halved.
    """
    start = (shifted(root, np.full(root.shape[1], 1 / root.shape[1]), centred) ** 2).sum(axis=0)
    state = state_at(root, np.log(np.maximum(start, 1e-300)), centred)
    best, objective, iteration = state, state.objective, 1
    weights, lower_bound = state.weights, state.certain**2
    history: list[tuple[Floats, Floats]] = []
    size = 2.0
    while objective > (1 + tolerance) * lower_bound and iteration < max_iterations:
        step = _step(state)
        history = [*history[-MEMORY:], (state.log_weights, size * step)]
        tried = state_at(root, _accelerated(history, state.weights), centred)
        iteration += 1
        if tried.certain**2 > lower_bound:
            weights, lower_bound = tried.weights, tried.certain**2
        if tried.objective < objective:
            best, objective = tried, tried.objective
        slope = float(state.weights @ ((state.lengths - state.trace) * step)) / 2
        if tried.trace - state.trace >= 0.05 * min(size, 1.0) * slope - 1e-13 * state.trace:
            state = tried
        else:
            # A failed combination says nothing about the plain step; a failed plain step was too long.
            size = size / 2 if len(history) == 1 else size
            history = []
    return Solution(best, objective, weights, lower_bound, iteration)


def _step(state: SolverState) -> Floats:
    """The change of the log-weights at size 1; bounded for a column at the centre."""
    return np.log(np.maximum(state.lengths / state.trace, 1e-12))


def _accelerated(history: list[tuple[Floats, Floats]], weights: Floats) -> Floats:
    """Anderson acceleration: the combination of past points with the smallest combined step, plus that step."""
    point, step = history[-1]
    if len(history) == 1:
        return point + step
    points = np.diff(np.array([p for p, _ in history]), axis=0)
    steps = np.diff(np.array([s for _, s in history]), axis=0)
    scale = np.sqrt(weights)  # steps of values without weight do not matter
    share = np.linalg.lstsq((steps * scale).T, step * scale, rcond=1e-10)[0]
    ahead: Floats = point + step - share @ (points + steps)
    return ahead


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
    >>> factorization = factorize(Prefix(16))
    >>> factorization.coordinates.shape, round(factorization.objective, 1), factorization.gap <= 1e-3
    ((16, 16), 45.7, True)
    >>> factorization.answers(factorization.coordinates[:, 14]).round(6) + 0.0
    array([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 1., 1.])
    >>> round(factorize(Prefix(16), centred=True).objective, 1)
    21.1
    """
    accuracy, limit = _checked_tolerance(tolerance), _checked_iterations(max_iterations)
    root = root_of(workload, centred=centred)
    if not len(root.matrix):
        raise WorkloadError("all values have the same answers, so there is nothing to ask; leave out such queries").at(
            "workload"
        )

    def scaled(number: float) -> float:
        return float(np.ldexp(number, 2 * root.exponent))

    solution = solve(root.matrix, centred, accuracy, limit)
    coordinates = _coordinates(root.matrix, solution, centred)
    for array in (coordinates, solution.weights, solution.state.weights):
        array.flags.writeable = False
    return Factorization(
        workload,
        coordinates,
        solution.weights,
        solution.state.weights if centred else None,
        scaled(solution.objective),
        scaled(solution.lower_bound),
        solution.iterations,
    )


def _coordinates(root: Floats, solution: Solution, centred: bool) -> Floats:
    """V = Y^(1/2) F for the solution Y, a multiple of W^(-1/2)."""
    state = solution.state
    coordinates = state.squares[:, None] ** -0.25 * (state.vectors.T @ shifted(root, state.weights, centred))
    # Rounded down slightly, so that no column is longer than 1.
    longest = float(np.linalg.norm(coordinates, axis=0).max())
    coordinates /= longest * (1 + 1e-14)
    return np.ascontiguousarray(coordinates)


def _checked_tolerance(tolerance: object) -> float:
    number: Any = tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 1e-9 <= number < 1:
        raise PlanError("tolerance must be a number from 1e-9 to 1; the default is 1e-3").at("tolerance")
    return float(number)


def _checked_iterations(iterations: object) -> int:
    if isinstance(iterations, bool) or not isinstance(iterations, Integral) or int(iterations) < 1:
        raise PlanError("max_iterations must be an integer of at least 1; the default is 1000").at("max_iterations")
    return int(iterations)
