"""The spread of answers that are combined from tables: the largest difference that one report can make."""

from __future__ import annotations

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.tables.strategy import TablesStrategy

__all__ = ["report_range", "spread_of_tables"]


def spread_of_tables(design: TablesStrategy) -> Spread:
    """For the expected number of reports on every table: a device may choose its table, and take it off another.

    Either change moves the mean of one table by at most the range of its reports over their number. It also changes the
    weights by which tables are combined, which moves answers by less, in proportion to what tables disagree by.
    """
    found = np.zeros(design.components.answers.cells)
    for measured, rows, cells, index in design.overlaps(design.mechanism.shares / design.noise):
        table = design.mechanism.tables[measured]
        range_of_one = report_range(table.mechanism, rows)[index] / design.mechanism.shares[measured]
        found[cells] = np.maximum(found[cells], 2 * range_of_one)
    l2 = float(np.linalg.norm(found))
    return Spread(found, l2, l2, False, False, "where every table has the expected number of reports")


def report_range(mechanism: SupportMechanism, rows: Floats) -> Floats:
    """How far apart two reports can put combinations of a table's cells."""
    if isinstance(mechanism, SymmetricMechanism) and mechanism.support_size is not None:
        held = mechanism.support_size
        ordered = np.sort(rows, axis=1)
        most, least = ordered[:, -held:].sum(axis=1), ordered[:, :held].sum(axis=1)
        return np.asarray((most - least) / float(mechanism.signal))
    answers = mechanism.report_answers(rows)
    if answers is None:
        return np.asarray(np.abs(rows).sum(axis=1) / float(mechanism.signal))
    return np.asarray(answers.max(axis=1) - answers.min(axis=1))
