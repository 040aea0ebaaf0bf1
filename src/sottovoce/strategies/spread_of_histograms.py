"""The spread of answers computed from estimated frequencies."""

from __future__ import annotations

from typing import Final

import numpy as np

from sottovoce.mechanisms.finite import MOST_LISTED, FiniteMechanism
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.rows import blocks_of_columns, is_listable
from sottovoce.strategies.laws.spread import (
    Floats,
    Spread,
    spread_of_channel,
)
from sottovoce.workloads import Identity, Workload

__all__ = ["spread_of_histogram"]

_MOST_ENTRIES: Final = 2**24
"""Entries of a query matrix up to which its rows are sorted."""

_MOST_WORK: Final = 2**26
"""Maximum product of queries, values and reports for which the answers of every report are computed."""


def spread_of_histogram(design: Histogram) -> Spread:
    """Through the values that two reports support, through all reports where they are few, or through entries' sizes.

    Projected answers are those of the nearest distribution, which moves no farther than the estimated frequencies.
    """
    m, workload = design.mechanism, design.workload
    channel = spread_of_channel(m)
    if isinstance(workload, Identity):
        return channel
    across = np.inf if not is_listable(workload) else channel.l2 * design.operator_norm
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
