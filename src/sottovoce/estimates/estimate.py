"""An estimate: raw and projected answers, their intervals, and bounds on their error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.influence import Influence, influence
from sottovoce.estimates.intervals import Interval, Observed, certified_interval, check_level
from sottovoce.figures.bars import answers_html, plot_answers
from sottovoce.mechanisms.base import Counts
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.bounds import Bound

__all__ = ["Answer", "Estimate", "NotEstimatedError", "SearchProgress", "SparseDistribution"]

Floats = NDArray[np.float64]

_ROWS_IN_HTML = 20

SearchProgress = Callable[[int, int], object]
"""Is called with the steps done and of how many."""


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


class NotEstimatedError(SurveyError, AttributeError):
    """An estimate of another kind of question has what was asked for, and this one has not."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The estimated answers of a survey; a question names the class that adds what its own estimates can tell.

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

    describes: ClassVar[str] = "any question"
    """What it is an estimate of, for messages."""

    @classmethod
    def from_counts(
        cls,
        survey: AskedSurvey,
        counts: Any,
        n_reports: int,
        *,
        rule: Any = None,
        progress: SearchProgress | None = None,
    ) -> Self:
        """Raw and projected answers from the counts of an aggregate, or from counts in shards.

        `rule` and `progress` are for answers that are searched for.
        """
        for name, given in (("rule", rule), ("progress", progress)):
            if given is not None:
                raise SurveyError(f"{name} is for surveys of words: leave it out").at(name)
        reading, domain = survey.design.read(counts, n_reports), survey.question.domain
        projected = reading.projected
        # Tables are projected without a distribution behind them.
        known = domain is not None and len(projected.support) > 0
        behind = SparseDistribution(domain, projected.support, projected.weights) if known else None
        whole = counts if isinstance(counts, np.ndarray) else None
        found = reading.raw, projected.values, projected.gap, survey.bound(n_reports)
        return cls(survey, n_reports, *found, behind, whole)

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
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def __getattr__(self, name: str) -> Any:
        """Say of which questions the estimates have what this one lacks; called for missing attributes alone."""
        if not name.startswith("_"):
            having = [kind.describes for kind in _kinds(Estimate) if name in vars(kind)]
            if having:
                raise NotEstimatedError(
                    f"an estimate of {self.survey.kind} has no {name}; estimates of {' and of '.join(having)} have it"
                ).at("kind")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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


def _kinds(kind: type[Estimate]) -> Iterator[type[Estimate]]:
    """Every class of estimates below this one."""
    for one in kind.__subclasses__():
        yield one
        yield from _kinds(one)
