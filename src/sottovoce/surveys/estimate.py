"""An estimate: raw and projected answers, their intervals, and what is known about their error."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import Domain
from sottovoce.errors import MissingExtraError, SurveyError
from sottovoce.figures.bars import plot_answers
from sottovoce.limits import check_integer
from sottovoce.plural import counted
from sottovoce.promise import promised
from sottovoce.strategies.variance import Population
from sottovoce.surveys.influence import Influence, influence
from sottovoce.surveys.terms import Terms
from sottovoce.theory.bounds import Bound

__all__ = ["Answer", "Estimate", "Interval", "SparseDistribution", "check_level"]

Floats = NDArray[np.float64]

_ROWS_IN_HTML = 20
_ROUNDS = 4
_CLOSE = 1e-6
_HALVINGS = 40


class SparseDistribution(NamedTuple):
    """A distribution over a few of a domain's values that is consistent with all projected answers."""

    domain: Domain
    support: NDArray[np.int64]
    weights: Floats

    def items(self) -> list[tuple[str, float]]:
        """Labels and weights, the heaviest first."""
        order = np.argsort(-self.weights, kind="stable")
        return [(self.domain.label(int(self.support[i])), float(self.weights[i])) for i in order]


class Interval(NamedTuple):
    """Lower and upper ends, one entry a value."""

    low: Floats
    high: Floats


