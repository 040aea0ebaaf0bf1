"""Algorithms 1 and 2 of Bassily 2019, as printed: continuous Gaussian noise calibrated to the wrong sensitivity.

Never deploy it. Its sigma^2 = 2 r^2 log(2/delta)/eps^2 is that of a sensitivity of r, but two people's columns can be
2r apart: at epsilon 1 and a claimed delta of 1e-5 the true delta is 1.44e-3 (`evidence.published.audit`). Its floats
would leak besides. The sound form is `sottovoce.mechanisms.gaussian`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["estimate", "printed_sigma", "projects", "randomize_many"]

Floats = NDArray[np.float64]


def printed_sigma(epsilon: float, delta: float, radius: float = 1.0) -> float:
    """sigma of Algorithm 1: sqrt(2 r^2 log(2/delta)/eps^2).

    Examples
    --------
    >>> round(printed_sigma(1.0, 1e-5), 3)
    4.941
    """
    return radius * math.sqrt(2 * math.log(2 / delta)) / epsilon


def randomize_many(
    columns: Floats, epsilon: float, delta: float, rng: np.random.Generator, radius: float = 1.0
) -> Floats:
    """Algorithm 1 for many people: row i is a_{v_i} plus N(0, sigma^2 I)."""
    return np.asarray(columns + printed_sigma(epsilon, delta, radius) * rng.standard_normal(columns.shape))


def projects(n_reports: int, dimension: int, epsilon: float, delta: float, domain_size: int) -> bool:
    """Whether Algorithm 2 projects: n < d^2 log(2/delta)/(8 eps^2 log J).

    Examples
    --------
    >>> projects(1000, 256, 1.0, 1e-6, 4000), projects(10**6, 256, 1.0, 1e-6, 4000)
    (True, False)
    """
    return n_reports < dimension**2 * math.log(2 / delta) / (8 * epsilon**2 * math.log(domain_size))


def estimate(
    reports: Floats, epsilon: float, delta: float, domain_size: int, project: Callable[[Floats], Floats]
) -> Floats:
    """Algorithm 2: the mean of the reports, projected where `projects` says so.

    Parameters
    ----------
    project
        The nearest point of A B_1, the columns' symmetric hull, to a vector.
    """
    mean = np.asarray(reports.mean(axis=0))
    n, dimension = reports.shape
    return project(mean) if projects(n, dimension, epsilon, delta, domain_size) else mean
