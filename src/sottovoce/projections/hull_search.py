"""Wolfe's minimum-norm-point method: which points enter the active set, and when the search ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from sottovoce.projections.active_set import ActiveSet
from sottovoce.projections.hull_points import Choice, Points

__all__ = ["Found", "search"]

Floats = NDArray[np.float64]

_BATCH = 32
"""Points that enter together, at least; with a quarter of the active ones, if that is more. Hardly matters."""

_MOST_ACTIVE = 8192
"""Active points at most: their triangular factor then takes half a GiB, and changing it as much again."""

_PATIENCE = 8
"""How often the search may come back to an active set it has left; in exact arithmetic it never does."""


@dataclass(frozen=True, eq=False)
class Found:
    """The average with the smallest gap that a search has met; gap and tolerance in the points' unit, squared."""

    average: Floats
    choice: Choice
    weights: Floats
    gap: float
    steps: int
    converged: bool


def search(points: Points, start: tuple[Choice, Floats] | None, tolerance: float, max_steps: int) -> Found:
    """Find the average of the points that is nearest to the target.

    A step takes one product with A^T. It prices all points p at the present average x: <p, x - target>. Those
    active cost the same, at the affine minimiser; a point that costs less lies on the near side, so that x gets
    better when it enters. Wolfe lets the cheapest enter. Here a batch of the cheapest does, which saves products:
    the descent is the same as if they were all active at weight zero already. (Along the way to the affine
    minimiser the distance falls at a rate that is a sum over the entering points of weight gained times cost saved,
    so some point always gains weight.) Every step ends in an affine minimiser that is better than all before, and
    there are finitely many active sets.

    In floating point a set may come back when only rounding is left to gain. That is counted, and ends the search.
    """
    active, longest = _begin(points, start)
    best: Found | None = None
    seen: set[int] = set()
    returns = 0
    steps = 0
    while True:
        average = active.average()
        residual = average - points.target
        prices = points.prices(residual)
        steps += 1
        columns, signs = active.choice
        costs = signs * prices[columns]
        lowest = points.lowest(prices)
        gap = float(active.weights @ (costs - lowest.min()))
        allowed = tolerance * longest * max(longest, float(np.linalg.norm(residual)))
        if best is None or gap < best.gap:
            best = Found(average, active.choice, active.weights, gap, steps, gap <= allowed)
        returns += _mark(seen, active.choice)
        room = _MOST_ACTIVE - len(active)
        if best.converged or steps >= max_steps or returns > _PATIENCE or not room:
            return Found(best.average, best.choice, best.weights, best.gap, steps, best.converged)
        batch = 1 if returns else min(room, max(_BATCH, len(active) // 4), max(1, points.dimension + 1 - len(active)))
        entering = _cheapest(points, active, prices, lowest, batch)
        if len(entering[0]):
            rows = points.rows(entering)
            longest = max(longest, points.column_length(rows))
            if not active.enter(entering, rows) and active.exchange(entering, rows, lowest, costs):
                continue
        columns, signs = active.choice
        active.descend(signs * prices[columns])
