"""What the Gaussian mechanism's grid takes from everybody does not average out: intervals and bounds must hold it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.vector import clip_to_ball
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads import Dense, Prefix

CROWD = 10**12
"""So many that noise has averaged out, and only the grid is left."""

SURVEYS = {
    "mean": sv.Survey(sv.vector(4, 1.0), epsilon=8.0, delta=1e-6, mechanism="gaussian", people=100),
    "queries": sv.Survey(
        sv.queries(Dense(np.outer(np.full(4, 0.5), [1.0, -1.0, 0.0]))),
        epsilon=8.0,
        delta=1e-6,
        mechanism="gaussian",
        strategy="direct",
        people=100,
    ),
}


@pytest.mark.parametrize("kind", SURVEYS)
def test_the_truth_is_inside_however_many_report(kind: str) -> None:
    survey = SURVEYS[kind]
    mechanism = survey.mechanism
    assert isinstance(mechanism, Gaussian)
    # A hair below a line of the grid, in every coordinate.
    line = mechanism.steps // 4
    truth = np.full(4, (line - 1e-6) * mechanism.step)
    assert mechanism.on_grid(truth) == [line - 1] * 4
    estimate = survey.estimate_counts(np.full(4, (line - 1) * CROWD), CROWD)
    off = np.abs(estimate.raw - truth)
    assert (off > 10 * estimate.standard_errors).all(), "noise alone would not explain it"
    low, high = estimate.interval()
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert ((high - low) / 2 >= mechanism.bias_bound).all()
    assert math.sqrt(mechanism.worst_total_variance / CROWD) < np.linalg.norm(off) <= estimate.bound.value


@pytest.mark.parametrize("kind", SURVEYS)
def test_the_bound_is_the_one_without_and_what_the_grid_takes(kind: str) -> None:
    survey = SURVEYS[kind]
    m, spread = survey.mechanism, math.sqrt(survey.design.total_variance(None, 10**6).value)
    maximum = None if kind == "mean" else m.radius * m.expected_maximum(3, 10**6)
    stated = projected_bound(spread, maximum, survey.question.workload.diameter)
    assert survey.design.raw_bound(10**6).value == pytest.approx(spread + 2 * m.bias_bound)
    assert survey.bound(10**6).value == pytest.approx(stated.value + 2 * m.bias_bound)  # the root of 4
    assert survey.bound(10**6).statement.endswith("that does not average out")
    assert m.bias_bound == 2 * m.step == survey.design.bias_bound


def test_mechanisms_without_a_grid_have_none() -> None:
    for survey in (
        sv.Survey(sv.vector(4, 1.0), epsilon=1.0),
        sv.Survey(sv.queries(Prefix(5)), epsilon=1.0),
        sv.Survey(sv.shares(5), epsilon=1.0),
    ):
        assert np.all(survey.design.bias_bound == 0)
        assert "average out" not in survey.bound(1000).statement.removesuffix(
            f", and {getattr(survey.mechanism, 'measured_bias', 0):.3g} that does not average out (measured)"
        )


def test_coordinates_pass_it_on_by_the_length_of_the_rows() -> None:
    found = sv.Survey(sv.queries(Prefix(6)), epsilon=1.0, strategy="factorized").design
    assert isinstance(found, FactorizedStrategy)
    k = found.mechanism.dimension
    noisy = replace(found, mechanism=Gaussian.best(k, 1.0, 1.0, 1e-6, 1000))
    step = noisy.mechanism.bias_bound
    rows = np.column_stack([noisy.answers(e) - noisy.answers(np.zeros(k)) for e in np.eye(k)])
    # Nothing that the grid can do to the coordinates moves an answer by more; the worst is near it.
    worst = step * np.abs(rows).sum(axis=1)
    bound = np.asarray(noisy.bias_bound)
    assert (worst <= bound + 1e-15).all()
    assert (bound <= step * math.sqrt(k) * np.linalg.norm(rows, axis=1) + 1e-15).all()
    without = replace(noisy, mechanism=found.mechanism)
    assert np.all(without.bias_bound == 0)
    n = 10**9
    expected = math.sqrt(noisy.total_variance(None, n).value) + noisy.operator_norm * math.sqrt(k) * step
    assert noisy.bound(n).value == pytest.approx(expected)


@pytest.mark.parametrize("steps", [1, 5, 1000, 2**25 + 1, 2**27])
@pytest.mark.parametrize("dimension", [1, 2, 3, 50])
def test_no_coordinate_moves_by_more_than_two_steps(steps: int, dimension: int) -> None:
    m = Gaussian(dimension, 0.7, 16.0, 0.999, steps, 2**53 - 1)
    rng = np.random.default_rng(steps + dimension)
    vectors = rng.standard_normal((40, dimension))
    vectors *= 0.7 / np.linalg.norm(vectors, axis=1, keepdims=True)  # as long as allowed, or longer by rounding
    lines = np.round(vectors / m.step) * m.step
    for vector in (*vectors, *lines, *np.nextafter(lines, 0), np.zeros(dimension)):
        inside = clip_to_ball(vector, 0.7)
        for exact, whole in zip(inside.tolist(), m.on_grid(inside), strict=True):
            moved = Fraction(exact) * steps / Fraction(0.7) - whole
            assert abs(moved) <= 2
            assert moved * (1 if exact >= 0 else -1) > -Fraction(1, 10**6), "toward zero, but for rounding"
