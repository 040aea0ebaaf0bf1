"""Symmetric unary encoding: RAPPOR's one-time form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

from sottovoce.mechanisms.unary import Unary
from sottovoce.randomness.thresholds import ONE, floor_of

__all__ = ["UnarySymmetric"]


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
