"""Which mechanism a survey gets, with which parameters, and the laws of those that have some at a second size."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.auditing.channel import device_row
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.limits import DEFAULT_REPORT_BYTES
from sottovoce.mechanisms import FiniteMechanism, registry, serving
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.registry import candidates, find
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.unary import UnarySymmetric

# --- blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain_size", [2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 31, 33])
def test_a_block_is_the_least_power_of_two_with_room(domain_size: int) -> None:
    """B blocks of b positions serve B (b - 1) values: row 0 of each is unused."""
    for blocks in (b for b in (1, 2, 4, 8, 16, 32) if b <= domain_size):
        sizes = [b for b in (2, 4, 8, 16, 32, 64) if blocks * (b - 1) >= domain_size]
        made = HadamardBlocks(domain_size, 1.0, blocks)
        assert (made.block_size, made.cells) == (sizes[0], blocks * sizes[0])
    for bad in (0, -1, 2 * domain_size):
        with refuses(SurveyError, "blocks"):
            HadamardBlocks(domain_size, 1.0, bad)


def test_rows_of_three_bits_in_their_block() -> None:
    """e^eps on those of the block's eight positions that share an even number of bits with the value's row."""
    made, e = HadamardBlocks(10, 1.0, 2), math.e
    assert made.cells == 16
    for value in (1, 3, 5, 6, 9):
        block, row = value // 7, value % 7 + 1
        even = {8 * block + z for z in range(8) if f"{z & row:b}".count("1") % 2 == 0}
        found = {made.decode(payload): float(p) for payload, p in device_row(made, value).items()}
        expected = {z: (e if z in even else 1) / (4 * e + 12) for z in range(16)}
        assert found == pytest.approx(expected, rel=1e-14, abs=0)
        assert {z: float(made.probability(z, value)) for z in expected} == pytest.approx(expected, rel=1e-14, abs=0)


def test_signals_are_exact() -> None:
    """1/kappa = s (q1 - q0), of the probabilities that the device really draws with."""
    for made, s, others in ((HadamardBlocks(6, 1.0, 2), 2, 6), (HadamardBlocks(7, 1.0, 1), 4, 4)):
        own = made.probability(0, 0)
        assert isinstance(made.signal, Fraction)
        assert made.signal == s * (own - (1 - s * own) / others)
        assert float(1 / made.signal) == pytest.approx((math.e + 2 * made.blocks - 1) / (math.e - 1), rel=1e-14)


@pytest.mark.parametrize(
    ("domain_size", "epsilon", "blocks"),
    [(2, 0.1, 1), (2, 8.0, 2), (5, 1.0, 1), (7, 4.0, 4), (64, 2.0, 1), (64, 4.0, 64), (1000, 4.0, 16)],
)
def test_the_best_number_of_blocks(domain_size: int, epsilon: float, blocks: int) -> None:
    """All mass evenly in the full blocks is worst: 2 kappa^2 J/(e^eps + 2B - 1) + kappa (b - 1) - 1/(values there)."""
    e, totals = math.exp(epsilon), {}
    for b in (1 << k for k in range(10) if 1 << k <= domain_size):
        kappa = (e + 2 * b - 1) / (e - 1)
        rows = next(rows for rows in (1, 3, 7, 15, 31, 63, 127, 255, 511, 1023) if b * rows >= domain_size)
        level = min(rows, domain_size)
        full = domain_size // level * level
        totals[b] = 2 * kappa**2 * domain_size / (e + 2 * b - 1) + kappa * level - 1 / full
        assert HadamardBlocks(domain_size, epsilon, b).worst_total_variance == pytest.approx(totals[b], rel=1e-12)
    assert HadamardBlocks.best(domain_size, epsilon).blocks == min(totals, key=lambda b: totals[b]) == blocks


# --- sets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain_size", "size"), [(2, 1), (6, 2), (6, 4), (7, 1), (7, 5)])
def test_probabilities_of_sets_add_up(domain_size: int, size: int) -> None:
    """C(J-1, k-1) sets hold the value, C(J-1, k) do not, and the former are e^eps times as likely."""
    made = SubsetSelection(domain_size, 1.0, size)
    chances = [made.probability(report, 1) for report in made.outputs()]
    assert sum(chances) == 1
    assert len(chances) == math.comb(domain_size, size)
    assert chances.count(max(chances)) == math.comb(domain_size - 1, size - 1)
    assert float(max(chances) / min(chances)) == pytest.approx(math.e, rel=1e-14)


# --- the registry -------------------------------------------------------------------------------


def test_a_survey_states_exactly_the_mechanisms_own_parameters() -> None:
    assert Hadamard.restore({}, 5, 1.0) == Hadamard(5, 1.0)
    assert HadamardBlocks.restore({"blocks": 2}, 5, 1.0) == HadamardBlocks(5, 1.0, 2)
    for name, stated in (
        ("hadamard", {"blocks": 2}),
        ("hadamard_blocks", {}),
        ("hadamard_blocks", {"a": 2}),
        ("projective_geometry", {"order": 3}),
    ):
        with refuses(SurveyError, "parameters"):
            find(name, FiniteMechanism).restore(stated, 5, 1.0)


def test_what_cannot_serve_a_domain_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 2^23 values a bitmap is longer than any report may be."""
    served = [made.name for made in candidates(FiniteMechanism, 2**24, 1.0)]
    assert served[:4] == ["randomized_response", "hadamard", "hadamard_blocks", "projective_geometry"]
    assert not {"subset_selection", "unary_optimized", "unary_symmetric"} & set(served)
    assert [made.name for made in candidates(FiniteMechanism, 20, 1.0)] == list(serving(FiniteMechanism))
    monkeypatch.setattr(registry, "MECHANISMS", {"unary_symmetric": UnarySymmetric, "hadamard": Hadamard})
    assert candidates(FiniteMechanism, 2**24, 1.0) == [Hadamard(2**24, 1.0)]


def chosen(domain_size: int, epsilon: float, limit: int = DEFAULT_REPORT_BYTES) -> FiniteMechanism:
    mechanism = sv.Survey(sv.shares(domain_size), epsilon=epsilon, max_report_bytes=limit).mechanism
    assert isinstance(mechanism, FiniteMechanism)
    return mechanism


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("domain_size", [2, 5, 100, 1000])
def test_the_least_error_is_chosen_then_the_shortest_report(domain_size: int, epsilon: float) -> None:
    everyone = candidates(FiniteMechanism, domain_size, epsilon)
    for limit in sorted({made.report_bytes for made in everyone}):
        fitting = [made for made in everyone if made.report_bytes <= limit]
        least = min(made.worst_total_variance for made in fitting)
        level = [made for made in fitting if made.worst_total_variance == pytest.approx(least, rel=1e-9, abs=0)]
        shortest = min(made.report_bits for made in level)
        first = next(made for made in level if made.report_bits == shortest)
        assert chosen(domain_size, epsilon, limit) == first


def test_choices_in_numbers() -> None:
    """Equal errors go to fewer bits, and equal bits to the simpler: a set of one value is a randomized response."""
    assert chosen(5, 8.0) == RandomizedResponse(5, 8.0)
    assert chosen(100, 1.0) == SubsetSelection(100, 1.0, 27)
    assert chosen(100, 1.0, 13) == SubsetSelection(100, 1.0, 27)
    assert chosen(100, 1.0, 12) == ProjectiveGeometry(100, 1.0, 4, 5)
    with refuses(MechanismError, "max_report_bytes"):
        chosen(1000, 1.0, 1)
    assert chosen(1000, 1.0, 2).report_bytes == 2
