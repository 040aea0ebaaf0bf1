"""Algorithms 3 and 4 of Bassily 2019, as printed: rejection sampling whose acceptance region depends on the value.

Never deploy it. A vector y accepted under one value may be impossible under another, so no epsilon holds; the printed
proof bounds the probability of accepting and overlooks what is sent. Nor is its output centred: refusing where the
density ratio is large shrinks E[y | accepted] (to 0.859 a at epsilon 1 and 10^6 people), which contradicts the
printed accuracy theorem. Measured in `evidence.published.audit`; the sound form is `sottovoce.mechanisms.rejection`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["estimate", "printed_sigma", "projects", "randomize_many"]

Floats = NDArray[np.float64]


def printed_sigma(epsilon: float, people: int, radius: float = 1.0) -> float:
    """sigma of Algorithm 3: that of Algorithm 1 with delta = 2/n^2, or sqrt(4 r^2 log n/eps^2).

    Examples
    --------
    >>> round(printed_sigma(1.0, 10**6), 3)
    7.434
    """
    return radius * 2 * math.sqrt(math.log(people)) / epsilon


def randomize_many(
    columns: Floats, epsilon: float, people: int, rng: np.random.Generator, radius: float = 1.0
) -> tuple[Floats, NDArray[np.bool_]]:
    """Algorithm 3 for many people: every y drawn, and who sends it. The others send the symbol for nothing.

    y ~ N(0, sigma^2 I); eta = f_a(y)/(2 f_0(y)); if eta lies in [e^(-eps/4)/2, e^(eps/4)/2], y is sent with
    probability eta, otherwise never. The paper assumes epsilon <= 1.
    """
    sigma = printed_sigma(epsilon, people, radius)
    y = sigma * rng.standard_normal(columns.shape)
    squares = np.einsum("ij,ij->i", columns, columns)
    log_ratio = (np.einsum("ij,ij->i", columns, y) - squares / 2) / sigma**2
    good = np.abs(log_ratio) <= epsilon / 4
    sent = rng.random(len(columns)) < 0.5 * np.exp(np.where(good, log_ratio, -np.inf))
    return y, sent


def projects(n_sent: int, people: int, dimension: int, epsilon: float, domain_size: int) -> bool:
    """Whether Algorithm 4 projects: n-hat < d^2 log n/(4 eps^2 log J)."""
    return n_sent < dimension**2 * math.log(people) / (4 * epsilon**2 * math.log(domain_size))


def estimate(
    y: Floats,
    sent: NDArray[np.bool_],
    epsilon: float,
    people: int,
    domain_size: int,
    project: Callable[[Floats], Floats],
) -> Floats:
    """Algorithm 4: the mean of what was sent, projected where `projects` says so.

    Parameters
    ----------
    project
        The nearest point of A B_1, the columns' symmetric hull, to a vector.
    """
    received = y[sent]
    mean = np.asarray(received.mean(axis=0))
    return project(mean) if projects(len(received), people, y.shape[1], epsilon, domain_size) else mean
