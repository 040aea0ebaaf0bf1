"""Rounds a searched channel to integers: exact ratios within e**epsilon, exact column sums."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.channel_matrix import MAX_BITS, ChannelMatrix
from sottovoce.randomness.thresholds import exp_bounds, within_epsilon
from sottovoce.workloads.base import Floats

__all__ = ["quantise"]

_LEAST: Final = 64
"""Rows whose smallest entry is below this many units are removed: they are practically never sent."""

_NEAR: Final = 1e-5
"""Entries this close to a limit of their row, relative to its range, are set to the limit, to save space."""


def quantise(channel: Floats, epsilon: float, bits: int = MAX_BITS) -> ChannelMatrix:
    """A channel out of 2**bits that is exactly epsilon-LDP, from one that is up to rounding.

    A row's smallest entry is rounded up and its largest allowed one is floor(e^epsilon times that), decided with
    rationals; entries are rounded between the two, and what a column then lacks or has too much is moved within those
    bounds, to entries that lie between them first. Most entries thus stay at their row's ends. A row's spread loses
    about one unit, so the noise grows by less than 1e-4 wherever that spread has 2e4 units: with 32 bits and 512 rows
    that is from epsilon 0.01 to 6.

    Raises
    ------
    MechanismError
        If no such integers exist: epsilon is too small for this number of rows.

    Examples
    --------
    >>> quantise(np.array([[0.73, 0.27], [0.27, 0.73]]), 1.0, bits=8).integers.tolist()
    [[186, 70], [70, 186]]
    """
    unit = 1 << bits
    minima = channel.min(axis=1) * unit
    rows = np.flatnonzero(minima >= min(_LEAST, unit / 4 / len(channel)))
    lower = np.ceil(minima[rows]).astype(np.int64)
    upper = np.array([_largest(int(low), epsilon) for low in lower], dtype=np.int64)
    target = channel[rows] * unit
    entries = np.clip(np.rint(target).astype(np.int64), lower[:, None], upper[:, None])
    near = np.maximum(_NEAR * (upper - lower), np.minimum(4 + upper // lower, (upper - lower) // 8))[:, None]
    entries = np.where(entries - lower[:, None] <= near, lower[:, None], entries)
    entries = np.where(upper[:, None] - entries <= near, upper[:, None], entries)
    if len(rows) < 2 or lower.sum() > unit or upper.sum() < unit:
        raise MechanismError(
            f"epsilon {epsilon:g} is too small for a channel of {len(channel):,} reports out of 2**{bits}; use fewer "
            "rows, a larger epsilon, or another strategy"
        ).at("epsilon")
    matrix = ChannelMatrix(_balanced(entries, lower, upper, unit).astype(np.uint32), bits)
    matrix.verify(epsilon)
    return matrix


def _largest(low: int, epsilon: float) -> int:
    """floor(e^epsilon low), certain."""
    bound, _ = exp_bounds(Fraction(epsilon))
    high = int(bound * low)
    return high + 1 if within_epsilon(Fraction(high + 1, low), epsilon) else high


def _balanced(
    entries: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64], unit: int
) -> NDArray[np.int64]:
    """Columns with corrected sums, changing as few entries as possible."""
    lacks = unit - entries.sum(axis=0)
    room = np.where(lacks >= 0, upper[:, None] - entries, entries - lower[:, None])
    inner = (entries > lower[:, None]) & (entries < upper[:, None])
    order = np.argsort(np.where(inner, -room, 1 - 1 / (1.0 + room)), axis=0, kind="stable")
    ordered = np.take_along_axis(room, order, axis=0)
    before = np.cumsum(ordered, axis=0) - ordered
    moved = np.empty_like(entries)
    np.put_along_axis(moved, order, np.clip(np.abs(lacks) - before, 0, ordered), axis=0)
    balanced: NDArray[np.int64] = entries + np.sign(lacks) * moved
    return balanced
