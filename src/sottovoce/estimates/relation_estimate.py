"""An estimate of a relation: slopes, correlations, predictions and what a line explains, each with an interval.

All are of numbers clipped to the survey's ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Self, final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.words import plural
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.line import Axis, Line, axis_of, correlation_answer, feature_named, features_named
from sottovoce.estimates.listed import ListedEstimate
from sottovoce.estimates.population import Margins
from sottovoce.estimates.watched import level_of_look, refuse_so_far
from sottovoce.estimates.weighted import Method, Weighted
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.strategies.relations.allocation import related_parts
from sottovoce.strategies.relations.strategy import FEWEST
from sottovoce.theory.relations import MeanProducts, fitted
from sottovoce.theory.two_arms import ArmProcess
from sottovoce.workloads.record_moments import RecordMoments

__all__ = ["RelationEstimate"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class RelationEstimate(ListedEstimate):
    """An estimate of how an outcome depends on other things."""

    describes: ClassVar[str] = "a relation"

    @with_clear_calls('estimate.slope("age")')
    def slope(self, name: str, level: float = 0.95) -> Answer:
        """How much the outcome changes with one regressor, the others held: a slope of the line on all of them.

        For a value of a list, such as "plan=pro", it is the difference to people with the list's first value.

        Examples
        --------
        >>> import numpy as np, sottovoce as sv
        >>> question = sv.relation({"age": sv.number(18, 90)}, outcome=sv.number(0, 600, "minutes"))
        >>> survey = sv.Survey(question, epsilon=4.0)
        >>> rng = np.random.default_rng(1)
        >>> age = rng.normal(54, 12, 50_000)
        >>> people = {"age": age, "minutes": 300 - 4 * (age - 54) + rng.normal(0, 80, 50_000)}
        >>> print(survey.estimate(survey.simulate(people, seed=1)).slope("age"))
        age: -3.86 minutes per age (-4.22 to -3.52)
        """
        return self.line().slope(name, level)

    @with_clear_calls('estimate.correlation("age", "minutes")')
    def correlation(self, first: str, second: str, level: float = 0.95) -> Answer:
        """The correlation of two numbers, or of a number and a value of a list such as "plan=pro"."""
        check_level(level)
        one, other = self._feature(first, "first"), self._feature(second, "second")
        if one == other:
            raise SurveyError("first and second must be different").at("second")
        names = self._axes[one].name, self._axes[other].name
        return correlation_answer(self._means([one, other]), (one, other), names, self._normal(level), level)

    def line(self, *names: str) -> Line:
        """The line of least squares of the outcome on these regressors; on all of them by default."""
        features = self._line_features
        chosen = [place for name in names for place in self._group(name)] if names else list(features)
        if len(set(chosen)) < len(chosen) or self._outcome in chosen:
            raise SurveyError("names must be different regressors, and not the outcome").at("names")
        means = self._means([*chosen, self._outcome])
        line = fitted(means, self._outcome, chosen)
        return Line(self, tuple(chosen), means, line)

    @with_clear_calls("estimate.predict(age=40)")
    def predict(self, at: dict[str, Any] | None = None, /, level: float = 0.95, **named: Any) -> Answer:
        """The mean outcome of people with these regressors, by the line on them: `estimate.predict(age=40)`."""
        given = {**({} if at is None else at), **named}
        if not given:
            raise SurveyError("name the regressors, for example predict(age=40)").at("at")
        return self.line(*given).predict(given, level=level)

    def r_squared(self, level: float = 0.95) -> Answer:
        """The share of the outcome's variance that the line on all regressors explains."""
        return self.line().r_squared(level)

    @with_clear_calls('estimate.mean("age")')
    def mean(self, field: str, level: float = 0.95) -> Answer:
        """The mean of a number, in its unit; of a value of a list, such as "plan=pro", the share of people with it."""
        check_level(level)
        place = self._feature(field, "field")
        axis, is_share = self._axes[place], not self._axes[place].is_number
        interval = self.interval(level)
        ends = [axis.middle + axis.half * float(end[place]) for end in (interval.low, interval.high)]
        raw = axis.middle + axis.half * float(self.raw[place])
        return Answer(
            label=axis.name if is_share else f"mean of {axis.name}",
            value=raw,
            low=ends[0],
            high=ends[1],
            raw=raw,
            unit=axis.unit,
            method=interval.method,
            level=level,
            is_share=is_share,
        )

    def __str__(self) -> str:
        """The line, and how well it is known; the means where there are too few reports for a line."""
        try:
            return f"{self.line()}\n{self._caption(0.95)}"
        except NoReportsError:
            return super().__str__()

    def plot(self, ax: Any = None, k: int | None = None, level: float = 0.95) -> Any:
        """The line on all regressors, as `Line.plot` draws it; returns the matplotlib axes."""
        return self.line().plot(ax, level)

    def _normal(self, level: float) -> float:
        """Standard errors on both sides of an estimate; where it is watched, at the level of this look."""
        if self.always == "so far":
            raise refuse_so_far("a slope has no interval")
        each = level if self.always is None else level_of_look(level, self.n_reports)
        return NormalDist().inv_cdf((1 + each) / 2)

    # --- slopes by name, and beside those of groups ------------------------------------------------

    def __getitem__(self, name: object) -> Answer:
        """A slope, such as "slope of age", "R squared", or one of the means."""
        if name in self._figures:
            return self._figure(str(name), 0.95)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self._figures or super().__contains__(name)

    @property
    def _figures(self) -> list[str]:
        names: list[str] = self.survey.question.figure_names
        return names

    def _figure(self, name: str, level: float) -> Answer:
        picked = self.survey.question.followed(name)
        found: Answer = picked.of(self, level)
        return replace(found, label=picked.name)

    def _first(self, most: int, level: float = 0.95) -> list[Answer]:
        """Slopes and what the line explains; the means where there are too few reports for a line."""
        try:
            return [self._figure(name, level) for name in self._figures[:most]]
        except NoReportsError:
            return super()._first(most, level)

    def _beside(self, whole: Self, most: int, level: float) -> list[Answer]:
        return self._first(most, level)

    def _weighed(self, margins: Margins, answers: list[Any] | None, level: float, method: Method | None) -> Weighted:
        """Means of features and products: a slope is no mean over people."""
        if any(name in self._figures for name in answers or ()):
            raise SurveyError(
                "a slope is not a mean over people, so those of groups do not add up to it; weigh the means it is "
                "made of, or look at each group by itself"
            ).at("answers")
        return super()._weighed(margins, self.labels() if answers is None else answers, level, method)

    # --- comparisons with other people's estimate -------------------------------------------------

    def _arms(self, picked: Sequence[Any], level: float, beside: Any) -> Arms:
        """Slopes with the intervals of each estimate; their variances do not depend on the true slopes here."""
        if all(one.weights is not None for one in picked):
            return super()._arms(picked, level, beside)
        if any(one.weights is not None for one in picked):
            raise SurveyError("compare slopes or means, each by themselves").at("answers")
        answers = [one.of(self, level) for one in picked]
        unknown = [one.name for one, answer in zip(picked, answers, strict=True) if not math.isfinite(answer.low)]
        if unknown:
            raise NoReportsError(
                f"{unknown[0]} may be anything after {plural(self.n_reports, 'report')}: wait for more"
            ).at("answers")
        raw, low, high = (np.array([getattr(one, name) for one in answers]) for name in ("raw", "low", "high"))
        # Half an interval is that many standard errors; its longer side, where Fieller's is not symmetric.
        error = np.maximum(high - raw, raw - low) / self._normal(level)
        nothing, reports = np.zeros(len(raw)), np.full(len(raw), float(self.n_reports))
        curve = VarianceCurve(error**2 * reports, nothing, nothing, nothing)
        least, most = (np.array([one.limits[end] for one in picked]) for end in (0, 1))
        return Arms(raw, low, high, nothing, least, most, reports, curve, answers[0].method)

    def _process(self, picked: Sequence[Any], miss: float) -> ArmProcess | None:
        """None for slopes: the means of products are watched by themselves."""
        return None if any(one.weights is None for one in picked) else super()._process(picked, miss)

    def _covariance(self, picked: Sequence[Any], beside: Any) -> Floats | None:
        return None if any(one.weights is None for one in picked) else super()._covariance(picked, beside)

    def _changes(self, picked: Sequence[Any]) -> Floats | None:
        return None if any(one.weights is None for one in picked) else super()._changes(picked)

    # --- features ------------------------------------------------------------------------------

    @property
    def _workload(self) -> RecordMoments:
        workload: RecordMoments = self.survey.design.workload
        return workload

    @cached_property
    def _axes(self) -> list[Axis]:
        return [axis_of(self._workload, place) for place in range(len(self._workload.features.listed))]

    @property
    def _outcome(self) -> int:
        return len(self._axes) - 1

    @property
    def _line_features(self) -> range:
        return range(self._outcome)

    def _feature(self, name: object, argument: str) -> int:
        return feature_named(self._workload, name, argument)

    def _group(self, name: object, argument: str = "names") -> list[int]:
        return features_named(self._workload, name, argument)

    def _means(self, places: list[int]) -> MeanProducts:
        """The means of all features and products; those of these features must have reports."""
        if self.counts is None:
            raise SurveyError("a relation is read from the counts of all reports: estimate them in one piece")
        design: Any = self.survey.design
        seen = design.observed(self.counts)
        features = self._workload.features
        size = len(features.listed)
        parts, follows = related_parts(features)
        needed = {size + int(parts[i, j]) for i in places for j in places if parts[i, j] >= 0} | set(places)
        lacking = [number for number in sorted(needed) if seen.reports[number] < FEWEST]
        if lacking:
            names = ", ".join(self.label(number) for number in lacking[:4])
            raise NoReportsError(
                f"there are too few reports: of the {plural(self.n_reports, 'report')} fewer than {FEWEST} are on "
                f"{names}; wait for more"
            ).at("n_reports")
        variance = np.where(np.isfinite(seen.variance), seen.variance, 0.0)
        mean, own = seen.mean[:size], seen.mean[size:]
        products = np.where(parts >= 0, own[parts], 0.0)
        for i in range(size):
            for j in range(size):
                if parts[i, j] < 0:
                    products[i, j] = 1.0 if i == j else -1.0 - mean[i] - mean[j]
        # A pair that is not needed may have no reports; it takes part in nothing.
        return MeanProducts(mean, variance[:size], products, parts, variance[size:], follows)
