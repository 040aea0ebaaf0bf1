"""Channels of the hierarchical, Haar and Fourier strategies as matrices, for the search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.sampled import LevelResponse
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.search.starts import Marks, StartChannel
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads.base import Floats, Workload

__all__ = ["structured_starts"]

Indices = NDArray[np.int64]


def structured_starts(workload: Workload, epsilon: float, rows: int, values: Indices) -> Iterator[StartChannel]:
    """The channels of the hierarchical, Haar and Fourier strategies for a workload that fit into `rows` rows.

    Their columns are those of `values`, one for each different column of the workload: a person's noise depends only on
    the person's answers, so values with equal answers change neither the worst nor the mean.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> [(start.name, len(start.marks)) for start in structured_starts(Prefix(8), 1.0, 32, np.arange(8))]
    [('hierarchical', 28), ('haar', 14)]
    """
    for kind in (HierarchicalStrategy, HaarStrategy, FourierStrategy):
        if not kind.serves(workload):
            continue
        try:
            mechanism = kind.best(workload, epsilon).mechanism
        except SurveyError:
            continue
        if mechanism.cells <= rows:
            found = _parities(mechanism, values) if isinstance(mechanism, Fourier) else _levels(mechanism, values)
            yield StartChannel(kind.name, *found)


def _levels(mechanism: LevelResponse, values: Indices) -> tuple[Marks, Floats]:
    """Marks and row sizes in the order of the reports: a level's columns with a +1, then with a -1."""
    marks, sizes, drawn = [], [], sum(mechanism.weights)
    for span, columns, weight in zip(mechanism.spans, mechanism.columns, mechanism.weights, strict=True):
        odd = np.bitwise_count(values // span & np.arange(columns)[:, None]) % 2 == 1
        if mechanism.signed:
            odd ^= values // (span // 2) % 2 == 1
        marks += [~odd, odd]
        sizes.append(np.full(2 * columns, weight / (drawn * columns)))
    return np.concatenate(marks), np.concatenate(sizes)


def _parities(mechanism: Fourier, values: Indices) -> tuple[Marks, Floats]:
    """Marks and row sizes in the order of the reports: a coefficient's +1, then its -1."""
    odd = np.bitwise_count(mechanism.coefficients[:, None] & mechanism.codes(values)) % 2 == 1
    return np.stack([~odd, odd], axis=1).reshape(-1, len(values)), np.repeat(mechanism.shares, 2)
