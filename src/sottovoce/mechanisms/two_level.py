"""The shape most channels share: some outputs are e**epsilon times as likely as the rest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sottovoce.randomness.thresholds import ONE, floor_of

__all__ = ["TwoLevel"]


@dataclass(frozen=True)
class TwoLevel:
    """Weight e**epsilon on `inside` outputs, weight 1 on `outside` others, as a device draws it.

    A device first draws Bernoulli(threshold / 2**64) for "inside", then a uniform member of the
    chosen group. The threshold is the floor of 2**64 inside e**eps / (inside e**eps + outside):
    rounding down moves toward the uninformative inside/(inside+outside), so the ratio of the two
    levels is at most e**epsilon, exactly.

    Examples
    --------
    >>> fair_coin_ish = TwoLevel(inside=1, outside=1, epsilon=1.0)
    >>> round(float(fair_coin_ish.probability_inside), 6)
    0.731059
    """

    inside: int
    outside: int
    epsilon: float

    @cached_property
    def threshold(self) -> int:
        """Probability of "inside", out of 2**64."""
        return floor_of(lambda e: self.inside * e / (self.inside * e + self.outside), self.epsilon)

    @property
    def probability_inside(self) -> Fraction:
        """Probability that the output is among the `inside` ones."""
        return Fraction(self.threshold, ONE)

    @property
    def each_inside(self) -> Fraction:
        """Probability of one given inside output."""
        return self.probability_inside / self.inside

    @property
    def each_outside(self) -> Fraction:
        """Probability of one given outside output."""
        return (1 - self.probability_inside) / self.outside

    @property
    def ratio(self) -> Fraction:
        """Likelihood ratio of the two levels; at most e**epsilon."""
        return self.each_inside / self.each_outside
