"""Answers computed from estimated frequencies: their spread, and the law of one report."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.finite import MOST_LISTED, FiniteMechanism
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.listed import SPENT, Bits
from sottovoce.strategies.laws.rows import (
    blocks_of_columns,
    is_listable,
    mean_squares,
    row_ranges,
    squared_norms,
    two_valued,
)
from sottovoce.strategies.laws.spectrum import operator_norm
from sottovoce.strategies.laws.spread import Spread, spread_of_channel
from sottovoce.strategies.laws.variance import Parabola, VarianceCurve
from sottovoce.theory.tails import clopper_pearson, deviation
from sottovoce.workloads import Dense, Identity, Workload

__all__ = [
    "answer_bits",
    "law_of_shares",
    "law_of_symmetric",
    "law_of_weighted_shares",
    "row_means",
    "row_squares",
    "single_entries",
    "spread_of_frequencies",
    "symmetric_parabola",
]

_MOST_ENTRIES: Final = 2**24
"""Entries of a query matrix up to which its rows are sorted."""

_MOST_WORK: Final = 2**26
"""Maximum product of queries, values and reports for which the answers of every report are computed."""

_MOST_HELD: Final = 2**22
"""Numbers held, so that second moments are computed once for an interval's many steps."""


def spread_of_frequencies(workload: Workload, m: FiniteMechanism) -> Spread:
    """Through the values that two reports support, through all reports where they are few, or through entries' sizes.

    Projected answers are those of the nearest distribution, which moves no farther than the estimated frequencies.
    """
    channel = spread_of_channel(m)
    if isinstance(workload, Identity):
        return channel
    across = np.inf if not is_listable(workload) else channel.l2 * operator_norm(workload)
    if isinstance(m, SymmetricMechanism):
        sums, exact = _supported(workload, m)
        each = sums / float(m.signal)
    elif m.cells * workload.n_values <= min(MOST_LISTED, _MOST_WORK // workload.n_queries):
        each, exact = _all_reports(workload, m), True
    else:
        each, exact = float(channel.per_answer.max()) * _absolute_sums(workload), False
    return Spread(each, min(across, float(np.linalg.norm(each))), across, exact, False)


def _all_reports(workload: Workload, mechanism: FiniteMechanism) -> Floats:
    """The largest answer of any one report less the smallest."""
    high, low = np.full(workload.n_queries, -np.inf), np.full(workload.n_queries, np.inf)
    for _, frequencies in mechanism.single_estimates():
        answers = workload.matvec(frequencies)
        high, low = np.maximum(high, answers), np.minimum(low, answers)
    return np.asarray(high - low)


def _absolute_sums(workload: Workload) -> Floats:
    """The sum of absolute entries of every row, or a bound on it."""
    queries, values = workload.shape
    if not is_listable(workload):
        low, high = workload.answer_range
        largest: Floats = np.broadcast_to(np.maximum(np.abs(low), np.abs(high)), queries)
        return np.asarray(values * largest)
    total = np.zeros(queries)
    for block, _ in blocks_of_columns(workload, np.arange(values)):
        total += np.abs(block).sum(axis=0)
    return total


def _supported(workload: Workload, m: SymmetricMechanism) -> tuple[Floats, bool]:
    """For every query, how far the sums of its entries over two supports can be apart; and whether that is exact."""
    queries, J = workload.shape
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), queries) for end in workload.answer_range)
    if not is_listable(workload):
        apart, _ = m.differing_values
        sizes = 2 * np.maximum(np.abs(low), np.abs(high)) if m.support_size is None else high - low
        return np.asarray(apart / 2 * sizes), False
    largest, smallest, absolute = np.full(queries, -np.inf), np.full(queries, np.inf), np.zeros(queries)
    for block, _ in blocks_of_columns(workload, np.arange(J)):
        largest, smallest = np.maximum(largest, block.max(axis=0)), np.minimum(smallest, block.min(axis=0))
        absolute += np.abs(block).sum(axis=0)
    if m.support_size is None:
        return absolute, True
    k = min(m.support_size, J - m.support_size)
    if k == 1:
        return largest - smallest, True
    if queries * J > _MOST_ENTRIES:
        return np.minimum(absolute, k * (largest - smallest)), False
    entries = np.sort(workload.dense(), axis=1)
    # The k largest less the k smallest; beyond half of all values what both sets hold cancels.
    return np.asarray(entries[:, J - k :].sum(axis=1) - entries[:, :k].sum(axis=1)), True


