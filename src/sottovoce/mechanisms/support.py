"""Estimation where a report supports some values and not others.

One home for the algebra of randomized response, subset selection, unary encodings and
projective geometry: a report supports the sender's value with probability `own` and any
other given value with probability `other`.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.finite import FiniteMechanism, ReportSpread

__all__ = ["Support", "SupportMechanism"]


@dataclass(frozen=True)
class Support:
    """P1 = `own`, P0 = `other`, exact; everything else follows.

    With f(v) the fraction of reports that support v, (f(v) - P0)/(P1 - P0) is unbiased for
    p(v). f(v) is a mean of n independent bits of mean phi = P0 + p(v)(P1 - P0), which gives
    the variance, and Hoeffding's lemma for a bit gives the proxy.
    """

    own: Fraction
    other: Fraction

    @property
    def signal(self) -> Fraction:
        """P1 - P0."""
        return self.own - self.other

    def estimate(self, supporting: NDArray[np.int64], n_reports: int) -> NDArray[np.float64]:
        """Unbiased frequencies from the number of reports supporting each value."""
        return (supporting / n_reports - float(self.other)) / float(self.signal)

    def variance(self, frequencies: NDArray[np.float64], n_reports: int) -> NDArray[np.float64]:
        """phi (1 - phi) / (n (P1 - P0)^2)."""
        phi = float(self.other) + frequencies * float(self.signal)
        return np.asarray(phi * (1 - phi) / (n_reports * float(self.signal) ** 2))

    @property
    def proxy(self) -> float:
        """1 / (4 (P1 - P0)^2)."""
        return 1 / (4 * float(self.signal) ** 2)

    def worst_total_variance(self, domain_size: int) -> float:
        """n times the summed variance at the uniform distribution.

        The sum of phi does not depend on p and the sum of phi^2 grows with the sum of p^2, so
        the uniform distribution is the worst.
        """
        phi = self.other + self.signal / domain_size
        return float(domain_size * phi * (1 - phi) / self.signal**2)


@dataclass(frozen=True)
class SupportMechanism(FiniteMechanism):
    """A mechanism whose reports support some values and not others: it says how, the rest follows."""

    @property
    @abc.abstractmethod
    def _support(self) -> Support:
        """P1 and P0 at the rounded thresholds in use."""

    @abc.abstractmethod
    def _supporting(self, counts: Counts) -> Counts:
        """How many of the counted reports support each value."""

    @property
    @final
    def signal(self) -> Fraction:
        """P1 - P0."""
        return self._support.signal

    @final
    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """(f - P0)/(P1 - P0)."""
        return self._support.estimate(self._supporting(counts), n_reports)

    @final
    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """phi (1 - phi) / (n (P1 - P0)^2)."""
        return self._support.variance(frequencies, n_reports)

    @property
    @final
    def proxy(self) -> float:
        """1 / (4 (P1 - P0)^2)."""
        return self._support.proxy

    @property
    @final
    def worst_total_variance(self) -> float:
        """At the uniform distribution."""
        return self._support.worst_total_variance(self.domain_size)

    @property
    @final
    def values_per_block(self) -> int:
        """All: the variance of a share depends on its own frequency only."""
        return self.domain_size

    @property
    @final
    def two_outcomes(self) -> tuple[float, float]:
        """Supported or not."""
        return float(-self._support.other / self.signal), float((1 - self._support.other) / self.signal)

    @property
    def differing_values(self) -> tuple[int, bool]:
        """In how many values the supports of two reports can differ at most, and whether two do."""
        return self.domain_size, False

    @property
    @final
    def report_spread(self) -> ReportSpread:
        """Once the de-biasing factor in every value that one report supports and the other does not."""
        (apart, exact), scale = self.differing_values, float(1 / self.signal)
        return ReportSpread(scale, scale * math.sqrt(apart), exact)
