"""Estimates of listed answers: sums, differences and ratios of them, and the likeliest distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.combinations import RawAnswers, Weights, combined, ratio, weights_of
from sottovoce.estimates.compared import Chosen, arms_of, common_population, covariance_of, process_of
from sottovoce.estimates.covariance import answers_covariance, listed_rows
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likeliest import DEFAULT_TOLERANCE, Likeliest, likeliest
from sottovoce.figures.bars import plot_histogram
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.two_arms import ArmProcess

__all__ = ["ListedEstimate"]

_MOST_LISTED = 2**22
"""Values up to which the shares of a population are listed."""


@dataclass(frozen=True, eq=False, repr=False)
class ListedEstimate(Estimate):
    """An estimate whose answers are listed by the survey, so that they can be combined.

    Combinations are of raw answers, which are unbiased, and have intervals of their own.
    """

    describes: ClassVar[str] = "listed answers"

    @with_clear_calls('estimate.combine({"tea": 1, "coffee": -1})')
    def combine(self, weights: Mapping[Any, float], level: float = 0.95) -> Answer:
        """A weighted sum of raw answers, with its interval: `estimate.combine({"tea": 1, "coffee": -1})`.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
        >>> print(estimate.combine({"tea": 1, "coffee": -1}))
        tea - coffee: 20.6 % (15.8 % to 25.5 %)
        """
        if not isinstance(weights, Mapping):
            raise SurveyError("weights must map labels to numbers, such as {'a': 1, 'b': -1}").at("weights")
        return combined(self._combinable, weights_of(self.survey, weights), level)

    @with_clear_calls('estimate.sum(["tea", "coffee"])')
    def sum(self, labels: Iterable[Any], level: float = 0.95) -> Answer:
        """The sum of several raw answers, with its interval: `estimate.sum(["30-39", "40-49"])`."""
        return combined(self._combinable, weights_of(self.survey, labels, "labels"), level)

    @with_clear_calls('estimate.difference("tea", "coffee")')
    def difference(self, first: Any, second: Any, level: float = 0.95) -> Answer:
        """One raw answer less another, with its interval; `combine` takes several."""
        if any(isinstance(group, (list, set, Mapping)) for group in (first, second)):
            raise SurveyError("first and second must be one label each; use combine for sums of several").at("first")
        weights = weights_of(self.survey, [first], "first") - weights_of(self.survey, [second], "second")
        return combined(self._combinable, weights, level, f"{self[first].label} - {self[second].label}")

    @with_clear_calls('estimate.ratio(["tea"], ["tea", "coffee"])')
    def ratio(self, over: Weights, under: Weights, level: float = 0.95) -> Answer:
        """The ratio of two sums, or weighted sums, of raw answers, with its interval (Fieller's, certified).

        Where the denominator may be zero its ends are infinite, and `method` says so.
        """
        sums = weights_of(self.survey, over, "over"), weights_of(self.survey, under, "under")
        return ratio(self._combinable, *sums, level)

    @with_clear_calls('estimate.covariance(["tea", "coffee"])')
    def covariance(self, weights: Any = None) -> Floats:
        answers = self._combinable
        return answers_covariance(answers, listed_rows(answers, weights))

    def plot(self, ax: Any = None, k: int | None = None, level: float = 0.95) -> Any:
        """Bars with intervals, on a matplotlib axes; returns the axes.

        Answers on a line, such as ages, are a histogram of all of them, in bins as wide as the noise demands. Of
        others, and where `k` is given, the first or the largest k answers, 20 by default and 200 at most.
        """
        if k is None and self.survey.seat is None:
            histogram = self.survey.question.histogram(self, level)
            if histogram is not None:
                return plot_histogram(histogram, self._caption(level), ax, self.survey.title)
        return super().plot(ax, k, level)

    @property
    def _combinable(self) -> RawAnswers:
        population = self._population
        return RawAnswers(self.survey, self.n_reports, self.raw, self.counts, population, self.values, self.always)

    @property
    def _population(self) -> Any:
        """The population by the projected answers: its shares if they can be listed, else its answers."""
        behind = self.distribution
        if behind is None or behind.domain.size > _MOST_LISTED:
            return Population(answers=self.values)
        shares = np.zeros(behind.domain.size)
        shares[behind.support] = behind.weights
        return shares / shares.sum()

    # --- comparisons with other people's estimate -------------------------------------------------

    def _arms(self, picked: Sequence[Any], level: float, beside: ListedEstimate) -> Arms:
        return arms_of(self._combinable, self._chosen(picked), level, self._common(beside))

    def _process(self, picked: Sequence[Any], miss: float) -> ArmProcess | None:
        return process_of(self._combinable, self._chosen(picked), miss)

    def _covariance(self, picked: Sequence[Any], beside: ListedEstimate) -> Floats | None:
        return covariance_of(self._combinable, self._chosen(picked), self._common(beside))

    def _changes(self, picked: Sequence[Any]) -> Floats | None:
        rows = self._chosen(picked).rows(len(self.raw))
        columns: Floats | None = self.survey.design.workload.changes(rows)
        return columns

    def _common(self, beside: ListedEstimate) -> Population:
        return common_population(self._combinable, beside._combinable)

    def _chosen(self, picked: Sequence[Any]) -> Chosen:
        """Answers that the survey lists by their numbers, others by their weights."""
        listed = np.array([place for place, one in enumerate(picked) if one.index is not None], dtype=np.int64)
        combined = np.array([place for place, one in enumerate(picked) if one.index is None], dtype=np.int64)
        weights = np.array([picked[place].weights(self) for place in combined]).reshape(-1, len(self.raw))
        error, constant = (np.array([getattr(one, name) for one in picked]) for name in ("error", "constant"))
        numbers = np.array([picked[place].index for place in listed], dtype=np.int64)
        return Chosen(listed, numbers, combined, weights, error, constant)

    def likeliest(
        self,
        tolerance: float = DEFAULT_TOLERANCE,
        max_steps: int | None = None,
        progress: Callable[[int, float], object] | None = None,
    ) -> Likeliest:
        """The distribution under which the reports are most probable, by expectation maximisation.

        Beside `raw` and `values`, never instead of them: it is biased and has no intervals. Where it is nearer to the
        truth than the projection, and where not, is measured on the page "The likeliest distribution".

        Parameters
        ----------
        tolerance
            The search ends when no distribution's log-likelihood is larger by more than this.
        max_steps
            Or after this many steps; by default as many as take about a minute for the largest domains.
        progress
            Called with the number of steps and the present gap, every second step.

        Raises
        ------
        MechanismError
            If the aggregate does not count every possible report, as for `subset_selection`, unary and vector
            mechanisms.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, mechanism="hadamard")
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 900 + ["coffee"] * 100, seed=1))
        >>> found = estimate.likeliest()
        >>> found.converged, round(float(found.values.sum()), 6)
        (True, 1.0)
        """
        return likeliest(self.survey.design, self.counts, self.n_reports, tolerance, max_steps, progress)