# --- mechanisms that treat all values alike -----------------------------------------------------


def row_means(workload: Workload) -> Floats:
    """A 1/J."""
    return workload.matvec(np.full(workload.n_values, 1 / workload.n_values))


def row_squares(workload: Workload, means: Floats) -> Floats:
    """The squared lengths of A's rows, less their means."""
    values = workload.n_values
    # About the mean, since answers can be far from zero and close together.
    about = mean_squares(workload, np.full(values, 1 / values), means)
    if about is None:
        return np.asarray(np.maximum(0.0, squared_norms(workload) - values * means**2))
    return np.asarray(np.maximum(0.0, values * about))


def symmetric_parabola(workload: Workload, mechanism: SymmetricMechanism) -> Parabola:
    """M as a parabola in h, less the mean of the row: see `PairMoments.second_moment_about`."""
    m, mean = mechanism.pair_moments, row_means(workload)
    low, high, attained = row_ranges(workload)
    constant = (m.constant - 1) * mean**2 + m.same * row_squares(workload, mean)
    tilt, known = 2 * (m.slope - 1) * mean, two_valued(workload)
    return Parabola(mean, constant, tilt, m.itself, low - mean, high - mean, attained, known)


# --- the law of one report ------------------------------------------------------------------------


def law_of_shares(m: FiniteMechanism, evidence: Evidence) -> ReportLaw | None:
    """Shares themselves: a count of bits, but for several blocks; None where nothing shorter than a list is known."""
    J = m.domain_size
    if m.two_outcomes is not None:
        low, high = m.two_outcomes
        nothing = np.zeros(J)
        bits = np.full(J, low), np.full(J, high)
        return ReportLaw(
            fixed(VarianceCurve(nothing, nothing, -1.0)), nothing, nothing, bits, None, None, evidence.miss
        )
    if not isinstance(m, HadamardBlocks):
        return None
    # X^2 is kappa^2 in v's block, else 0: how many reports fall there is a count of bits too.
    (own, other), kappa, miss = m._hit, math.sqrt(m.proxy), evidence.miss
    hit, blocks = np.full(m.blocks, own), np.arange(J) // m.values_per_block
    if evidence.limiting is not None:
        hits = evidence.limiting.reshape(m.blocks, m.block_size).sum(axis=1)
        hit = np.minimum(hit, clopper_pearson(hits, evidence.n_reports, SPENT * miss)[1])
        miss *= 1 - SPENT
    curve = VarianceCurve(m.proxy * hit[blocks], np.zeros(J), -1.0)
    floor = np.full(J, max(0.0, min(m.proxy * other, m.proxy * own - 1)))
    return ReportLaw(fixed(curve), floor, np.full(J, kappa + 1), None, m.proxy, None, miss)


def law_of_weighted_shares(workload: Workload, weights: Floats, law: ReportLaw) -> ReportLaw:
    """Every answer is one value's share, times a weight: as precise as the share itself, whose law is given."""
    values = workload.dense().nonzero()[1]
    curve = (law.anywhere or law.curve)(np.zeros(workload.n_values))
    constant, linear, square, centre = (np.broadcast_to(part, workload.n_values)[values] for part in curve)
    return ReportLaw(
        fixed(VarianceCurve(constant * weights**2, linear * weights, square, centre * weights)),
        law.floor[values] * weights**2,
        law.reach[values] * np.abs(weights),
        None if law.bits is None else (law.bits[0][values] * weights, law.bits[1][values] * weights),
        None if law.proxy is None else law.proxy * weights**2,
        None,
        law.miss,
    )


