"""What the tables that devices answer say about the tables that are asked for: weights of their cells, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.tables.components import Components, Table, TableSet, contrast_rows, subsets

__all__ = ["Overlap", "overlaps"]

_BLOCK: Final = 2**21
"""Weights that are held together."""


class Overlap(NamedTuple):
    """What a table that is measured says about cells of a table that is asked for."""

    measured: int
    """The number of the measured table."""
    rows: Floats
    """Weights of the measured cells, one row for every cell of the attributes that the two share."""
    answers: NDArray[np.int64]
    """The numbers of the cells that are asked for, among all answers, in increasing order."""
    place: NDArray[np.int64]
    """The row of each."""


def overlaps(
    components: Components, measured: TableSet, ratios: Floats, only: set[int] | None = None
) -> Iterator[Overlap]:
    """Pairs of a table that is asked for, or one of `only`, and a measured one that shares attributes with it.

    `ratios` are the weights of the measured tables (columns) in the mean of every component.
    """
    for asked, table in enumerate(components.tables):
        if only is not None and asked not in only:
            continue
        for number, other in enumerate(measured.tables):
            shared = tuple(place for place in table if place in other)
            if not shared:
                continue  # it tells the total only, which is known
            weights = [
                (part, ratios[components.parts.numbers[part], number] / components.outside(table, part))
                for part in subsets(shared)
            ]
            if any(weight for _, weight in weights):
                yield from _in_blocks(components, measured, asked, number, shared, weights)


def _in_blocks(
    components: Components,
    measured: TableSet,
    asked: int,
    number: int,
    shared: Table,
    weights: list[tuple[Table, float]],
) -> Iterator[Overlap]:
    """For some values of the first shared attribute at a time, so that memory is bounded."""
    sizes, other = components.sizes, measured.tables[number]
    place = components._cells_of(components.tables[asked], shared)
    each = components.parts.count(shared) // sizes[shared[0]]
    step = max(1, _BLOCK // (each * measured.count(other)))
    for start in range(0, sizes[shared[0]], step):
        first = slice(start, start + step)
        rows = sum(weight * contrast_rows(sizes, other, shared, part, first) for part, weight in weights)
        cells = np.flatnonzero((place >= start * each) & (place < (start + step) * each))
        answers = components.answers.starts[asked] + cells
        yield Overlap(number, np.asarray(rows), answers, place[cells] - start * each)
