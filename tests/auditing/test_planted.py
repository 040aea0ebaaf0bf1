"""Faults planted in real mechanisms, of kinds that no miniature shows: the audit must call each of them unsound."""

from __future__ import annotations

import math

import pytest

import sottovoce as sv
from sottovoce.mechanisms import create
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.unary import UnaryOptimized, UnarySymmetric
from sottovoce.randomness import ONE
from sottovoce.randomness.discrete_gaussian import discrete_gaussian

SIZE = 16
DIMENSION = 4
AXIS = 2


def planted(kind, fault):
    """A mechanism of that kind whose device is `fault`."""

    def _randomize(self, value, source):
        return fault(self, value, source)

    return type(kind.__name__, (kind,), {"_randomize": _randomize})


def sent_for(value, change):
    """The device of the kind, except that one value's report is changed."""

    def of(kind):
        def fault(self, held, source):
            report = kind._randomize(self, held, source)
            return change(report, held) if held == value else report

        return planted(kind, fault)

    return of


class Nudged:
    """A source whose coins are a little likelier to come up than they were asked to be."""

    def __init__(self, source, by: int) -> None:
        self._source, self._by = source, by

    def below(self, n: int) -> int:
        return self._source.below(n)

    def bernoulli(self, threshold: int) -> bool:
        return self._source.bernoulli(threshold + self._by)


@pytest.mark.parametrize("name", ["hadamard", "randomized_response", "unary_optimized", "unary_symmetric"])
def test_without_a_fault_finite_mechanisms_are_sound(name: str) -> None:
    assert sv.audit(create(name, SIZE, 1.0), samples=100).sound


@pytest.mark.parametrize("value", [5, 9])
def test_one_value_that_tells_a_bit_or_itself(value: int) -> None:
    even = sent_for(value, lambda report, held: report & ~1)(Hadamard)
    truthful = sent_for(value, lambda report, held: held)(RandomizedResponse)
    for kind in (even, truthful):
        found = sv.audit(kind(SIZE, 1.0), samples=100)
        assert not found.sound
        assert found.exact_epsilon == math.inf


@pytest.mark.parametrize("kind", [Hadamard, RandomizedResponse, UnarySymmetric])
def test_a_coin_off_by_the_last_bit_for_one_value(kind) -> None:
    def fault(self, value, source):
        return kind._randomize(self, value, Nudged(source, 1) if value == 9 else source)

    assert not sv.audit(planted(kind, fault)(SIZE, 1.0), samples=100).sound


@pytest.mark.parametrize("kind", [UnaryOptimized, UnarySymmetric])
@pytest.mark.parametrize(
    "change",
    [
        lambda report, held: tuple(sorted({*report, held})),
        lambda report, held: tuple(v for v in report if v != held),
        lambda report, held: tuple(sorted({*report, 12} if 2 in report else {*report} - {12})),
    ],
    ids=["own bit set", "own bit clear", "one bit copies another"],
)
def test_one_value_of_a_unary_encoding(kind, change) -> None:
    assert not sv.audit(sent_for(9, change)(kind)(SIZE, 1.0), samples=100).sound


def test_a_unary_device_that_draws_too_little_for_one_value() -> None:
    def fault(self, value, source):
        if value != 9:
            return UnaryOptimized._randomize(self, value, source)
        return tuple(v for v in range(SIZE) if v != 9 and source.bernoulli(self.other_threshold))

    assert not sv.audit(planted(UnaryOptimized, fault)(SIZE, 1.0), samples=100).sound


def without_noise(self, vector, source):
    report = list(Gaussian._randomize(self, vector, source))
    report[AXIS] = self.on_grid(vector)[AXIS]
    return tuple(report)


