"""The blanket of a channel whose every probability is listed: no symmetry is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.blanket import Blanket, PairLaw
from sottovoce.theory.convex_order import MOST_ATOMS, Law, envelope, law_of_stop_losses, opposed

__all__ = ["ListedCover", "listed_blanket"]

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
        one = int(squares.argmax())
        distances = np.square(self.ratios - self.ratios[one]) @ self.chances
        other = int(distances.argmax())
        telling = self.chances * np.square(self.ratios[one] - self.ratios[other])
        return one, other, int((self.ratios @ telling).argmin())


def listed_blanket(channel: Floats, why: str) -> Blanket | None:
    """The blanket of a channel with these probabilities: one row per value and one column per report.

    None where a report is impossible for some value and not for all: that is no private channel.

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
