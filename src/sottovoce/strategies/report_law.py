"""What is known of a design's answers from one report: enough for intervals that hold.

X is the answer from one report alone; the raw answer is the mean of n of them. Its expectation, for a person of value
u, is h_u, and for everybody together the true answer y.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.law_of_listed import law_of_listed, law_of_number
from sottovoce.strategies.law_of_sets import law_of_sets
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.rows import combined_ranges, row_ranges, squared_norms, two_valued
from sottovoce.strategies.laws.spread import UNLUCKY_BITS
from sottovoce.strategies.laws.variance import Parabola, VarianceCurve
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.sampled import SampledStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.spread_of_strategies import spread
from sottovoce.strategies.tables.law import law_of_tables
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.strategies.trees.levels import LevelStrategy
from sottovoce.strategies.vectors import VectorStrategy
from sottovoce.theory.tails import clopper_pearson
from sottovoce.workloads import Dense, Identity

__all__ = ["report_law"]

_SPENT: Final = 0.05
"""The part of a miss that goes to a limit of E X^2 where the counts tell it."""

_MOST_HELD: Final = 2**22
"""Numbers held, so that second moments are computed once for an interval's many steps."""


def report_law(
    design: Strategy, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None
) -> ReportLaw:
    """The law of every answer, or of combinations of answers, one per row of `weights`.

    `ends` are the least and the largest answers that a person can give to the combinations.
    """
    match design:
        case VectorStrategy():
            return _of_vectors(design, weights, evidence, ends)
        case SetStrategy():
            return law_of_sets(design, weights, evidence)
        case TablesStrategy():
            return law_of_tables(design, weights, evidence)
        case SampledStrategy():
            return _of_levels_and_coefficients(design, weights, evidence, ends)
        case MinimaxStrategy():
            return law_of_number(design, weights, evidence)
        case Histogram() | OptimizedStrategy() if weights is not None:
            rows = np.stack([design.workload.rmatvec(row) for row in weights])
            combined: Any = replace(design, workload=Dense(rows, design.workload.domain))
            return report_law(combined, None, evidence)
        case Histogram(workload=Identity()):
            return _of_shares(design, evidence)
        case Histogram() if _single_entries(design)[0].all():
            return _of_weighted_shares(design, evidence)
        case Histogram(mechanism=SymmetricMechanism()):
            return _of_symmetric(design, evidence)
        case Histogram() | OptimizedStrategy():
            return law_of_listed(design, evidence, _bits(design) if isinstance(design, Histogram) else None)
    raise MechanismError(f"the law of one report is not known for the strategy {design.name!r}")


# --- vector mechanisms ------------------------------------------------------------------------


def _of_vectors(
    design: VectorStrategy, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None
) -> ReportLaw:
    """The mechanism's noise and proxy, times the squared length of R's row."""
    m, n = design.mechanism, evidence.n_reports
    if weights is None:
        parabola, lengths = design._parabola, design._lengths
        reach = spread(design).per_answer / 2
    else:
        (parabola, _), lengths = design._combined_parabola(weights, ends=ends), design._direction_lengths(weights)
        reach = _combined_reach(design, weights, lengths)
    sharing = design.sharing_factor(n)
    curve, shape = parabola.curve, (design.workload.n_queries if weights is None else len(weights),)
    if sharing > 1:
        curve = curve._replace(constant=curve.constant + (sharing - 1) * m.noise * np.asarray(lengths))
    bits = None
    if m.two_outcomes and isinstance(design, Direct):
        bits = np.broadcast_to(-reach, shape), np.broadcast_to(reach, shape)
    return ReportLaw(
        fixed(curve),
        np.broadcast_to(parabola.floor, shape),
        np.broadcast_to(reach + np.maximum(np.abs(parabola.low), np.abs(parabola.high)), shape),
        bits,
        np.broadcast_to(m.proxy * sharing * np.asarray(lengths), shape),
        m.skew,
        evidence.miss,
    )


