"""The law of one report of a channel whose probabilities are all listed, row by row of the queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.rows import row_ranges
from sottovoce.strategies.laws.variance import Parabola, VarianceCurve, tangent
from sottovoce.strategies.listed import ListedStrategy, row_blocks
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.spread_of_strategies import spread
from sottovoce.theory.tails import mean_limit

__all__ = ["law_of_listed", "law_of_number"]

Bits = tuple[Floats, Floats] | None

_SPENT: Final = 0.05
"""The part of a miss that goes to a limit of E X^2 where the counts tell it."""


def law_of_listed(design: ListedStrategy, evidence: Evidence, bits: Bits = None) -> ReportLaw:
    """Row by row. Where the counts are of single reports, the mean of (X - y)^2 is known from them."""
    try:
        blocks = [(rows, *_moments(design, rows, evidence)) for rows in row_blocks(design.workload)]
    except CapacityError:
        return _of_bounded(design, evidence)
    return _of_blocks(blocks, spread(design).per_answer, bits, evidence)


def law_of_number(design: MinimaxStrategy, weights: Floats | None, evidence: Evidence) -> ReportLaw:
    """One answer, or multiples of it; numbers between grid points lie below the envelope of those on them."""
    factors = np.ones(1) if weights is None else weights[:, 0]
    rows, moments = factors[:, None] * design.workload.dense()[0], factors[:, None] ** 2 * design.value_moments
    seen = None if evidence.counts is None else _seen(factors[:, None] * design.report_answers, evidence)
    return _of_blocks([(rows, moments, seen)], np.abs(factors) * spread(design).per_answer, None, evidence)


def _of_blocks(blocks: list[Any], reach: Floats, bits: Bits, evidence: Evidence) -> ReportLaw:
    miss, seen, anywhere = evidence.miss, None, partial(_tangents, blocks, None)
    if all(part is not None for *_, part in blocks):
        means = np.concatenate([part for *_, part in blocks], axis=1)
        seen, miss = _Seen(means, evidence.n_reports, _SPENT * miss), miss * (1 - _SPENT)
    floor = np.concatenate([np.maximum(0.0, moments - rows**2).min(axis=1) for rows, moments, _ in blocks])
    return ReportLaw(partial(_tangents, blocks, seen), floor, reach, bits, reach**2 / 4, None, miss, anywhere)


@final
@dataclass(frozen=True, eq=False)
class _Seen:
    """Means of X and X^2 over the reports, and the least and the largest X: what the counts tell of every answer."""

    means: Floats
    n: int
    miss: float

    def variance_limit(self, y: Floats) -> Floats:
        """An upper limit of the mean of (X - y)^2, and so of the variance, if y are the true answers."""
        mean, square, least, most = self.means
        largest = np.maximum((least - y) ** 2, (most - y) ** 2)
        return mean_limit(np.maximum(0.0, square - 2 * y * mean + y**2), largest, self.n, self.miss)


def _moments(design: ListedStrategy, rows: Floats, evidence: Evidence) -> tuple[Floats, Floats | None]:
    """M(u) of every row and value; and for every row what `_Seen` keeps, by the counts."""
    if isinstance(design, OptimizedStrategy):
        answers: Floats | None = rows @ design._report_shares
    else:
        assert isinstance(design, Histogram)
        answers = design.mechanism.report_answers(rows)
    if answers is None or evidence.counts is None:
        return design._second_moments(rows), None
    return design._second_moments(rows), _seen(answers, evidence)


def _seen(answers: Floats, evidence: Evidence) -> Floats:
    """What `_Seen` keeps of answers from single reports, one row per answer."""
    shares = np.asarray(evidence.counts) / evidence.n_reports
    return np.stack([answers @ shares, answers**2 @ shares, answers.min(axis=1), answers.max(axis=1)])


def _tangents(blocks: list[Any], seen: _Seen | None, at: Floats) -> VarianceCurve:
    """env(t) - t^2 below its tangent at the given answers; or what the reports tell, where that is less.

    What they tell is a limit that holds if the given answers are the true ones, and only then.
    """
    level, slope, start = np.empty(len(at)), np.empty(len(at)), 0
    for rows, moments, _ in blocks:
        end = start + len(rows)
        level[start:end], slope[start:end], _ = tangent(rows, moments, at[start:end])
        start = end
    constant, linear = level + slope * at - at**2, slope - 2 * at
    if seen is not None:
        limit = seen.variance_limit(at)
        better = limit < constant
        constant, linear = np.where(better, limit, constant), np.where(better, 0.0, linear)
    return VarianceCurve(constant, linear, -1.0, at)


def _of_bounded(design: ListedStrategy, evidence: Evidence) -> ReportLaw:
    """Too many entries to list: from the largest ratio of two values' probabilities of one report."""
    if not isinstance(design, OptimizedStrategy):
        raise CapacityError("the variances of so many answers cannot be listed; ask fewer queries")
    centre = design.workload.matvec(design._w)
    low, high, _ = row_ranges(design.workload)
    parabola = Parabola(centre, design._bounded_moments, 0.0, 0.0, low - centre, high - centre, False)
    zero, reach = np.zeros(design.workload.n_queries), spread(design).per_answer
    return ReportLaw(fixed(parabola.curve), zero, reach, None, reach**2 / 4, None, evidence.miss)
