"""The covariance of combinations of raw answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.base import Strategy

__all__ = ["covariance"]


def covariance(design: Strategy, rows: Floats, population: Any, n_reports: int) -> Floats:
    """The covariance of combinations, one per row of weights, for a population: by polarization.

    Exact where the design's variances are. Cov(a, b) = (Var(a + b) - Var(a) - Var(b))/2.

    Examples
    --------
    >>> import sottovoce as sv
    >>> design = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0).design
    >>> covariance(design, np.eye(2), [0.5, 0.5], 100).round(4)
    array([[ 0.0117, -0.0117],
           [-0.0117,  0.0117]])
    """
    own = np.asarray(design.variance(rows, population, n_reports).value)
    result = np.diag(own)
    for at in range(len(rows) - 1):
        joint = np.asarray(design.variance(rows[at] + rows[at + 1 :], population, n_reports).value)
        result[at, at + 1 :] = (joint - own[at] - own[at + 1 :]) / 2
    return np.asarray(result + np.triu(result, 1).T)
