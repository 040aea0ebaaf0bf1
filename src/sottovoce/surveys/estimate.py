"""An estimate: raw and projected answers, their intervals, and bounds on their error."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError, SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.figures.bars import plot_answers
from sottovoce.strategies.variance import Population
from sottovoce.surveys.influence import Influence, influence
from sottovoce.surveys.terms import Terms
from sottovoce.theory.bounds import Bound

__all__ = ["Answer", "Estimate", "Interval", "SparseDistribution", "check_level", "import_pandas"]

Floats = NDArray[np.float64]

_ROWS_IN_HTML = 20
_ROUNDS = 4
_CLOSE = 1e-6
_HALVINGS = 40


class SparseDistribution(NamedTuple):
    """A distribution over a few values that has the projected answers."""

    domain: Domain
    support: NDArray[np.int64]
    weights: Floats

    def items(self) -> list[tuple[str, float]]:
        """Labels and weights, the heaviest first."""
        order = np.argsort(-self.weights, kind="stable")
        return [(self.domain.label(int(self.support[i])), float(self.weights[i])) for i in order]


class Interval(NamedTuple):
    """Lower and upper ends, one entry per value."""

    low: Floats
    high: Floats


class Answer(NamedTuple):
    """One answer of an estimate."""

    label: str
    value: float
    raw: float
    low: float
    high: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The estimated answers of a survey.

    Attributes
    ----------
    values
        The projected estimate: answers of a possible population. For distributions, means and the direct strategy never
        farther from the truth in L2 than `raw`; for other strategies the nearest with respect to the noise covariance,
        which may be farther on a single draw.
    raw
        The estimate before projecting, unbiased but for the grid of `gaussian`; entries may be negative or sum to
        something other than one.
    n_reports
        The number of reports.
    gap
        Certificate of the projection: `values` is within sqrt(gap) of the exact one.
    bound
        Upper bound on the expected L2 error of `values`, for every population.
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
        """The survey's delta: 0 for pure epsilon-LDP."""
        return self.survey.delta

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard error of every raw answer, including the sampling of people (plug-in at `values`)."""
        errors = self._errors_at(self.values)
        errors.flags.writeable = False
        return errors

    def interval(
        self,
        level: float = 0.95,
        simultaneous: bool = False,
        method: Literal["normal", "finite"] = "normal",
    ) -> Interval:
        """Confidence intervals for every answer.

        Parameters
        ----------
        level
            Coverage of each interval, or of all of them together.
        simultaneous
            True for intervals that hold simultaneously (Bonferroni over the answers).
        method
            "normal": a score interval from the estimate's exact variance and a normal quantile. "finite": Hoeffding's
            inequality from the sub-Gaussian proxy, or Chebyshev's where none is known; wider, and valid for any number
            of reports.

        Notes
        -----
        Intervals are centred at the raw estimate and clipped to the answers' range; projecting does not narrow them.
        """
        check_level(level, method)
        miss = (1 - level) / (len(self.raw) if simultaneous else 1)
        if method == "normal":
            quantile = -NormalDist().inv_cdf(miss / 2)
            return self._widened(self._end(-quantile), self._end(quantile))
        proxy = self.survey.design.proxy
        if proxy is None:
            # Chebyshev: the truth is more than 1/sqrt(miss) standard errors away with probability at most `miss`.
            return self._widened(self._end(-1 / math.sqrt(miss)), self._end(1 / math.sqrt(miss)))
        shared = self.survey.design.sharing_factor(self.n_reports)
        half = np.sqrt(2 * shared * np.asarray(proxy) / self.n_reports * math.log(2 / miss))
        return self._widened(self.raw - half, self.raw + half)

    def _widened(self, low: Floats, high: Floats) -> Interval:
        """Widen an interval of the expected raw answers by the bias, and clip it to the range of the answers."""
        least, most = self.survey.answer_range
        bias = self.survey.design.bias_bound
        return Interval((low - bias).clip(least, most), (high + bias).clip(least, most))

    def _end(self, quantile: float) -> Floats:
        """The end of a score interval: where the raw estimate is `quantile` standard errors away, by its own variance.

        Taking the variance at the end instead of at the estimate keeps the coverage for rare values (Wilson 1927). With
        many reports a few fixed-point iterations suffice; with few, the end is found by bisection.
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
        """The same by bisection between the raw estimate and the limit of the answers.

        Variances are concave in the answer, so the answers within `quantile` standard errors form an interval.
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
        """How far malicious devices can have moved the answers, given their number or their fraction of the reports.

        For any behaviour of these devices, compared with honest reports in their place; see
        `sottovoce.surveys.influence`.

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
        )

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
            "mechanism": self.survey.mechanism.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n_reports": self.n_reports,
            "bound": {"l2": self.bound.value, "statement": self.bound.statement},
            "projection_gap": self.gap,
            "level": level,
        }

    def columns(self, level: float = 0.95) -> dict[str, Floats]:
        """The answers as columns: value, raw, low and high, in the survey's order."""
        low, high = self.interval(level)
        return {"value": self.values, "raw": self.raw, "low": low, "high": high}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All fields as plain values."""
        columns = (column.tolist() for column in self.columns(level).values())
        rows = zip(self.survey.answer_labels(), *columns, strict=True)
        return {**self.summary(level), "answers": [dict(zip(Answer._fields, row, strict=True)) for row in rows]}

    def to_json(self, level: float = 0.95) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(level), ensure_ascii=False)

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(level), index=pd.Index(self.survey.answer_labels(), name="label"))

    def plot(self, ax: Any = None, k: int = 20, level: float = 0.95) -> Any:
        """Bars of the k most frequent values with intervals, on a matplotlib axes; returns the axes."""
        caption = f"{self.n_reports:,} reports, {guarantee(self.epsilon, self.delta)}, {100 * level:g} % intervals"
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


def import_pandas() -> Any:
    """The pandas module; raises `MissingExtraError`, which says what to install, where it is missing."""
    if find_spec("pandas") is None:
        raise MissingExtraError("to_pandas needs pandas: pip install 'sottovoce[pandas]'")
    return import_module("pandas")


def check_level(level: object, method: object) -> None:
    """Raise `SurveyError` for an invalid level or method."""
    if not isinstance(level, float) or not 0 < level < 1:
        raise SurveyError("level must be a number between 0 and 1, for example 0.95")
    if method not in ("normal", "finite"):
        raise SurveyError("method must be 'normal' or 'finite'")
