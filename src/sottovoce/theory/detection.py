"""How likely a value that is tested by its support is found: thresholds of binomial tails, and their power.

A report supports a value that its sender has with probability `own`, and any other with probability `other`. Of N
reports, N `other` support a value that nobody has, on average: the test asks for more, so many that chance exceeds it
with a stated probability (Hoeffding 1956: among sums of N independent bits with that mean the binomial has the heaviest
upper tail beyond it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

__all__ = ["SupportTest", "detection_probability", "least_detectable"]


@final
@dataclass(frozen=True)
class SupportTest:
    """One test that a value must pass.

    Attributes
    ----------
    trials
        Reports that are asked.
    least
        Supporting reports that pass.
    shared
        Variance of the number of supporting reports that people with other values in the same bucket add.
    """

    trials: float
    least: int
    shared: float = 0.0

    def power(self, share: float, own: float, other: float) -> float:
        """The probability that a value of this share passes: the support is normal about its mean.

        Examples
        --------
        >>> from sottovoce.theory.binomial import least_count
        >>> test = SupportTest(1000, least_count(1000, 0.1, 1e-3))
        >>> round(test.power(0.0, 0.5, 0.1), 4), round(test.power(0.1, 0.5, 0.1), 2)
        (0.0007, 0.81)
        """
        chance = other + share * (own - other)
        deviation = math.sqrt(self.trials * chance * (1 - chance) + self.shared)
        # Half a report: a number of reports is compared with a continuous one.
        above = self.trials * chance - self.least + 0.5
        return 0.5 * math.erfc(-above / deviation / math.sqrt(2)) if deviation > 0 else float(above >= 0)


def detection_probability(tests: Sequence[SupportTest], share: float, own: float, other: float) -> float:
    """The probability that a value passes all tests, each by reports of other people."""
    return math.prod(test.power(share, own, other) for test in tests)


def least_detectable(probability_of: Callable[[float], float], probability: float) -> float:
    """The least share found with this probability; 1 if not even the whole population's value is.

    Examples
    --------
    >>> round(least_detectable(lambda share: share, 0.9), 6)
    0.9
    """
    if probability_of(1.0) < probability:
        return 1.0
    low, high = math.log(1e-18), 0.0
    for _ in range(32):
        middle = (low + high) / 2
        low, high = (low, middle) if probability_of(math.exp(middle)) >= probability else (middle, high)
    return math.exp(high)
