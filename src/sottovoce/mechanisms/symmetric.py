"""Support mechanisms that treat all values alike: four numbers say all about two entries of an estimate.

Randomized response, subset selection and the unary encodings. Projective geometry is not among them: whether a report
supports two values that are not the sender's depends on whether the three points lie on one line.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.support import SupportMechanism

__all__ = ["PairMoments", "PairSupport", "SymmetricMechanism"]


@dataclass(frozen=True)
class PairSupport:
    """The probability that one report supports two given different values, exact.

    Attributes
    ----------
    with_own
        Where one of the two is the sender's.
    of_others
        Where neither is; any number where there are two values only.
    """

    with_own: Fraction
    of_others: Fraction


@dataclass(frozen=True)
class PairMoments:
    """E[x x^T] = same I + all 1 1^T + own (e_u 1^T + 1 e_u^T) + itself e_u e_u^T.

    x is one report's estimate of the frequencies and u its sender's value.

    Attributes
    ----------
    same, all, own, itself
        The four numbers.
    values
        J, the number of values.
    constant, slope
        E[(sum of x)^2], and E[(sum of x) c.x] over c_u for a c that adds up to zero: both are one where a report
        always supports equally many values. They are J same + J^2 all + 2 J own + itself and J own + itself, added up
        exactly, because floats would cancel.
    """

    same: float
    all: float
    own: float
    itself: float
    values: int
    constant: float
    slope: float

    @classmethod
    def of(cls, same: Fraction, every: Fraction, own: Fraction, itself: Fraction, values: int) -> PairMoments:
        """From the four numbers as fractions."""
        slope = values * own + itself
        constant = values * (same + values * every + own) + slope
        return cls(float(same), float(every), float(own), float(itself), values, float(constant), float(slope))

    def second_moment(self, squared_norm: Floats, total: Floats, entry: Floats) -> Floats:
        """E[(h.x)^2] for weights h with this |h|^2 and this sum, where the sender's own weight is `entry`.

        The arguments are broadcast against each other.

        Examples
        --------
        >>> from sottovoce.mechanisms.randomized_response import RandomizedResponse
        >>> moments = RandomizedResponse(1000, 1.0).pair_moments
        >>> float(moments.second_moment(np.float64(1000), np.float64(1000), np.float64(1)))
        1.0
        """
        mean = total / self.values
        return self.second_moment_about(mean, squared_norm - total * mean, entry - mean)

    def second_moment_about(self, mean: Floats, squared_norm: Floats, entry: Floats) -> Floats:
        """`second_moment` of weights given by their mean and, less the mean, their squared norm and the sender's own.

        The four numbers applied to the weights as they stand would lose all digits where these are nearly constant.
        """
        about = 2 * self.slope * mean * entry + self.same * squared_norm + self.itself * np.square(entry)
        return np.asarray(self.constant * np.square(mean) + about)


@dataclass(frozen=True)
class SymmetricMechanism(SupportMechanism):
    """A support mechanism under which renaming the values changes nothing but names."""

    @property
    @abc.abstractmethod
    def _pair_support(self) -> PairSupport:
        """How often a report supports two given values together."""

    @property
    @abc.abstractmethod
    def support_size(self) -> int | None:
        """How many values every report supports; None where a report can support any set of values."""

    @property
    @final
    def differing_values(self) -> tuple[int, bool]:
        """Two sets of k values out of J differ in 2 min(k, J - k) at most; any two sets in all."""
        k, J = self.support_size, self.domain_size
        return (J if k is None else 2 * min(k, J - k)), True

    @cached_property
    def pair_moments(self) -> PairMoments:
        """The second moments of one report's estimate, for callers that know their weights by sums and norms.

        The estimate is x = g (s - P0) for the indicator s of the values that the report supports, g = 1/(P1 - P0), and
        E[s_i s_j] takes four values, according to which of i and j are the sender's own.
        """
        own, other = self._support.own, self._support.other
        both = self._pair_support.of_others - other**2
        mixed = self._pair_support.with_own - other * own
        alone, mine = other - other**2, own - 2 * other * own + other**2
        scale = 1 / self.signal**2
        return PairMoments.of(
            scale * (alone - both),
            scale * both,
            scale * (mixed - both),
            scale * (mine - alone - 2 * (mixed - both)),
            self.domain_size,
        )

    @final
    def _second_moments(self, rows: Floats) -> Floats:
        """By `pair_moments`, of the weights less their mean."""
        mean = rows.mean(axis=1, keepdims=True)
        rest = rows - mean
        return self.pair_moments.second_moment_about(mean, np.square(rest).sum(axis=1, keepdims=True), rest)
