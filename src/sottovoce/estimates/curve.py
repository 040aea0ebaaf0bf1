"""A curve: the estimates of a tracking survey's periods, and what they say together.

People of different periods are different people, so estimates of two periods are independent: variances of differences
add, and a band at `level` takes each period's interval at level ** (1/K) (Sidak 1967; for K normal errors that depend
on each other it holds all the more, so it holds where people answer again in a later window). Everything is computed
from raw, unbiased answers. Periods without reports are gaps, never zeros; a period that is still open is shown as
unfinished, and takes no part in band, trend and smoothing.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from statistics import NormalDist
from typing import Any, Final, TypeAlias, final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.entries import as_day, as_integer
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.asked import TrackedSurvey
from sottovoce.estimates.differences import difference_of_answers, difference_of_arms
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.series import AnswerOverTime, PickedAnswer, Series
from sottovoce.estimates.table_files import EstimateTable, FilePath, arrow_table, write_csv, write_parquet
from sottovoce.estimates.trend import MIN_PERIODS, SmoothedCurve, Trend, line_through, smoothed
from sottovoce.estimates.watched import check_always
from sottovoce.figures.curve import CurvePoint, DrawnCurve, PeriodState, plot_curve
from sottovoce.mechanisms.base import Floats

__all__ = ["Curve", "PeriodName"]

PeriodName: TypeAlias = int | str | date
"""A period's number, its label, or a day in it."""

_ROWS_IN_HTML: Final = 60
_COLUMNS_IN_HTML: Final = 6
_ROWS_IN_TEXT: Final = 12
_MOST_IN_TABLES: Final = 1000
"""Answers of a question that a table of all of them has."""

