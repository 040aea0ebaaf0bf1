"""Two groups of a tracking survey compared over its periods; `compare` makes it.

Every period is a comparison of its own, of people who answered in no other of its window; in the next window the same
people may answer again. Intervals of differences recover the variances of both groups' uncut intervals, see
`sottovoce.estimates.differences`. A band at `level` takes each closed period's interval at level ** (1/K) (Sidak 1967),
as the band of a curve does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Final, final

import numpy as np

from sottovoce.core.answer import Answer, aligned
from sottovoce.core.errors import NoReportsError
from sottovoce.core.words import plural
from sottovoce.estimates.comparison import CONDITION, Comparison, Difference, p_text
from sottovoce.estimates.curve import Curve, PeriodName
from sottovoce.estimates.table_files import EstimateTable, FilePath, write_csv, write_parquet
from sottovoce.figures.curve import PeriodState
from sottovoce.figures.two_curves import DrawnPair, plot_two_curves
from sottovoce.theory.two_samples import holm

__all__ = ["CurveComparison", "PeriodDifference"]

_ROWS_IN_TEXT: Final = 12

_NUMBERS: Final = (
    *("period", "first", "second", "value", "raw", "low", "high"),
    *("p_value", "adjusted_p_value", "band_low", "band_high"),
)


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class PeriodDifference(Difference):
    """The difference of two groups in one period; its label is the period's.

    Attributes
    ----------
    reports
        The reports of both groups; none where one of them has too few.
    band_low, band_high
        The band, which holds for all closed periods together; NaN for a period that is not closed.
    adjusted_p_value
        The p-value, adjusted for the number of closed periods (Holm); NaN for a period that is not closed.
    """

    period: int
    starts: datetime
    state: PeriodState
    reports: tuple[int, int] | None
    band_low: float = math.nan
    band_high: float = math.nan

    row_fields: ClassVar[tuple[str, ...]] = (
        *("period", "label", "starts", "state", "reports"),
        *Difference.row_fields[1:],
        *("band_low", "band_high"),
    )

    def row(self) -> dict[str, Any]:
        """Plain values; the start as an ISO date, and None where nothing is known."""
        return super().row() | {
            "starts": self.starts.date().isoformat(),
            "reports": None if self.reports is None else list(self.reports),
        }


@final
@dataclass(frozen=True, eq=False, repr=False)
class CurveComparison:
    """Two groups of a tracking survey, period by period: the first less the second.

    Attributes
    ----------
    curve
        The curve of everybody.
    comparisons
        By number of the period, for those in which both groups have reports. Those of open periods hold at every look
        together, unless one look was asked for.
    level
        The level of every interval, and of the whole band.
    """

    curve: Curve
    comparisons: Mapping[int, Comparison]
    level: float

    def __getitem__(self, period: PeriodName) -> Comparison:
        """The comparison of one period, named by its number, its label or a day in it."""
        number = self.curve.number_of(period)
        if number not in self.comparisons:
            raise NoReportsError(f"period {number} has no reports of both groups: choose another").at("period")
        return self.comparisons[number]

    def __len__(self) -> int:
        return len(self.curve)

    @property
    def _any(self) -> Comparison:
        return next(iter(self.comparisons.values()))

    @property
    def names(self) -> tuple[str, str]:
        """Both groups in words."""
        return self._any.names

    def labels(self) -> list[str]:
        """The labels of all compared answers."""
        return self._any.labels()

    @property
    def closed(self) -> list[int]:
        """Closed periods with reports of both groups."""
        return [number for number in self.comparisons if number not in self.curve.unfinished]

    @property
    def band_level(self) -> float:
        """The level of one period's interval within the band."""
        return float(self.level ** (1 / max(1, len(self.closed))))

    def series(self, answer: str | None = None) -> list[PeriodDifference]:
        """The differences of one answer, the first by default, over all periods."""
        name = self.labels()[0] if answer is None else answer
        known = {number: comparison[name] for number, comparison in self.comparisons.items()}
        p_values = holm(np.array([known[number].p_value for number in self.closed]))
        adjusted = dict(zip(self.closed, p_values.tolist(), strict=True))
        bands = {number: replace(self.comparisons[number], level=self.band_level)[name] for number in self.closed}
        return [self._point(number, known.get(number), adjusted, bands.get(number)) for number in self.curve.periods]

    def _point(
        self, number: int, known: Difference | None, adjusted: Mapping[int, float], band: Difference | None
    ) -> PeriodDifference:
        calendar = self.curve.tracking.calendar
        state: PeriodState = "open" if number in self.curve.unfinished else "empty" if known is None else "closed"
        about: dict[str, Any] = {
            "label": calendar.label(number),
            "period": number,
            "starts": calendar.start(number),
            "state": state,
            "level": self.level,
        }
        if known is None:
            about |= dict.fromkeys(("value", "low", "high", "raw", *Difference.row_fields[1:3]), math.nan)
            return PeriodDifference(**about, p_value=math.nan, adjusted_p_value=math.nan, reports=None)
        names = ("value", "low", "high", "raw", "first", "second", "p_value", "unit", "is_share", "method")
        about |= {name: getattr(known, name) for name in names}
        if band is not None:
            about |= {"band_low": band.low, "band_high": band.high}
        one = self.comparisons[number]
        reports = one.first.n_reports, one.second.n_reports
        return PeriodDifference(**about, adjusted_p_value=adjusted.get(number, math.nan), reports=reports)

    # --- other forms ------------------------------------------------------------------------

    def __str__(self) -> str:
        """The last periods of the answer that is compared first."""
        points = [point for point in self.series() if point.reports][-_ROWS_IN_TEXT:]
        rows = aligned([(one.label, one.value_text, f"{one.interval_text}, {p_text(one.p_value)}") for one in points])
        return "\n".join([f"{self.labels()[0]}, {' less '.join(self.names)}", rows, self._caption])

    def __repr__(self) -> str:
        return f"<comparison of {' and '.join(self.names)} over {plural(len(self), 'period')}>"

    @property
    def _caption(self) -> str:
        reports = (
            sum(getattr(comparison, side).n_reports for comparison in self.comparisons.values())
            for side in ("first", "second")
        )
        said = "; ".join(f"{name}: {plural(n, 'report')}" for name, n in zip(self.names, reports, strict=True))
        return f"{said} in {plural(len(self), 'period')}; {100 * self.level:g} % intervals\n{CONDITION}"

    def to_dict(self, answer: str | None = None) -> dict[str, Any]:
        """One answer's differences as plain values."""
        points = self.series(answer)
        known = [point for point in points if point.reports]
        tracking = self.curve.tracking
        return {
            "survey": tracking.id,
            "title": tracking.title,
            "names": list(self.names),
            "answer": self.labels()[0] if answer is None else self._any[answer].label,
            "unit": known[0].unit,
            "share": known[0].is_share,
            "epsilon": tracking.epsilon,
            "delta": tracking.delta,
            "level": self.level,
            "band_level": self.band_level,
            "always": any(self.comparisons[number].always for number in self.comparisons),
            "method": "; ".join(dict.fromkeys(point.method for point in known)),
            "condition": CONDITION,
            "points": [point.row() for point in points],
        }

    def as_table(self, answer: str | None = None) -> EstimateTable:
        """One answer as a table with one row per period; all answers below each other without a name."""
        names = self.labels() if answer is None else [answer]
        rows = [(name, point) for name in names for point in self.series(name)]
        texts: dict[str, list[str]] = {
            "answer": [name for name, _ in rows],
            "starts": [point.starts.date().isoformat() for _, point in rows],
            "state": [point.state for _, point in rows],
        }
        columns = {name: np.array([getattr(point, name) for _, point in rows]) for name in _NUMBERS}
        about = {"survey": self.curve.tracking.id, "names": list(self.names), "level": self.level}
        return EstimateTable(about, lambda row: rows[row][1].label, columns, 0, len(rows), texts)

    def to_csv(self, path: FilePath | None = None, answer: str | None = None) -> str:
        """CSV with a heading and one row per period, also written to a file if a path is given."""
        return write_csv(self.as_table(answer), path)

    def to_parquet(self, path: FilePath, answer: str | None = None) -> None:
        """Write the periods to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(answer), path)

    def plot(self, answer: str | None = None) -> Any:
        """Both groups over the periods, and below them their difference, on a new matplotlib figure; returns it."""
        points = self.series(answer)
        name = self.labels()[0] if answer is None else answer
        pairs = []
        for point in points:
            if point.reports is None:
                continue
            one = self.comparisons[point.period]
            first, second = _arms(one, name)
            pairs.append(DrawnPair(point.starts, first, second, point, (point.band_low, point.band_high)))
        title = f"{self.curve.tracking.title}; " if self.curve.tracking.title else ""
        starts = [point.starts for point in points]
        return plot_two_curves(pairs, starts, self.names, name, title + self._caption.replace("\n", "; "))


def _arms(comparison: Comparison, name: str) -> Iterable[Answer]:
    picked = comparison.picked[comparison.labels().index(comparison[name].label)]
    return [picked.of(estimate, comparison.level) for estimate in (comparison.first, comparison.second)]
