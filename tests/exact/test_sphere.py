"""The sphere baseline: its constants against elementary geometry."""

import math

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.sphere import FIXED_POINT, Sphere


def make(dimension: int, epsilon: float, radius: float = 1.0) -> Sphere:
    return Sphere.best(dimension, radius, epsilon, 0.0, 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_length_is_the_printed_one(epsilon: float) -> None:
    """B = r c sqrt(pi) Gamma((d+1)/2)/Gamma(d/2): c, pi c/2 and 2 c in one, two and three dimensions."""
    c = 1 / math.tanh(epsilon / 2)
    for dimension, expected in ((1, c), (2, math.pi * c / 2), (3, 2 * c)):
        assert make(dimension, epsilon).length == pytest.approx(expected, rel=1e-12)
    assert make(100, epsilon, 3.0).length == pytest.approx(
        3 * c * math.sqrt(math.pi) * math.exp(math.lgamma(50.5) - math.lgamma(50)), rel=1e-12
    )


def test_large_dimensions_do_not_overflow() -> None:
    sphere = make(2**17, 1.0)
    assert sphere.noise == pytest.approx(math.pi / 2 / math.tanh(0.5) ** 2, rel=1e-5)
    assert math.isfinite(sphere.proxy)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_proxy_in_three_dimensions(epsilon: float) -> None:
    """Archimedes: a coordinate of a uniform point is uniform, so E exp(x t) is elementary."""
    sphere = make(3, epsilon)
    right = 1 / (1 + math.exp(-epsilon))
    x = np.concatenate([-np.geomspace(0.01, 60, 4000), np.geomspace(0.01, 60, 4000)])
    mgf = (right * np.expm1(x) - (1 - right) * np.expm1(-x)) / x
    along = float((2 * (np.log(mgf) - x * sphere.signal) / x**2).max())
    assert sphere.signal == pytest.approx((2 * right - 1) / 2, rel=1e-12)
    assert along <= sphere._tail
    # Across, a direction's projections have proxy 1/2 at most, which is the larger here.
    assert sphere.proxy == pytest.approx(sphere.length**2 / 2 + 1, rel=1e-12)


def test_reports_are_directions() -> None:
    sphere = make(4, 1.0)
    batch = sphere.randomize_many(np.tile([0.3, 0.0, 0.1, 0.0], (500, 1)), np.random.default_rng(1))
    sphere.codec.check_many(batch)
    assert np.array_equal(sphere.codec.decode_many(sphere.codec.encode_many(batch)), batch)
    assert np.abs(np.linalg.norm(batch / FIXED_POINT, axis=1) - 1).max() < 1e-8


def test_delta_must_be_zero() -> None:
    with refuses(SurveyError, "delta"):
        Sphere(3, 1.0, 1.0, 1e-6)
