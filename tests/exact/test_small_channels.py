"""Every finite channel on three or five values, against its law written down once more by hand.

The battery compares a mechanism's sides with each other; here each side is compared with textbook formulas, so that
two sides cannot be wrong together. Nothing is drawn, and everything takes milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from refusing import refuses
from sottovoce.auditing.channel import device_row
from sottovoce.core.errors import CapacityError, MechanismError, SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import MAX_REPORT_BYTES
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.unary import UnaryOptimized, UnarySymmetric
from sottovoce.randomness import tape_source, within_epsilon

E = math.exp(1.0)
UNIT = 1e-14
"""Thresholds are within 2**-64 of the formula, and floats within a few units of 2**-53."""


Law = Callable[[int], dict[object, float]]
"""The probability of every report, for each value."""


def law(mechanism: FiniteMechanism, value: int) -> dict[object, float]:
    row = device_row(mechanism, value)
    assert sum(row.values()) == 1
    return {mechanism.decode(payload): float(p) for payload, p in row.items()}


def hadamard(value: int) -> dict[object, float]:
    agree = [(z & (value + 1)).bit_count() % 2 == 0 for z in range(4)]
    return {z: (E if agree[z] else 1) / (2 * E + 2) for z in range(4)}


def randomized_response(value: int) -> dict[object, float]:
    return {z: (E if z == value else 1) / (E + 2) for z in range(3)}


def subset_selection(value: int) -> dict[object, float]:
    sets = list(combinations(range(5), 2))
    return {z: (E if value in z else 1) / (4 * E + 6) for z in sets}


def unary(own: float, other: float, value: int) -> dict[object, float]:
    chances = [own if v == value else other for v in range(3)]
    sets = [z for k in range(4) for z in combinations(range(3), k)]
    return {z: math.prod(p if v in z else 1 - p for v, p in enumerate(chances)) for z in sets}


def hadamard_blocks(value: int) -> dict[object, float]:
    """Two blocks of four positions, three values each: e^eps on the two +1 positions of the value's row."""
    block, row = value // 3, value % 3 + 1
    likely = {4 * block + z for z in range(4) if (row & z).bit_count() % 2 == 0}
    return {z: (E if z in likely else 1) / (2 * E + 6) for z in range(8)}


FANO = [(0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)]


def projective_geometry(value: int) -> dict[object, float]:
    """The Fano plane: e^eps on the three points of the value's line."""
    products = [sum(a * b for a, b in zip(FANO[value], point, strict=True)) for point in FANO]
    return {z: (1 if product % 2 else E) / (3 * E + 4) for z, product in enumerate(products)}


