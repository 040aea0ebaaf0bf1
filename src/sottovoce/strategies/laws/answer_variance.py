"""How far a design's raw answers are off: variances, for one population or the worst, and the margin of one answer.

A strategy says what one report's noise is; what holds for n reports, shared public randomness included, follows here.
"""

from __future__ import annotations

import abc
from functools import cached_property
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import Population, Variance, checked_weights

__all__ = ["AnswerVariance", "PerAnswer"]

PerAnswer = float | Floats


class AnswerVariance(abc.ABC):
    """The part of a `Strategy` that knows the noise of its raw answers."""

    workload: Any
    """A `Workload`; or a `Body`."""

    # --- of one report: implemented by strategies -----------------------------------------------

    @abc.abstractmethod
    def _each(self, people: Population) -> Variance:
        """N times the variance of every raw answer, without shared public randomness; one number if all are equal."""

    @abc.abstractmethod
    def _combined(self, weights: Floats, people: Population) -> Variance:
        """The same for one combination of answers per row of `weights`."""

    @abc.abstractmethod
    def _total(self, people: Population) -> Variance:
        """The same for the sum over all answers."""

    @abc.abstractmethod
    def worst_population(self) -> Floats | None:
        """Shares for which `total_variance` is largest; None if the values cannot be listed."""

    def _own_noise(self, weights: Floats | None) -> PerAnswer:
        """The variance that shared public randomness multiplies: for every answer, or per row of `weights`."""
        return 0.0

    @property
    def _total_own_noise(self) -> float:
        """The same for the sum over all answers."""
        return 0.0

    def sharing_factor(self, n_reports: int) -> float:
        """The largest factor by which shared public randomness multiplies the noise; 1 if none is shared."""
        return 1.0

    @property
    def bias_bound(self) -> PerAnswer:
        """Upper bound on the bias of a raw answer: for all, or one per answer; 0 for most strategies."""
        return 0.0

    def measured_answer_bias(self, weights: Floats | None) -> PerAnswer:
        """What else was measured of the bias, and is not proved: of a raw answer, or per row of weights."""
        return 0.0

    # --- of n reports ---------------------------------------------------------------------------

    @final
    def variance(self, weights: ArrayLike | None = None, population: Any = None, n_reports: int = 1) -> Variance:
        """The variance of sum_i weights_i raw_i, including the sampling of people.

        People are drawn independently from the population.

        Parameters
        ----------
        weights
            One number per answer, or rows of these; every answer separately by default.
        population
            The shares of all values, or a `Population`; the worst population by default.

        Returns
        -------
        Variance
            One number for one row of weights, otherwise an array.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> design = HaarStrategy.best(Prefix(4), 1.0)
        >>> design.variance(n_reports=1000).value.round(4)
        array([0.0028, 0.0025, 0.0028, 0.    ])
        >>> difference = design.variance([0, -1, 1, 0], [0.1, 0.2, 0.3, 0.4], n_reports=1000)
        >>> round(difference.value, 4), difference.status
        (0.0028, 'exact')
        """
        people = Population.of(population, self.workload)
        if weights is None:
            each = self._each_variance(people, n_reports)
            return each._replace(value=np.broadcast_to(each.value, (self.workload.n_queries,)))
        given = checked_weights(weights, self.workload.n_queries)
        rows = np.atleast_2d(given)
        found = self._combined(rows, people)
        value = (found.value + self._shared(n_reports) * self._own_noise(rows)) / n_reports
        return Variance(float(value[0]) if given.ndim == 1 else value, found.status, found.note)

    @final
    def _each_variance(self, people: Population, n_reports: int) -> Variance:
        """The variance of every answer; one number if all are equal, so that very many need not be listed."""
        found = self._each(people) if people.known else self._worst_each
        value = (found.value + self._shared(n_reports) * self._own_noise(None)) / n_reports
        return Variance(value, found.status, found.note)

    @final
    def total_variance(self, population: Any = None, n_reports: int = 1) -> Variance:
        """The sum of the variances of all raw answers: the expected squared L2 error, including the sampling of people.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> round(HaarStrategy.best(Prefix(128), 1.0).total_variance(n_reports=100_000).value, 4)
        0.0268
        """
        people = Population.of(population, self.workload)
        found = self._total(people) if people.known else self._worst_total
        # If all values have the same answers, rounding may give a negative number.
        value = (max(0.0, float(found.value)) + self._shared(n_reports) * self._total_own_noise) / n_reports
        return Variance(value, found.status, found.note)

    @final
    def margin(self, n_reports: int, population: Any = None, level: float = 0.95) -> float:
        """The largest margin of error of any single raw answer, at this level of confidence.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> round(HaarStrategy.best(Prefix(128), 1.0).margin(100_000), 3)
        0.033
        """
        errors = np.sqrt(self._each_variance(Population.of(population, self.workload), n_reports).value)
        bias = self.bias_bound + self.measured_answer_bias(None)
        return float(np.max(NormalDist().inv_cdf((1 + level) / 2) * errors + bias))

    @cached_property
    def _worst_each(self) -> Variance:
        """Cached: a plan uses it many times."""
        return self._each(Population())

    @cached_property
    def _worst_total(self) -> Variance:
        return self._total(Population())

    @final
    def _shared(self, n_reports: int) -> float:
        if n_reports < 1:
            raise SurveyError("n_reports must be at least 1")
        return self.sharing_factor(n_reports) - 1
