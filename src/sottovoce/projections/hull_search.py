"""Wolfe's minimum-norm-point method: which points enter the active set, and when the search ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.projections.active_set import ActiveSet
from sottovoce.projections.hull_points import Choice, Points

__all__ = ["NearestAverage", "search"]

Floats = NDArray[np.float64]

_BATCH = range(32, 257)
"""Points that enter together: a quarter of the active ones, within this range; half or twice that is hardly slower."""

_MOST_ACTIVE = 8192
"""Active points at most: their triangular factor then takes half a GiB, and changing it as much again."""

_ROUNDING = 2.0**-49
"""What the gap may be off by, as a part of the longest column times the size of the hull and the distance to it."""

_PATIENCE = 8
"""How often the search may come back to an active set it has left; in exact arithmetic it never does."""


@dataclass(frozen=True, eq=False)
class NearestAverage:
    """The average with the smallest gap that a search has met, the gap in squares of the points' unit."""

    average: Floats
    choice: Choice
    weights: Floats
    gap: float
    converged: bool


def search(
    points: Points, start: tuple[Choice, Floats] | None, tolerance: float, max_steps: int
) -> tuple[NearestAverage, int]:
    """Find the average of the points nearest to the target; return it with the number of steps taken.

    A step takes one product with A^T, which prices all points p at the present average x: <p, x - target>. At an
    affine minimiser all active points cost the same; one that costs less lies on the near side, and x gets better
    when it enters. Wolfe lets the cheapest enter. Here a batch of the cheapest does, at weight zero, which saves
    products: toward the new affine minimiser the distance falls at a rate that is a sum over the entering points of
    weight gained times cost saved, so some of them gain weight, and the others leave again. Every step thus ends in
    an affine minimiser better than all before it, and there are finitely many sets to be active.

    In floating point a set may come back, when only rounding is left to gain; that is counted, and ends the search.
    """
    active = _begin(points, start)
    best: NearestAverage | None = None
    seen: set[int] = set()
    steps = returns = 0
    settled = start is None
    while True:
        average = active.average()
        residual = average - points.target
        prices = points.prices(residual)
        lowest = points.lowest(prices)
        costs = active.costs(prices)
        gap = float(active.weights @ (costs - lowest.min()))
        steps += 1
        if best is None or gap < best.gap:
            best = NearestAverage(average, active.choice, active.weights, gap, False)
        distance = float(np.linalg.norm(residual))
        allowed = tolerance * active.spread * max(active.spread, distance)
        allowed += _ROUNDING * active.longest * (active.spread + distance)
        identity = hash(np.sort(active.choice[0] * active.choice[1]).tobytes())
        returns += identity in seen
        seen.add(identity)
        room = _MOST_ACTIVE - len(active)
        if best.gap <= allowed or steps >= max_steps or returns > _PATIENCE or room <= 0:
            return replace(best, converged=best.gap <= allowed), steps
        batch = min(
            max(_BATCH.start, len(active) // 4), _BATCH.stop - 1, max(1, points.dimension + 1 - len(active)), room
        )
        entering = _cheapest(points, active, prices, lowest, returns or batch)
        if returns:  # the batch was of no use, nor were the cheapest one by one so far: try the next of them
            entering = entering[0][-1:], entering[1][-1:]
        if not active.enter(entering) and settled and active.exchange(entering, prices):
            settled = False  # gains can be measured only when the active points cost the same again
        else:
            active.descend(active.costs(prices))
            settled = True


def _begin(points: Points, start: tuple[Choice, Floats] | None) -> ActiveSet:
    """Return the active set given, or else the affine minimiser of a few points on the target's side."""
    if start is not None:
        points.measure_by(start[0])
        return ActiveSet(points, *start)
    prices = points.prices(-points.target)
    few = min(_BATCH.start, _MOST_ACTIVE, points.dimension + 1, points.columns)
    choice = points.with_lower_sign(_smallest(points.lowest(prices), few), prices)
    points.measure_by(choice)
    active = ActiveSet(points, choice, np.eye(1, few)[0])
    active.descend(active.costs(points.prices(active.average() - points.target)))
    return active


def _cheapest(points: Points, active: ActiveSet, prices: Floats, lowest: Floats, batch: int) -> Choice:
    """Return the cheapest points that are not active and cost less than the average, `batch` at most."""
    columns, signs = active.choice
    _, lower_signs = points.with_lower_sign(columns, prices)
    others = lowest.copy()
    others[columns[signs == lower_signs]] = np.inf
    cheaper = np.flatnonzero(others < active.weights @ active.costs(prices))
    return points.with_lower_sign(cheaper[_smallest(others[cheaper], min(batch, cheaper.size))], prices)


def _smallest(entries: Floats, number: int) -> NDArray[np.int64]:
    """Return where the smallest entries are, the smallest first."""
    places = np.argpartition(entries, number)[:number] if number < entries.size else np.arange(entries.size)
    return places[np.argsort(entries[places], kind="stable")]
