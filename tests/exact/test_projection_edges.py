"""Projections on the simplex and on a ball in round numbers, and what they refuse, in milliseconds."""

from __future__ import annotations

import math
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.projections import Projected, project_ball, project_simplex
from sottovoce.projections.checks import checked_vector

PROJECTIONS = [project_simplex, lambda raw: project_ball(raw, 1.0), checked_vector]
each = pytest.mark.parametrize("project", PROJECTIONS, ids=["simplex", "ball", "check"])


@each
@pytest.mark.parametrize(
    "raw",
    [
        np.array([]),
        np.array(1.0),
        np.ones((2, 2)),
        np.ones((1, 3)),
        np.array([1j]),
        np.array([True]),
        np.array(["1"]),
        np.array([np.nan, 1.0]),
        np.array([1.0, np.inf]),
        np.array([-np.inf, 1.0]),
    ],
)
def test_what_cannot_be_projected_is_refused(project, raw: np.ndarray) -> None:
    with refuses(ProjectionError, "raw"):
        project(raw)


@each
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_one_real_number_is_enough(project, kind: type) -> None:
    given = np.array([1], dtype=kind)
    found = project(given)
    values = found if isinstance(found, np.ndarray) else found.values
    assert (values.dtype, values.tolist(), given.tolist()) == (np.float64, [1.0], [1])


def test_the_simplex() -> None:
    for raw, expected in (
        ([0.75, 0.5, -0.25], [0.625, 0.375, 0.0]),
        ([0.25, 0.75], [0.25, 0.75]),
        ([5.0, 5.0, 1.0], [0.5, 0.5, 0.0]),
        ([-3.0], [1.0]),
    ):
        given = np.array(raw)
        projected = project_simplex(given)
        assert projected.values.tolist() == expected
        assert abs(projected.gap) <= 1e-15
        assert given.tolist() == raw
        with pytest.raises(ValueError, match="read-only"):
            projected.values[0] = 0.0


def test_the_ball() -> None:
    for raw, radius, expected in (
        ([3.0, 4.0], 10.0, [3.0, 4.0]),
        ([3.0, 4.0], 5.0, [3.0, 4.0]),
        ([3.0, 4.0], 2.5, [1.5, 2.0]),
        ([3.0, 4.0], 0.0, [0.0, 0.0]),
        ([0.0, -8.0], 0.5, [0.0, -0.5]),
        ([6e300, 8e300], 1e300, [6e299, 8e299]),
        ([6e-300, 8e-300], 1e-300, [6e-301, 8e-301]),
        ([3.0, 4.0], 1, [0.6, 0.8]),
    ):
        given = np.array(raw)
        projected = project_ball(given, radius)
        np.testing.assert_allclose(projected.values, expected, rtol=1e-15)
        inside = math.hypot(*raw) <= radius
        assert projected.gap == 0 if inside else 0 <= projected.gap <= 1e-15 * radius * math.hypot(*raw)
        assert projected.values is not given
        with pytest.raises(ValueError, match="read-only"):
            projected.values[0] = 0.0


@pytest.mark.parametrize("radius", [-1.0, -1e-300, math.inf, math.nan, True, "1", None, 1j, 10**400])
def test_a_radius_is_a_finite_number(radius: object) -> None:
    with refuses(ProjectionError, "radius"):
        project_ball(np.array([1.0]), radius)  # type: ignore[arg-type]


def test_a_gap_bounds_the_distance_and_rounding_below_zero_does_not_count() -> None:
    values = np.array([1.0])
    assert [Projected(values, gap).error_bound for gap in (4.0, 0.0, -1e-16)] == [2.0, 0.0, 0.0]
    with pytest.raises(FrozenInstanceError):
        Projected(values, 0.0).gap = 1.0  # type: ignore[misc]
    assert Projected(values, 0.0) != Projected(values, 0.0)


def test_the_gap_of_the_ball_is_its_formula() -> None:
    """||g|| (radius - ||x||) where rounding leaves a vector short of the sphere, as it does with some of these."""
    found = 0
    for seed in range(20):
        raw = 100 * np.random.default_rng(seed).normal(size=50)
        projected = project_ball(raw, 5.3)
        short = 5.3 - float(np.linalg.norm(projected.values))
        if short > 0:
            found += 1
            expected = float(np.linalg.norm(projected.values - raw)) * short
            assert projected.gap == pytest.approx(expected, rel=1e-12, abs=0)
    assert found > 0


def test_the_largest_radius_is_one() -> None:
    assert project_ball(np.array([3.0]), sys.float_info.max).values.tolist() == [3.0]
