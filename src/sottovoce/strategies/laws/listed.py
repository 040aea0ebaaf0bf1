"""The law of one report where all probabilities, or second moments, are listed: row by row of the queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, final

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.variance import VarianceCurve, tangent
from sottovoce.theory.tails import BERRY_ESSEEN, OWN_CENTRE, mean_limit

__all__ = ["MOST_LISTED", "SPENT", "Bits", "RowBlock", "counted_moments", "law_of_rows"]

Bits = tuple[Floats, Floats] | None
"""The two numbers that each answer of one report can be; NaN where there are more."""

RowBlock = tuple[Floats, Floats, Floats | None]
"""Rows h of some combinations, M(u) of each for every value u, and what `counted_moments` says of them if known."""

MOST_LISTED: Final = 2**16
"""Products of answers and reports up to which X is listed for limits that hold at all looks."""

SPENT: Final = 0.05
"""The part of a miss that goes to each limit of a moment of X that the counts tell."""

_USEFUL: Final = 2 / 3
"""The part of a miss that the error of the normal approximation may take, for it to be tried."""


def law_of_rows(
    blocks: Sequence[RowBlock],
    reach: Floats,
    bits: Bits,
    evidence: Evidence,
    limits: tuple[Floats, Floats] | None = None,
    listed: Floats | None = None,
) -> ReportLaw:
    """The law of all rows; `limits` are the least and the largest X, and `reach` the distance of these.

    Where the counts are of single reports, the means of (X - y)^2 and (X - y)^4 are known from them. `listed` is X of
    every row and counted report, if known and few.
    """
    miss, n, anywhere = evidence.miss, evidence.n_reports, partial(_tangents, blocks, None)
    known = [part for *_, part in blocks if part is not None]
    floor = np.concatenate([np.maximum(0.0, moments - rows**2).min(axis=1) for rows, moments, _ in blocks])
    above, below = reach, reach
    if limits is not None:
        # A person's expectation, and that of everybody, lies among the answers of single values.
        above = limits[1] - np.concatenate([rows.min(axis=1) for rows, *_ in blocks])
        below = np.concatenate([rows.max(axis=1) for rows, *_ in blocks]) - limits[0]
    law = ReportLaw(anywhere, floor, np.maximum(above, below), bits, reach**2 / 4, None, miss, anywhere)
    law = replace(law, listed=listed, above=above, below=below)
    if len(known) < len(blocks):
        return law
    seen = _Seen(np.concatenate(known, axis=1), n, SPENT * miss)
    # rho/sigma^3 is at least one. Where the normal approximation's error takes more than that part of the miss even so,
    # Bentkus's inequality says more, and nothing is spent on a limit of rho.
    useful = BERRY_ESSEEN * OWN_CENTRE / math.sqrt(n) < _USEFUL * miss
    third = seen.third if useful else None
    return replace(law, curve=partial(_tangents, blocks, seen), miss=miss * (1 - SPENT * (1 + useful)), third=third)


def counted_moments(answers: Floats, evidence: Evidence) -> Floats:
    """Over the counted reports: the mean of X, and of the powers 2 to 4 of its distance to that; the limits of X.

    `answers` has a row per answer and a column per report.
    """
    shares = np.asarray(evidence.counts) / evidence.n_reports
    mean = answers @ shares
    away = answers - mean[:, None]
    squares = away**2
    powers = squares @ shares, (squares * away) @ shares, squares**2 @ shares
    return np.stack([mean, *powers, answers.min(axis=1), answers.max(axis=1)])


@final
@dataclass(frozen=True, eq=False)
class _Seen:
    """What `counted_moments` tells of every answer, and the miss of each limit that is taken from it.

    Limits of moments about y hold if y are the true answers, and only then.
    """

    moments: Floats
    n: int
    miss: float

    def second(self, y: Floats) -> Floats:
        """An upper limit of the mean of (X - y)^2, and so of the variance."""
        mean, square, *_ = self.moments
        return mean_limit(square + (mean - y) ** 2, self._farthest(y) ** 2, self.n, self.miss)

    def fourth(self, y: Floats) -> Floats:
        """An upper limit of the mean of (X - y)^4."""
        mean, square, cube, fourth, *_ = self.moments
        d = mean - y
        moment = np.maximum(0.0, fourth + d * (4 * cube + d * (6 * square + d * d)))
        return mean_limit(moment, self._farthest(y) ** 4, self.n, self.miss)

    def third(self, y: Floats) -> Floats:
        """An upper limit of the mean of E|X - E X|^3 over people, each about the person's own expectation.

        That is at most `OWN_CENTRE` times the mean of |X - y|^3, and this at most the root of the product of the
        second and the fourth moments (Cauchy and Schwarz).
        """
        return np.asarray(OWN_CENTRE * np.sqrt(self.second(y) * self.fourth(y)))

    def _farthest(self, y: Floats) -> Floats:
        least, most = self.moments[-2:]
        return np.asarray(np.maximum(np.abs(least - y), np.abs(most - y)))


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
        limit = seen.second(at)
        better = limit < constant
        constant, linear = np.where(better, limit, constant), np.where(better, 0.0, linear)
    return VarianceCurve(constant, linear, -1.0, at)
