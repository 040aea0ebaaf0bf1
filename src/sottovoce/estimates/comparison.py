"""A comparison of two estimates of the same answers, of different people: differences, tests and ratios.

Intervals of differences are those of `sottovoce.estimates.differences`; tests take both arms' variances as they are if
there is no difference (`sottovoce.theory.two_samples`). With `always` both hold at every look together, by the product
of both arms' processes (`sottovoce.theory.two_arms`), or where a design has none by a miss for every look.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np

from sottovoce.core.answer import Answer, unknown_answer
from sottovoce.core.errors import SottovoceError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.differences import DifferenceInterval, difference_of_arms, ratio_of_arms
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import Interval
from sottovoce.estimates.lasting import LASTING, LOOKS, lasting_ratio
from sottovoce.estimates.series import PickedAnswer
from sottovoce.estimates.table_files import EstimateTable, FilePath, arrow_table, write_csv, write_parquet
from sottovoce.estimates.watched import level_of_look
from sottovoce.figures.arms import plot_arms
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.two_arms import ArmProcess, difference_limits, lasting_p_values
from sottovoce.theory.two_samples import chi_squared_tail, common_answer, holm, two_sided

__all__ = ["CONDITION", "Comparison", "Difference", "JointTest", "p_text"]

_ROWS_IN_TEXT: Final = 10
_ROWS_IN_HTML: Final = 60
_ROWS_IN_PICTURES: Final = 20

_RANK: Final = 1e-9
"""Directions in which answers differ by less than this part of the most are none: by the question alone."""

_SAME: Final = 1e-9
"""Two answers whose errors are correlated up to this are one test."""

CONDITION: Final = "this holds for different people: nobody may be in both estimates"


@dataclass(frozen=True, kw_only=True, repr=False)
class Difference(Answer):
    """An answer of the first estimate less that of the second, with its interval and its test.

    Attributes
    ----------
    first, second
        The two answers, as their estimates show them.
    p_value
        The chance of a difference as large if there is none.
    adjusted_p_value
        The same, adjusted for the number of answers that are compared (Holm).
    """

    first: float
    second: float
    p_value: float
    adjusted_p_value: float

    row_fields: ClassVar[tuple[str, ...]] = (
        *("label", "first", "second", "value", "raw", "low", "high", "p_value", "adjusted_p_value"),
    )

    def _with_unit(self, number: str) -> str:
        return f"{number} points" if self.is_share else super()._with_unit(number)

    @property
    def interval_text(self) -> str:
        """The interval in words, rounded like the value."""
        return f"{self._number(self.low)} to {self._number(self.high)}"

    def _number(self, number: float) -> str:
        text = super()._number(number)
        return f"+{text}" if number > 0 and text.strip("0.,") else text

    def __str__(self) -> str:
        return f"{super().__str__()}, {p_text(self.p_value)}"


class JointTest(NamedTuple):
    """A test of whether any of the compared answers differs.

    Attributes
    ----------
    statistic, degrees
        The chi-squared statistic, and its degrees of freedom: the number of directions in which the answers of two
        populations can differ. NaN and 0 where the p-value is the least of all answers', times their number.
    p_value
        The chance of a statistic as large if no answer differs.
    method
        How it was found.
    """

    statistic: float
    degrees: int
    p_value: float
    method: str

    def __str__(self) -> str:
        if not self.degrees:
            return f"{p_text(self.p_value)} ({self.method})"
        return f"chi-squared {self.statistic:.4g}, {plural(self.degrees, 'degree')} of freedom, {p_text(self.p_value)}"


def p_text(p_value: float) -> str:
    """A p-value in words.

    Examples
    --------
    >>> p_text(0.0312), p_text(0.00001)
    ('p = 0.031', 'p < 0.0001')
    """
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two estimates side by side; `compare` makes it.

    Attributes
    ----------
    first, second
        The estimates. Differences are the first less the second.
    picked
        What is compared.
    level
        The level of every interval.
    always
        Whether intervals and p-values hold at every look together.
    """

    first: Estimate
    second: Estimate
    picked: tuple[PickedAnswer, ...]
    level: float = 0.95
    always: bool = False

    # --- differences --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Difference]:
        return (self._difference(index) for index in range(len(self)))

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, name: object) -> Difference:
        """The difference of the answer with that label; raises `UnknownAnswerError`, a `KeyError`, for others."""
        return self._difference(self._index(name))

    def __contains__(self, name: object) -> bool:
        try:
            self._index(name)
        except SottovoceError:
            return False
        return True

    def labels(self) -> list[str]:
        """The labels of all compared answers."""
        return [one.name for one in self.picked]

    def ratio(self, name: object) -> Answer:
        """The first answer over the second, with its interval.

        Where the second may be nobody, the value is unknown, NaN, and every ratio is possible.
        """
        index = self._index(name)
        picked, arms = self.picked[index], (self._arms[0][index], self._arms[1][index])
        if self._processes is None:
            interval = ratio_of_arms(*arms, picked.limits)
        else:
            interval = lasting_ratio(*self._processes, index, self._error[index], self._miss)
        raw = arms[0].raw / arms[1].raw if arms[1].raw else math.nan
        known = math.isfinite(interval.high)
        return Answer(
            label=f"{picked.name}, ratio",
            value=raw if known else math.nan,
            low=interval.low,
            high=interval.high,
            raw=raw,
            method=interval.method,
            level=self.level,
        )

    def interval(self) -> Interval:
        """The intervals of all differences."""
        low, high, method = zip(*self._intervals, strict=True)
        return Interval(np.array(low), np.array(high), "; ".join(dict.fromkeys(method)))

    @cached_property
    def joint(self) -> JointTest:
        """Whether any of the compared answers differs, all of them together.

        The chi-squared statistic of all differences, with both covariances for the population of both estimates
        together. Degrees of freedom are the directions in which two populations can differ, by the question alone:
        one less than the answers of `shares`. Where covariances are not known, or with `always`: the least p-value
        times the number of answers (Bonferroni).
        """
        spread, change = self._spread, self._raw
        directions = None if spread is None else self.first._changes(self.picked)
        if spread is None or directions is None or self.always or self._error.any():
            least = float(self.adjusted_p_values.min())
            return JointTest(math.nan, 0, least, "the least p-value, adjusted for the number of answers")
        axes, sizes, _ = np.linalg.svd(directions, full_matrices=False)
        axes = axes[:, sizes > _RANK * sizes.max(initial=0.0)]
        along = axes.T @ change
        statistic = float(along @ np.linalg.solve(axes.T @ spread @ axes, along))
        degrees = axes.shape[1]
        method = "chi-squared, with covariances for the population of both estimates together"
        return JointTest(statistic, degrees, chi_squared_tail(statistic, degrees), method)

    # --- computed once ---------------------------------------------------------------------------

    @property
    def _miss(self) -> float:
        return 1 - self.level

    @cached_property
    def _processes(self) -> tuple[ArmProcess, ArmProcess] | None:
        """Both arms' processes where everything is to hold at every look, and both designs have one."""
        if not self.always:
            return None
        first, second = (one._process(self.picked, self._miss) for one in (self.first, self.second))
        return None if first is None or second is None else (first, second)

    @property
    def _by_looks(self) -> bool:
        """Whether every look has a level of its own."""
        return self.always and self._processes is None

    @cached_property
    def _arms(self) -> tuple[Arms, Arms]:
        level = level_of_look(self.level, self._reports) if self._by_looks else self.level
        return (
            self.first._arms(self.picked, level, self.second),
            self.second._arms(self.picked, level, self.first),
        )

    @property
    def _reports(self) -> int:
        return self.first.n_reports + self.second.n_reports

    @property
    def _raw(self) -> Floats:
        return self._arms[0].raw - self._arms[1].raw

    @property
    def _error(self) -> Floats:
        return self._arms[0].error + self._arms[1].error

    @cached_property
    def _intervals(self) -> list[DifferenceInterval]:
        if self._processes is None:
            note = f"; {LOOKS}" if self.always else ""
            intervals = (
                difference_of_arms(self._arms[0][index], self._arms[1][index], picked.limits)
                for index, picked in enumerate(self.picked)
            )
            return [interval._replace(method=interval.method + note) for interval in intervals]
        low, high = difference_limits(*self._processes, self._miss)
        low, high = low - self._error, high + self._error
        widths = [picked.limits[1] - picked.limits[0] for picked in self.picked]
        return [
            DifferenceInterval(max(start, -width), min(end, width), LASTING)
            for start, end, width in zip(low.tolist(), high.tolist(), widths, strict=True)
        ]

    @cached_property
    def p_values(self) -> Floats:
        """The p-values of all compared answers: of no difference, or of any that bias and bins can make of none."""
        nearest = self._raw.clip(-self._error, self._error)
        if self._processes is not None:
            return lasting_p_values(*self._processes, nearest)
        one, other = self._arms
        limits = np.maximum(one.least, other.least), np.minimum(one.most, other.most)
        variances = one.variance.at, other.variance.at
        common = common_answer((one.raw, other.raw), (one.reports, other.reports), variances, limits)
        with np.errstate(divide="ignore"):
            spread = one.variance.at(common) / one.reports + other.variance.at(common) / other.reports
        p_values = two_sided(self._raw - nearest, np.sqrt(spread))
        if not self.always:
            return p_values
        return np.asarray((p_values / (1 - level_of_look(0.0, self._reports))).clip(max=1.0))

    @cached_property
    def _spread(self) -> Floats | None:
        """The covariance of all differences if there are none; None if it is not known."""
        first = self.first._covariance(self.picked, self.second)
        second = None if first is None else self.second._covariance(self.picked, self.first)
        return None if first is None or second is None else first + second

    @cached_property
    def adjusted_p_values(self) -> Floats:
        """The p-values, adjusted for their number (Holm); "yes" and "no", each of which tells the other, are one."""
        if self._spread is None:
            return holm(self.p_values)
        variances = np.diag(self._spread)
        varies = variances > _SAME * variances.max()  # others are certain, and like none
        sizes = np.sqrt(np.where(varies, variances, np.inf))
        alike = np.eye(len(self), dtype=np.bool_) | (np.abs(self._spread) >= (1 - _SAME) * np.outer(sizes, sizes))
        return np.maximum(holm(self.p_values, alike.argmax(axis=1)), self.p_values)

    def _index(self, name: object) -> int:
        labels = self.labels()
        if name in labels:
            return labels.index(str(name))
        try:
            wanted = self.first.survey.question.compared(name).name
        except SottovoceError:
            raise unknown_answer(name, labels, "compared answer") from None
        if wanted not in labels:
            raise unknown_answer(name, labels, "compared answer")
        return labels.index(wanted)

    def _difference(self, index: int) -> Difference:
        picked, interval, change = self.picked[index], self._intervals[index], float(self._raw[index])
        first, second = (picked.of(estimate, self.level).value for estimate in (self.first, self.second))
        return Difference(
            label=picked.name,
            first=first,
            second=second,
            value=change,
            low=interval.low,
            high=interval.high,
            raw=change,
            unit=picked.unit,
            method=interval.method,
            level=self.level,
            is_share=picked.is_share,
            p_value=float(self.p_values[index]),
            adjusted_p_value=float(self.adjusted_p_values[index]),
        )

    # --- other forms ------------------------------------------------------------------------

    def __str__(self) -> str:
        """A table of the differences, the most significant ones if there are many, and a sentence."""
        rows = [self._headings, *(self._cells(index) for index in self._shown(_ROWS_IN_TEXT))]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        more = len(self) - len(rows) + 1
        return "\n".join([*lines, *([plural(more, "more answer")] if more else []), *self._sentences])

    def _shown(self, most: int) -> list[int]:
        """All of them, or those of the least p-values."""
        order = np.argsort(self.p_values, kind="stable")[:most]
        return sorted(order.tolist())

    def _cells(self, index: int) -> tuple[str, ...]:
        difference = self._difference(index)
        arms = (self.picked[index].of(estimate, self.level).value_text for estimate in (self.first, self.second))
        shown = f"{difference.value_text} ({difference.interval_text})"
        return difference.label, *arms, shown, p_text(difference.p_value), p_text(difference.adjusted_p_value)

    @property
    def _sentences(self) -> list[str]:
        """All answers together; what was compared; and when it holds."""
        looks = " at every look" if self.always else ""
        together = [f"all together: {self.joint}"] if len(self) > 1 else []
        return [*together, f"{self._caption}; {100 * self.level:g} % intervals{looks}", CONDITION]

    @property
    def _caption(self) -> str:
        return "; ".join(
            f"{name}: {plural(estimate.n_reports, 'report')}, {guarantee(estimate.epsilon, estimate.delta)}"
            for name, estimate in zip(self.names, (self.first, self.second), strict=True)
        )

    @property
    def _headings(self) -> tuple[str, ...]:
        return ("", *self.names, "difference", "p", "adjusted")

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called: by their groups, if they have any."""
        return self.first.group or "first", self.second.group or "second"

    def __repr__(self) -> str:
        return f"<comparison of {plural(len(self), 'answer')}; {self._caption}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(index)) + "</tr>"
            for index in self._shown(_ROWS_IN_HTML)
        )
        head = "".join(f"<th>{heading}</th>" for heading in self._headings)
        caption = html.escape("; ".join(self._sentences))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def summary(self) -> dict[str, Any]:
        """What is compared, and the joint test: everything but the differences, as plain values."""
        joint = {
            **self.joint._asdict(),
            "statistic": None if math.isnan(self.joint.statistic) else self.joint.statistic,
        }
        return {
            "first": self.first.survey.id,
            "second": self.second.survey.id,
            "names": list(self.names),
            "reports": [self.first.n_reports, self.second.n_reports],
            "epsilon": [self.first.epsilon, self.second.epsilon],
            "delta": [self.first.delta, self.second.delta],
            "unit": self.first.survey.question.unit,
            "level": self.level,
            "always": self.always,
            "joint": joint,
            "condition": CONDITION,
        }

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {**self.summary(), "differences": [difference.row() for difference in self]}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def columns(self) -> dict[str, Floats]:
        """The differences as columns, in the order of what is compared."""
        rows = list(self)
        return {name: np.array([getattr(row, name) for row in rows]) for name in Difference.row_fields[1:]}

    def as_table(self) -> EstimateTable:
        """The differences as a table, from which files are written."""
        return EstimateTable(self.summary(), lambda row: self.picked[row].name, self.columns(), 0, len(self))

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(), index=pd.Index(self.labels(), name="label"))

    def to_csv(self, path: FilePath | None = None) -> str:
        """CSV with a heading and one row per answer, also written to a file if a path is given."""
        return write_csv(self.as_table(), path)

    def to_parquet(self, path: FilePath) -> None:
        """Write the differences to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(), path)

    def to_arrow(self) -> Any:
        """A pyarrow table with one row per answer. Needs pyarrow."""
        return arrow_table(self.as_table())

    def plot(self, k: int = _ROWS_IN_PICTURES) -> Any:
        """Both estimates side by side, and their differences beside them, on a new matplotlib figure; returns it.

        Of more than `k` answers, those of the least p-values; where units differ, those with that of the first.
        """
        shown = self._shown(check_integer("k", k, 1, 2**53))
        shown = [index for index in shown if _unit(self.picked[index]) == _unit(self.picked[shown[0]])]
        pairs = [
            (self.picked[index].of(self.first, self.level), self.picked[index].of(self.second, self.level))
            for index in shown
        ]
        names = self.names
        pair = zip((self.first, self.second), names, strict=True)
        titles = [one.group or one.survey.title or name for one, name in pair]
        heading = f"{names[0]} less {names[1]}"
        changes = [self._difference(index) for index in shown]
        return plot_arms(pairs, changes, titles, heading, "; ".join(self._sentences))


def _unit(picked: PickedAnswer) -> tuple[str, bool]:
    return picked.unit, picked.is_share
