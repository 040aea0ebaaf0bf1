"""Known channels as starts of the search and for comparison with its result: closed forms, and those of strategies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.sampled import LevelResponse
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads.base import Floats, Workload

__all__ = ["StartChannel", "analytic_starts", "structured_starts"]

Marks = NDArray[np.bool_]


class StartChannel(NamedTuple):
    """A two-level channel: `marks` are the entries that are e^epsilon times as likely as the others.

    Every column marks the same share of all rows, by their relative `sizes`.
    """

    name: str
    marks: Marks
    sizes: Floats | float = 1.0

    def channel(self, epsilon: float) -> Floats:
        """The m x J probabilities."""
        minima = self.minima(epsilon)[:, None]
        probabilities: Floats = np.where(self.marks, math.exp(epsilon) * minima, minima)
        probabilities /= probabilities.sum(axis=0)
        return probabilities

    def minima(self, epsilon: float) -> Floats:
        """The probability of an unmarked report, once for each row."""
        sizes = np.broadcast_to(np.float64(self.sizes), len(self.marks))
        return np.asarray(sizes / (sizes @ np.where(self.marks[:, 0], math.exp(epsilon), 1.0)))

    def padded(self, epsilon: float, rows: int) -> tuple[Marks, Floats]:
        """Rows split into equal copies, `rows` in total: the marks, and the smaller probabilities."""
        minima = self.minima(epsilon)
        copies = np.full(len(minima), rows // len(minima))
        copies[np.argsort(-minima, kind="stable")[: rows % len(minima)]] += 1
        return np.repeat(self.marks, copies, axis=0), np.repeat(minima / copies, copies)


def analytic_starts(values: int, epsilon: float, rows: int) -> Iterator[StartChannel]:
    """Every closed-form channel over that many values that fits into `rows` rows, by its mechanism's name.

    Examples
    --------
    >>> [(start.name, len(start.marks)) for start in analytic_starts(7, 1.0, 21)]
    [('randomized_response', 7), ('hadamard', 8), ('projective_geometry', 7), ('subset_selection', 21)]
    """
    for name, kind in serving(FiniteMechanism).items():
        try:
            marks = kind.best(values, epsilon).favoured(rows)
        except (MechanismError, ValueError):
            continue
        if marks is not None:
            yield StartChannel(name, marks)


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
            channel = _parities(mechanism, values) if isinstance(mechanism, Fourier) else _levels(mechanism, values)
            yield StartChannel(kind.name, *channel)


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