def half_the_variance(self, vector, source):
    variances = [self.noise_variance // (1 + (j == AXIS)) for j in range(self.dimension)]
    whole = self.on_grid(vector)
    return tuple(k + discrete_gaussian(variance, source) for k, variance in zip(whole, variances, strict=True))


def three_quarters_in_all(self, vector, source):
    variance = self.noise_variance * 3 // 4
    return tuple(k + discrete_gaussian(variance, source) for k in self.on_grid(vector))


def the_same_noise_twice(self, vector, source):
    report, whole = list(Gaussian._randomize(self, vector, source)), self.on_grid(vector)
    report[AXIS] = report[0] - whole[0] + whole[AXIS]
    return tuple(report)


def often_small(self, vector, source):
    tenth = self.noise_variance // 10
    coins = [source.below(5) < 3 for _ in range(self.dimension)]
    noise = (discrete_gaussian(tenth if coin else tenth * 47 // 2, source) for coin in coins)
    return tuple(k + drawn for k, drawn in zip(self.on_grid(vector), noise, strict=True))


def noise_that_follows_the_vector(self, vector, source):
    report = Gaussian._randomize(self, vector, source)
    return tuple(self.on_grid(vector)) if vector[0] < 0 else report


@pytest.mark.parametrize(
    "fault",
    [
        without_noise,
        half_the_variance,
        three_quarters_in_all,
        the_same_noise_twice,
        often_small,
        noise_that_follows_the_vector,
    ],
    ids=lambda fault: fault.__name__.replace("_", " "),
)
def test_noise_that_is_not_as_stated(fault) -> None:
    mechanism = planted(Gaussian, fault).best(DIMENSION, 1.0, 1.0, 1e-6, 10_000)
    assert not sv.audit(mechanism, samples=100).sound


def seed_tells_a_sign(self, vector, source):
    seed, bit = Rejection._randomize(self, vector, source)
    return seed & ~1 | int(vector[0] > 0), bit


def seed_loses_its_highest_bit(self, vector, source):
    seed, bit = Rejection._randomize(self, vector, source)
    return seed % (ONE // 2 if vector[0] > 0 else ONE), bit


def bit_tells_a_sign(self, vector, source):
    seed, bit = Rejection._randomize(self, vector, source)
    return seed, 1 if vector[-1] > 0 else bit


def bit_cannot_be_one(self, vector, source):
    seed, bit = Rejection._randomize(self, vector, source)
    return seed, 0 if vector[-1] > 0 else bit


@pytest.mark.parametrize(
    "fault",
    [seed_tells_a_sign, seed_loses_its_highest_bit, bit_tells_a_sign, bit_cannot_be_one],
    ids=lambda fault: fault.__name__.replace("_", " "),
)
def test_seeds_and_bits_that_tell(fault) -> None:
    mechanism = planted(Rejection, fault).best(DIMENSION, 1.0, 1.0, 0.0, 10_000)
    found = sv.audit(mechanism, samples=100)
    assert not found.sound
    assert found.exact_epsilon == math.inf


def off_by_one(self, vector, source):
    return Codebook._randomize(self, vector, Nudged(source, 1))


def sign_fixed(self, vector, source):
    report = Codebook._randomize(self, vector, source)
    return report & ~1 if vector[AXIS] > 0.9 * self.radius else report


def rotation_told(self, vector, source):
    report = Codebook._randomize(self, vector, source)
    return report % (2 * self.size) if vector[AXIS] > 0.9 * self.radius else report


@pytest.mark.parametrize(
    "fault", [off_by_one, sign_fixed, rotation_told], ids=lambda fault: fault.__name__.replace("_", " ")
)
def test_candidates_that_do_not_follow_their_marks(fault) -> None:
    assert not sv.audit(planted(Codebook, fault).best(DIMENSION, 1.0, 1.0, 0.0, 10_000), samples=100).sound


@pytest.mark.slow
def test_without_a_fault_vector_mechanisms_are_sound() -> None:
    """Planting by itself breaks nothing: the same classes around the sound device."""
    for kind, delta in ((Gaussian, 1e-6), (Rejection, 0.0), (Codebook, 0.0)):
        mechanism = planted(kind, kind._randomize).best(DIMENSION, 1.0, 1.0, delta, 10_000)
        assert sv.audit(mechanism, samples=100, seconds=1).sound
