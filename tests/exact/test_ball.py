"""The projection on a ball: its formula, its certificate, and what it refuses."""

import math

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import ProjectionError
from sottovoce.projections import Projected, project_ball


@pytest.mark.parametrize(
    ("raw", "radius", "expected"),
    [
        ([3.0, 4.0], 1.0, [0.6, 0.8]),
        ([3.0, 4.0], 5.0, [3.0, 4.0]),
        ([3.0, -4.0], 10.0, [3.0, -4.0]),
        ([-7.0], 2.0, [-2.0]),
        ([0.0, 0.0], 0.0, [0.0, 0.0]),
        ([3.0, 4.0], 0.0, [0.0, 0.0]),
        ([0.0, 0.0], 2.0, [0.0, 0.0]),
        ([3, 4], 1, [0.6, 0.8]),
    ],
)
def test_small_balls(raw, radius, expected):
    projected = project_ball(np.array(raw), radius)
    assert isinstance(projected, Projected)
    np.testing.assert_allclose(projected.values, expected, rtol=1e-15, atol=0)
    assert 0 <= projected.gap <= 1e-15


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("factor", [0.5, 2.0, 1e5])
def test_any_unit_will_do(scale, factor):
    raw = np.random.default_rng(1).normal(size=50)
    radius = float(np.linalg.norm(raw)) / factor
    projected = project_ball(scale * raw, scale * radius)
    np.testing.assert_allclose(projected.values, scale * raw / max(factor, 1.0), rtol=1e-14)
    assert math.hypot(*projected.values / scale) <= radius * (1 + 1e-15)
    # Rounding, of the size of the terms that cancel: the radius times the distance moved.
    assert 0 <= projected.gap <= 1e-15 * radius * math.hypot(*raw) * scale * scale


def test_it_is_the_nearest_and_never_farther_from_a_point_inside():
    rng = np.random.default_rng(2)
    for _ in range(200):
        d = rng.integers(1, 8)
        raw = rng.normal(size=d) * rng.choice([0.1, 1.0, 10.0])
        inside = rng.normal(size=d)
        inside *= rng.random() / np.linalg.norm(inside)
        values = project_ball(raw, 1.0).values
        assert np.linalg.norm(values - inside) <= np.linalg.norm(raw - inside) + 1e-15
        assert np.linalg.norm(values - raw) <= np.linalg.norm(inside - raw) + 1e-15


def test_the_result_is_read_only_and_the_input_untouched():
    raw = np.array([0.1, 0.2])
    projected = project_ball(raw, 1.0)
    raw[0] = 5.0
    np.testing.assert_array_equal(projected.values, [0.1, 0.2])
    with pytest.raises(ValueError, match="read-only"):
        projected.values[0] = 1.0


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf, -math.inf, 10**400, True, "1", None, 1j])
def test_what_is_no_radius_is_refused(radius):
    with refuses(ProjectionError, "radius"):
        project_ball(np.ones(2), radius)


@pytest.mark.parametrize(
    "raw", [np.zeros(0), np.zeros((2, 2)), np.array([np.nan]), np.array([np.inf]), np.array(["a"]), np.array([1j])]
)
def test_what_is_no_vector_is_refused(raw):
    with pytest.raises(ProjectionError):
        project_ball(raw, 1.0)