ROOT = math.sqrt(E)
CASES = {
    "hadamard": (lambda: Hadamard(3, 1.0), hadamard),
    "randomized_response": (lambda: RandomizedResponse(3, 1.0), randomized_response),
    "subset_selection": (lambda: SubsetSelection(5, 1.0, 2), subset_selection),
    "hadamard_blocks": (lambda: HadamardBlocks(6, 1.0, 2), hadamard_blocks),
    "projective_geometry": (lambda: ProjectiveGeometry(7, 1.0, 2, 3), projective_geometry),
    "unary_symmetric": (lambda: UnarySymmetric(3, 1.0), lambda value: unary(ROOT / (ROOT + 1), 1 / (ROOT + 1), value)),
    "unary_optimized": (lambda: UnaryOptimized(3, 1.0), lambda value: unary(0.5, 1 / (E + 1), value)),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[FiniteMechanism, Law]:
    make, expected = CASES[request.param]
    return make(), expected


def test_the_device_follows_the_textbook(case: tuple[FiniteMechanism, Law]) -> None:
    mechanism, expected = case
    for value in range(mechanism.domain_size):
        assert law(mechanism, value) == pytest.approx(expected(value), rel=UNIT, abs=0)


def test_the_stated_law_is_the_textbooks(case: tuple[FiniteMechanism, Law]) -> None:
    mechanism, expected = case
    reports = list(mechanism.outputs())
    for value in range(mechanism.domain_size):
        stated = {report: float(mechanism.probability(report, value)) for report in reports}
        assert stated == pytest.approx(expected(value), rel=UNIT, abs=0)
        logs = {report: mechanism.log_prob(report, value) for report in reports}
        assert logs == pytest.approx({z: math.log(p) for z, p in expected(value).items()}, rel=1e-12)
    assert math.log(mechanism.privacy_ratio()) == pytest.approx(1.0, rel=1e-12)
    assert mechanism.exact_epsilon == pytest.approx(1.0, rel=1e-12)


SPREAD = np.array([0.4, 0.2, 0.2, 0.1, 0.1, 0.05, 0.02])


def moments(mechanism: FiniteMechanism, law_of: Law, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the estimate made from one report of a person drawn from `frequencies`, by summation."""
    mean, square = np.zeros(mechanism.domain_size), np.zeros(mechanism.domain_size)
    laws = [law_of(value) for value in range(mechanism.domain_size)]
    for report in laws[0]:
        counts = mechanism.empty()
        row = np.frombuffer(mechanism.encode(report), dtype=np.uint8)[None, :]
        mechanism.count_into(counts, mechanism.codec.decode_many(row))
        estimate = mechanism.estimate(counts, 1)
        chance = sum(f * one[report] for f, one in zip(frequencies, laws, strict=True))
        mean += chance * estimate
        square += chance * estimate**2
    return mean, square - mean**2


def test_estimates_are_unbiased_with_the_stated_errors(case: tuple[FiniteMechanism, Law]) -> None:
    mechanism, expected = case
    size = mechanism.domain_size
    for frequencies in (np.full(size, 1 / size), SPREAD[:size] / SPREAD[:size].sum()):
        mean, variance = moments(mechanism, expected, frequencies)
        np.testing.assert_allclose(mean, frequencies, rtol=1e-12)
        np.testing.assert_allclose(mechanism.variance(frequencies, 7), variance / 7, rtol=1e-12)
        given = mechanism.expected_l2(7, frequencies)
        assert given == pytest.approx(math.sqrt(variance.sum() / 7), rel=1e-12)
    total = moments(mechanism, expected, np.full(size, 1 / size))[1].sum()
    assert mechanism.worst_total_variance == pytest.approx(total, rel=1e-12)
    assert mechanism.expected_l2(7) == pytest.approx(math.sqrt(total / 7), rel=1e-12)


def test_the_proxy_is_hoeffdings(case: tuple[FiniteMechanism, Law]) -> None:
    """A bounded number is sub-Gaussian with a quarter of the square of its range."""
    mechanism, expected = case
    estimates = []
    for report in expected(0):
        counts = mechanism.empty()
        row = np.frombuffer(mechanism.encode(report), dtype=np.uint8)[None, :]
        mechanism.count_into(counts, mechanism.codec.decode_many(row))
        estimates.append(mechanism.estimate(counts, 1))
    ranges = np.ptp(np.array(estimates), axis=0)
    np.testing.assert_allclose(ranges**2 / 4, mechanism.proxy, rtol=1e-12)


def test_two_levels_are_rounded_toward_privacy() -> None:
    levels = TwoLevel(inside=2, outside=3, epsilon=1.0)
    exact = Fraction(levels.threshold, 2**64)
    assert float(exact) == pytest.approx(2 * E / (2 * E + 3), rel=UNIT)
    assert levels.probability_inside == exact
    assert (levels.each_inside, levels.each_outside) == (exact / 2, (1 - exact) / 3)
    assert levels.ratio == levels.each_inside / levels.each_outside
    up = exact + Fraction(1, 2**64)
    assert within_epsilon(levels.ratio, 1.0)
    assert not within_epsilon((up / 2) / ((1 - up) / 3), 1.0)


def test_values_outside_the_domain_are_refused(case: tuple[FiniteMechanism, Law]) -> None:
    mechanism, _ = case
    size = mechanism.domain_size
    for value in (-1, size, size + 1, True, 1.0, np.int64(1)):
        with refuses(ValueOutsideDomainError, "value"):
            mechanism.randomize(value, tape_source(bytes(64)))  # type: ignore[arg-type]
    for value in (0, size - 1):
        mechanism.randomize(value, tape_source(bytes(64)))


def test_an_impossible_report_has_no_logarithm() -> None:
    class Sure(Hadamard):  # type: ignore[misc]
        def probability(self, report: object, value: int) -> Fraction:
            return Fraction(0)

    assert Sure(3, 1.0).log_prob(0, 0) == -math.inf


@pytest.mark.parametrize("size", [0, 4, 5, -1])
def test_subset_sizes_outside_the_domain_are_refused(size: int) -> None:
    with refuses(SurveyError, "subset_size"):
        SubsetSelection(4, 1.0, size)


@pytest.mark.parametrize(
    ("domain_size", "epsilon", "size"),
    [(2, 1.0, 1), (10, 1.0, 3), (11, 1.0, 3), (100, 0.5, 38), (3, 8.0, 1), (2, 1e-3, 1)],
)
def test_the_best_subset_size_is_near_its_ideal_and_best(domain_size: int, epsilon: float, size: int) -> None:
    best = SubsetSelection.best(domain_size, epsilon)
    assert best.subset_size == size
    rivals = [SubsetSelection(domain_size, epsilon, k) for k in range(1, domain_size)]
    assert best.worst_total_variance == min(rival.worst_total_variance for rival in rivals)


def test_sizes_that_follow_from_a_channel() -> None:
    for mechanism, cells, bits, width in (
        (Hadamard(3, 1.0), 4, 2, 1),
        (Hadamard(4, 1.0), 8, 3, 1),
        (Hadamard(255, 1.0), 256, 8, 1),
        (Hadamard(256, 1.0), 512, 9, 2),
        (RandomizedResponse(257, 1.0), 257, 9, 2),
        (UnarySymmetric(64, 1.0), 64, 64, 8),
        (UnarySymmetric(96, 1.0), 96, 96, 12),
        (UnarySymmetric(126, 1.0), 126, 126, 16),
        (SubsetSelection(1000, 1.0, 2), 1000, 20, 3),
    ):
        assert (mechanism.cells, mechanism.report_bits, mechanism.report_bytes) == (cells, bits, width)
        words = mechanism.simulation_words
        assert (type(words), words) == (int, max(1, bits // 32))
        assert (mechanism.largest_step, mechanism.max_reports) == (1, 2**63 - 1)
        assert mechanism.empty().tolist() == [0] * cells
        assert mechanism.estimate(mechanism.empty(), 1).shape == (mechanism.domain_size,)


def test_fewer_reports_fit_where_one_moves_a_count_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChannelMechanism, "largest_step", 3)
    assert Hadamard(3, 1.0).max_reports == (2**63 - 1) // 3


def test_nothing_can_be_changed_afterwards() -> None:
    for frozen, name in (
        (TwoLevel(1, 1, 1.0), "epsilon"),
        (Support(Fraction(1), Fraction(0)), "own"),
        (Hadamard(3, 1.0), "epsilon"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(frozen, name, 2.0)


def test_all_of_them_may_be_deployed() -> None:
    assert all(mechanism.deployable for mechanism in serving(FiniteMechanism).values())


def test_what_is_too_large_is_refused_and_what_just_fits_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert UnarySymmetric(8 * MAX_REPORT_BYTES, 8.0).report_bytes == MAX_REPORT_BYTES
    with pytest.raises(MechanismError, match=f"{MAX_REPORT_BYTES + 1:,} bytes"):
        UnarySymmetric(8 * MAX_REPORT_BYTES + 1, 8.0)
    monkeypatch.setattr("sottovoce.mechanisms.base.MAX_CELLS", 5)
    assert len(RandomizedResponse(5, 1.0).empty()) == 5
    with pytest.raises(CapacityError, match="takes 6 counters"):
        RandomizedResponse(6, 1.0).empty()


@pytest.mark.parametrize("signal", [Fraction(0), Fraction(-1, 2**64)])
def test_a_channel_that_carries_nothing_is_refused(signal: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the limits of a survey none is so weak, hence a planted one."""
    monkeypatch.setattr(Support, "signal", signal)
    with refuses(MechanismError, "epsilon"):
        RandomizedResponse(3, 1.0)
    with refuses(MechanismError, "epsilon"):
        SubsetSelection(3, 1.0, 2)


def test_the_algebra_of_support() -> None:
    support = Support(Fraction(3, 4), Fraction(1, 4))
    assert support.signal == Fraction(1, 2)
    np.testing.assert_allclose(support.estimate(np.array([10, 30, 5]), 40), [0.0, 1.0, -0.25])
    np.testing.assert_allclose(support.variance(np.array([0.0, 0.5]), 10), [0.075, 0.1])
    assert (support.proxy, support.worst_total_variance(2)) == (1.0, 2.0)
    assert support.worst_total_variance(4) == pytest.approx(4 * 0.375 * 0.625 * 4)


class Words:
    """Stands in for a generator whose next 64-bit words are known."""

    def __init__(self, words: list[list[int]]) -> None:
        self.words = np.array(words, dtype=np.uint64)

    def integers(self, low: int, high: int, *, size: tuple[int, int], dtype: type, endpoint: bool) -> np.ndarray:
        assert (low, high, size, dtype, endpoint) == (0, 2**64 - 1, self.words.shape, np.uint64, True)
        return self.words


def test_simulated_unary_bits_compare_words_with_their_thresholds() -> None:
    made = UnarySymmetric(3, 1.0)
    own, other = made.own_threshold, made.other_threshold
    rows = [[own - 1, other - 1, other], [own, other, other - 1], [other, own - 1, other - 1], [0, 0, own]]
    batch = made.randomize_many(np.array([0, 0, 1, 2]), Words(rows))  # type: ignore[arg-type]
    assert batch.tolist() == [[0b011], [0b100], [0b110], [0b011]]


def test_hadamard_errors_in_numbers() -> None:
    c, frequencies = 1 / math.tanh(0.5), np.array([0.5, 0.3, 0.2])
    made = Hadamard(3, 1.0)
    np.testing.assert_allclose(made.variance(frequencies, 7), (c**2 - frequencies**2) / 7, rtol=1e-12)
    assert made.worst_total_variance == pytest.approx(3 * c**2 - 1 / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("hadamard", [(2,), (3,), (5,)]),
        ("randomized_response", [(2,), (3,), (5,)]),
        ("unary_symmetric", [(2,), (3,), (5,)]),
        ("unary_optimized", [(2,), (3,), (5,)]),
        ("subset_selection", [(2, 1), (4, 2), (5, 3), (5, 4), (17, 1), (17, 2)]),
        ("hadamard_blocks", [(2, 1), (5, 1), (6, 2), (5, 4), (7, 4)]),
        (
            "projective_geometry",
            [(7, 2, 3), (13, 3, 3), (4, 3, 2), (5, 5, 3), (15, 2, 4), (21, 4, 3), (9, 8, 2), (8, 9, 2)],
        ),
    ],
)
def test_audits_run_these_small_instances(name: str, sizes: list[tuple[int, ...]]) -> None:
    """Between them they take every branch of the device's code; another size could leave one out unnoticed."""
    made = serving(FiniteMechanism)[name].miniatures(1.0)
    assert [(small.domain_size, *small.parameters().values()) for small in made] == sizes
    assert {small.epsilon for small in made} == {1.0}
