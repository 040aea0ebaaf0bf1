"""The codebook's measured error against its formulas.

Alpha: 1e-8 a check, as in test_accuracy. Coordinates orthogonal to the data are exchangeable and uncorrelated, and
a mean of squared normals over K of them and R runs has relative standard deviation sqrt(2/(K R)).
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.mechanisms.codebook import ROTATION_BIAS, Codebook
from sottovoce.questions.people import People
from sottovoce.surveys.simulation import count_reports
from sottovoce.theory.codebook import limit_noise

pytestmark = pytest.mark.slow

ALPHA_SIGMAS = 5.73  # two-sided 1e-8 of a normal


def runs(mechanism: Codebook, vector: np.ndarray, people: int, repeats: int) -> np.ndarray:
    """Raw errors, one row a run, of a population in which everybody has the same vector."""
    crowd = People(people, lambda start, stop: np.broadcast_to(vector, (stop - start, len(vector))))
    estimates = [mechanism.estimate(count_reports(mechanism, crowd, seed), people) for seed in range(repeats)]
    return np.array(estimates) - vector


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_variance_is_within_two_per_cent_of_the_formula(epsilon: float) -> None:
    """Each user with a rotation of its own, so that nothing but the formula is tested; K = 500, R = 24 give a
    standard deviation of 1.3 %, pooled over two populations 0.9 %: the check allows 2 % and 5.73 of those."""
    people, dimension, repeats = 1_000, 503, 24
    base = Codebook.best(dimension, 2.0, epsilon, 0.0, people)
    mechanism = replace(base, rotations=people, key=(int(10 * epsilon), 7))
    measured = []
    for vector in (np.eye(dimension)[0] * 2.0, np.r_[np.full(3, 0.5), np.zeros(dimension - 3)]):
        errors = runs(mechanism, vector, people, repeats)[:, 3:]
        measured.append((errors**2).mean() * people / mechanism.noise)
    spread = math.sqrt(2 / (2 * 500 * repeats))
    tolerance = 0.02 + ALPHA_SIGMAS * spread
    assert abs(np.mean(measured) - 1) < tolerance
    assert abs(1.3 * np.mean(measured) - 1) > tolerance, "no power: three tenths more would pass"
    assert mechanism.noise <= 1.03 * 4.0 * limit_noise(epsilon)


@pytest.mark.parametrize("dimension", [3, 300])
@pytest.mark.parametrize(
    ("norm", "shape"), [(0.0, "no"), (0.4, "sparse"), (0.4, "dense"), (1.0, "sparse"), (1.0, "dense")]
)
def test_unbiased_for_vectors_of_any_norm(dimension: int, norm: float, shape: str) -> None:
    """The mean error over runs, along the vector and in the worst coordinate, within its standard error."""
    people, repeats, epsilon = 40_000, 6, 2.0
    rng = np.random.default_rng(dimension)
    vector = np.eye(dimension)[1] if shape == "sparse" else rng.normal(size=dimension)
    vector = vector * (norm / np.linalg.norm(vector))
    mechanism = Codebook.best(dimension, 1.0, epsilon, 0.0, people)
    errors = runs(mechanism, vector, people, repeats)
    worst = (mechanism.noise * (mechanism.sharing_factor(people) - 1) + mechanism.along) / people
    limit = ALPHA_SIGMAS * math.sqrt(worst / repeats)
    assert np.abs(errors.mean(axis=0)).max() < limit + ROTATION_BIAS * norm + math.sqrt(worst / repeats)
    if norm:
        assert abs(errors.mean(axis=0) @ vector) / norm < limit + ROTATION_BIAS * norm


def test_sharing_rotations_costs_what_the_model_says() -> None:
    """Everybody the same vector, ten times the default group: the noise grows by half of its 1 + B g/D or more,
    and never by more than all of it (5.73 standard deviations allowed)."""
    people, dimension, repeats = 5_000, 200, 60
    base = Codebook.best(dimension, 1.0, 4.0, 0.0, people)
    mechanism = replace(base, rotations=max(1, base.rotations // 20), key=(1, 9))
    factor = mechanism.sharing_factor(people)
    assert factor > 1.8
    measured = []
    for key in range(repeats):
        keyed = replace(mechanism, key=(key, 9))
        measured.append((runs(keyed, np.eye(dimension)[0], people, 1)[:, 1:] ** 2).mean() * people / mechanism.noise)
    spread = ALPHA_SIGMAS * np.std(measured) / math.sqrt(repeats)
    assert 1 + (factor - 1) / 2 - spread < np.mean(measured) < factor + spread


@pytest.mark.parametrize("epsilon", [4.0, 8.0])
def test_the_bound_on_the_total_variance_holds_for_identical_people(epsilon: float) -> None:
    """The worst population for shared rotations: mean squared L2 error below V times the sharing factor, over n.

    The mean of 60 runs of a sum over 60 coordinates has a relative spread of about 2.4 %; 5.73 of those are allowed.
    """
    people, dimension, repeats = 2_000, 60, 60
    base = Codebook.best(dimension, 1.0, epsilon, 0.0, people)
    squares = []
    for key in range(repeats):
        errors = runs(replace(base, key=(key, 3)), np.eye(dimension)[0], people, 1)[0]
        squares.append(float(errors @ errors))
    bound = base.worst_total_variance * base.sharing_factor(people) / people
    assert np.mean(squares) - ALPHA_SIGMAS * np.std(squares) / math.sqrt(repeats) < bound
    assert np.mean(squares) > 0.6 * bound, "the bound is far from what happens"
