"""Channels from which every value's frequency is estimated: the contract for distributions."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from sottovoce.errors import MechanismError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel import ChannelMechanism

__all__ = ["FiniteMechanism"]


@dataclass(frozen=True)
class FiniteMechanism(ChannelMechanism):
    """A channel with the analyst's side for distributions: `estimate` and `variance`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.signal > 0:
            raise MechanismError(
                f"epsilon {self.epsilon:g} is too small for {self.name} over {self.domain_size:,} values: "
                "rounded toward privacy its report carries nothing; use a larger epsilon or mechanism='hadamard'"
            )

    @classmethod
    @abc.abstractmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """The mechanism with its own parameters chosen for the least error."""

    @property
    @abc.abstractmethod
    def signal(self) -> Fraction:
        """The exact factor by which the channel shrinks a frequency; estimates divide by it."""

    @abc.abstractmethod
    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased estimate of every value's frequency; entries may be negative."""

    @abc.abstractmethod
    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """Exact variance of every entry of `estimate`, people's sampling from `frequencies` included."""

    @property
    @abc.abstractmethod
    def proxy(self) -> float:
        """tau**2 such that every entry of the estimate is sub-Gaussian with proxy tau**2 / n_reports."""

    @property
    @abc.abstractmethod
    def worst_total_variance(self) -> float:
        """The largest sum of variances over all frequencies, times n_reports."""

    @final
    def expected_l2(self, n_reports: int, frequencies: Floats | None = None) -> float:
        """Root mean squared L2 error of the raw estimate; for the worst frequencies unless some are given."""
        if frequencies is None:
            return math.sqrt(self.worst_total_variance / n_reports)
        return math.sqrt(float(self.variance(frequencies, n_reports).sum()))
