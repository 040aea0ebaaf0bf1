"""An estimate: raw and projected answers, their intervals, and bounds on their error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.combinations import CombinedAnswer, RawAnswers, Weights, combined, ratio, weights_of
from sottovoce.estimates.influence import Influence, influence
from sottovoce.estimates.intervals import Interval, Observed, certified_interval, check_level
from sottovoce.estimates.likeliest import DEFAULT_TOLERANCE, Likeliest, likeliest
from sottovoce.estimates.numbers import (
    HistogramBin,
    number_histogram,
    number_mean,
    number_quantile,
    number_standard_deviation,
)
from sottovoce.estimates.tables import ShareTable, share_table
from sottovoce.figures.bars import plot_answers
from sottovoce.figures.html_table import answers_html
from sottovoce.mechanisms.base import Counts
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.bounds import Bound

__all__ = ["Answer", "Estimate", "SparseDistribution"]

Floats = NDArray[np.float64]

_ROWS_IN_HTML = 20
_MOST_LISTED = 2**22
"""Values up to which the shares of a population are listed."""


class SparseDistribution(NamedTuple):
    """A distribution over a few values that has the projected answers."""

    domain: Domain
    support: NDArray[np.int64]
    weights: Floats

    def items(self) -> list[tuple[str, float]]:
        """Labels and weights, the heaviest first."""
        order = np.argsort(-self.weights, kind="stable")
        return [(self.domain.label(int(self.support[i])), float(self.weights[i])) for i in order]


class Answer(NamedTuple):
    """One answer of an estimate."""

    label: str
    value: float
    raw: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The estimated answers of a survey.

    Attributes
    ----------
    values
        The projected estimate: answers of a possible population; tables of records only agree with each other. For
        distributions, means, tables, the direct strategy, and wherever the design `projects_answers`, never farther
        from the truth in L2 than `raw`; otherwise the nearest with respect to the noise covariance, which may be
        farther on a single draw.
    raw
        The estimate before projecting, unbiased but for the grid of `gaussian`; entries may be negative or sum to
        something other than one.
    n_reports
        The number of reports.
    gap
        Certificate of the projection: `values` is within sqrt(gap) of the exact one.
    bound
        Upper bound on the expected L2 error of `values`, for every population: the least that is proved.
    distribution
        For queries: the sparse distribution behind the projected answers.
    counts
        The aggregate's counts, shared and not copied; None where they came in shards.
    """

    survey: AskedSurvey
    n_reports: int
    raw: Floats
    values: Floats
    gap: float
    bound: Bound
    distribution: SparseDistribution | None = None
    counts: Counts | None = None

    def __post_init__(self) -> None:
        self.raw.flags.writeable = False
        self.values.flags.writeable = False
        if self.counts is not None:
            # A view, so that the caller's own array stays as it is.
            object.__setattr__(self, "counts", self.counts[:])
            self.counts.flags.writeable = False

    @cached_property
    def raw_bound(self) -> Bound:
        """Upper bound on the expected L2 error of `raw`, for every population: the root of its total variance."""
        return self.survey.design.raw_bound(self.n_reports)

    @property
    def epsilon(self) -> float:
        """The survey's epsilon."""
        return self.survey.epsilon

    @property
    def delta(self) -> float:
        """The survey's delta: 0 for pure epsilon-LDP."""
        return self.survey.delta

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard error of every raw answer, including the sampling of people (plug-in at `values`)."""
        variance = self.survey.design.variance(None, Population(answers=self.values), self.n_reports)
        errors = np.asarray(np.sqrt(np.broadcast_to(variance.value, self.values.shape)))
        errors.flags.writeable = False
        return errors

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Interval:
        """Confidence intervals for every answer, exact or certified for any number of reports.

        Parameters
        ----------
        level
            Coverage of each interval, or of all of them together.
        simultaneous
            True for intervals that hold simultaneously (Bonferroni over the answers).

        Notes
        -----
        Intervals are of the raw answers; projecting does not narrow them. They hold for the population that people
        were drawn from, and for these very people. The interval's `method` names the inequalities used.
        """
        check_level(level)
        if not isinstance(simultaneous, bool):
            raise SurveyError("simultaneous must be True or False").at("simultaneous")
        key = level, bool(simultaneous)
        if key not in self._intervals:
            least, most = self.survey.answer_range
            observed = Observed(self.survey.design, self.raw, self.n_reports, self.counts, least, most)
            with steps("computing intervals"):
                self._intervals[key] = certified_interval(observed, level, len(self.raw) if simultaneous else 1)
        return self._intervals[key]

    @cached_property
    def _intervals(self) -> dict[tuple[float, bool], Interval]:
        """Cached: a table, its summary and its picture use the same."""
        return {}

    # --- combinations of raw answers ----------------------------------------------------------

    def combine(self, weights: Mapping[Any, float], level: float = 0.95) -> CombinedAnswer:
        """A weighted sum of raw answers, with its interval: `estimate.combine({"tea": 1, "coffee": -1})`.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey.distribution(["tea", "coffee", "water"], epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
        >>> print(estimate.combine({"tea": 1, "coffee": -1}))
        0.2062, 95 % from 0.1503 to 0.2619
        """
        if not isinstance(weights, Mapping):
            raise SurveyError("weights must map labels to numbers, such as {'a': 1, 'b': -1}").at("weights")
        return combined(self._combinable, weights_of(self.survey, weights), level)

    def sum(self, labels: Iterable[Any], level: float = 0.95) -> CombinedAnswer:
        """The sum of several raw answers, with its interval: `estimate.sum(["30-39", "40-49"])`."""
        return combined(self._combinable, weights_of(self.survey, labels, "labels"), level)

    def difference(self, first: Any, second: Any, level: float = 0.95) -> CombinedAnswer:
        """One raw answer less another, with its interval; `combine` takes several."""
        if any(isinstance(one, (list, set, Mapping)) for one in (first, second)):
            raise SurveyError("first and second must be one label each; use combine for sums of several").at("first")
        return combined(self._combinable, weights_of(self.survey, [first]) - weights_of(self.survey, [second]), level)

    def ratio(self, over: Weights, under: Weights, level: float = 0.95) -> CombinedAnswer:
        """The ratio of two sums, or weighted sums, of raw answers, with its interval (Fieller's, certified).

        Where the denominator may be zero its ends are infinite, and `method` says so.
        """
        sums = weights_of(self.survey, over, "over"), weights_of(self.survey, under, "under")
        return ratio(self._combinable, *sums, level)

    def table(self, *names: str) -> ShareTable:
        """The table of these attributes, of which parts can be summed and compared; see `ShareTable`."""
        return share_table(self._combinable, names)

    # --- a number -----------------------------------------------------------------------------

    def mean(self, field: str | None = None, level: float = 0.95) -> CombinedAnswer:
        """The mean of a number, in its unit, with its interval; of numbers clipped to the survey's ends.

        Of records, `field` names the number; `table` gives its mean within categories.
        """
        if field is not None:
            return self.table(field).mean(field, level=level)
        return number_mean(self._combinable, level)

    def standard_deviation(self, level: float = 0.95) -> CombinedAnswer:
        """The standard deviation of a number, with its interval; needs wants="spread" or "distribution"."""
        return number_standard_deviation(self._combinable, level)

    def quantile(self, q: float, level: float = 0.95) -> CombinedAnswer:
        """The number that a share q of people is at or below, with its interval; needs wants="distribution".

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey.number(0, 600, epsilon=2.0, unit="minutes", wants="distribution")
        >>> estimate = survey.estimate(survey.simulate(range(600), seed=1))
        >>> median = estimate.quantile(0.5)
        >>> median.low < 300 < median.high
        True
        """
        return number_quantile(self._combinable, self.values, self.interval(level), q, level)

    def histogram(self, level: float = 0.95) -> list[HistogramBin]:
        """The share of people in every bin of a number, each with its interval; needs wants="distribution"."""
        return number_histogram(self._combinable, level)

    @property
    def _combinable(self) -> RawAnswers:
        return RawAnswers(self.survey, self.n_reports, self.raw, self.counts, self._population, self.values)

    @property
    def _population(self) -> Any:
        """What the projected answers say of the population: its shares if they can be listed, else its answers."""
        behind = self.distribution
        if behind is None or behind.domain.size > _MOST_LISTED:
            return Population(answers=self.values)
        shares = np.zeros(behind.domain.size)
        shares[behind.support] = behind.weights
        return shares / shares.sum()

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
        >>> survey = sv.Survey.distribution(["tea", "coffee", "water"], epsilon=1.0, mechanism="hadamard")
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 900 + ["coffee"] * 100, seed=1))
        >>> found = estimate.likeliest()
        >>> found.converged, round(float(found.values.sum()), 6)
        (True, 1.0)
        """
        return likeliest(self.survey.design, self.counts, self.n_reports, tolerance, max_steps, progress)

    def influence(self, hostile: int | float = 0.01) -> Influence:
        """How far malicious devices can have moved the answers, given their number or their fraction of the reports.

        For any behaviour of these devices, compared with honest reports in their place; see
        `sottovoce.estimates.influence`.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey.distribution(["tea", "coffee"], epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 600 + ["coffee"] * 400, seed=1))
        >>> print(estimate.influence(hostile=10))
        10 malicious devices among 1,000 reports can move an answer by up to 0.0217
        """
        return influence(self.survey, self.n_reports, hostile)

    def top(self, k: int = 10, level: float = 0.95) -> list[Answer]:
        """The k most frequent values by the projected estimate, with their intervals."""
        count = check_integer("k", k, 1, 2**53)
        interval = self.interval(level)
        largest = np.argsort(-self.values, kind="stable")[:count]
        return [self._answer(int(i), interval) for i in largest]

    def __getitem__(self, value: object) -> Answer:
        """The answer for one value or query, given by name or index."""
        return self._answer(self.survey.answer_index(value), self.interval())

    def _answer(self, index: int, interval: Interval) -> Answer:
        return Answer(
            self.survey.answer_label(index),
            float(self.values[index]),
            float(self.raw[index]),
            float(interval.low[index]),
            float(interval.high[index]),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy's arrays are read-only too.
        return Estimate, (
            self.survey,
            self.n_reports,
            self.raw,
            self.values,
            self.gap,
            self.bound,
            self.distribution,
            self.counts,
        )

    def label(self, index: int) -> str:
        """The label of an answer."""
        return self.survey.answer_label(index)

    def labels(self) -> list[str]:
        """The labels of all answers."""
        return self.survey.answer_labels()

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"<estimate of {plural(len(self), 'answer')} from {plural(self.n_reports, 'report')}, "
            f"{guarantee(self.epsilon, self.delta)}, "
            f"{self.survey.mechanism.name}; expected L2 error at most {self.bound.value:.3g}>"
        )

    # --- other forms ------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> dict[str, Any]:
        """What was estimated, from how many reports, and how well: everything but the answers, as plain values."""
        return {
            "survey": self.survey.id,
            "title": self.survey.title or self.survey.query_text,
            "kind": self.survey.kind,
            "unit": self.survey.question.unit,
            "mechanism": self.survey.mechanism.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n_reports": self.n_reports,
            "bound": {"l2": self.bound.value, "statement": self.bound.statement},
            "raw_bound": {"l2": self.raw_bound.value, "statement": self.raw_bound.statement},
            "projection_gap": self.gap,
            "level": level,
            "method": self.interval(level).method,
        }

    def columns(self, level: float = 0.95) -> dict[str, Floats]:
        """The answers as columns: value, raw, low and high, in the survey's order."""
        low, high = self.interval(level)
        return {"value": self.values, "raw": self.raw, "low": low, "high": high}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All fields as plain values."""
        columns = (column.tolist() for column in self.columns(level).values())
        rows = zip(self.labels(), *columns, strict=True)
        return {**self.summary(level), "answers": [dict(zip(Answer._fields, row, strict=True)) for row in rows]}

    def to_json(self, level: float = 0.95) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(level), ensure_ascii=False)

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(level), index=pd.Index(self.labels(), name="label"))

    def plot(self, ax: Any = None, k: int = 20, level: float = 0.95) -> Any:
        """Bars of the k largest answers, 200 at most, with intervals, on a matplotlib axes; returns the axes."""
        question = self.survey.question
        measure: Any = {"percent": question.answers_are_shares, "unit": question.unit}
        return plot_answers(self.top(k, level), self._caption(level), ax, total=len(self), **measure)

    def _caption(self, level: float) -> str:
        promise = guarantee(self.epsilon, self.delta)
        return f"{plural(self.n_reports, 'report')}, {promise}, {100 * level:g} % intervals"

    def _repr_html_(self) -> str:
        return answers_html(self.top(_ROWS_IN_HTML), repr(self).strip("<>"), len(self), self.survey.question.unit)
