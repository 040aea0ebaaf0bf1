"""The search for a channel: limited-memory quasi-Newton steps on logits and row minima, with reweighted people.

The set of channels, as measures over rows, is convex and so is the objective; with four or more rows per value, the
search converges from almost any start. Runs on any array-API library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sottovoce.core.extras import full_install
from sottovoce.strategies.search.objective import ChannelObjective, Point, project_columns

with full_install:
    import array_api_compat

__all__ = ["STAGE", "Best", "ChannelSearch"]

STAGE: Final = 30
"""Steps between two updates of the people's weights."""

_MEMORY: Final = 12
_LONGEST: Final = 3.0
"""Maximum change of a logit in one step."""
_SHRINK: Final = 0.4
_TRIALS: Final = 14
_PUSHES: Final = (1.001, 1.01, 1.05, 1.1, 1.2, 1.5, 2.0)
_SHARPENING: Final = 2e-4
"""Relative loss of the objective allowed for a shorter attachment."""


class Best(NamedTuple):
    """The best channel so far: q[o, u] = minima[o] (1 + (e^eps - 1) shares[o, u]), and its people's weights."""

    value: float
    weights: Any
    minima: Any
    shares: Any


class ChannelSearch:
    """A descent from one start.

    Parameters
    ----------
    objective
        The objective; its weights over people change if `worst`.
    state
        The start, from `ChannelObjective.state_of`.
    worst
        Whether the people's weights follow the worst user (mirror ascent) or stay.
    """

    def __init__(self, objective: ChannelObjective, state: Any, *, worst: bool) -> None:
        self._xp = array_api_compat.array_namespace(state)
        self.objective = objective
        self._worst = worst
        self._pace = 4.0
        self._pairs: list[tuple[Any, Any, float]] = []
        self._point = objective.point(state)
        self.steps = 0
        self.best: Best | None = None
        if self._point is not None:
            self._keep(self._point)

    def stage(self, stop: Callable[[], bool]) -> bool:
        """Take up to `STAGE` steps and reweight once; False if the start is not a channel or no step descends."""
        moved = False
        for _ in range(STAGE):
            if stop() or not self._step():
                break
            moved = True
        if moved and self._point is not None:
            better = self._keep(self._point)
            if self._worst:
                self._pace = min(1.3 * self._pace, 64.0) if better else 0.5 * self._pace
                self._reweigh(self._point)
        return moved

    def sharpen(self) -> None:
        """Push shares toward 0 and 1 and normalise the columns again, as long as it costs almost nothing.

        Most entries of a good channel are at two levels, which logits only approach; at the levels it takes far fewer
        bytes.
        """
        xp, k = self._xp, self.objective.slope
        if self.best is None:
            return
        _, weights, minima, shares = self.best
        self.objective.reweigh(weights)
        limit = (1.0 + _SHARPENING) * float(weights @ self.objective.noise(minima, shares))
        low, fewest = minima[:, None], math.prod(shares.shape)
        for push in _PUSHES:
            pushed = xp.clip(0.5 + push * (shares - 0.5), 0.0, 1.0)
            target = low * (1.0 + k * pushed)
            # Entries at a level stay there; those between compensate the sum of the column if possible.
            free = (pushed > 0) & (pushed < 1)
            least = xp.sum(xp.where(free, low, target), axis=0)
            most = xp.sum(xp.where(free, (1.0 + k) * low, target), axis=0)
            free = free | (least > 1) | (most < 1)
            channel = project_columns(target, xp.where(free, low, target), xp.where(free, (1.0 + k) * low, target))
            sharpened = xp.where(free, xp.clip((channel / low - 1.0) / k, 0.0, 1.0), pushed)
            noise = self.objective.noise(minima, sharpened)
            between = int(xp.sum(xp.astype((sharpened > 0) & (sharpened < 1), xp.int64)))
            if not (float(weights @ noise) <= limit and between < fewest):
                continue
            fewest = between
            self.best = Best(float(xp.max(noise) if self._worst else weights @ noise), weights, minima, sharpened)

    def _keep(self, point: Point) -> bool:
        """Store the channel if it is the best so far, by the worst user's noise or the mean."""
        value = point.value
        if self._worst:
            value = float(self._xp.max(self.objective.noise(point.minima, point.shares)))
        if self.best is not None and not value < self.best.value:
            return False
        self.best = Best(value, self.objective.weights, point.minima, point.shares)
        return True

    def _reweigh(self, point: Point) -> None:
        """Weight moves to people with more than the mean noise: exponentiated gradient ascent of a concave function."""
        xp, objective = self._xp, self.objective
        for _ in range(3):
            noise = objective.noise(point.minima, point.shares)
            mean = float(objective.weights @ noise)
            if not 0.0 < mean < math.inf:
                break
            excess = noise / mean - 1.0
            weights = objective.weights * xp.exp(xp.clip(self._pace * excess, -1.0, 1.0))
            objective.reweigh(weights / xp.sum(weights))
        again = objective.point(point.state)
        if again is not None:
            self._point = again
            self._keep(again)

    def _step(self) -> bool:
        """One quasi-Newton step with backtracking (Nocedal and Wright 2006, Algorithm 7.4)."""
        point = self._point
        if point is None:
            return False
        for direction in self._directions(point):
            slope = _dot(direction, point.gradient)
            if not slope < 0:
                continue
            length = min(1.0, _LONGEST / float(self._xp.max(self._xp.abs(direction))))
            for _ in range(_TRIALS):
                trial = point.state + length * direction
                reached = self.objective.point(trial)
                if reached is not None and reached.value <= point.value + 1e-4 * length * slope:
                    self._learn(trial - point.state, reached.gradient - point.gradient)
                    self._point = reached
                    self.steps += 1
                    return True
                length *= _SHRINK
            self._pairs.clear()
        return False

    def _directions(self, point: Point) -> list[Any]:
        """The quasi-Newton direction if there is curvature information, then steepest descent."""
        steepest = -point.gradient / float(self._xp.max(self._xp.abs(point.gradient)) + 1e-300)
        if not self._pairs:
            return [steepest]
        rest, factors = -point.gradient, []
        for step, change, inverse in reversed(self._pairs):
            factor = inverse * _dot(step, rest)
            rest = rest - factor * change
            factors.append(factor)
        step, change, inverse = self._pairs[-1]
        rest = rest / (inverse * _dot(change, change))
        for (step, change, inverse), factor in zip(self._pairs, reversed(factors), strict=True):
            rest = rest + (factor - inverse * _dot(change, rest)) * step
        return [rest, steepest]

    def _learn(self, step: Any, change: Any) -> None:
        curvature = _dot(step, change)
        if curvature > 1e-10 * (_dot(step, step) * _dot(change, change)) ** 0.5:
            self._pairs = [*self._pairs[1 - _MEMORY :], (step, change, 1.0 / curvature)]


def _dot(a: Any, b: Any) -> float:
    xp = array_api_compat.array_namespace(a, b)
    return float(xp.reshape(a, (-1,)) @ xp.reshape(b, (-1,)))
