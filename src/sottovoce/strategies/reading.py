"""What counted reports say: raw answers, and the possible answers that are nearest to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Floats
from sottovoce.projections import project_simplex
from sottovoce.projections.hull import HullProjection, project_hull
from sottovoce.workloads import Identity, Workload

__all__ = ["Projection", "Reading", "answers_of", "nearest_answers"]


class Projection(NamedTuple):
    """Projected answers, the certificate in the space of the projection, and the distribution with these answers."""

    values: Floats
    gap: float
    support: NDArray[np.int64]
    weights: Floats

    @classmethod
    def without_people(cls, values: Floats, gap: float) -> Projection:
        """Projected answers without a distribution behind them."""
        return cls(values, gap, np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True, eq=False)
class Reading:
    """Raw answers from counted reports, and the projected ones."""

    raw: Floats
    projected: Projection


def nearest_answers(workload: Workload, raw: Floats) -> Projection:
    """The answers of a distribution that are nearest to the raw answers."""
    if isinstance(workload, Identity):
        shares = project_simplex(raw)
        support = np.flatnonzero(shares.values > 0.0)
        return Projection(shares.values, shares.gap, support, shares.values[support])
    return answers_of(workload, project_hull(workload, raw))


def answers_of(workload: Workload, projection: HullProjection) -> Projection:
    """The answers of the distribution that a projection on a hull has found."""
    people = np.zeros(workload.n_values)
    people[projection.support] = projection.weights
    return Projection(workload.matvec(people), projection.gap, projection.support, projection.weights)
