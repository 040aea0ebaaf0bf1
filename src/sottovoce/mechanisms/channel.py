"""Mechanisms whose value is one of finitely many: the device's side and the auditor's, whatever is estimated."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.core.limits import check_domain_size, check_epsilon
from sottovoce.mechanisms.base import Batch, Floats, Mechanism, Report, log_of
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.mechanisms.stated import StatedReference
from sottovoce.randomness import Source, epsilon_of
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import listed_blanket

__all__ = ["ChannelMechanism"]

_MOST_LISTED: Final = 2**18
"""Most probabilities that are worked out one by one for a blanket, which takes about a second."""


@dataclass(frozen=True)
class ChannelMechanism(Mechanism):
    """One local randomizer for a value in {0, .., domain_size - 1}: a channel whose every probability is known.

    The device calls `randomize`, the auditor `probability`, `privacy_ratio` and `outputs`. What counts mean is said
    by `FiniteMechanism` for distributions, and by a strategy for query sets.
    """

    domain_size: int
    epsilon: float

    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"domain_size", "epsilon"})
    serves: ClassVar[str] = "one strategy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain_size", check_domain_size(self.domain_size))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        self._check_report_size()

    # --- what a subclass writes ---------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Small instances that between them take every branch of the device code; audits run all their outcomes."""

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """An instance to audit, over `size` values if it exists for any number; else its largest miniature."""
        return cls.miniatures(epsilon)[-1]

    @abc.abstractmethod
    def _randomize(self, value: int, source: Source) -> Report:
        """Draw a report. The draws asked of `source` must not depend on the value or on each other."""

    @abc.abstractmethod
    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law, for simulation. Values are trusted."""

    @abc.abstractmethod
    def probability(self, report: Report, value: int) -> Fraction:
        """The exact probability that `value` sends `report`, at the rounded thresholds in use."""

    @abc.abstractmethod
    def privacy_ratio(self) -> Fraction:
        """The largest ratio of two values' probabilities of one report, with the argument in its docstring."""

    @abc.abstractmethod
    def outputs(self) -> Iterator[Report]:
        """Every possible report, in a fixed order. Only for small domains."""

    # --- what a subclass may know: its channel's matrix Q as an operator -------------------

    def report_chances(self, shares: Floats) -> Floats | None:
        """Q p: the probability of every report, as they are counted, for people with these shares of the values.

        None where the aggregate does not count reports one by one.
        """
        return None

    def report_means(self, numbers: Floats) -> Floats | None:
        """Q^T w: for every value the mean of these numbers, one per report, over the reports that it sends."""
        return None

    def blanket(self) -> Blanket | None:
        """By listing the channel, without any symmetry; None where it is too large.

        Replaced where there is a closed form.
        """
        reports = list(islice(self.outputs(), _MOST_LISTED // self.domain_size + 1))
        if len(reports) * self.domain_size > _MOST_LISTED:
            return None
        values = range(self.domain_size)
        channel = np.array([[float(self.probability(report, value)) for report in reports] for value in values])
        return listed_blanket(channel, "every pair of values is gone through")

    # --- what follows from it -----------------------------------------------------------

    @property
    @final
    def delta(self) -> float:
        """None: the guarantee is pure."""
        return 0.0

    @final
    def miniature_inputs(self) -> range:
        """Every value."""
        return range(self.domain_size)

    @final
    def stated_reference(self) -> ChannelReference:
        """A check of the stated law: no report is less likely than one way to draw it."""
        return StatedReference(self, self.domain_size)

    @final
    def randomize(self, value: int, source: Source) -> Report:
        """One device's report. Checks the value first: the error never names it."""
        if type(value) is not int or not 0 <= value < self.domain_size:
            raise ValueOutsideDomainError(
                f"the value is not an index of this domain; give an integer from 0 to {self.domain_size - 1}"
            ).at("value")
        return self._randomize(value, source)

    @final
    def log_prob(self, report: Report, value: int) -> float:
        """log P(report | value), at the rounded thresholds in use; minus infinity where impossible."""
        return log_of(self.probability(report, value))

    @property
    @final
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    @property
    @final
    def largest_step(self) -> int:
        """A report is counted at most once in every cell."""
        return 1

    @property
    @final
    def simulation_words(self) -> int:
        """Numbers held for one simulated report."""
        return max(1, self.report_bits // 32)
