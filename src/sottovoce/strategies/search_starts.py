"""Channels to start the search from, and to compare its result with: mechanisms for single values in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MechanismError
from sottovoce.kernels.finite_field import ExtensionField
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.projective_space import ProjectiveSpace
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.workloads.base import Floats

__all__ = ["Start", "analytic_starts"]

Marks = NDArray[np.bool_]


class Start(NamedTuple):
    """A two-level channel: `marks` says where it is e^epsilon times as likely as elsewhere, row by row.

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
        """Every row split into equal copies as often as `rows` allows: the marks, and the smaller probabilities."""
        minima = self.minima(epsilon)
        copies = np.full(len(minima), rows // len(minima))
        copies[np.argsort(-minima, kind="stable")[: rows % len(minima)]] += 1
        return np.repeat(self.marks, copies, axis=0), np.repeat(minima / copies, copies)


def analytic_starts(values: int, epsilon: float, rows: int) -> Iterator[Start]:
    """Every closed-form channel over that many values that fits into `rows` rows, by name.

    `hadamard_blocks` is among them only where it has more than the one block that makes it `hadamard`.

    Examples
    --------
    >>> [(start.name, len(start.marks)) for start in analytic_starts(7, 1.0, 21)]
    [('randomized_response', 7), ('hadamard', 8), ('projective_geometry', 7), ('subset_selection', 21)]
    """
    found = (
        Start("randomized_response", np.eye(values, dtype=np.bool_)),
        _hadamard("hadamard", HadamardBlocks(values, epsilon, 1), rows),
        _hadamard("hadamard_blocks", _best_blocks(values, epsilon), rows),
        _projective(values, epsilon, rows),
        _subsets(values, epsilon, rows),
    )
    return (start for start in found if start is not None and len(start.marks) <= rows)


def _best_blocks(values: int, epsilon: float) -> HadamardBlocks | None:
    try:
        mechanism = HadamardBlocks.best(values, epsilon)
    except MechanismError:
        return None
    return mechanism if mechanism.blocks > 1 else None


def _hadamard(name: str, mechanism: HadamardBlocks | None, rows: int) -> Start | None:
    if mechanism is None or mechanism.cells > rows:
        return None
    block, row = np.divmod(np.arange(mechanism.domain_size), mechanism.block_size - 1)
    at, position = np.divmod(np.arange(mechanism.cells), mechanism.block_size)
    even = np.bitwise_count((row + 1) & position[:, None]) % 2 == 0
    return Start(name, (at[:, None] == block) & even)


def _projective(values: int, epsilon: float, rows: int) -> Start | None:
    try:
        mechanism = ProjectiveGeometry.best(values, epsilon)
    except (MechanismError, ValueError):
        return None
    if mechanism.cells > rows:
        return None
    return Start("projective_geometry", _orthogonal(mechanism.space, values))


def _orthogonal(space: ProjectiveSpace, values: int) -> Marks:
    """Which points are orthogonal to each of the first ones."""
    field, points = space.field, np.array([space.vector(number) for number in range(space.points)])
    total = np.zeros((space.points, values), dtype=np.int64)
    for entries in points.T:
        pairs = entries[:, None], entries[:values]
        if isinstance(field, ExtensionField):
            differences, products, _ = field.tables
            total = differences[total, products[pairs]]
        else:
            total = (total + pairs[0] * pairs[1]) % space.order
    return np.asarray(total == 0)


def _subsets(values: int, epsilon: float, rows: int) -> Start | None:
    try:
        size = SubsetSelection.best(values, epsilon).subset_size
    except MechanismError:
        return None
    if math.comb(values, size) > rows:
        return None
    marks = np.zeros((math.comb(values, size), values), dtype=np.bool_)
    for row, members in zip(marks, combinations(range(values), size), strict=True):
        row[list(members)] = True
    return Start("subset_selection", marks)
