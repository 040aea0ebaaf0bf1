"""A line of cells in their order, as a histogram whose bins are as wide as the noise demands.

Of a hundred ages from a few thousand reports no single one can be told from noise, and their picture is noise too.
Neighbours are merged until a bin's margin is at most the share that a bin has on average. How far that is depends on
the design and the number of reports alone, so every bin's interval holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.answer import Answer
from sottovoce.estimates.combinations import RawAnswers, combined_interval
from sottovoce.mechanisms.base import Floats

__all__ = ["MOST_CELLS", "HistogramBin", "histogram_bins", "readable_starts", "rows_of_cumulative", "rows_of_shares"]

MOST_CELLS: Final = 2**12
"""Cells of a line up to which their shares are computed together."""

_MARGIN: Final = 1.96
"""Standard errors that a margin is, for choosing bins; their intervals are computed, not taken from this."""

Rows = Callable[[NDArray[np.int64]], Floats]
"""Weights of the answers, one row per bin, for bins that begin at these cells; the last bin ends with the last cell."""


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class HistogramBin(Answer):
    """The share of people whose number is above `start` and at most `end`; the first bin holds `start` too.

    For integers both ends lie half a step beyond the integers of the bin.
    """

    start: float
    end: float

    row_fields: ClassVar[tuple[str, ...]] = (*Answer.row_fields, "start", "end")


def rows_of_shares(cells: int) -> Rows:
    """Bins of answers that are the shares of the cells.

    Examples
    --------
    >>> rows_of_shares(4)(np.array([0, 3]))
    array([[1., 1., 1., 0.],
           [0., 0., 0., 1.]])
    """

    def rows(starts: NDArray[np.int64]) -> Floats:
        weights = np.zeros((len(starts), cells))
        weights[np.searchsorted(starts, np.arange(cells), "right") - 1, np.arange(cells)] = 1.0
        return weights

    return rows


def rows_of_cumulative(cells: int) -> Rows:
    """Bins of answers that are the shares up to the end of each cell.

    Examples
    --------
    >>> rows_of_cumulative(4)(np.array([0, 3]))
    array([[ 0.,  0.,  1.,  0.],
           [ 0.,  0., -1.,  1.]])
    """

    def rows(starts: NDArray[np.int64]) -> Floats:
        weights, last = np.zeros((len(starts), cells)), np.append(starts[1:], cells) - 1
        weights[np.arange(len(starts)), last] = 1.0
        weights[np.arange(1, len(starts)), starts[1:] - 1] -= 1.0
        return weights

    return rows


def readable_starts(answers: RawAnswers, cells: int, rows: Rows) -> NDArray[np.int64]:
    """Where bins begin that are wide enough to be told from noise, all of as many cells but perhaps the last."""
    design, n = answers.survey.design, answers.n_reports
    starts = np.arange(cells)
    for size in _sizes(cells):
        starts = np.arange(0, cells, size)
        variances = np.asarray(design.variance(rows(starts), None, n).value)
        if _MARGIN * math.sqrt(float(variances.max())) <= 1 / len(starts):
            break
    return starts


def _sizes(cells: int) -> list[int]:
    """Cells of a bin: those that divide the line evenly, and round numbers; two bins at least.

    Examples
    --------
    >>> _sizes(82), _sizes(64)
    ([1, 2, 5, 10, 20, 41], [1, 2, 4, 5, 8, 10, 16, 20, 32])
    """
    most = max(1, -(-cells // 2))
    even = {size for size in range(1, most + 1) if cells % size == 0}
    return sorted(even | {part * 10**power for power in range(5) for part in (1, 2, 5) if part * 10**power <= most})


def histogram_bins(
    answers: RawAnswers,
    rows: Rows,
    starts: NDArray[np.int64],
    ends: Floats,
    named: Callable[[int, int], str],
    level: float,
    note: str = "",
) -> Sequence[HistogramBin]:
    """The share of people in every bin, with its interval.

    `ends` are those of all cells, and `named` gives the label of a bin from its first and last cell.
    """
    weights, last = rows(starts), np.append(starts[1:], len(ends) - 1)
    interval = combined_interval(answers, weights, level)
    columns = (column.tolist() for column in (weights @ answers.values, *interval, weights @ answers.raw))
    places = zip(starts.tolist(), last.tolist(), *columns, strict=True)
    return [
        HistogramBin(
            label=named(first, after - 1),
            value=value,
            low=low,
            high=high,
            raw=raw,
            method=interval.method + note,
            level=level,
            is_share=True,
            start=float(ends[first]),
            end=float(ends[after]),
        )
        for first, after, value, low, high, raw in places
    ]
