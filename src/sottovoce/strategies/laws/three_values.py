"""Combinations whose X can be three numbers, evenly spaced: differences of two shares, or of two groups of shares."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.laws.law import Evidence, ThreeValues
from sottovoce.strategies.laws.rows import is_listable
from sottovoce.theory.tails import clopper_pearson
from sottovoce.workloads import Workload

__all__ = ["three_values"]

_SPENT: Final = 0.02
"""The part of the whole miss that goes to the region of P(X is not the middle): 0.001 of 0.05."""

_MOST_ROWS: Final = 64
_MOST_HELD: Final = 2**22


def three_values(workload: Workload, m: FiniteMechanism, evidence: Evidence) -> ThreeValues | None:
    """Rows of one weight w and its opposite: of two values, or of any where a report supports one value only.

    How often X is not the middle is a count where a report supports one value. Elsewhere it is known for every value,
    and for people by the shares of the two.
    """
    rows, J, outcomes = workload.n_queries, workload.n_values, m.two_outcomes
    if outcomes is None or J < 3 or rows > _MOST_ROWS or rows * J > _MOST_HELD or not is_listable(workload):
        return None
    counts = evidence.limiting
    if counts is None:
        return None
    low, high = outcomes
    entries, n, region = workload.dense(), evidence.n_reports, 2 * _SPENT * evidence.miss
    weight = np.abs(entries).max(axis=1)
    signs = np.divide(entries, weight[:, None], out=np.zeros_like(entries), where=weight[:, None] > 0)
    alone = isinstance(m, SymmetricMechanism) and m.support_size == 1
    sides = np.stack([(signs == side).sum(axis=1) for side in (-1, 1)])
    fits = ((signs == -1) | (signs == 0) | (signs == 1)).all(axis=1) & (sides > 0).all(axis=0)
    if not alone:
        fits &= (sides == 1).all(axis=0)
    if not fits.any():
        return None
    supported = np.rint((m.estimate(counts, n) - low) / (high - low) * n).astype(np.int64)
    step, base, least, most = np.full((4, rows), np.nan)
    step[fits], base[fits] = weight[fits] * (high - low), weight[fits] * low * (sides[1] - sides[0])[fits]
    for row in np.flatnonzero(fits):
        held = np.flatnonzero(signs[row]).astype(np.int64)
        if alone:
            ends = clopper_pearson(supported[held].sum(keepdims=True), n, region / 2)
        else:
            chances = clopper_pearson(supported[held], n, region / 4)
            shares = np.clip([low + (high - low) * chance for chance in chances], 0.0, 1.0)
            ends = _by_shares(m.second_moments(signs[row]) / (high - low) ** 2, held, shares)
        least[row], most[row] = (float(np.clip(end, 0.0, 1.0).item()) for end in ends)
    return ThreeValues(step, base, least, most, evidence.miss - region / 2)


def _by_shares(chances: Floats, held: NDArray[np.int64], shares: Floats) -> tuple[Floats, Floats]:
    """Limits of the mean of `chances` over people, from limits of the shares of two values."""
    others = np.delete(chances, held)
    ends = []
    for rest, pick in ((others.min(), np.minimum), (others.max(), np.maximum)):
        more = chances[held] - rest
        ends.append(np.asarray(rest + pick(more * shares[0], more * shares[1]).sum()))
    return ends[0], ends[1]
