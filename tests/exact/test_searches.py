"""What searches for parameters look at, and the worst case of blocks of unequal size."""

from __future__ import annotations

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.kernels.finite_field import field_of_order
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_space import orders_to_try


@pytest.mark.parametrize(
    ("ideal", "domain_size", "orders"),
    [
        (3.7, 1000, [2, 3, 4, 5, 7, 11, 32, 1009]),
        (2.0, 2, [2, 3, 4, 5]),
        (20.0, 50, [2, 3, 4, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 49]),
        (150.0, 5000, [2, 3, 4, 7, 9, 17, 71, 121, 125, 127, 128, 131, 137, 139, 149, 151, 157, 163, 4999]),
        (2.6, 1000000, [2, 3, 4, 5, 7, 8, 11, 16, 32, 101, 1009, 1000003]),
        (100.0, 5, [2, 4, 67, 71, 73, 79, 81, 83, 89, 97, 101, 103, 107]),
        (1000.0, 5, [2, 4, 277, 281, 283, 293, 307, 311, 313, 317, 331, 337, 347]),
        (1000.0, 1002, [2, 3, 4, 7, 11, 32, 223, 227, 229, 233, 239, 241, 243, 251, 256, 257, 263, 1009]),
        (3.7, 2**31 - 2, [2, 3, 4, 5, 7, 9, 11, 16, 23, 37, 79, 223, 1291, 46349, 2**31 - 1]),
        (3.7, 2**31 - 1, [2, 3, 4, 5, 7, 9, 11, 16, 23, 37, 79, 223, 1291, 46349]),
        (3.7, 2**40, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 23, 32, 53, 103, 256, 1031, 10321, 1048583]),
    ],
)
def test_the_orders_that_are_compared(ideal: float, domain_size: int, orders: list[int]) -> None:
    """Eight field orders up to the ideal, three above it, and for each dimension the least that has points enough.

    Where 64 times the values are fewer than the ideal order's points, the largest with no more takes the ideal's place.
    """
    assert list(orders_to_try(ideal, domain_size)) == orders


def test_zero_has_no_inverse() -> None:
    assert field_of_order(4).tables[2].tolist() == [0, 1, 3, 2]


@pytest.mark.parametrize("blocks", [3, 5, 6, 7])
def test_blocks_are_a_power_of_two(blocks: int) -> None:
    with refuses(SurveyError, "blocks"):
        HadamardBlocks(40, 1.0, blocks)
    for good in (1, 2, 4, 8):
        assert HadamardBlocks(40, 1.0, good).blocks == good


@pytest.mark.parametrize(("domain_size", "blocks"), [(3, 1), (5, 1), (5, 2), (6, 2), (5, 4), (7, 4), (20, 2), (13, 2)])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_the_worst_distribution_is_found(domain_size: int, blocks: int, epsilon: float) -> None:
    """Against a fine grid of distributions that are level inside the full blocks and inside the short one."""
    made = HadamardBlocks(domain_size, epsilon, blocks)
    full = domain_size // (made.block_size - 1) * (made.block_size - 1)
    totals = []
    for mass in np.linspace(0, 1, 501) if 0 < full < domain_size else [float(full > 0)]:
        levels = np.zeros(domain_size)
        levels[:full] = mass / max(full, 1)
        levels[full:] = (1 - mass) / max(domain_size - full, 1)
        totals.append(made.variance(levels, 1).sum())
    assert made.worst_total_variance == pytest.approx(max(totals), rel=1e-5)
    assert made.worst_total_variance >= max(totals) * (1 - 1e-12)