def _combined_reach(design: VectorStrategy, weights: Floats, lengths: Floats) -> Floats:
    """How far a combination of answers is moved by one report, from its shift."""
    m = design.mechanism
    if isinstance(m, Codebook):
        tail = math.log(2 * m.rotations * m.size * len(weights)) + UNLUCKY_BITS * math.log(2)
        return np.sqrt(lengths) * (m.radius / m.constants.scale) * min(1.0, math.sqrt(2 * tail / m.size))
    return np.asarray(np.abs(weights) @ np.broadcast_to(spread(design).per_answer / 2, weights.shape[1]))


# --- levels of trees, and coefficients ------------------------------------------------------------


def _of_levels_and_coefficients(
    design: SampledStrategy, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None
) -> ReportLaw:
    """E(X - offset)^2 is the same for every value."""
    if weights is None:
        offset, moments = design.offset, design._central_moments
        low, high, _ = row_ranges(design.workload)
        reach = spread(design).per_answer / 2
    else:
        offset, moments = weights @ design.offset, design._combined_moments(weights)
        low, high = combined_ranges(design.workload, weights) if ends is None else ends
        reach = _moved(design, weights, moments)
    parabola = Parabola(offset, moments, 0.0, 0.0, low - offset, high - offset, True)
    away = np.maximum(np.abs(low - offset), np.abs(high - offset))
    return ReportLaw(fixed(parabola.curve), parabola.floor, reach + away, None, reach**2, None, evidence.miss)


def _moved(design: SampledStrategy, weights: Floats, moments: Floats) -> Floats:
    """How far one report can move a combination from its offset."""
    scale = math.sqrt(design._moment_of_coordinates)
    if isinstance(design, FourierStrategy):
        return np.array([scale * np.abs(design._adjoint(row) / design.coordinates.scales).max() for row in weights])
    parts = np.abs(weights) @ (spread(design).per_answer / 2)
    assert isinstance(design, LevelStrategy)
    m = design.mechanism
    rarest = max(columns * sum(m.weights) / weight for columns, weight in zip(m.columns, m.weights, strict=True))
    return np.asarray(np.minimum(parts, np.sqrt(np.maximum(0.0, moments) * rarest)))


# --- histograms -------------------------------------------------------------------------------


def _of_shares(design: Histogram, evidence: Evidence) -> ReportLaw:
    """Shares themselves: a count of bits, but for several blocks."""
    m, J = design.mechanism, design.workload.n_values
    if m.two_outcomes is not None:
        low, high = m.two_outcomes
        nothing = np.zeros(J)
        bits = np.full(J, low), np.full(J, high)
        return ReportLaw(
            fixed(VarianceCurve(nothing, nothing, -1.0)), nothing, nothing, bits, None, None, evidence.miss
        )
    if not isinstance(m, HadamardBlocks):
        return law_of_listed(design, evidence, _bits(design))
    # X^2 is kappa^2 in v's block, else 0: how many reports fall there is a count of bits too.
    (own, other), kappa, miss = m._hit, math.sqrt(m.proxy), evidence.miss
    hit, blocks = np.full(m.blocks, own), np.arange(J) // m.values_per_block
    if evidence.counts is not None:
        hits = evidence.counts.reshape(m.blocks, m.block_size).sum(axis=1)
        hit = np.minimum(hit, clopper_pearson(hits, evidence.n_reports, _SPENT * miss)[1])
        miss *= 1 - _SPENT
    curve = VarianceCurve(m.proxy * hit[blocks], np.zeros(J), -1.0)
    floor = np.full(J, max(0.0, min(m.proxy * other, m.proxy * own - 1)))
    return ReportLaw(fixed(curve), floor, np.full(J, kappa + 1), None, m.proxy, None, miss)


def _of_weighted_shares(design: Histogram, evidence: Evidence) -> ReportLaw:
    """Every answer is one value's share, times a weight: as precise as the share itself."""
    values, weights = design.workload.dense().nonzero()[1], _single_entries(design)[1]
    law = _of_shares(Histogram(Identity(design.workload.domain), design.mechanism), evidence)
    curve = (law.anywhere or law.curve)(np.zeros(design.workload.n_values))
    constant, linear, square, centre = (np.broadcast_to(part, design.workload.n_values)[values] for part in curve)
    return ReportLaw(
        fixed(VarianceCurve(constant * weights**2, linear * weights, square, centre * weights)),
        law.floor[values] * weights**2,
        law.reach[values] * np.abs(weights),
        None if law.bits is None else (law.bits[0][values] * weights, law.bits[1][values] * weights),
        None if law.proxy is None else law.proxy * weights**2,
        None,
        law.miss,
    )


