"""The convex problem behind the factorized strategy, solved on its dual, with a certificate at every step.

For a root F (k x J, columns f_j) minimise tr(Y^-1) over positive definite Y with f_j^T Y f_j <= 1 for all j. The dual
maximises the square of T(w) = tr (F diag(w) F^T)^(1/2) over distributions w on the values. docs/theory/strategies.md
has the proofs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sottovoce.workloads.base import Floats

__all__ = ["Solution", "SolverState", "solve", "state_at"]

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
