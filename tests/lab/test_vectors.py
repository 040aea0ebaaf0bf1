"""People with vectors: their mean, and the ball they stay in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.questions.invented import VectorPeople


@pytest.mark.parametrize("dimension", [1, 2, 30])
def test_simulated_vectors_have_the_stated_mean_and_stay_in_the_ball(dimension):
    """The mean of n vectors in a ball is within r (1 + sqrt(2 log 1e9))/sqrt(n) of theirs but for a chance of 1e-9
    (E||error|| <= r/sqrt(n), and McDiarmid); a mean off by a third would be 0.1 r away."""
    n, radius = 40_000, 2.0
    vectors = VectorPeople(dimension, radius).crowd(n, seed=6).between(0, n)
    norms = np.linalg.norm(vectors, axis=1)
    tolerance = radius * (1 + math.sqrt(2 * math.log(1e9))) / math.sqrt(n)
    assert tolerance < 0.1 * radius
    assert np.linalg.norm(vectors.mean(axis=0) - VectorPeople(dimension, radius).answers) < tolerance
    assert norms.max() <= radius * (1 + 1e-12)
    # Uniform norms: none of 40,000 below (above) a hundredth (99 hundredths) has a chance of 0.99^40000 < 1e-170.
    assert norms.min() < 0.01 * radius
    assert norms.max() > 0.99 * radius
    if dimension > 1:
        assert vectors @ VectorPeople(dimension, 1.0).answers == pytest.approx(0.6 * norms * 0.3)
