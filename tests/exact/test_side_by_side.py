"""Simulated codebook devices side by side in single precision: the very reports of the device's code, or none."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.kernels import rotations
from sottovoce.kernels.compiled import side_by_side
from sottovoce.mechanisms.codebook import Codebook, layers_for
from sottovoce.mechanisms.vector import lift

PEOPLE = 203
KEY = (0xFFFFFFFF, 7)
RADIUS = 3.0


def vectors(dimension: int) -> np.ndarray:
    """Single coordinates and 0-1 columns, whose scores tie; then general ones, of all norms up to the radius."""
    rng = np.random.default_rng(dimension)
    rows = rng.normal(size=(PEOPLE, dimension))
    rows *= (rng.random(PEOPLE) / np.linalg.norm(rows, axis=1))[:, None]
    rows[:40] = np.eye(dimension)[np.arange(40) % dimension]
    rows[40:80] = (rng.random((40, dimension)) < 0.5) / np.sqrt(dimension)
    rows[80] = 0
    return RADIUS * rows


def draws(size: int, candidates: int, marked: int) -> tuple[np.ndarray, ...]:
    """Everybody's rotation, block, group and rank."""
    rng = np.random.default_rng(candidates)
    inside = rng.random(PEOPLE) < 0.5
    ranks = np.where(inside, rng.integers(0, marked, PEOPLE), rng.integers(0, candidates - marked, PEOPLE))
    turns = rng.integers(0, 2**32, PEOPLE)
    return turns, rng.integers(0, 2 * size // candidates, PEOPLE), inside, ranks


def simulated(rows: np.ndarray, size: int, candidates: int, marked: int) -> np.ndarray:
    drawn, h = draws(size, candidates, marked), candidates // 2

    def lifted(some: np.ndarray) -> np.ndarray:
        return lift(some, RADIUS, size)

    return rotations.simulate_codebook(rows, RADIUS, size, KEY, layers_for(size), h, marked, *drawn, lifted)


CASES = [
    (64, 2, 1),
    (64, 16, 8),
    (64, 128, 64),
    (128, 64, 1),
    (256, 4, 1),
    (512, 256, 17),
    (1024, 64, 22),
    (2048, 2048, 300),
]


@pytest.mark.parametrize(("size", "candidates", "marked"), CASES)
def test_the_same_reports_as_one_by_one(
    size: int, candidates: int, marked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = vectors(size - 1)
    found = simulated(rows, size, candidates, marked)
    monkeypatch.setattr(rotations, "_SIDE_BY_SIDE", 0)
    assert np.array_equal(found, simulated(rows, size, candidates, marked))
    assert len(np.unique(found)) > 100


def decided(rows: np.ndarray, size: int, candidates: int, marked: int) -> np.ndarray:
    """Whom single precision decided."""
    out = np.full(PEOPLE, 12345)
    drawn, words = draws(size, candidates, marked), (np.uint32(word) for word in KEY)
    h, layers = candidates // 2, layers_for(size)
    side_by_side.codebook_reports(rows, RADIUS, size, *drawn, h, marked, *words, layers, out)
    rest = PEOPLE % side_by_side.LANES
    assert (out[PEOPLE - rest :] == 12345).all(), "nobody is touched who does not fill the lanes"
    return out[: PEOPLE - rest] != side_by_side.OPEN


def test_nearly_everybody_is_decided_and_nobody_whose_scores_tie() -> None:
    """Of the scores of one coordinate many are equal: whoever's tie is at the edge of the marked ones stays open.

    Half of 32 rows are marked and 2 of 3 scores are among the 40 most frequent values, so that some tie must occur.
    """
    found = decided(vectors(63), 64, 64, 16)
    assert found[81:].mean() > 0.9
    assert not found[:40].all()


def test_what_is_no_number_is_left_to_the_device_code() -> None:
    rows = vectors(63)
    rows[::2, 5] = np.nan
    rows[1::2, 5] = np.inf
    assert not decided(rows, 64, 64, 16).any()


def test_randomize_many_is_unchanged_by_the_number_of_people() -> None:
    """Whoever does not fill the lanes is simulated too."""
    mechanism = Codebook.best(40, 1.0, 1.0, 0.0, 1000)
    for n in (1, 7, 8, 9):
        reports = mechanism.randomize_many(vectors(40)[:n], np.random.default_rng(1))
        assert len(reports) == n
        assert ((reports >= 0) & (reports < 2 * mechanism.cells)).all()
