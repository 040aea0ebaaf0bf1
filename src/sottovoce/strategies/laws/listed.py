"""The law of one report where all probabilities, or second moments, are listed: row by row of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.variance import VarianceCurve, tangent
from sottovoce.theory.tails import mean_limit

__all__ = ["MOST_LISTED", "SPENT", "Bits", "RowBlock", "counted_moments", "law_of_rows"]

Bits = tuple[Floats, Floats] | None
"""The two numbers that each answer of one report can be; NaN where there are more."""

RowBlock = tuple[Floats, Floats, Floats | None]
"""Rows h of some combinations, M(u) of each for every value u, and what `counted_moments` says of them if known."""

MOST_LISTED: Final = 2**16
"""Products of answers and reports up to which X is listed for limits that hold at all looks."""

SPENT: Final = 0.05
"""The part of a miss that goes to a limit of E X^2 where the counts tell it."""


def law_of_rows(
    blocks: Sequence[RowBlock], reach: Floats, bits: Bits, evidence: Evidence, listed: Floats | None = None
) -> ReportLaw:
    """The law of all rows. Where the counts are of single reports, the mean of (X - y)^2 is known from them.

    `listed` is X of every row and counted report, if known and few.
    """
    miss, seen, anywhere = evidence.miss, None, partial(_tangents, blocks, None)
    known = [part for *_, part in blocks if part is not None]
    if len(known) == len(blocks):
        seen, miss = _Seen(np.concatenate(known, axis=1), evidence.n_reports, SPENT * miss), miss * (1 - SPENT)
    floor = np.concatenate([np.maximum(0.0, moments - rows**2).min(axis=1) for rows, moments, _ in blocks])
    curve = partial(_tangents, blocks, seen)
    return ReportLaw(curve, floor, reach, bits, reach**2 / 4, None, miss, anywhere, listed=listed)


def counted_moments(answers: Floats, evidence: Evidence) -> Floats:
    """Means of X and X^2 over the counted reports, and the least and the largest X; `answers` has a row per answer."""
    shares = np.asarray(evidence.counts) / evidence.n_reports
    return np.stack([answers @ shares, answers**2 @ shares, answers.min(axis=1), answers.max(axis=1)])


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


def _tangents(blocks: Sequence[RowBlock], seen: _Seen | None, at: Floats) -> VarianceCurve:
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
