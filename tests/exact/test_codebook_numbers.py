"""The codebook in numbers: its sizes, its refusals, its estimate and its errors, each from the formula once more."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.kernels.rotations import rotate
from sottovoce.mechanisms.codebook import Codebook, layers_for, mark
from sottovoce.theory.codebook import CodebookConstants

KEY = (0x12345678, 0x9ABCDEF0)


def codebook(**changed: Any) -> Codebook:
    """Three coordinates in a ball of radius 3, at epsilon 4: rotations of size 64, three of eight candidates marked."""
    stated = {"dimension": 3, "radius": 3.0, "epsilon": 4.0, "delta": 0.0, "size": 64, "candidates": 8, "marked": 3}
    return Codebook(**{**stated, "rotations": 2, "layers": 6, "key": KEY, **changed})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"delta": 1e-9}, "delta"),
        ({"size": 63}, "size"),
        ({"size": 2**22, "layers": 3}, "size"),
        ({"candidates": 1}, "candidates"),
        ({"candidates": 129}, "candidates"),
        ({"marked": 0}, "marked"),
        ({"marked": 5}, "marked"),
        ({"rotations": 0}, "rotations"),
        ({"rotations": 2**32 + 1}, "rotations"),
        ({"layers": 5}, "layers"),
        ({"layers": 9}, "layers"),
        ({"size": 96}, "size"),
        ({"size": 65}, "size"),
        ({"candidates": 12}, "size"),
        ({"candidates": 7, "marked": 1}, "size"),
        ({"dimension": 64}, "size"),
    ],
    ids=str,
)
def test_what_a_survey_may_not_state(change: dict[str, Any], field: str) -> None:
    with refuses(SurveyError, field):
        codebook(**{"layers": 3 if change.get("size", 64) > 64 else 6, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"size": 2**21, "layers": 3, "dimension": 2**20},
        {"candidates": 2, "marked": 1},
        {"candidates": 128, "marked": 64},
        {"marked": 1},
        {"marked": 4},
        {"rotations": 1},
        {"rotations": 2**32},
        {"layers": 8},
        {"dimension": 63},
    ],
    ids=str,
)
def test_what_it_just_may(change: dict[str, Any]) -> None:
    made = codebook(**change)
    assert {name: getattr(made, name) for name in change} == change


@pytest.mark.parametrize("excess", [0.0, -0.5, math.nan])
def test_a_codebook_that_carries_nothing_is_refused(excess: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the limits of a survey none is so weak, hence a planted one."""
    monkeypatch.setattr(CodebookConstants, "excess", excess)
    monkeypatch.setattr("sottovoce.mechanisms.codebook.codebook_constants", CodebookConstants)  # none that is kept
    with refuses(MechanismError, "epsilon"):
        codebook()


def test_layers_for_every_size() -> None:
    """Short transforms need more of them; the survey states the number, so it must not change unnoticed."""
    assert [layers_for(1 << k) for k in range(6, 22)] == [6, 5, 4, 4] + [3] * 12


def test_the_key_is_the_surveys_to_state_and_not_shown() -> None:
    made = Codebook(3, 1.0, 1.0, 0.0, 64, 8, 3, 1, 6)
    assert made.key == (0, 0)
    assert "key" not in repr(codebook())


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_rotations_keep_sharing_below_a_twentieth(epsilon: float) -> None:
    """g = people/rotations people add B g/D to the noise; the fewest rotations that keep this below 0.05."""
    made = codebook(epsilon=epsilon)
    for people in (500, 10_000, 123_456):
        rotations = made.for_people(people, 2**40).rotations
        assert rotations == math.ceil(made.constants.sharing * people / 64 / 0.05) > 1
        assert replace(made, rotations=rotations).sharing_factor(people) <= 1.05 * (1 + 1e-12)
        assert replace(made, rotations=rotations - 1).sharing_factor(people) > 1.05
    assert made.for_people(1, 2**40).rotations == 1


def test_rotations_stop_where_counters_do() -> None:
    made = codebook()
    assert made.for_people(10**6, 64 * 5).rotations == 5
    assert made.for_people(10**6, 64 * 6 - 1).rotations == 5
    assert made.for_people(10**6, 63).rotations == 1
    assert made.for_people(10**12, 2**40).rotations == 2**32


def test_of_the_candidates_the_highest_are_marked() -> None:
    """Row i is candidate 2 i, its opposite 2 i + 1; what is no number counts as zero, and zero as its row."""
    nan = math.nan
    for scores, marked, candidates in (
        ([0.1, -0.7, nan], 2, [0, 3]),
        ([nan, 0.5, -0.5], 2, [2, 5]),
        ([0.0, -0.0, nan], 3, [0, 2, 4]),
        ([nan, -1e-300], 1, [3]),
        ([-math.inf, math.inf, 1.0], 1, [1]),
        ([0.3, -0.3, 0.3], 1, [0]),
    ):
        top = mark(np.array(scores), marked)
        assert top.shape == (2 * len(scores),)
        assert np.flatnonzero(top).tolist() == candidates


def test_the_estimate_turns_the_counts_back() -> None:
    """r/(c n) sum over rotations of Q^T counts, Q from the images of the axes as the device computes them."""
    made = codebook()
    counts = np.random.default_rng(1).integers(-9, 10, size=(2, 64))
    folded = np.zeros(64)
    for rotation in range(2):
        images = np.array([rotate(axis, KEY, rotation, 6) for axis in np.eye(64)])  # row i is Q e_i
        folded += images @ counts[rotation]
    expected = 3.0 / (made.constants.scale * 50) * folded[:3]
    np.testing.assert_allclose(made.estimate(counts.reshape(-1), 50), expected, rtol=1e-10)


def test_errors_in_numbers() -> None:
    """A report's square along the vector is kappa/c^2 on average."""
    made = codebook()
    kappa, c = made.constants.second_moment, made.constants.scale
    noise, along = (1 - kappa) / (c**2 * 63), kappa / c**2
    assert 0 < along - noise < 1
    assert made.sharing_factor(40) == pytest.approx(1 + made.constants.sharing * 40 / 128, rel=1e-12)
    assert (made.along, made.truncation) == (pytest.approx(9 * along, rel=1e-12), None)
    assert made.worst_total_variance == pytest.approx(9 * (2 * noise + along), rel=1e-12)
    assert (made.noise, made.cells) == (pytest.approx(9 * noise, rel=1e-12), 128)
