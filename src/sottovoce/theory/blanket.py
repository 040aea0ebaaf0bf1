"""The privacy blanket of a channel: what a report says whatever the sender's value, and what is left of two values.

The blanket of a channel q is g(y) = min_x q(y|x). With probability gamma = sum_y g(y) a report is drawn from g/gamma,
whatever the value, and hides those that are not (Balle, Bell, Gascon and Nissim 2019). A smaller g is a blanket too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.convex_order import Law, condensed, envelope

__all__ = ["Blanket", "Cover", "MixedCover", "PairLaw"]

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class PairLaw:
    """Classes of reports that an ordered pair of values cannot tell apart further.

    In a class q(y|one)/g(y) and q(y|other)/g(y) are the same for all its reports.

    Attributes
    ----------
    blanket
        Mass of each class under g; they add up to gamma. Above 0.
    one, other
        Its probability under the pair's values.
    bystander
        Its probability under the value that everybody else has in the test behind the lower bound: one that hides the
        pair as little as the blanket does. Any value of the domain is right, the best is tight.
    """

    blanket: Floats
    one: Floats
    other: Floats
    bystander: Floats

    @classmethod
    def of(cls, classes: Iterable[Sequence[Fraction | float]]) -> Self:
        """From rows of four numbers: blanket, one, other, bystander. Classes of no mass are left out.

        Examples
        --------
        >>> law = PairLaw.of([(0.25, 0.5, 0.25, 0.25), (0.25, 0.25, 0.5, 0.25), (0.25, 0.25, 0.25, 0.5)])
        >>> law.mass
        0.75
        """
        kept = [[float(number) for number in row] for row in classes if row[0] > 0]
        return cls(*np.array(kept, dtype=np.float64).T)

    @property
    def mass(self) -> float:
        """gamma."""
        return float(self.blanket.sum())

    @property
    def reversed(self) -> PairLaw:
        """The law of the pair in the other order."""
        return PairLaw(self.blanket, self.other, self.one, self.bystander)

    def losses(self, weight: float) -> Floats:
        """L in each class, for e^epsilon = `weight`: gamma (q(y|one) - weight q(y|other))/g(y)."""
        return np.asarray(self.mass * (self.one - weight * self.other) / self.blanket)

    def scaled(self, share: Fraction | float) -> PairLaw:
        """The classes' masses where the channel is used with this probability: a part of a law."""
        each = (self.blanket, self.one, self.other, self.bystander)
        return PairLaw(*(float(share) * numbers for numbers in each))

    @classmethod
    def joined(cls, parts: Sequence[PairLaw]) -> Self:
        """The classes of all parts of a law side by side."""
        names = ("blanket", "one", "other", "bystander")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Cover(Protocol):
    """Something that stands for every ordered pair of a channel's values, two equal ones among them."""

    @property
    def mass(self) -> float:
        """gamma."""

    def dominating(self, weight: float) -> Law:
        """As `Blanket.dominating`."""


@final
@dataclass(frozen=True, eq=False)
class Blanket:
    """The blanket of one channel, and laws of pairs of its values.

    Attributes
    ----------
    laws
        Laws of pairs of values, with a bystander, as the channel has them: tests that show what is not private at
        least are made of these. There are none where no pair's law is known exactly.
    why
        Why every pair is covered, in a sentence: the symmetry that is used.
    cover
        What stands for every pair; None where the laws and their reverses do: each pair's law, also that of a value
        with itself, is one of them, or below one of them in convex order for every epsilon.
    """

    laws: tuple[PairLaw, ...]
    why: str
    cover: Cover | None = None

    @property
    def mass(self) -> float:
        """gamma, the probability that a report says nothing about its sender."""
        return self.laws[0].mass if self.cover is None else self.cover.mass

    def dominating(self, weight: float) -> Law:
        """One law of L, for e^epsilon = `weight`, that is above every pair's in convex order; its mean is 1 - weight.

        Every pair's L has that mean under g/gamma, so the largest of the pairs' stop-loss transforms is that of a law.

        Returns
        -------
        tuple of numpy.ndarray
            Chances that add up to one, and the values of L that they belong to.

        Examples
        --------
        >>> law = PairLaw.of([(0.25, 0.75, 0.25, 0.25), (0.25, 0.25, 0.75, 0.75)])
        >>> Blanket((law,), "two values").dominating(1.5)
        (array([0.5, 0.5]), array([-1.75,  0.75]))
        """
        if self.cover is not None:
            return self.cover.dominating(weight)
        both_ways = [law for each in self.laws for law in (each, each.reversed)]
        return envelope([(law.blanket / law.mass, law.losses(weight)) for law in both_ways])


@final
@dataclass(frozen=True, eq=False)
class MixedCover:
    """All pairs where one of several channels is drawn in public, alike for all, and named in the report.

    Given the channel, L is gamma over that channel's gamma times L there, whose mean is the same for every pair. So
    each channel's dominating law may take the place of the pair's: mixtures keep convex order. The two values may be
    the same to some of the channels, which is why covers stand for such pairs too.

    Attributes
    ----------
    parts
        The probability of each channel, and its cover.
    """

    parts: tuple[tuple[Fraction | float, Cover], ...]

    @cached_property
    def mass(self) -> float:
        """gamma: the mean of the channels'."""
        return float(sum(float(share) * part.mass for share, part in self.parts))

    def dominating(self, weight: float) -> Law:
        """The channels' laws, each with its part of the blanket."""
        chances, values = [], []
        for share, part in self.parts:
            each, losses = part.dominating(weight)
            chances.append(float(share) * part.mass / self.mass * each)
            values.append(self.mass / part.mass * losses)
        return condensed((np.concatenate(chances), np.concatenate(values)))
