"""Simulated people with vectors in a ball: a simple population whose mean is known exactly."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.questions.people import People

__all__ = ["people_with_vectors", "true_mean"]

Floats = NDArray[np.float64]

COSINE: Final = 0.6
"""Of the angle between anybody's vector and the common direction."""


def true_mean(dimension: int, radius: float) -> Floats:
    """The population's mean: three tenths of the radius in the direction (1, .., 1).

    Examples
    --------
    >>> true_mean(4, 2.0)
    array([0.3, 0.3, 0.3, 0.3])
    """
    return np.full(dimension, radius * COSINE / 2 / np.sqrt(dimension))


def people_with_vectors(dimension: int, radius: float, n: int, seed: int) -> People:
    """n people, each with the vector radius U (0.6 e + 0.8 w), never all held at once.

    U is uniform in [0, 1], e = (1, .., 1)/sqrt(dimension), and w a uniformly random unit vector orthogonal to e: norms
    run from 0 to the radius, and the mean is radius 0.5 0.6 e. In one dimension, where nothing is orthogonal to e, the
    vector is radius U e with probability 0.8 and its opposite otherwise, which has the same mean.
    """
    e = 1 / np.sqrt(dimension)

    def between(start: int, stop: int) -> Floats:
        rng = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(start,))))
        lengths = radius * rng.random((stop - start, 1))
        if dimension == 1:
            return np.where(rng.random(lengths.shape) < (1 + COSINE) / 2, lengths, -lengths)
        w = rng.standard_normal((stop - start, dimension))
        w -= w.mean(axis=1, keepdims=True)
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        w *= np.sqrt(1 - COSINE**2)
        w += COSINE * e
        w *= lengths
        return w

    return People(n, between)