_NUMBERS: Final = ("period", "n_reports", "value", "raw", "low", "high", "band_low", "band_high")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """The estimates of a tracking survey by period.

    `answer` of the methods is a label (of a number: "mean", the default, "standard deviation" or "median"), or a
    function of an estimate and a level that gives a combination, such as
    ``lambda estimate, level: estimate.difference("tea", "coffee", level)``.

    Attributes
    ----------
    estimates
        By number of the period, for those with reports.
    periods
        All periods of the curve, from the first to the last that was given.
    unfinished
        Those of them that are still open.
    """

    tracking: TrackedSurvey
    estimates: Mapping[int, Estimate]
    periods: range
    unfinished: frozenset[int] = frozenset()

    @property
    def closed(self) -> list[int]:
        """Closed periods with reports."""
        return [number for number in self.periods if self._state(number) == "closed"]

    def __getitem__(self, period: PeriodName) -> Estimate:
        """The estimate of one period, named by its number, its label or a day in it."""
        return self._estimate("period", period)[1]

    def _estimate(self, argument: str, period: PeriodName) -> tuple[int, Estimate]:
        """The number and the estimate of the period that an argument names."""
        number = self.number_of(period, argument)
        if number not in self.estimates:
            raise NoReportsError(
                f"period {number} ({self.tracking.calendar.label(number)}) has no reports: choose another"
            ).at(argument)
        return number, self.estimates[number]

    def number_of(self, period: PeriodName, argument: str = "period") -> int:
        """The number of a period that is named by its number, its label or a day in it."""
        number, calendar = as_integer(period), self.tracking.calendar
        if number is None:
            day = as_day(period)
            by_label = (number for number in self.periods if calendar.label(number) == period)
            number = next(by_label, None) if day is None else calendar.on(day)
        if number is None or number not in self.periods:
            first, last = self.periods.start, self.periods.stop - 1
            given = f" is {period}" if isinstance(period, int) and not isinstance(period, bool) else ""
            raise SurveyError(
                f"{argument}{given}: it must be a number from {first} to {last}, a label such as "
                f"{calendar.label(first)!r}, or a day within the curve"
            ).at(argument)
        return number

    def by(self, variable: str) -> dict[str, Curve]:
        """The curves of a public variable's groups, by its values; a period without reports of a group is a gap."""
        apart = {number: estimate.by(variable) for number, estimate in self.estimates.items()}
        stated = next(iter(apart.values())).stated if apart else ()
        return {
            value: replace(self, estimates={number: found[value] for number, found in apart.items() if value in found})
            for value in stated
            if any(value in found for found in apart.values())
        }

    def __len__(self) -> int:
        return len(self.periods)

    # --- one answer -------------------------------------------------------------------------

    def series(self, answer: AnswerOverTime = None, level: float = 0.95, always: bool | str = True) -> Series:
        """One answer over all periods: with an interval for each, and a band that holds for all closed ones together.

        Parameters
        ----------
        always
            Whether intervals of open periods hold at every look together, as for `Estimate.interval`; those of closed
            ones are of one look, since they change no more.

        Notes
        -----
        Both are exact or certified for any number of reports, as those of `Estimate.interval`.
        """
        check_level(level)
        picked = self._picked(answer)
        each = level ** (1 / max(1, len(self.closed)))
        points, methods = [], []
        for number in self.periods:
            state, estimate = self._state(number), self.estimates.get(number)
            of_all = self.tracking.calendar
            about: dict[str, Any] = {
                "label": of_all.label(number),
                "unit": picked.unit,
                "level": level,
                "is_share": picked.is_share,
                "period": number,
                "starts": of_all.start(number),
                "state": state,
            }
            if estimate is None:
                about |= dict.fromkeys(("value", "low", "high", "raw"), math.nan)
                points.append(CurvePoint(**about, n_reports=0))
                continue
            own = picked.of(estimate.watched(always) if state == "open" else estimate, level)
            about |= {"value": own.raw, "low": own.low, "high": own.high, "raw": own.raw, "method": own.method}
            if state == "closed":
                band = picked.of(estimate, each)
                about |= {"band_low": band.low, "band_high": band.high}
            points.append(CurvePoint(**about, n_reports=estimate.n_reports))
            methods.append(own.method)
        method = "; ".join(dict.fromkeys(methods))
        return Series(picked.name, picked.unit, level, each, method, tuple(points))

    @with_clear_calls('curve.difference("2027-10-04", "2027-03-08", "yes")')
    def difference(
        self, later: PeriodName, earlier: PeriodName, answer: AnswerOverTime = None, level: float = 0.95
    ) -> Answer:
        """How much an answer changed from one period to another, with its interval.

        A period is named by its number, its label, or a day in it.

        Notes
        -----
        Shares, means and other linear answers by MOVER from uncut intervals; others from two intervals that hold
        together: see `sottovoce.estimates.differences`.
        """
        check_level(level)
        picked = self._picked(answer)
        (last, newer), (first, older) = self._estimate("later", later), self._estimate("earlier", earlier)
        if last == first:
            raise SurveyError("later and earlier must be two different periods").at("earlier")
        arms = [picked.arm(estimate, level) for estimate in (newer, older)]
        if arms[0] is None or arms[1] is None:
            answers = [picked.of(estimate, math.sqrt(level)) for estimate in (newer, older)]
            change, interval = answers[0].raw - answers[1].raw, difference_of_answers(*answers)
        else:
            change, interval = arms[0].raw - arms[1].raw, difference_of_arms(arms[0], arms[1], picked.limits)
        label = self.tracking.calendar.label
        return Answer(
            label=f"{picked.name}, {label(last)} less {label(first)}".lstrip(", "),
            value=min(max(change, interval.low), interval.high),
            low=interval.low,
            high=interval.high,
            raw=change,
            unit=picked.unit,
            method=interval.method,
            level=level,
            is_share=picked.is_share,
        )

    def trend(self, answer: AnswerOverTime = None, level: float = 0.95) -> Trend:
        """The change per period as a straight line, with its interval and test; and whether anything changed at all.

        Examples
        --------
        >>> import numpy as np
        >>> import sottovoce as sv
        >>> asked = sv.questions.Shares(["yes", "no"])
        >>> tracking = sv.Tracking(asked, periods=8, every="month", starts="2027-01-01", epsilon=2.0)
        >>> people = np.arange(80_000) / 80_000
        >>> reports = tracking.simulate(lambda month: np.where(people < 0.2 + 0.02 * month, "yes", "no"), seed=1)
        >>> print(tracking.estimate(reports).trend("yes"))
        +0.0204 per period, 95 % from 0.01852 to 0.02228, p < 0.0001; that nothing changed at all: p < 0.0001
        """
        check_level(level)
        picked = self._picked(answer)
        numbers, answers, own = self._known(picked)
        values = np.array([known.raw for known in answers])
        return line_through(picked.name, picked.unit, numbers, values, own, self._common(picked, answers, own), level)

    def smooth(self, answer: AnswerOverTime = None, level: float = 0.95) -> SmoothedCurve:
        """The answer as a random walk seen with errors: an assumption, which the result names."""
        check_level(level)
        picked = self._picked(answer)
        numbers, answers, own = self._known(picked)
        values = np.array([known.raw for known in answers])
        return smoothed(picked.name, picked.unit, numbers, values, own, level, picked.limits)

    # --- other forms ------------------------------------------------------------------------

    def to_dict(
        self, answer: AnswerOverTime = None, level: float = 0.95, smooth: bool = False, always: bool | str = True
    ) -> dict[str, Any]:
        """One answer's points, trend and, if asked for, smoothed curve as plain values; None where periods are few.

        `always` is that of `series`; the field of that name says it of open periods.
        """
        series = self.series(answer, level, always)
        enough = len(self.closed) >= MIN_PERIODS
        return {
            "survey": self.tracking.id,
            "title": self.tracking.title,
            "kind": "tracking",
            "question": self.tracking.question.kind,
            "answer": series.answer,
            "unit": series.unit,
            "share": self._picked(answer).is_share,
            "epsilon": self.tracking.epsilon,
            "delta": self.tracking.delta,
            "level": level,
            "band_level": series.each_level,
            "always": check_always(always) if self.unfinished else None,
            "method": series.method,
            "points": [point.row() for point in series.points],
            "trend": self.trend(answer, level).to_dict() if enough else None,
            "smooth": self.smooth(answer, level).to_dict() if enough and smooth else None,
        }

    def as_table(self, answer: AnswerOverTime = None, level: float = 0.95) -> EstimateTable:
        """One answer as a table with one row per period; all answers below each other if there are several."""
        names = [answer] if answer is not None else self.first_answers(_MOST_IN_TABLES)
        followed = [self.series(name, level) for name in names]
        rows = [(series, point) for series in followed for point in series.points]
        texts = {"answer": [series.answer for series, _ in rows]} if len(followed) > 1 else {}
        texts |= {
            "starts": [point.starts.date().isoformat() for _, point in rows],
            "state": [point.state for _, point in rows],
        }
        columns = {name: np.array([getattr(point, name) for _, point in rows]) for name in _NUMBERS}
        about = {
            "survey": self.tracking.id,
            "title": self.tracking.title,
            "epsilon": self.tracking.epsilon,
            "delta": self.tracking.delta,
            "level": level,
            "answers": [series.answer for series in followed],
        }
        return EstimateTable(about, lambda row: rows[row][1].label, columns, 0, len(rows), texts)

    def to_pandas(self, answer: AnswerOverTime = None, level: float = 0.95) -> Any:
        """A DataFrame indexed by period; gaps are NaN. Needs pandas.

        Without `answer`, the only one; or all answers below each other, with a column `answer`.
        """
        pd = import_pandas()
        table = self.as_table(answer, level)
        frame = pd.DataFrame({"label": [table.label(row) for row in range(table.stop)], **table.texts, **table.columns})
        return frame.assign(starts=pd.to_datetime(frame["starts"], utc=True)).set_index("period")

    def to_csv(self, path: FilePath | None = None, answer: AnswerOverTime = None, level: float = 0.95) -> str:
        """CSV with a heading and one row per period, also written to a file if a path is given."""
        return write_csv(self.as_table(answer, level), path)

    def to_parquet(self, path: FilePath, answer: AnswerOverTime = None, level: float = 0.95) -> None:
        """Write the periods to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(answer, level), path)

    def to_arrow(self, answer: AnswerOverTime = None, level: float = 0.95) -> Any:
        """A pyarrow table with one row per period. Needs pyarrow."""
        return arrow_table(self.as_table(answer, level))

    def plot(self, answer: AnswerOverTime = None, level: float = 0.95, smooth: bool = False, ax: Any = None) -> Any:
        """The curve with intervals and band, on a matplotlib axes; returns the axes."""
        series = self.series(answer, level)
        line = self.smooth(answer, level) if smooth else None
        percent = f"{100 * level:g}\N{NO-BREAK SPACE}%"
        caption = (
            f"{plural(sum(point.n_reports for point in series.points), 'report')} in {plural(len(self), 'period')}, "
            f"{guarantee(self.tracking.epsilon, self.tracking.delta)}; bars: each period at {percent}; band: "
            f"all closed periods together at {percent}"
        )
        if self.tracking.title:
            caption = f"{self.tracking.title}\n{caption}"
        if line is not None:
            caption += f"\nline: {line.assumption}"
        drawn = DrawnCurve(
            series.points,
            series.answer,
            series.unit,
            self._picked(answer).is_share,
            caption,
            None if line is None else tuple(tuple(point) for point in line.points),
        )
        return plot_curve(drawn, ax)

    def __str__(self) -> str:
        """The last periods of the answer that is shown first, and how many there are."""
        lines = []
        for name in self.first_answers(1):
            series = self.series(name)
            known = tuple(point for point in series.points if point.n_reports)
            lines.append(str(replace(series, points=known[-_ROWS_IN_TEXT:])))
        return "\n".join([*lines, repr(self).strip("<>")])

    def __repr__(self) -> str:
        gaps = sum(self._state(number) == "empty" for number in self.periods)
        notes = "".join(
            f", {count} {what}" for count, what in ((len(self.unfinished), "open"), (gaps, "without reports")) if count
        )
        reports = sum(estimate.n_reports for estimate in self.estimates.values())
        return f"<curve of {plural(len(self), 'period')}{notes}, {plural(reports, 'report')}, {self.tracking.promise}>"

    def first_answers(self, most: int) -> list[str | None]:
        """Answers to show if none is named: the only one or the first; for words, those most common at the end."""
        try:
            self._picked(None)
        except SurveyError:
            return [*self.followed_names(most)[:most]]
        return [None]

    def followed_names(self, most: int) -> list[str]:
        """Names of what can be followed, the usual one first; about `most` of them at most."""
        last = max(self.closed or self.estimates, default=None)
        names: list[str] = self.tracking.question.followed_names(None if last is None else self.estimates[last], most)
        return names

    def _repr_html_(self) -> str:
        caption = html.escape(repr(self).strip("<>"))
        columns = [self.series(name) for name in self.first_answers(_COLUMNS_IN_HTML)]
        if not columns:
            return f"<p>{caption}</p>"
        head = "".join(f"<th>{html.escape(column.answer)}</th>" for column in columns)
        rows = []
        for at in range(len(self))[-_ROWS_IN_HTML:]:
            first = columns[0].points[at]
            cells = "".join(f"<td>{html.escape(_shown(column.points[at]))}</td>" for column in columns)
            open_now = " (open)" if first.state == "open" else ""
            rows.append(f"<tr><td>{html.escape(first.label)}{open_now}</td><td>{first.n_reports:,}</td>{cells}</tr>")
        top = f"<tr><th>period</th><th>reports</th>{head}</tr>"
        return f"<table><caption>{caption}</caption><thead>{top}</thead><tbody>{''.join(rows)}</tbody></table>"

    # --- parts -----------------------------------------------------------------------------

    def _state(self, number: int) -> PeriodState:
        if number in self.unfinished:
            return "open"
        return "closed" if number in self.estimates else "empty"

    def _picked(self, answer: AnswerOverTime) -> PickedAnswer:
        picked: PickedAnswer = self.tracking.question.followed(answer)
        return picked

    def _known(self, picked: PickedAnswer) -> tuple[Floats, list[Answer], Floats]:
        """Numbers, estimates and variances of closed periods with reports."""
        answers = [picked.of(self.estimates[number], _LEVEL) for number in self.closed]
        variances = [
            picked.variance(self.estimates[number], answer, _NORMAL)
            for number, answer in zip(self.closed, answers, strict=True)
        ]
        return np.array(self.closed, dtype=np.float64), answers, np.maximum(variances, _LEAST_VARIANCE)

    def _common(self, picked: PickedAnswer, answers: list[Answer], own: Floats) -> Floats:
        """The variances if all periods had the same answers: those of all reports together."""
        if picked.weights is None or not answers:
            return own
        estimates = [self.estimates[number] for number in self.closed]
        counts = np.array([estimate.n_reports for estimate in estimates], dtype=np.float64)
        pooled = np.average([estimate.values for estimate in estimates], axis=0, weights=counts)
        variances = [
            picked.variance(estimate, answer, _NORMAL, pooled)
            for estimate, answer in zip(estimates, answers, strict=True)
        ]
        return np.maximum(variances, _LEAST_VARIANCE)


_LEVEL: Final = 0.95
_NORMAL: Final = NormalDist().inv_cdf((1 + _LEVEL) / 2)
_LEAST_VARIANCE: Final = 1e-300
"""An answer that is certain has no variance; weights need one."""


def _shown(point: CurvePoint) -> str:
    return f"{point.value_text} ({point.interval_text})" if point.n_reports else "no reports"
