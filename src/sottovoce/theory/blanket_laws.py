"""Laws of pairs that many channels share: two levels, one public bit, or every probability listed.

With two levels, a value favours some reports, which are more likely than the rest, and g is the lower level wherever
some value does not favour the report. Where every value favours equally many, what two values have in common says all:
the fewer reports both favour, the higher their law is in convex order. For let h > l be the levels over g and w =
e^epsilon. Where one report that both favour and one that neither does are replaced by one that each favours alone, L
takes the values h - w l and l - w h instead of h - w h and l - w l: the same sum, further apart. Two equal values
favour the same reports and are below all others.

Where every probability of a channel is listed, no symmetry is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.blanket import Blanket, PairLaw
from sottovoce.theory.convex_order import MOST_ATOMS, Law, envelope, law_of_stop_losses, opposed

__all__ = ["ListedCover", "Third", "binary_law", "listed_blanket", "two_level_law"]


class Third(NamedTuple):
    """Shares of all reports that a third value favours."""

    shared: Fraction
    """Among those that both of two values favour, and not every value."""
    first: Fraction
    """Among those that the first favours and the second does not."""
    second: Fraction
    """Among those that the second favours and the first does not."""
    neither: Fraction
    """Among those that neither favours."""


def two_level_law(
    high: Fraction,
    low: Fraction,
    *,
    favoured: Fraction,
    shared: Fraction,
    common: Fraction = Fraction(0),
    third: Third | None = None,
) -> PairLaw:
    """The law of two values that favour some of a number of reports.

    Parameters
    ----------
    high, low
        A report's probability, times the number of reports, where the value favours it and where not.
    favoured, shared, common
        Shares of all reports that one value favours, that both of the two favour, and that every value favours.
    third
        What the bystander favours; None for the pair's second value.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> law = two_level_law(Fraction(3, 2), Fraction(3, 4), favoured=third, shared=Fraction(0))
    >>> law.mass, law.one
    (0.75, array([0.5 , 0.25, 0.25]))
    """
    single, both, neither = favoured - shared, shared - common, 1 - 2 * favoured + shared
    third = third or Third(both, Fraction(0), single, Fraction(0))

    def seen(share: Fraction, of_third: Fraction) -> Fraction:
        return low * share + (high - low) * of_third

    return PairLaw.of(
        [
            (low * single, high * single, low * single, seen(single, third.first)),
            (low * single, low * single, high * single, seen(single, third.second)),
            (low * both, high * both, high * both, seen(both, third.shared)),
            (low * neither, low * neither, low * neither, seen(neither, third.neither)),
            (high * common, high * common, high * common, high * common),
        ]
    )


def binary_law(own: Fraction, differing: Fraction, constant: Fraction = Fraction(0)) -> PairLaw:
    """The law of two values where something is drawn in public, and randomized response sends a bit about it.

    Given what was drawn, two values have the same bit or not, and these are laws of two levels: so of all pairs those
    with different bits most often are the highest in convex order. The bystander is the pair's second value.

    Parameters
    ----------
    own
        The probability that the bit sent is the true one: at least one half.
    differing
        The probability that something is drawn in which the two values' bits differ.
    constant
        The probability that something is drawn in which all values have the same bit, so that g is the channel itself.

    Examples
    --------
    >>> law = binary_law(Fraction(3, 4), Fraction(1, 2))
    >>> law.mass, law.one
    (0.5, array([0.375, 0.125, 0.375, 0.125]))
    """
    flipped, same = 1 - own, 1 - differing - constant
    differ, agree = flipped * differing, flipped * same
    return PairLaw.of(
        [
            (differ, own * differing, differ, differ),
            (differ, differ, own * differing, own * differing),
            (agree, own * same, own * same, own * same),
            (agree, agree, agree, agree),
            (constant, constant, constant, constant),
        ]
    )


Floats = NDArray[np.float64]

_MOST_STEPS: Final = 2**27
"""Pairs of values times reports that are gone through for one epsilon, which takes about half a second."""

_ROUNDING: Final = 2.0**-49


@final
@dataclass(frozen=True, eq=False)
class ListedCover:
    """All pairs of a listed channel's values.

    The law is the envelope of all pairs', with itself or another, on an even grid. Where there are too many pairs, it
    is the one of X - weight X' that is above all others, whatever X and X' have to do with each other, for a law of X
    and X' that is above every value's q(Y|x)/g(Y).

    Attributes
    ----------
    ratios
        gamma q(y|x)/g(y): one row per value x, one column per report y.
    chances
        g(y)/gamma.
    mass
        gamma.
    """

    ratios: Floats
    chances: Floats
    mass: float

    @classmethod
    def of(cls, channel: Floats) -> Self:
        """From the probabilities, one row per value and one column per report, all above 0."""
        least = channel.min(axis=0)
        mass = float(least.sum())
        return cls(np.ascontiguousarray(mass * channel / least), least / mass, mass)

    def dominating(self, weight: float) -> Law:
        """As `Blanket.dominating`."""
        values, reports = self.ratios.shape
        if values**2 * (reports + MOST_ATOMS) > _MOST_STEPS:
            chances, numbers = self._single
            return opposed((chances, numbers), (chances, -weight * numbers))
        from sottovoce.kernels.stop_losses import largest_stop_losses

        least, most = self.ratios.min(axis=0), self.ratios.max(axis=0)
        low, high = float((least - weight * most).min()), float((most - weight * least).max())
        if not high > low:
            return np.ones(1), np.array([1 - weight])
        grid = np.linspace(low, high, MOST_ATOMS)
        chances, losses = law_of_stop_losses(grid, largest_stop_losses(self.ratios, self.chances, weight, grid))
        # Sums over many reports are rounded: up to the mean that every pair has, and some units more.
        short = 1 - weight - float(chances @ losses)
        return chances, losses + max(short, 0.0) + _ROUNDING * (high - low)

    @cached_property
    def _single(self) -> Law:
        """A law above that of every row's ratios."""
        return envelope([(self.chances, row) for row in self.ratios])

    def telling_pair(self) -> tuple[int, int, int]:
        """Two values that are far apart, and one whose reports are seldom those that tell them apart."""
        squares = np.square(self.ratios) @ self.chances
        first = int(squares.argmax())
        distances = np.square(self.ratios - self.ratios[first]) @ self.chances
        second = int(distances.argmax())
        telling = self.chances * np.square(self.ratios[first] - self.ratios[second])
        return first, second, int((self.ratios @ telling).argmin())


def listed_blanket(channel: Floats, why: str) -> Blanket | None:
    """The blanket of a channel with these probabilities: one row per value and one column per report.

    None where a report is impossible for some value and not for all: such a channel is not private.

    Examples
    --------
    >>> blanket = listed_blanket(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), "listed")
    >>> blanket.mass
    0.75
    """
    channel = channel[:, channel.max(axis=0) > 0]
    if not channel.min() > 0:
        return None
    cover = ListedCover.of(channel)
    pair = cover.telling_pair()
    rows = np.column_stack([channel.min(axis=0), *(channel[value] for value in pair)])
    return Blanket((PairLaw.of(rows.tolist()),), why, cover)