def _of_symmetric(design: Histogram, evidence: Evidence) -> ReportLaw:
    """A parabola. E d^2 is known for rows of two values, and told by the counts where few rows are listed."""
    parabola, J = design._parabola, design.workload.n_values
    curve, miss = parabola.curve, evidence.miss
    mixed = ~np.broadcast_to(np.asarray(parabola.two_valued), design.workload.n_queries)
    if mixed.any() and evidence.counts is not None and design.workload.n_queries * J <= _MOST_HELD:
        limit = _limit_of_squares(design, parabola, evidence)
        exact = VarianceCurve(parabola.fixed + parabola.slope * limit, parabola.linear, -1.0, parabola.centre)
        curve = VarianceCurve(*(np.where(mixed, told, known) for told, known in zip(exact, curve, strict=True)))
        miss *= 1 - _SPENT
    reach = spread(design).per_answer
    return ReportLaw(fixed(curve), parabola.floor, reach, _bits(design), _proxy(design), None, miss)


def _limit_of_squares(design: Histogram, parabola: Parabola, evidence: Evidence) -> Floats:
    """A limit of E d^2, itself a linear query: an upper one where the variance grows with it, else a lower one."""
    from sottovoce.theory.tails import deviation

    squares = np.square(design.workload.dense() - np.asarray(parabola.centre)[:, None])
    query = Histogram(Dense(squares, design.workload.domain), design.mechanism)
    known = query._parabola
    most = np.asarray(known.worst()[0])
    raw = squares @ design.raw_coordinates(evidence.counts, evidence.n_reports)  # type: ignore[arg-type]
    n, miss = evidence.n_reports, _SPENT * evidence.miss
    away = deviation(most, known.floor, spread(query).per_answer, n, miss, _proxy(query)).size
    ends = raw - away, raw + away
    return np.asarray(np.clip(ends[1] if parabola.slope > 0 else ends[0], squares.min(axis=1), squares.max(axis=1)))


def _proxy(design: Histogram) -> Any:
    """For fixed values a weighted sum of bits, of which at most k are set; people's own answers add their range."""
    m = design.mechanism
    assert isinstance(m, SymmetricMechanism)
    low, high, _ = row_ranges(design.workload)
    if m.support_size is None:  # independent bits
        noise = squared_norms(design.workload) / 4
    else:
        # Draws without replacement are no more spread out than as many with it (Hoeffding 1963, Sec. 6), and one more
        # for whether the sender's own value is among them.
        noise = (m.support_size + 1) * (high - low) ** 2 / 4
    return np.minimum(noise / float(m.signal) ** 2 + (high - low) ** 2 / 4, spread(design).per_answer ** 2 / 4)


def _bits(design: Histogram) -> tuple[Floats, Floats] | None:
    """Where X can be two numbers only: one value's share, times a weight; any two-valued row of randomized response."""
    m, workload = design.mechanism, design.workload
    outcomes = m.two_outcomes
    if outcomes is None:
        return None
    low, high = np.full((2, workload.n_queries), np.nan)
    alone, weight = _single_entries(design)
    low[alone], high[alone] = outcomes[0] * weight[alone], outcomes[1] * weight[alone]
    if isinstance(m, RandomizedResponse):
        pair, (least, most, _) = two_valued(workload), row_ranges(workload)
        shift = float(m._support.other) * workload.matvec(np.ones(workload.n_values))
        low[pair] = ((least - shift) / float(m.signal))[pair]
        high[pair] = ((most - shift) / float(m.signal))[pair]
    return low, high


def _single_entries(design: Histogram) -> tuple[Any, Floats]:
    """Rows with one entry that is not zero, and that entry."""
    workload = design.workload
    if not workload.n_queries * workload.n_values <= _MOST_HELD:
        return np.zeros(workload.n_queries, dtype=np.bool_), np.zeros(workload.n_queries)
    rows = workload.dense()
    return np.count_nonzero(rows, axis=1) == 1, np.asarray(rows.sum(axis=1))
