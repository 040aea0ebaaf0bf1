"""Published mechanisms for the mean of one number in [-1, 1]: two points, piecewise and hybrid.

Baselines for `compare`, drawn in floating point and never deployed. What a survey deploys is found by a linear program
(`sottovoce.strategies.minimax`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER_BASELINES", "Hybrid", "NumberBaseline", "Piecewise", "TwoPoints"]

Floats = NDArray[np.float64]


class NumberBaseline(ABC):
    """An unbiased report of a number x in [-1, 1], and its variance."""

    name: ClassVar[str]
    citation: ClassVar[str]

    @abstractmethod
    def variance(self, x: float, epsilon: float) -> float:
        """Variance of one report from a person with the number x: n Var of the mean where everybody has x."""

    @abstractmethod
    def worst_variance(self, epsilon: float) -> float:
        """The largest variance over all x."""

    @abstractmethod
    def randomize_many(self, numbers: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
        """One report per person; their mean estimates the mean."""


@final
class TwoPoints(NumberBaseline):
    """One of two points +-(e^eps + 1)/(e^eps - 1): what `binary` sends in one dimension."""

    name = "two points"
    citation = "Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private estimation. JASA 113, 2018"

    def variance(self, x: float, epsilon: float) -> float:
        """c^2 - x^2 with c = coth(eps/2)."""
        return self.worst_variance(epsilon) - x * x

    def worst_variance(self, epsilon: float) -> float:
        """coth(eps/2)^2, at x = 0.

        Examples
        --------
        >>> [round(TwoPoints().worst_variance(epsilon), 3) for epsilon in (0.5, 1, 2, 3, 4)]
        [16.671, 4.683, 1.724, 1.221, 1.076]
        """
        return math.tanh(epsilon / 2) ** -2

    def randomize_many(self, numbers: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
        """The upper point with probability (1 + x/c)/2."""
        point = 1 / math.tanh(epsilon / 2)
        return np.where(rng.random(len(numbers)) < 0.5 + numbers / (2 * point), point, -point)


@final
class Piecewise(NumberBaseline):
    """A point of [-C, C], C = coth(eps/4), e^eps times as likely in an interval of length C - 1 around x."""

    name = "piecewise"
    citation = (
        "Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: Collecting and analyzing multidimensional data with local "
        "differential privacy. ICDE 2019"
    )

    def variance(self, x: float, epsilon: float) -> float:
        """x^2/(h - 1) + (h + 3)/(3 (h - 1)^2) with h = e^(eps/2)."""
        less = math.expm1(epsilon / 2)
        return x * x / less + (less + 4) / (3 * less**2)

    def worst_variance(self, epsilon: float) -> float:
        """At x = 1: 4h/(3 (h - 1)^2).

        Examples
        --------
        >>> [round(Piecewise().worst_variance(epsilon), 3) for epsilon in (0.5, 1, 2, 3, 4)]
        [21.223, 5.224, 1.228, 0.493, 0.241]
        """
        return self.variance(1.0, epsilon)

    def randomize_many(self, numbers: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
        """Inside the interval with probability h/(h + 1), uniform inside and outside."""
        half = math.exp(epsilon / 2)
        end = (half + 1) / (half - 1)
        left = (end + 1) / 2 * numbers - (end - 1) / 2
        place = rng.random(len(numbers))
        inside = left + (end - 1) * place
        # Outside has length C + 1: from -C to the left end, then from the right end to C.
        outside = -end + (end + 1) * place
        outside = np.where(outside < left, outside, outside + end - 1)
        return np.where(rng.random(len(numbers)) < half / (half + 1), inside, outside)


@final
class Hybrid(NumberBaseline):
    """Piecewise with probability 1 - e^(-eps/2), otherwise two points; two points alone up to eps = 0.61."""

    name = "hybrid"
    citation = Piecewise.citation

    def share(self, epsilon: float) -> float:
        """The probability of piecewise: with it, the variance is the same for every x.

        Examples
        --------
        >>> Hybrid().share(0.6), round(Hybrid().share(1.0), 3)
        (0.0, 0.393)
        """
        return -math.expm1(-epsilon / 2) if epsilon > PIECEWISE_FROM else 0.0

    def variance(self, x: float, epsilon: float) -> float:
        """The mean of the two variances: both are unbiased."""
        share = self.share(epsilon)
        return share * Piecewise().variance(x, epsilon) + (1 - share) * TwoPoints().variance(x, epsilon)

    def worst_variance(self, epsilon: float) -> float:
        """At x = 0.

        Examples
        --------
        >>> [round(Hybrid().worst_variance(epsilon), 3) for epsilon in (0.5, 1, 2, 3, 4)]
        [16.671, 4.289, 1.042, 0.432, 0.219]
        """
        return self.variance(0.0, epsilon)

    def randomize_many(self, numbers: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
        """Everybody's coin, then the mechanism that it chooses."""
        coins = rng.random(len(numbers)) < self.share(epsilon)
        return np.where(
            coins,
            Piecewise().randomize_many(numbers, epsilon, rng),
            TwoPoints().randomize_many(numbers, epsilon, rng),
        )


PIECEWISE_FROM: Final = math.log(
    (-5 + 2 * math.cbrt(6353 - 405 * math.sqrt(241)) + 2 * math.cbrt(6353 + 405 * math.sqrt(241))) / 27
)
"""Below this epsilon, 0.61, two points alone have the lesser worst variance."""

NUMBER_BASELINES: Final[tuple[NumberBaseline, ...]] = (TwoPoints(), Piecewise(), Hybrid())
