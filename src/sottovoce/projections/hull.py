"""Euclidean projection on the hull of a query matrix's columns: exact, certified, and without storing the matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.projections.active_set import ActiveSet
from sottovoce.projections.checks import checked_vector
from sottovoce.projections.hull_points import Points
from sottovoce.projections.operator import as_operator
from sottovoce.projections.projected import Projected

__all__ = ["HullProjection", "project_hull"]

Floats = NDArray[np.float64]
Start = tuple[NDArray[np.int64], Floats]

_BATCH = 32
_MOST_ACTIVE = 8192
_PATIENCE = 4
FRACTION = 0.0
DIV = 4


@dataclass(frozen=True, eq=False)
class HullProjection(Projected):
    support: NDArray[np.int64]
    weights: Floats
    steps: int
    converged: bool


def project_hull(operator, raw, *, tolerance=1e-10, start=None, max_steps=None, symmetric=False):
    matrix = as_operator(operator)
    target = checked_vector(raw)
    d, J = matrix.shape
    points = Points(matrix, target, symmetric)
    if start is None:
        prices = points.prices(-points.target)
        least = points.least(prices)
        n = min(_BATCH, d + 1, J)
        cols = np.argpartition(least, n - 1)[:n]
        cols = cols[np.argsort(least[cols])]
        choice = points.signed(cols, prices)
        weights = np.zeros(n)
        weights[0] = 1
    else:
        sup, w = start
        choice = np.asarray(sup), np.where(np.asarray(w) < 0, -1.0, 1.0)
        weights = np.abs(w)
    points.measure_by(choice)
    rows = points.rows(choice)
    radius2 = points.squared_length(rows)
    size = float(np.einsum("ij,ij->i", rows, rows).max()) or 1.0
    active = ActiveSet(points, size)
    entered = active.enter(choice, rows)
    if not len(entered):
        raise RuntimeError
    active.weights = weights[entered]
    if not active.weights.sum():
        active.weights[0] = 1
    active.weights /= active.weights.sum()
    active.descend(rows[entered] @ (active.average() - points.target))
    steps = 0
    best = None
    seen = set()
    stalls = 0
    info = []
    while True:
        residual = active.average() - points.target
        prices = points.prices(residual)
        steps += 1
        least = points.least(prices)
        columns, signs = active.choice
        gradient = signs * prices[columns]
        level = float(active.weights @ gradient)
        gap = float(active.weights @ (gradient - least.min()))
        scale2 = np.sqrt(radius2) * max(np.sqrt(radius2), float(np.linalg.norm(residual)))
        info.append((len(active), gap / scale2))
        if best is None or gap < best[0]:
            best = (gap, active.choice, active.weights)
        if gap <= tolerance * scale2 or (max_steps and steps >= max_steps):
            break
        key = hash(np.sort(columns * signs.astype(int)).tobytes())
        if key in seen:
            stalls += 1
            if stalls > _PATIENCE:
                break
        seen.add(key)
        least = least.copy()
        least[columns[(signs > 0) == (prices[columns] <= 0)] if symmetric else columns] = np.inf
        cand = np.flatnonzero(least < level - FRACTION * (level - least.min()))
        m = max(1, min(max(_BATCH, len(active) // DIV), d + 1 - len(active), _MOST_ACTIVE - len(active)))
        if stalls:
            m = 1
        if len(cand) > m:
            cand = cand[np.argpartition(least[cand], m - 1)[:m]]
        if len(cand):
            cand = cand[np.argsort(least[cand])]
            choice = points.signed(cand, prices)
            rows = points.rows(choice)
            radius2 = max(radius2, points.squared_length(rows))
            entered = active.enter(choice, rows)
            if not len(entered):
                one = choice[0][:1], choice[1][:1]
                info.append(("exch", active.exchange(one, rows[:1])))
                continue
            columns, signs = active.choice
        active.descend(signs * prices[columns])
    v = points.in_answers(active.average())
    return v, gap, scale2, steps, len(active), info, stalls
