"""The binary response in round numbers: sizes, the edges of its chance, and simulation on scripted draws."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.mechanisms.binary import Binary

HALF = 2**63
BITS = 53


class Drawn:
    """Stands in for a generator whose next uniform numbers are known."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = np.array(numbers)

    def random(self, size: int) -> np.ndarray:
        assert size == len(self.numbers)
        return self.numbers


def coin(radius: float = 4.0) -> Binary:
    return Binary(1, radius, 1.0, 0.0)


def test_sizes() -> None:
    made = coin()
    assert Binary.largest_dimension == 1
    assert (made.cells, made.empty().tolist(), made.largest_step, made.max_reports) == (1, [0], 1, 2**63 - 1)
    assert (made.report_bits, made.report_bytes, made.sharing_factor(10)) == (1, 1, 1.0)


@pytest.mark.parametrize("factor", [1.0, 1.25, 2.0, 100.0])
def test_no_number_moves_the_chance_further_than_the_radius_does(factor: float) -> None:
    """Privacy does not rest on the caller's clipping."""
    made = coin()
    assert made.threshold(4.0 * factor) == HALF + made.amplitude
    assert made.threshold(-4.0 * factor) == HALF - made.amplitude


def test_the_least_steps_go_the_right_way() -> None:
    made, step = coin(), 4.0 * 2.0**-BITS
    for steps in (1, 2, 3):
        moved = made.amplitude * steps >> BITS
        assert moved > 0
        assert made.threshold(steps * step) == HALF + moved
        assert made.threshold(-steps * step) == HALF - moved
    assert made.threshold(0.0) == made.threshold(step / 2) == made.threshold(-step / 2) == HALF


def test_simulated_bits_compare_with_the_chance_at_any_radius() -> None:
    made = coin()
    chance = 0.5 + 0.5 * made.amplitude / 2**64
    vectors = np.array([[2.0], [2.0], [-2.0], [-2.0], [0.0], [0.0]])
    drawn = Drawn(chance - 1e-9, chance + 1e-9, 1 - chance - 1e-9, 1 - chance + 1e-9, 0.5, np.nextafter(0.5, 0))
    assert made.randomize_many(vectors, drawn).tolist() == [1, 0, 1, 0, 0, 1]  # type: ignore[arg-type]


def test_the_error_in_numbers() -> None:
    made = coin()
    largest = 4.0 * HALF / made.amplitude
    assert made.noise == made.proxy == made.worst_total_variance == pytest.approx(largest**2, rel=1e-14)
    assert (made.along, made.truncation, made.sharing_factor(10)) == (made.noise, 0.0, 1.0)
    np.testing.assert_allclose(made.estimate(np.array([7]), 10), [0.4 * largest], rtol=1e-14)
