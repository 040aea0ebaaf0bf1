"""What both unary encodings share: one bit per value, each flipped independently."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Report
from sottovoce.mechanisms.codecs import BitmapCodec
from sottovoce.mechanisms.reference import ChannelReference, Draws, Rows, Values
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport, SymmetricMechanism
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.randomness.thresholds import ONE, ceil_of, floor_of
from sottovoce.theory.blanket import Blanket, PairLaw

__all__ = ["Unary", "UnaryOptimized", "UnarySymmetric"]

_MOST_BITS: Final = 64
"""With more bits, the chance that all of them are set is too small to be distinguished from 0 in a blanket."""


@dataclass(frozen=True)
class Unary(SymmetricMechanism):
    """Bit v is set with probability P1 where v is the person's value and P0 elsewhere, independently.

    Guarantee
        Two values change the law of two bits only, so the worst ratio is P1 (1-P0) / (P0 (1-P1)).
    Error
        `Support` with P1 and P0.
    """

    @classmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        return cls(domain_size, epsilon)

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Two, three and five values."""
        return tuple(cls(size, epsilon) for size in (2, 3, 5))

    def _check_parameters(self) -> None:
        pass

    @property
    @abc.abstractmethod
    def own_threshold(self) -> int:
        """Probability that the bit of the person's value is set, out of 2**64; rounded down."""

    @property
    @abc.abstractmethod
    def other_threshold(self) -> int:
        """Probability that any other bit is set, out of 2**64; rounded up."""

    @property
    def cells(self) -> int:
        """One count per value: how often its bit was set."""
        return self.domain_size

    @cached_property
    def codec(self) -> BitmapCodec:
        """One bit per value."""
        return BitmapCodec(self.domain_size)

    @cached_property
    def _support(self) -> Support:
        return Support(Fraction(self.own_threshold, ONE), Fraction(self.other_threshold, ONE))

    @property
    def _pair_support(self) -> PairSupport:
        """Bits are independent."""
        own, other = self._support.own, self._support.other
        return PairSupport(own * other, other * other)

    @property
    def support_size(self) -> None:
        """Any set: bits are independent."""

    def _randomize(self, value: int, source: Source) -> Report:
        thresholds = [self.other_threshold] * self.domain_size
        thresholds[value] = self.own_threshold
        return tuple(v for v, threshold in enumerate(thresholds) if source.bernoulli(threshold))

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Vectorised, same law; rows are bitmaps."""
        shape = (len(values), self.domain_size)
        words = rng.integers(0, ONE - 1, size=shape, dtype=np.uint64, endpoint=True)
        bits = words < np.uint64(self.other_threshold)
        own = np.arange(len(values)), values
        bits[own] = words[own] < np.uint64(self.own_threshold)
        return np.packbits(bits, axis=1, bitorder="little")

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """How often each bit is set."""
        bits = np.unpackbits(batch, axis=1, count=self.domain_size, bitorder="little")
        counts += bits.sum(axis=0, dtype=np.int64)

    def probability(self, report: Report, value: int) -> Fraction:
        """Product over the bits."""
        members = cast(tuple[int, ...], report)
        own = self.own_threshold if value in members else ONE - self.own_threshold
        others_set = len(members) - (value in members)
        others_clear = self.domain_size - 1 - others_set
        others = self.other_threshold**others_set * (ONE - self.other_threshold) ** others_clear
        return Fraction(own * others, ONE**self.domain_size)

    def privacy_ratio(self) -> Fraction:
        """The worst report has the value's bit set and the other value's clear: P1 (1-P0) / (P0 (1-P1))."""
        own, other = self._support.own, self._support.other
        return own * (1 - other) / (other * (1 - own))

    def blanket(self) -> Blanket:
        """Renaming values changes nothing, so all pairs have one law: by the bits of the two.

        Let all bits be set with P0, which nobody sends. Over that, a report has P1/P0 where the value's bit is set
        and (1-P1)/(1-P0), which is less, where it is clear. So g has the lower one but for the report of all bits
        set; where there are very many bits it is taken to have it there too.
        """
        own, other, J = self._support.own, self._support.other, self.domain_size
        set_, clear, zero = own / other, (1 - own) / (1 - other), 1 - other
        every = other**J if J <= _MOST_BITS else Fraction(0)
        both, single, none = other**2 - every, other * zero, zero**2
        # The bystander's own bit is one of the others, if there are any.
        seen = (both + every * (1 - set_), single, single) if J > 2 else (set_ * both, clear * single, set_ * single)
        law = PairLaw.of(
            [
                (clear * single, set_ * single, clear * single, seen[1]),
                (clear * single, clear * single, set_ * single, seen[2]),
                (clear * both, set_ * both, set_ * both, seen[0]),
                (clear * none, clear * none, clear * none, none if J > 2 else clear * none),
                (set_ * every, set_ * every, set_ * every, set_ * every),
            ]
        )
        return Blanket((law,), "all pairs of values are alike")

    def audit_reference(self) -> ChannelReference:
        return UnaryReference(self.domain_size, self.own_threshold, self.other_threshold)

    def outputs(self) -> Iterator[Report]:
        """All sets of values."""
        values = range(self.domain_size)
        return chain.from_iterable(combinations(values, k) for k in range(self.domain_size + 1))

    def _supporting(self, counts: Counts) -> Counts:
        return counts


class UnaryReference(ChannelReference):
    """One coin per value; the falls are the bitmap."""

    def __init__(self, values: int, own_threshold: int, other_threshold: int) -> None:
        super().__init__(values)
        self.own, self.other = own_threshold, other_threshold

    def requests(self, value: int) -> list[Request]:
        asked = [-self.other] * self.values
        asked[value] = -self.own
        return asked

    def payloads(self, values: Values, draws: Draws) -> Rows:
        return np.packbits(draws.astype(np.uint8), axis=1, bitorder="little")

    def ratio(self) -> Fraction:
        return Fraction(self.own * (ONE - self.other), self.other * (ONE - self.own))


@final
@dataclass(frozen=True)
class UnaryOptimized(Unary):
    """The own bit is a fair coin; every other bit is set with probability 1/(e^eps+1), rounded up.

    Guarantee
        Pure epsilon-LDP: the ratio is (1-P0)/P0 (Wang, Blocki, Li, Jha 2017, Sec. 4.3).
    Error
        See `Unary`, with P1 = 1/2 and P0 = 1/(e^eps+1): the least variance of rare values among
        unary encodings.
    """

    name: ClassVar[str] = "unary_optimized"
    summary: ClassVar[str] = "one noisy bit per value"
    use_when: ClassVar[str] = "simple devices and small domains: one noisy bit per value"

    @property
    def own_threshold(self) -> int:
        """One half, exactly."""
        return ONE // 2

    @cached_property
    def other_threshold(self) -> int:
        """1/(e^eps+1), rounded up toward one half."""
        return ceil_of(lambda e: 1 / (e + 1), self.epsilon)

    def citation(self) -> str:
        """Wang, Blocki, Li and Jha 2017."""
        return (
            "@inproceedings{wang2017locally, author={Wang, Tianhao and Blocki, Jeremiah and Li, Ninghui and Jha, "
            "Somesh}, title={Locally Differentially Private Protocols for Frequency Estimation}, "
            "booktitle={USENIX Security}, year={2017}}"
        )


@final
@dataclass(frozen=True)
class UnarySymmetric(Unary):
    """Every bit of the one-hot vector is kept with probability e^(eps/2)/(e^(eps/2)+1).

    Guarantee
        Pure epsilon-LDP: two bits differ, each at eps/2 (Erlingsson, Pihur, Korolova 2014, one-time form).
    Error
        See `Unary`, with P1 = e^(eps/2)/(e^(eps/2)+1) and P0 = 1 - P1.
    """

    name: ClassVar[str] = "unary_symmetric"
    summary: ClassVar[str] = "one noisy bit per value"
    use_when: ClassVar[str] = "the margin of a share that may be large; comparison with RAPPOR's one-time form"

    @cached_property
    def own_threshold(self) -> int:
        """P1, rounded down."""
        return floor_of(lambda e: e / (e + 1), Fraction(self.epsilon) / 2)

    @property
    def other_threshold(self) -> int:
        """1 - P1."""
        return ONE - self.own_threshold

    def citation(self) -> str:
        """Erlingsson, Pihur and Korolova 2014."""
        return (
            "@inproceedings{erlingsson2014rappor, author={Erlingsson, {\\'U}lfar and Pihur, Vasyl and Korolova, "
            "Aleksandra}, title={{RAPPOR}: Randomized Aggregatable Privacy-Preserving Ordinal Response}, "
            "booktitle={CCS}, year={2014}}"
        )
