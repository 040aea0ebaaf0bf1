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
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.asked import TrackedSurvey
from sottovoce.estimates.combinations import CombinedAnswer
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.series import AnswerOverTime, PickedAnswer, Series
from sottovoce.estimates.trend import MIN_PERIODS, SmoothedCurve, Trend, line_through, smoothed
from sottovoce.figures.curve import CurvePoint, DrawnCurve, PeriodState, plot_curve
from sottovoce.mechanisms.base import Floats

__all__ = ["Curve"]

_ROWS_IN_HTML: Final = 60
_COLUMNS_IN_HTML: Final = 6


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

    def __getitem__(self, period: int) -> Estimate:
        """The estimate of one period."""
        number = check_integer("period", period, self.periods.start, self.periods.stop - 1)
        if number not in self.estimates:
            raise NoReportsError(
                f"period {number} ({self.tracking.calendar.label(number)}) has no reports: choose another"
            ).at("period")
        return self.estimates[number]

    def __len__(self) -> int:
        return len(self.periods)

    # --- one answer -------------------------------------------------------------------------

    def series(self, answer: AnswerOverTime = None, level: float = 0.95) -> Series:
        """One answer over all periods: with an interval for each, and a band that holds for all closed ones together.

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
            named = number, of_all.label(number), of_all.start(number), state
            if estimate is None:
                points.append(CurvePoint(*named, 0, None, None, None, None, None))
                continue
            own = picked.of(estimate, level)
            band = picked.of(estimate, each) if state == "closed" else None
            band_ends = (None, None) if band is None else (band.low, band.high)
            points.append(CurvePoint(*named, estimate.n_reports, own.value, own.low, own.high, *band_ends))
            methods.append(own.method)
        method = "; ".join(dict.fromkeys(methods))
        return Series(picked.name, picked.unit, level, each, method, tuple(points))

    def difference(
        self, later: int, earlier: int, answer: AnswerOverTime = None, level: float = 0.95
    ) -> CombinedAnswer:
        """How much an answer changed from one period to another, with its interval.

        Notes
        -----
        By the method of variance estimates recovery (Zou and Donner 2008): the lower end is d - sqrt((y - l)^2 + (u' -
        y')^2), from the certified intervals [l, u] of the later and [l', u'] of the earlier period, and the upper end
        likewise. Each end so uses the variances near the limit itself, as the certified intervals do; ends of possible
        answers are respected, and it is narrower by up to sqrt(2) than the difference of two intervals. The raw answers
        are moved into their intervals first.
        """
        check_level(level)
        picked = self._picked(answer)
        found = [picked.of(self[number], level) for number in (later, earlier)]
        if later == earlier:
            raise SurveyError("later and earlier must be two different periods").at("earlier")
        (y, low, high), (before, least, most) = (
            (min(max(one.value, one.low), one.high), one.low, one.high) for one in found
        )
        change = y - before
        method = "recovered variances (MOVER) of: " + "; ".join(dict.fromkeys(one.method for one in found))
        return CombinedAnswer(
            found[0].value - found[1].value,
            change - math.hypot(y - low, most - before),
            change + math.hypot(high - y, before - least),
            level,
            method,
        )

    def trend(self, answer: AnswerOverTime = None, level: float = 0.95) -> Trend:
        """The change per period as a straight line, with its interval and test; and whether anything changed at all.

        Examples
        --------
        >>> import numpy as np
        >>> import sottovoce as sv
        >>> asked = sv.questions.Shares(["yes", "no"])
        >>> tracking = sv.Survey.tracking(asked, periods=8, every="month", starts="2027-01-01", epsilon=2.0)
        >>> people = np.arange(80_000) / 80_000
        >>> reports = tracking.simulate(lambda month: np.where(people < 0.2 + 0.02 * month, "yes", "no"), seed=1)
        >>> print(tracking.estimate(reports).trend("yes"))
        +0.0204 per period, 95 % from 0.01852 to 0.02228, p < 0.0001; that nothing changed at all: p < 0.0001
        """
        check_level(level)
        picked = self._picked(answer)
        numbers, found, own = self._known(picked)
        values = np.array([one.value for one in found])
        return line_through(picked.name, picked.unit, numbers, values, own, self._common(picked, found, own), level)

    def smooth(self, answer: AnswerOverTime = None, level: float = 0.95) -> SmoothedCurve:
        """The answer as a random walk seen with errors: an assumption, which the result names."""
        check_level(level)
        picked = self._picked(answer)
        numbers, found, own = self._known(picked)
        values = np.array([one.value for one in found])
        return smoothed(picked.name, picked.unit, numbers, values, own, level, picked.limits)

    # --- other forms ------------------------------------------------------------------------

    def to_dict(self, answer: AnswerOverTime = None, level: float = 0.95, smooth: bool = False) -> dict[str, Any]:
        """One answer's points, trend and, if asked for, smoothed curve as plain values; None where periods are few."""
        series = self.series(answer, level)
        enough = len(self.closed) >= MIN_PERIODS
        return {
            "survey": self.tracking.id,
            "title": self.tracking.title,
            "kind": "tracking",
            "question": self.tracking.question.kind,
            "answer": series.answer,
            "unit": series.unit,
            "share": self._picked(answer).share,
            "epsilon": self.tracking.epsilon,
            "delta": self.tracking.delta,
            "level": level,
            "band_level": series.each_level,
            "method": series.method,
            "points": [point.to_dict() for point in series.points],
            "trend": self.trend(answer, level).to_dict() if enough else None,
            "smooth": self.smooth(answer, level).to_dict() if enough and smooth else None,
        }

    def to_pandas(self, answer: AnswerOverTime = None, level: float = 0.95) -> Any:
        """A DataFrame of one answer, indexed by period; gaps are NaN. Needs pandas."""
        pd = import_pandas()
        points = self.series(answer, level).points
        index = pd.Index([point.period for point in points], name="period")
        frame = pd.DataFrame([point._asdict() for point in points], index=index).drop(columns="period")
        numbers = ["value", "low", "high", "band_low", "band_high"]
        return frame.astype(dict.fromkeys(numbers, "float64"))

    def plot(self, answer: AnswerOverTime = None, level: float = 0.95, smooth: bool = False, ax: Any = None) -> Any:
        """The curve with intervals and band, on a matplotlib axes; returns the axes."""
        series = self.series(answer, level)
        line = self.smooth(answer, level) if smooth else None
        caption = (
            f"{plural(sum(point.n_reports for point in series.points), 'report')} in {plural(len(self), 'period')}, "
            f"{guarantee(self.tracking.epsilon, self.tracking.delta)}; bars: each period at {100 * level:g} %; band: "
            f"all closed periods together at {100 * level:g} %"
        )
        if line is not None:
            caption += f"\nline: {line.assumption}"
        drawn = DrawnCurve(
            series.points,
            series.answer,
            series.unit,
            self._picked(answer).share,
            caption,
            None if line is None else tuple(tuple(point) for point in line.points),
        )
        return plot_curve(drawn, ax)

    def __repr__(self) -> str:
        gaps = sum(self._state(number) == "empty" for number in self.periods)
        told = "".join(
            f", {count} {what}" for count, what in ((len(self.unfinished), "open"), (gaps, "without reports")) if count
        )
        reports = sum(estimate.n_reports for estimate in self.estimates.values())
        promise = guarantee(self.tracking.epsilon, self.tracking.delta)
        return f"<curve of {plural(len(self), 'period')}{told}, {plural(reports, 'report')}, {promise} per window>"

    def first_answers(self, most: int) -> list[str | None]:
        """What is shown if no answer is named: the only one or the first; of words, those most common at the end."""
        try:
            self._picked(None)
        except SurveyError:
            return [*self.followed_names(most)[:most]]
        return [None]

    def followed_names(self, most: int) -> list[str]:
        """Names of what can be followed, the usual one first; about `most` of them at most."""
        last = max(self.closed or self.estimates, default=None)
        found: list[str] = self.tracking.question.followed_names(None if last is None else self.estimates[last], most)
        return found

    def _repr_html_(self) -> str:
        caption = html.escape(repr(self).strip("<>"))
        columns = [self.series(name) for name in self.first_answers(_COLUMNS_IN_HTML)]
        if not columns:
            return f"<p>{caption}</p>"
        head = "".join(f"<th>{html.escape(one.answer)}</th>" for one in columns)
        rows = []
        for at in range(len(self))[-_ROWS_IN_HTML:]:
            first = columns[0].points[at]
            cells = "".join(f"<td>{_shown(one.points[at])}</td>" for one in columns)
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

    def _known(self, picked: PickedAnswer) -> tuple[Floats, list[CombinedAnswer], Floats]:
        """Numbers, estimates and variances of closed periods with reports."""
        found = [picked.of(self.estimates[number], _LEVEL) for number in self.closed]
        variances = [
            picked.variance(self.estimates[number], one, _NORMAL)
            for number, one in zip(self.closed, found, strict=True)
        ]
        return np.array(self.closed, dtype=np.float64), found, np.maximum(variances, _LEAST_VARIANCE)

    def _common(self, picked: PickedAnswer, found: list[CombinedAnswer], own: Floats) -> Floats:
        """The variances if all periods had the same answers: those of all reports together."""
        if picked.weights is None or not found:
            return own
        estimates = [self.estimates[number] for number in self.closed]
        counts = np.array([estimate.n_reports for estimate in estimates], dtype=np.float64)
        pooled = np.average([estimate.values for estimate in estimates], axis=0, weights=counts)
        variances = [
            picked.variance(estimate, one, _NORMAL, pooled) for estimate, one in zip(estimates, found, strict=True)
        ]
        return np.maximum(variances, _LEAST_VARIANCE)


_LEVEL: Final = 0.95
_NORMAL: Final = NormalDist().inv_cdf((1 + _LEVEL) / 2)
_LEAST_VARIANCE: Final = 1e-300
"""An answer that is certain has no variance; weights need one."""


def _shown(point: CurvePoint) -> str:
    if point.value is None:
        return "no reports"
    return f"{point.value:.4g} ({point.low:.4g} to {point.high:.4g})"
