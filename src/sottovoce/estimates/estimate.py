"""An estimate: raw and projected answers, their intervals, and bounds on their error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.answer import Answer, aligned
from sottovoce.core.errors import SurveyError, UnknownAnswerError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.groups import ByGroup, GroupCounts, label_of
from sottovoce.estimates.influence import Influence, influence
from sottovoce.estimates.intervals import Interval, Observed, certified_interval, check_level
from sottovoce.estimates.population import KnownPopulation, Margins, read_population
from sottovoce.estimates.table_files import EstimateTable, FilePath, arrow_table, write_csv, write_parquet
from sottovoce.estimates.watched import Always, check_always, watched_interval
from sottovoce.estimates.weighed_groups import weighted_by_groups
from sottovoce.estimates.weighted import Method, Weighted, check_method, check_names
from sottovoce.figures.bars import answers_html, plot_answers
from sottovoce.mechanisms.base import Counts
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.bounds import Bound
from sottovoce.theory.two_arms import ArmProcess

__all__ = ["Estimate", "NotEstimatedError", "SearchProgress", "SparseDistribution"]

Floats = NDArray[np.float64]

_ROWS_IN_HTML = 20
_ROWS_IN_PICTURES = 20
_ROWS_IN_TEXT = 10

SearchProgress = Callable[[int, int], object]
"""A function that is called with the steps done and their total."""


class SparseDistribution(NamedTuple):
    """A distribution over a few values that has the projected answers."""

    domain: Domain
    support: NDArray[np.int64]
    weights: Floats

    def items(self) -> list[tuple[str, float]]:
        """Labels and weights, the heaviest first."""
        order = np.argsort(-self.weights, kind="stable")
        return [(self.domain.label(int(self.support[i])), float(self.weights[i])) for i in order]


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
        farther on a single draw. What tables and pictures show is `shown()`: each of them within its own interval.
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
    always
        "population" or "so far" for an estimate all of whose intervals hold at every look together (`watched`); None
        for intervals of one look.
    groups
        The counts of the survey's public groups, if it has any.
    chosen
        Values of public variables that its people share, if it is the estimate of a group.
    """

    survey: AskedSurvey
    n_reports: int
    raw: Floats
    values: Floats
    gap: float
    bound: Bound
    distribution: SparseDistribution | None = None
    counts: Counts | None = None
    always: Always | None = None
    groups: GroupCounts | None = None
    chosen: tuple[tuple[str, str], ...] = ()

    describes: ClassVar[str] = "any question"
    """The subject of the estimate, for messages."""

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
        columns = reading.raw, projected.values, projected.gap, survey.bound(n_reports)
        return cls(survey, n_reports, *columns, behind, whole)

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

    def covariance(self, weights: Any = None) -> Floats:
        """The covariance matrix of raw answers, or of weighted sums of them, including the sampling of people.

        For the projected population, and exact where the variance of the design is; where the answers do not tell it,
        as for the mean of a number, from the counts of the reports. Refused where neither tells it: a matrix of bounds
        is no covariance.

        Parameters
        ----------
        weights
            Labels in a list, mappings of labels to numbers, a list of such, or an array with one column per answer:
            each label, mapping or row is one combination. All answers by default, if they are at most 200.

        Examples
        --------
        >>> import numpy as np, sottovoce as sv
        >>> survey = sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
        >>> spread = estimate.covariance(["tea", {"tea": 1, "coffee": -1}])
        >>> np.allclose(np.sqrt(spread[0, 0]), estimate.standard_errors[0])
        True
        """
        raise SurveyError(f"the covariance of answers is not known for estimates of {self.survey.kind}").at("kind")

    def watched(self, always: bool | str = True) -> Self:
        """This estimate with intervals that hold at every look together; with False, with those of one look.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 600 + ["coffee"] * 400, seed=1))
        >>> print(estimate.watched()["tea"])
        tea: 59.5 % (46.4 % to 72.4 %)
        """
        kind = check_always(always)
        return self if kind == self.always else replace(self, always=kind)

    def interval(self, level: float = 0.95, simultaneous: bool = False, always: bool | str | None = None) -> Interval:
        """Confidence intervals for every answer, exact or certified for any number of reports.

        Parameters
        ----------
        level
            Coverage of each interval, or of all of them together.
        simultaneous
            True for intervals that hold simultaneously (Bonferroni over the answers).
        always
            True, or "population", for intervals that hold at every look together while reports come in, for people who
            come from one population; "so far" for the mean of those who have answered so far, also where people
            change; False for intervals of one look. By default as the estimate is `watched`.

        Notes
        -----
        Intervals are of the raw answers; projecting does not narrow them. They hold for the population that people
        were drawn from, and for these very people. The interval's `method` names the inequalities used.
        """
        check_level(level)
        if not isinstance(simultaneous, bool):
            raise SurveyError("simultaneous must be True or False").at("simultaneous")
        kind = self.always if always is None else check_always(always)
        key = level, bool(simultaneous), kind
        if key not in self._intervals:
            least, most = self.survey.answer_range
            observed = Observed(self.survey.design, self.raw, self.n_reports, self.counts, least, most)
            together = len(self.raw) if simultaneous else 1
            with steps("computing intervals"):
                self._intervals[key] = (
                    certified_interval(observed, level, together)
                    if kind is None
                    else watched_interval(observed, level, kind, together)
                )
        return self._intervals[key]

    @cached_property
    def _intervals(self) -> dict[tuple[float, bool, Always | None], Interval]:
        """A cache of intervals, which a table, its summary and its picture share."""
        return {}

    def shown(self, level: float = 0.95) -> Floats:
        """The projected answers, each moved into its interval: the numbers that tables and pictures show."""
        return self.interval(level).nearest(self.values)

    def by(self, variable: str) -> ByGroup:
        """The estimates of a public variable's groups, from the reports of each alone, by its values.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(["tea", "coffee"], epsilon=1.0, groups={"arm": ["A", "B"]})
        >>> people = {"A": ["tea"] * 4000 + ["coffee"] * 6000, "B": ["tea"] * 5000 + ["coffee"] * 5000}
        >>> print(survey.estimate(survey.simulate_groups(people, seed=1)).by("arm"))
                arm A                     arm B
        ...
        """
        groups = self._groups("variable")
        estimates = {
            value: replace(estimate, always=self.always, chosen=((variable, value),))
            for value, estimate in groups.split(variable).items()
        }
        return ByGroup(variable, estimates, groups.groups.values_of(variable), self)

    def in_group(self, group: str | Mapping[str, str]) -> Self:
        """The estimate of one public group: of a value such as "B", or of several, such as ``{"arm": "B"}``."""
        groups = self._groups("group")
        chosen = groups.find(group)
        found: Self = replace(groups.estimate(chosen), always=self.always, chosen=tuple(chosen.items()))
        return found

    def weighted(
        self,
        population: KnownPopulation,
        answers: Iterable[Any] | None = None,
        level: float = 0.95,
        method: str | None = None,
    ) -> Weighted:
        """The answers of a population whose shares are known, from an estimate whose people are not like it.

        Parameters
        ----------
        population
            The share of every value of one or more public variables, or private fields of a form: a mapping such as
            ``{"age": {"18-29": 0.2, "30+": 0.8}}``, a DataFrame or a CSV file with the columns variable, value and
            share. Values that are counted together are joined: ``"30-49 or 50+"``.
        answers
            Names of the answers; all of them by default, of a form every value and mean of its other fields. Words
            must be named.
        method
            "rake" scales groups in turn until all shares agree: it is the method of public groups. "greg", usual for
            private fields, weighs by regression on them, from tables of pairs alone. Both mend that some kinds of
            people answer less often than others.
        """
        check_level(level)
        if self.always is not None:
            raise SurveyError(
                "weighed answers have intervals of one look, and this estimate is watched: weigh "
                "estimate.watched(False), once, when no more reports come in"
            ).at("always")
        names = None if answers is None else check_names(answers)
        return self._weighed(read_population(population), names, level, check_method(method))

    def _weighed(self, margins: Margins, answers: list[Any] | None, level: float, method: Method | None) -> Weighted:
        """Weigh by public groups; a kind of estimate that has other variables says how."""
        groups = self._groups("population")
        names = self.survey.question.compared_names() if answers is None else answers
        return weighted_by_groups(self, groups, margins, names, level, method)

    def _groups(self, argument: str) -> GroupCounts:
        if self.groups is not None:
            return self.groups
        whose = f"of {self.group} alone" if self.group else "of a survey without groups"
        raise SurveyError(
            f"this is an estimate {whose}; a survey has groups where it states them: groups={{'arm': ['A', 'B']}}"
        ).at(argument)

    @property
    def group(self) -> str:
        """The group whose estimate this is, such as "arm B"; empty for everybody."""
        own = self.survey.group
        return label_of(dict(self.chosen) if own is None else own.values)

    def influence(self, hostile: int | float = 0.01) -> Influence:
        """How far malicious devices can have moved the answers, given their number or their fraction of the reports.

        For any behaviour of these devices, compared with honest reports in their place; see
        `sottovoce.estimates.influence`.

        Examples
        --------
        >>> import sottovoce as sv
        >>> survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate(["tea"] * 600 + ["coffee"] * 400, seed=1))
        >>> print(estimate.influence(hostile=10))
        10 malicious devices among 1,000 reports can move an answer by up to 0.0217
        """
        return influence(self.survey, self.n_reports, hostile)

    def top(self, k: int = 10, level: float = 0.95, always: bool | str | None = None) -> list[Answer]:
        """The k most frequent values by the numbers shown, with their intervals; `always` as for `interval`."""
        count = check_integer("k", k, 1, 2**53)
        seen = self if always is None else self.watched(always)
        return [seen._answer(int(i), level) for i in np.argsort(-seen.shown(level), kind="stable")[:count]]

    def answers(self, level: float = 0.95, always: bool | str | None = None) -> list[Answer]:
        """All answers in the survey's order, with intervals; `always` as for `interval`.

        Iterating over the estimate gives the same, with 95 % intervals.
        """
        check_level(level)
        shown = self if always is None else self.watched(always)
        return [shown._answer(index, level) for index in range(len(self))]

    def __iter__(self) -> Iterator[Answer]:
        return (self._answer(index, 0.95) for index in range(len(self)))

    def __getitem__(self, name: object) -> Answer:
        """The answer with that label, value or number; raises `UnknownAnswerError`, a `KeyError`, for others."""
        return self._answer(self.survey.answer_index(name), 0.95)

    def __contains__(self, name: object) -> bool:
        try:
            self.survey.answer_index(name)
        except UnknownAnswerError:
            return False
        return True

    def _answer(self, index: int, level: float) -> Answer:
        return Answer(**self._parts(index, level))

    def _parts(self, index: int, level: float) -> dict[str, Any]:
        """The fields of one answer."""
        interval, question = self.interval(level), self.survey.question
        return {
            "label": self.label(index),
            "value": float(self.values[index]),  # moved into the interval by `Answer`
            "low": float(interval.low[index]),
            "high": float(interval.high[index]),
            "raw": float(self.raw[index]),
            "unit": question.unit,
            "method": interval.method,
            "level": level,
            "is_share": question.answers_are_shares,
            "splits": None if self.groups is None else partial(self._split, self.label(index), level),
        }

    def _split(self, label: str, level: float, variable: str) -> dict[str, Answer]:
        """One answer of every group that a variable makes, by its values."""
        picked = self.survey.question.compared(label)
        return {value: picked.of(part, level) for value, part in self.by(variable).items()}

    # --- comparisons with other people's estimate: see `sottovoce.estimates.comparison` ---------------------------

    def _arms(self, picked: Sequence[Any], level: float, beside: Any) -> Arms:
        """The answers that are compared with those of the estimate beside it."""
        raise SurveyError(f"estimates of {self.survey.kind} cannot be compared").at("first")

    def _process(self, picked: Sequence[Any], miss: float) -> ArmProcess | None:
        """Processes of the compared answers that hold at every look; None where there are none."""
        return None

    def _covariance(self, picked: Sequence[Any], beside: Any) -> Floats | None:
        """The covariance of the compared raw answers if both populations are the same; None if it is not known."""
        return None

    def _changes(self, picked: Sequence[Any]) -> Floats | None:
        """Columns that span what compared answers of two populations can differ by; None if not known."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that a copy's arrays are read-only too.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def _lacking(self) -> set[str]:
        """Methods of the class that this survey's answers cannot have."""
        return set()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - self._lacking())

    def __getattr__(self, name: str) -> Any:
        """Raise an error that names the kinds of estimates with this attribute; called for missing attributes alone."""
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

    def __str__(self) -> str:
        """The first or the largest answers as a table, and how well they are known."""
        shown, more = self._summary(_ROWS_IN_TEXT)
        rows = aligned([(answer.shown_label, answer.value_text, answer.interval_text) for answer in shown])
        rest = [f"{plural(more, 'more answer')}"] if more else []
        return "\n".join([*([rows] if rows else []), *rest, self._caption(0.95)])

    def _summary(self, most: int) -> tuple[list[Answer], int]:
        """What is printed, and how many answers there are besides."""
        shown = self._first(most)
        return shown, len(self) - len(shown)

    def _first(self, most: int, level: float = 0.95) -> list[Answer]:
        """The answers that are shown first: the largest, or those that the survey lists first."""
        return [self._answer(index, level) for index in self._first_indices(most, level)]

    def _first_indices(self, most: int, level: float) -> list[int]:
        count = check_integer("k", most, 1, 2**53)
        by_size = self.survey.question.listed_by_size
        order = np.argsort(-self.shown(level), kind="stable") if by_size else np.arange(len(self))
        found: list[int] = order[:count].tolist()
        return found

    def _beside(self, whole: Self, most: int, level: float) -> list[Answer]:
        """The answers that the estimate of everybody shows first, of this group of them."""
        return [self._answer(index, level) for index in whole._first_indices(most, level)]

    def __repr__(self) -> str:
        return (
            f"<estimate of {plural(len(self), 'answer')} from {plural(self.n_reports, 'report')}, "
            f"{guarantee(self.epsilon, self.delta)}, "
            f"{self.survey.mechanism.name}; expected L2 error at most {self.bound.value:.3g}>"
        )

    # --- other forms ------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> dict[str, Any]:
        """The question, the number of reports and the accuracy: everything but the answers, as plain values."""
        return {
            "survey": self.survey.id,
            "title": self.survey.title or self.survey.query_text,
            **({"group": self.group} if self.group else {}),
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
            "always": self.always,
            "method": self.interval(level).method,
        }

    def columns(self, level: float = 0.95) -> dict[str, Floats]:
        """The answers as columns: value, raw, low and high, in the survey's order."""
        low, high = self.interval(level)
        return {"value": self.shown(level), "raw": self.raw, "low": low, "high": high}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All fields as plain values."""
        columns = (column.tolist() for column in self.columns(level).values())
        rows = zip(self.labels(), *columns, strict=True)
        names = ("label", *self.columns(level))
        return {**self.summary(level), "answers": [dict(zip(names, row, strict=True)) for row in rows]}

    def to_json(self, level: float = 0.95) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(level), ensure_ascii=False)

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(level), index=pd.Index(self.labels(), name="label"))

    def as_table(self, level: float = 0.95) -> EstimateTable:
        """The answers as a table, from which files are written."""
        return EstimateTable(self.summary(level), self.label, self.columns(level), 0, len(self))

    def to_csv(self, path: FilePath | None = None, level: float = 0.95) -> str:
        """CSV with a heading and one row per answer, also written to a file if a path is given."""
        return write_csv(self.as_table(level), path)

    def to_parquet(self, path: FilePath, level: float = 0.95) -> None:
        """Write the answers to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(level), path)

    def to_arrow(self, level: float = 0.95) -> Any:
        """A pyarrow table with one row per answer. Needs pyarrow."""
        return arrow_table(self.as_table(level))

    def plot(self, ax: Any = None, k: int | None = None, level: float = 0.95) -> Any:
        """Bars of k answers, 20 by default and 200 at most, with intervals, on a matplotlib axes; returns the axes.

        The answers are the largest, the largest first; where the survey lists them in an order of their own, as those
        of records and of queries, they are the first ones.
        """
        by_size = self.survey.question.listed_by_size
        answers = self._first(_ROWS_IN_PICTURES if k is None else k, level)
        chosen = "largest" if by_size else "first"
        return plot_answers(answers, self._caption(level), ax, total=len(self), chosen=chosen, title=self.survey.title)

    def _caption(self, level: float) -> str:
        promise = guarantee(self.epsilon, self.delta)
        looks = " at every look" if self.always else ""
        whose = f"{self.group}, " if self.group else ""
        return f"{whose}{plural(self.n_reports, 'report')}, {promise}, {100 * level:g} % intervals{looks}"

    def _repr_html_(self) -> str:
        shown, more = self._summary(_ROWS_IN_HTML)
        return answers_html(shown, repr(self).strip("<>"), len(shown) + more)


def _kinds(kind: type[Estimate]) -> Iterator[type[Estimate]]:
    """Every class of estimates below this one."""
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _kinds(subclass)