class Answer(NamedTuple):
    """One line of an estimate."""

    label: str
    value: float
    raw: float
    low: float
    high: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What the reports say: the answers to a survey.

    Attributes
    ----------
    values
        The projected estimate: what a distribution can give. For distributions, means and the direct strategy never
        farther from the truth in L2 than `raw`; for other strategies the nearest by the noise's own measure, which on a
        single draw may be farther.
    raw
        The estimate before projecting, unbiased but for the grid of `gaussian`; entries may be negative or sum to
        something other than one.
    n_reports
        How many reports it is made from.
    gap
        Certificate of the projection: `values` is within sqrt(gap) of the exact one.
    bound
        What the expected L2 error of `values` stays below, for every distribution.
    distribution
        For queries: the sparse distribution behind the projected answers.
    """

    survey: Terms
    n_reports: int
    raw: Floats
    values: Floats
    gap: float
    bound: Bound
    distribution: SparseDistribution | None = None

    def __post_init__(self) -> None:
        self.raw.flags.writeable = False
        self.values.flags.writeable = False

    @property
    def epsilon(self) -> float:
        """The survey's epsilon."""
        return self.survey.epsilon

    @property
    def delta(self) -> float:
        """The survey's delta: 0 where its promise is pure epsilon-LDP."""
        return self.survey.delta

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard error of every raw entry, sampling of people included (plug-in at `values`)."""
        errors = self._errors_at(self.values)
        errors.flags.writeable = False
        return errors

    def interval(
        self,
        level: float = 0.95,
        simultaneous: bool = False,
        method: Literal["normal", "finite"] = "normal",
    ) -> Interval:
        """Confidence intervals for every value's frequency.

        Parameters
        ----------
        level
            Coverage of each interval, or of all of them together.
        simultaneous
            True for intervals that all hold at once (Bonferroni over the values).
        method
            "normal": a score interval from the estimate's exact variance and a normal quantile. "finite": Hoeffding's
            inequality from the sub-Gaussian proxy, or Chebyshev's where none is known; wider, and valid for every
            number of reports.

        Notes
        -----
        Intervals are around the raw estimate, intersected with [0, 1]; projecting does not narrow them.
        """
        check_level(level, method)
        miss = (1 - level) / (len(self.raw) if simultaneous else 1)
        if method == "normal":
            quantile = -NormalDist().inv_cdf(miss / 2)
            return self._widened(self._end(-quantile), self._end(quantile))
        proxy = self.survey.design.proxy
        if proxy is None:
            # Chebyshev: the truth is more than 1/sqrt(miss) of its own standard errors away no oftener than that.
            return self._widened(self._end(-1 / math.sqrt(miss)), self._end(1 / math.sqrt(miss)))
        shared = self.survey.design.sharing_factor(self.n_reports)
        half = np.sqrt(2 * shared * np.asarray(proxy) / self.n_reports * math.log(2 / miss))
        return self._widened(self.raw - half, self.raw + half)

    def _widened(self, low: Floats, high: Floats) -> Interval:
        """An interval for the raw answers' expectations, made one for the answers, which lie in their range."""
        least, most = self.survey.answer_range
        bias = self.survey.design.bias_bound
        return Interval((low - bias).clip(least, most), (high + bias).clip(least, most))

    def _end(self, quantile: float) -> Floats:
        """The end of a score interval: where the raw estimate is `quantile` standard errors away, by its own variance.

        Taking the variance at the end and not at the estimate keeps intervals honest where a rare value was seen not
        once (Wilson 1927). A few rounds of substitution suffice for many reports; for few, the end is enclosed.
        """
        low, high = self.survey.answer_range
        end = (self.raw + quantile * self.standard_errors).clip(low, high)
        for _ in range(_ROUNDS):
            last, end = end, (self.raw + quantile * self._errors_at(end)).clip(low, high)
        if (np.abs(end - last) <= _CLOSE * np.abs(end - self.raw)).all():
            return end
        return self._enclosed(quantile)

    def _errors_at(self, values: Floats) -> Floats:
        variance = self.survey.design.variance(None, Population(answers=values), self.n_reports)
        return np.asarray(np.sqrt(np.broadcast_to(variance.value, values.shape)))

    def _enclosed(self, quantile: float) -> Floats:
        """The same by bisection between the raw estimate and the end of what is possible.

        Variances are concave in the answer, so the answers within `quantile` standard errors make an interval.
        """
        low, high = self.survey.answer_range
        inner = self.raw.clip(low, high)
        outer = np.broadcast_to(np.asarray(low if quantile < 0 else high, dtype=np.float64), inner.shape)
        reaches = np.abs(self.raw - outer) <= abs(quantile) * self._errors_at(np.array(outer))
        inner = np.where(reaches, outer, inner)
        outer = np.array(outer)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            within = np.abs(self.raw - middle) <= abs(quantile) * self._errors_at(middle)
            inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
        return np.asarray(inner)

    def influence(self, hostile: int | float = 0.01) -> Influence:
        """How far hostile devices can have moved the answers: so many, or such a share of the reports.

        Whatever they sent and knew, against what honest reports in their place would have given; see
        `sottovoce.surveys.influence`.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey.distribution(["tea", "coffee"], epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 600 + ["coffee"] * 400, seed=1))
        >>> print(estimate.influence(hostile=10))
        10 hostile devices among 1,000 reports can move an answer by up to 0.0217
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
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"<estimate of {counted(len(self), 'answer')} from {counted(self.n_reports, 'report')}, "
            f"{promised(self.epsilon, self.delta)}, "
            f"{self.survey.mechanism.name}; expected L2 error at most {self.bound.value:.3g}>"
        )

    # --- other forms ------------------------------------------------------------------------

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain values."""
        low, high = self.interval(level)
        return {
            "survey": self.survey.id,
            "mechanism": self.survey.mechanism.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n_reports": self.n_reports,
            "bound": {"l2": self.bound.value, "statement": self.bound.statement},
            "projection_gap": self.gap,
            "level": level,
            "answers": [
                {"label": label, "value": value, "raw": raw, "low": lo, "high": hi}
                for label, value, raw, lo, hi in zip(
                    self.survey.answer_labels(),
                    self.values.tolist(),
                    self.raw.tolist(),
                    low.tolist(),
                    high.tolist(),
                    strict=True,
                )
            ],
        }

    def to_json(self, level: float = 0.95) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(level), ensure_ascii=False)

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        try:
            import pandas as pd
        except ImportError:
            pd = None
        if pd is None:
            raise MissingExtraError("to_pandas needs pandas: pip install 'sottovoce[pandas]'")
        low, high = self.interval(level)
        columns = {"value": self.values, "raw": self.raw, "low": low, "high": high}
        return pd.DataFrame(columns, index=pd.Index(self.survey.answer_labels(), name="label"))

    def plot(self, ax: Any = None, k: int = 20, level: float = 0.95) -> Any:
        """Bars of the k most frequent values with intervals, on a matplotlib axes; returns the axes."""
        caption = f"{self.n_reports:,} reports, {promised(self.epsilon, self.delta)}, {100 * level:g} % intervals"
        return plot_answers(self.top(k, level), caption, ax)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(a.label)}</td><td>{a.value:.4f}</td><td>{a.low:.4f} to {a.high:.4f}</td>"
            f"<td>{a.raw:.4f}</td></tr>"
            for a in self.top(_ROWS_IN_HTML)
        )
        more = len(self) - _ROWS_IN_HTML
        caption = html.escape(repr(self).strip("<>")) + (f"; {more:,} more values" if more > 0 else "")
        head = "<tr><th>value</th><th>frequency</th><th>95 % interval</th><th>raw</th></tr>"
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def check_level(level: object, method: object) -> None:
    """Raise `SurveyError` unless an interval can have that level and be made by that method."""
    if not isinstance(level, float) or not 0 < level < 1:
        raise SurveyError("level must be a number between 0 and 1, for example 0.95")
    if method not in ("normal", "finite"):
        raise SurveyError("method must be 'normal' or 'finite'")
