"""The battery catches what it is there to catch: each fault is planted and must be found.

The first five are the classic ones; the rest were seen in public code or in our own drafts.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from sottovoce.auditing import audit
from sottovoce.auditing.conformance import ConformanceError, admit, check_mechanism
from sottovoce.auditing.empirical import certify
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.codecs import IndexCodec, SubsetCodec
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.unary import UnaryOptimized
from sottovoce.randomness import os_source


@dataclass(frozen=True)
class TruthfulBit(UnaryOptimized):
    """The loop starts at 1: bit 0 goes out as it is."""

    def _randomize(self, value, source):
        noisy = super()._randomize(value, source)
        return tuple(v for v in range(self.domain_size) if (v == value if v == 0 else v in noisy))


@dataclass(frozen=True)
class RoundedUp(TwoLevel):
    @cached_property
    def threshold(self):
        return TwoLevel(self.inside, self.outside, self.epsilon).threshold + 1


@dataclass(frozen=True)
class WrongSideByOneUnit(Hadamard):
    """The threshold is rounded away from privacy, by one part in 2**64."""

    @cached_property
    def _levels(self):
        return RoundedUp(self.outputs_size // 2, self.outputs_size // 2, self.epsilon)


@dataclass(frozen=True)
class WrongSide(Hadamard):
    """The comparison is the wrong way round."""

    def _randomize(self, value, source):
        sign = not source.bernoulli(self._levels.threshold)
        position = source.below(self.outputs_size)
        agrees = ((value + 1) & position).bit_count() % 2 == 0
        return position ^ (((value + 1) & -(value + 1)) * (agrees != sign))


class InGivenOrder(SubsetCodec):
    def encode(self, report):
        packed = sum(v << (i * self.bits_each) for i, v in enumerate(report))
        return packed.to_bytes(self.width, "little")


@dataclass(frozen=True)
class UnsortedSubset(SubsetSelection):
    """The true item, when it is there, always stands first."""

    @cached_property
    def codec(self):
        return InGivenOrder(self.domain_size, self.subset_size)

    def _randomize(self, value, source):
        report = super()._randomize(value, source)
        return (value, *(v for v in report if v != value)) if value in report else report


@dataclass(frozen=True)
class BiasedEstimate(RandomizedResponse):
    """Clipping is fused with estimation."""

    def estimate(self, counts, n_reports):
        return super().estimate(counts, n_reports).clip(0, 1)


@dataclass(frozen=True)
class WrongVariance(Hadamard):
    """Forgets that people are a sample."""

    def variance(self, frequencies, n_reports):
        return np.full(self.domain_size, self.proxy / n_reports)


@dataclass(frozen=True)
class DebiasedByTheFormula(Hadamard):
    """De-biases with another epsilon than it randomizes with."""

    @property
    def signal(self):
        return super().signal * Fraction(999, 1000)


@dataclass(frozen=True)
class TellsByItsTime(RandomizedResponse):
    """Draws the lie only when it lies."""

    def _randomize(self, value, source):
        if source.bernoulli(self._levels.threshold):
            return value
        other = source.below(self.domain_size - 1)
        return other + (other >= value)


@dataclass(frozen=True)
class SimulatesAnotherLaw(RandomizedResponse):
    """The simulation lies a little less often than the device."""

    def randomize_many(self, values, rng):
        keep = rng.random(len(values)) < 0.05
        return np.where(keep, values, super().randomize_many(values, rng))


@dataclass(frozen=True)
class LoosePayload(RandomizedResponse):
    """The decoder takes values that do not exist."""

    @cached_property
    def codec(self):
        class Loose(IndexCodec):
            def decode(self, payload):
                return int.from_bytes(payload, "little") % self.outputs

        return Loose(self.domain_size)


@dataclass(frozen=True)
class OptimisticProxy(RandomizedResponse):
    @property
    def proxy(self):
        return super().proxy / 4


FAULTS = {
    TruthfulBit: "impossible for another",
    WrongSideByOneUnit: "exceeds e",
    WrongSide: "does not state the device's channel",
    UnsortedSubset: "impossible for another",
    BiasedEstimate: "biased",
    WrongVariance: "variance is not the exact one",
    DebiasedByTheFormula: "biased",
    TellsByItsTime: "draws asked of the source depend",
    SimulatesAnotherLaw: "does not follow the device's law",
    LoosePayload: "wrong length",
    OptimisticProxy: "not a sub-Gaussian proxy",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_battery_catches(fault) -> None:
    with pytest.raises(ConformanceError, match=FAULTS[fault]):
        check_mechanism(fault)


@pytest.mark.parametrize("fault", [TruthfulBit, WrongSideByOneUnit, UnsortedSubset])
def test_the_audit_catches_what_breaks_privacy(fault) -> None:
    assert not audit(fault.best(5, 1.0), samples=2000).sound


def test_the_empirical_audit_alone_catches_a_truthful_bit() -> None:
    """From bytes, with no formula: a bit sent in the clear certifies far more than the stated epsilon."""
    device, source = TruthfulBit.best(8, 0.5), os_source()

    def sent(value: int) -> bytes:
        return device.encode(device.randomize(value, source))

    assert certify(sent, [(0, 1)], samples=8000).lower_bound > 2.0


@dataclass(frozen=True)
class OneByteIsEnough(RandomizedResponse):
    """The lie is drawn from one byte: right on every small domain, revealing beyond 257 values."""

    def _randomize(self, value, source):
        truthful = source.bernoulli(self._levels.threshold)
        other = source.below(min(self.domain_size - 1, 256))
        return value if truthful else other + (other >= value)


def test_the_audit_runs_the_very_size_it_is_asked_about() -> None:
    check_mechanism(OneByteIsEnough, epsilons=(1.0,))
    assert audit(OneByteIsEnough.best(200, 1.0), samples=200).sound
    assert not audit(OneByteIsEnough.best(1000, 1.0), samples=200).sound


@dataclass(frozen=True)
class ForeignByte(OneByteIsEnough):
    """The same in a mechanism of another package."""

    name = "foreign_byte"


def test_a_mechanism_of_another_package_is_admitted_at_its_size() -> None:
    admit(ForeignByte(200, 1.0))
    with pytest.raises(
        MechanismError, match=r"J=1000, epsilon=.*\) does not do what it states: value .*: with the draws"
    ):
        admit(ForeignByte(1000, 1.0))


@dataclass(frozen=True)
class UnsortedList(SubsetSelection):
    """Only the listed encoding of sets keeps the order in which members were drawn."""

    @cached_property
    def codec(self):
        sound = super().codec
        return InGivenOrder(self.domain_size, self.subset_size) if isinstance(sound, SubsetCodec) else sound

    def _randomize(self, value, source):
        report = super()._randomize(value, source)
        return (value, *(v for v in report if v != value)) if value in report else report


def test_a_fault_in_one_encoding_only_is_found() -> None:
    assert not audit(UnsortedList.best(5, 1.0), samples=200).sound
