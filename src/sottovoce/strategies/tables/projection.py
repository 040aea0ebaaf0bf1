"""Projection on tables that agree: no share is negative, shared margins are equal, every table sums to one.

argmin |x - raw| over such x. Accelerated ascent on the dual: with multipliers m >= 0 for x >= 0, x(m) is the nearest
consistent point to raw + m, and the dual's value bounds the distance from below. What is found is made feasible exactly
by mixing it with the uniform tables, and the gap between the two bounds is its certificate.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.tables.components import Components

__all__ = ["ConsistentTables", "project_tables"]

_STEPS: Final = 5_000
_CLOSE: Final = 1e-10
"""Squared distance to the exact projection, relative to that of the raw answers, at which the search ends."""

_EVERY: Final = 20


class ConsistentTables(NamedTuple):
    """The projected answers; they are within sqrt(gap) of the exact projection."""

    values: Floats
    gap: float


def project_tables(components: Components, raw: Floats) -> ConsistentTables:
    """The nearest tables that agree, without negative shares; `raw` need not agree."""
    start = components.consistent(raw)
    best = _feasible(components, start)
    if (start >= 0).all():
        return ConsistentTables(start, 0.0)
    best_distance = _square(best - raw)
    multipliers = ahead = np.zeros_like(raw)
    bound, momentum = _square(start - raw), 1.0
    for step in range(_STEPS):
        nearest = components.consistent(raw + ahead)
        following = np.maximum(0.0, ahead - nearest)
        if float((ahead - following) @ (following - multipliers)) > 0:  # uphill: start the momentum anew
            momentum, ahead = 1.0, multipliers
            continue
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - multipliers)
        multipliers, momentum = following, faster
        if step % _EVERY == 0:
            point = components.consistent(raw + multipliers)
            bound = max(bound, _square(point - raw) - 2 * float(multipliers @ point))
            candidate = _feasible(components, point)
            distance = _square(candidate - raw)
            if distance < best_distance:
                best, best_distance = candidate, distance
            if best_distance - bound <= _CLOSE * max(bound, 1e-12):
                break
    return ConsistentTables(best, max(0.0, best_distance - bound))


def _feasible(components: Components, point: Floats) -> Floats:
    """As little of the uniform tables mixed in as leaves no share negative."""
    even = components.uniform
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(point < 0, -point / (even - point), 0.0)
    part = float(needed.max(initial=0.0))
    return np.asarray(np.maximum(0.0, point + part * (even - point)))


def _square(vector: Floats) -> float:
    return float(vector @ vector)