def law_of_symmetric(
    workload: Workload, m: SymmetricMechanism, parabola: Parabola, reach: Floats, evidence: Evidence
) -> ReportLaw:
    """A parabola. E d^2 is known for rows of two values, and limited by the counts where few rows are listed."""
    J = workload.n_values
    curve, miss = parabola.curve, evidence.miss
    mixed = ~np.broadcast_to(np.asarray(parabola.two_valued), workload.n_queries)
    if mixed.any() and evidence.limiting is not None and workload.n_queries * J <= _MOST_HELD:
        limit = _limit_of_squares(workload, m, parabola, evidence)
        exact = VarianceCurve(parabola.fixed + parabola.slope * limit, parabola.linear, -1.0, parabola.centre)
        curve = VarianceCurve(*(np.where(mixed, limited, known) for limited, known in zip(exact, curve, strict=True)))
        miss *= 1 - SPENT
    return ReportLaw(
        fixed(curve), parabola.floor, reach, answer_bits(workload, m), _proxy(workload, m, reach), None, miss
    )


def _limit_of_squares(workload: Workload, m: SymmetricMechanism, parabola: Parabola, evidence: Evidence) -> Floats:
    """A limit of E d^2, itself a linear query: an upper one where the variance grows with it, else a lower one."""
    squares = np.square(workload.dense() - np.asarray(parabola.centre)[:, None])
    query = Dense(squares, workload.domain)
    known, reach = symmetric_parabola(query, m), spread_of_frequencies(query, m).per_answer
    most = np.asarray(known.worst()[0])
    raw = squares @ m.estimate(evidence.counts, evidence.n_reports)  # type: ignore[arg-type]
    n, miss = evidence.n_reports, SPENT * evidence.miss
    away = deviation(most, known.floor, reach, n, miss, _proxy(query, m, reach)).size
    ends = raw - away, raw + away
    return np.asarray(np.clip(ends[1] if parabola.slope > 0 else ends[0], squares.min(axis=1), squares.max(axis=1)))


def _proxy(workload: Workload, m: SymmetricMechanism, reach: Floats) -> Any:
    """For fixed values a weighted sum of bits, at most k of them set; people's own answers add their range."""
    low, high, _ = row_ranges(workload)
    # Draws without replacement are no more spread out than as many with it (Hoeffding 1963, Sec. 6), and one more for
    # whether the sender's own value is among them; without a size bits are independent.
    bits = m.support_size
    noise = squared_norms(workload) / 4 if bits is None else (bits + 1) * (high - low) ** 2 / 4
    return np.minimum(noise / float(m.signal) ** 2 + (high - low) ** 2 / 4, reach**2 / 4)


def answer_bits(workload: Workload, m: FiniteMechanism) -> Bits:
    """Where X can be two numbers only: one value's share, times a weight; any two-valued row of randomized response."""
    outcomes = m.two_outcomes
    if outcomes is None:
        return None
    low, high = np.full((2, workload.n_queries), np.nan)
    alone, weight = single_entries(workload)
    low[alone], high[alone] = outcomes[0] * weight[alone], outcomes[1] * weight[alone]
    if isinstance(m, RandomizedResponse):
        pair, (least, most, _) = two_valued(workload), row_ranges(workload)
        shift = float(m._support.other) * workload.matvec(np.ones(workload.n_values))
        low[pair] = ((least - shift) / float(m.signal))[pair]
        high[pair] = ((most - shift) / float(m.signal))[pair]
    return low, high


def single_entries(workload: Workload) -> tuple[Any, Floats]:
    """Rows with one entry that is not zero, and that entry."""
    if not workload.n_queries * workload.n_values <= _MOST_HELD:
        return np.zeros(workload.n_queries, dtype=np.bool_), np.zeros(workload.n_queries)
    rows = workload.dense()
    return np.count_nonzero(rows, axis=1) == 1, np.asarray(rows.sum(axis=1))
