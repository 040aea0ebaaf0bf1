"""Combinations of few answers from few reports: from the intervals of their parts, where these promise to be narrower.

A combination of m answers lies between the combined ends of m intervals that hold together (Bonferroni). Inequalities
for sums need many reports to be better. Which of the two is used follows from the design and the number of reports
alone, by the widths that both have where all values are equally common: a choice by the counts would break the level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from sottovoce.estimates.intervals import Interval, Observed, certified_interval, counts_differences
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.rows import is_listable
from sottovoce.workloads import Workload

__all__ = ["PARTS", "interval_by_parts"]

PARTS: Final = "intervals of the parts that hold together"

_MOST_REPORTS: Final = 5_000
"""Above this number of reports a combination's own interval is narrower."""

_MOST_PARTS: Final = 4
_MOST_ANSWERS: Final = 2**12


def interval_by_parts(combined: Observed, answers: Observed, level: float, together: int) -> Interval:
    """Intervals of combinations, by parts or by their own law; `answers` are all answers of the same reports."""
    weights: Floats = np.asarray(combined.weights)
    parts, workload = np.count_nonzero(weights, axis=1), combined.design.workload
    few = (parts > 1) & (parts <= _MOST_PARTS)
    if combined.n_reports > _MOST_REPORTS or len(answers.raw) > _MOST_ANSWERS or not few.any():
        return certified_interval(combined, level, together)
    if not isinstance(workload, Workload) or not is_listable(workload):
        return certified_interval(combined, level, together)
    few &= ~counts_differences(combined, level, together)
    even = workload.matvec(np.full(workload.n_values, 1 / workload.n_values))
    own = certified_interval(replace(combined, raw=weights @ even, counts=None), level, together)
    low, high, by_parts, methods = combined.raw.copy(), combined.raw.copy(), np.zeros(len(few), dtype=np.bool_), []
    for number in np.unique(parts[few]).tolist():
        each = 1 - (1 - level) / (together * number)
        least, most = _combined(weights, certified_interval(replace(answers, raw=even, counts=None), each))
        width = np.minimum(most, combined.most) - np.maximum(least, combined.least)
        chosen = few & (parts == number) & (width < own.high - own.low)
        if chosen.any():
            interval = certified_interval(answers, each)
            low[chosen], high[chosen] = (end[chosen] for end in _combined(weights, interval))
            by_parts |= chosen
            methods.append(f"{PARTS}: {interval.method}")
    if not by_parts.all():
        rest = np.flatnonzero(~by_parts)
        interval = certified_interval(_rows(combined, rest), level, together)
        low[rest], high[rest] = interval.low, interval.high
        methods.append(interval.method)
    return Interval(
        low.clip(combined.least, combined.most), high.clip(combined.least, combined.most), "; ".join(methods)
    )


def _combined(weights: Floats, interval: Interval) -> tuple[Floats, Floats]:
    """The least and the largest combination of answers within their intervals."""
    up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    return up @ interval.low + down @ interval.high, up @ interval.high + down @ interval.low


def _rows(combined: Observed, rows: Any) -> Observed:
    least, most = (np.broadcast_to(end, combined.raw.shape)[rows] for end in (combined.least, combined.most))
    return replace(combined, raw=combined.raw[rows], weights=np.asarray(combined.weights)[rows], least=least, most=most)
