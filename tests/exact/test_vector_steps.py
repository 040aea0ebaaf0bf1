"""Vector mechanisms step by step: the codebook's device on scripted draws, and the parameters that are chosen."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scripted import Script
from sottovoce.kernels.rotations import rotate
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.vector import lift

KEY = (0x12345678, 0x9ABCDEF0)


def ranked(scores: np.ndarray, marked: int) -> tuple[list[int], list[int]]:
    """Candidates 2 i and 2 i + 1 are row i and its opposite: the highest ones, and all others, in order."""
    values = [sign * score for score in scores for sign in (1, -1)]
    order = sorted(range(len(values)), key=lambda candidate: -values[candidate])
    return sorted(order[:marked]), sorted(order[marked:])


@pytest.mark.parametrize(("candidates", "marked"), [(4, 1), (8, 3), (128, 40)])
def test_a_codebook_report_is_the_drawn_candidate_of_the_drawn_block(candidates: int, marked: int) -> None:
    made = Codebook(5, 2.0, 1.0, 0.0, 64, candidates, marked, 3, 6, key=KEY)
    vector = np.array([0.3, -0.9, 0.1, 0.4, 0.7])
    lifted = np.zeros(64)
    lifted[:5] = vector / 2
    lifted[5] = np.sqrt(1 - (vector / 2) @ (vector / 2))
    h = candidates // 2
    blocks = 64 // h
    for rotation, block, inside in product((0, 2), {0, blocks // 2, blocks - 1}, (0, 1)):
        scores = rotate(lifted, KEY, rotation, 6)[block * h : (block + 1) * h]
        top, others = ranked(scores, marked)
        for among_marked, among_others in ((0, len(others) - 1), (marked - 1, 0)):
            script = Script(rotation, block, inside, among_marked, among_others)
            report = made.randomize(vector, script)
            candidate = top[among_marked] if inside else others[among_others]
            assert report == 2 * (rotation * 64 + block * h) + candidate
            assert script.asked == [3, blocks, made.levels.threshold, marked, candidates - marked]


@pytest.mark.parametrize("norm", [1.0, 1 + 1e-12, np.nextafter(1, 2)])
def test_a_norm_that_rounding_made_too_large_lifts_to_zero(norm: float) -> None:
    assert lift(np.array([norm, 0.0]), 1.0, 4).tolist() == [[norm, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize(("dimension", "size"), [(1, 64), (63, 64), (64, 128), (100, 128), (128, 256)])
def test_a_codebook_is_the_least_power_of_two_above_the_dimension(dimension: int, size: int) -> None:
    made = Codebook.best(dimension, 1.0, 1.0, 0.0, 10_000)
    assert made.size == size
    assert (made.cells, made.codec.outputs) == (made.rotations * size, 2 * made.rotations * size)


@pytest.mark.parametrize(
    ("dimension", "people", "steps", "noise_variance", "bytes_each"),
    [
        (1, 100, 371, 11302445, 2),
        (1, 1130, 371, 11302445, 2),
        (5, 10_000, 93_912, 724213703829, 3),
        (40, 1_000_000, 92_016, 695266428634, 3),
        (40, 1_000_000_000, 10_473_276, 9007196893009467, 4),
    ],
)
def test_gaussian_parameters_at_epsilon_one(
    dimension: int, people: int, steps: int, noise_variance: int, bytes_each: int
) -> None:
    """The finest grid that fits the bytes; up to 1130 = variance/100^2 people two bytes are enough for one number."""
    made = Gaussian.best(dimension, 1.0, 1.0, 1e-6, people)
    assert (made.steps, made.noise_variance, made.report_bytes) == (steps, noise_variance, bytes_each * dimension)


def test_one_person_more_takes_another_byte() -> None:
    assert Gaussian.best(1, 1.0, 1.0, 1e-6, 1131).report_bytes == 3


def test_a_codebooks_errors_scale_with_radius_and_reports() -> None:
    one = Codebook(5, 1.0, 1.0, 0.0, 64, 32, 11, 3, 6, key=KEY)
    two = Codebook(5, 2.0, 1.0, 0.0, 64, 32, 11, 3, 6, key=KEY)
    assert (one.largest_step, one.proxy, one.noise) == (1, one.constants.proxy, one.constants.noise)
    assert (two.proxy, two.noise) == (4 * one.proxy, 4 * one.noise)
    assert one.sharing_factor(0) == 1.0
    assert one.sharing_factor(192) == pytest.approx(1 + one.constants.sharing, rel=1e-14)
    counts = np.arange(192) % 7
    single = one.estimate(counts, 1)
    assert single.shape == (5,)
    np.testing.assert_allclose(one.estimate(counts, 10), single / 10, rtol=1e-14)
    np.testing.assert_allclose(two.estimate(counts, 10), single / 5, rtol=1e-14)
