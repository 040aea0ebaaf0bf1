"""The compared answers of one of two independent estimates: what a difference, a ratio and a test need of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.estimates.differences import Arm
from sottovoce.estimates.intervals import Observed, UncutInterval, uncut_interval
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.variance import VarianceCurve

__all__ = ["Arms", "arms_of_observed"]


_COLUMNS: Final = ("raw", "low", "high", "error", "least", "most", "reports")


@final
@dataclass(frozen=True, eq=False)
class Arms:
    """One entry per compared answer.

    Attributes
    ----------
    raw, low, high
        Raw answers, and intervals at the level asked for that are not cut to what is possible.
    error
        How far the expectation of a raw answer may be from the true one: bias, or the width of bins.
    least, most
        The range of the true answers.
    reports
        The number of reports behind each.
    variance
        The variance of one report, as a function of the true answer.
    """

    raw: Floats
    low: Floats
    high: Floats
    error: Floats
    least: Floats
    most: Floats
    reports: Floats
    variance: VarianceCurve
    method: str

    def __getitem__(self, index: int) -> Arm:
        raw, low, high, error = (float(column[index]) for column in (self.raw, self.low, self.high, self.error))
        return Arm(raw, low, high, error, self.method)

    def taken(self, places: Any) -> Arms:
        """Some of the entries."""
        columns = {name: getattr(self, name)[places] for name in _COLUMNS}
        curve = VarianceCurve(*(np.broadcast_to(part, self.raw.shape)[places] for part in self.variance))
        return Arms(**columns, variance=curve, method=self.method)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Any, Self]], size: int) -> Self:
        """All entries from parts of them, each with the places of its own."""
        columns = {name: np.empty(size) for name in _COLUMNS}
        curve = np.empty((4, size))
        for places, part in parts:
            for name, column in columns.items():
                column[places] = getattr(part, name)
            curve[:, places] = part.variance
        methods = "; ".join(dict.fromkeys(part.method for _, part in parts))
        return cls(**columns, variance=VarianceCurve(*curve), method=methods)


def arms_of_observed(observed: Observed, level: float, otherwise: Any, error: Any = 0.0, constant: Any = 0.0) -> Arms:
    """Arms of raw answers, or of combinations of them.

    The variance of a report at a true answer y is (y - x0)(x1 - y) where it can be two numbers, exactly. Where every
    report is counted by itself it is the mean of (x - y)^2 over those that came. Else it is `otherwise`: the variance
    for the population of both estimates together.
    """
    uncut = uncut_interval(observed, level)
    shape = uncut.raw.shape
    reports = observed.n_reports if uncut.law.counted is None else uncut.law.counted
    curve = np.stack([np.broadcast_to(part, shape) for part in (np.asarray(otherwise), 0.0, 0.0, uncut.raw)]).copy()
    _fill(curve, uncut, observed.counts)
    curve[3] += constant
    least, most = (np.broadcast_to(end, shape) + constant for end in (observed.least, observed.most))
    return Arms(
        uncut.raw + constant,
        uncut.low + constant,
        uncut.high + constant,
        np.broadcast_to(uncut.bias + error, shape),
        least,
        most,
        np.broadcast_to(np.asarray(reports, dtype=np.float64), shape),
        VarianceCurve(*curve),
        uncut.method,
    )


def _fill(curve: Floats, uncut: UncutInterval, counts: Counts | None) -> None:
    """Constant, linear, square and centre of the variance where more is known of one report, in place."""
    law = uncut.law
    if law.listed is not None and counts is not None:
        shares = np.asarray(counts, dtype=np.float64) / max(1, int(np.sum(counts)))
        mean = law.listed @ shares
        curve[:] = np.square(law.listed - mean[:, None]) @ shares, 0 * mean, 1 + 0 * mean, mean
    if law.bits is not None:
        two = ~np.isnan(law.bits[0])
        zero, one = (end[two] for end in law.bits)
        middle = (zero + one) / 2
        curve[:, two] = (one - zero) ** 2 / 4, 0 * middle, -1 + 0 * middle, middle
