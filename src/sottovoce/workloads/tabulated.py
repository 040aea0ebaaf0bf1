"""What estimates need of a workload besides its queries: the cells of tables, and what people can answer."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import Domain
from sottovoce.domain.number import NumberGrid

__all__ = ["MOST_HELD", "HeldPairs", "TableCells", "Tabulated"]

Floats = NDArray[np.float64]

MOST_HELD: Final = 2**22
"""Values up to which the answers of all are listed."""


class TableCells(NamedTuple):
    """A table of attributes, each cell a sum of answers.

    Attributes
    ----------
    cells
        The numbers of the answers that add up to each cell: the table's axes, then one for the answers of a cell.
    scale
        A cell's share is the sum of its answers, times this.
    """

    attributes: tuple[tuple[str, Domain], ...]
    cells: NDArray[np.int64]
    scale: float = 1.0


class HeldPairs(NamedTuple):
    """What people can answer to two combinations of the queries.

    `complete` says that these are all different pairs; otherwise all others are sums of them.
    """

    over: Floats
    under: Floats
    complete: bool = True


class Tabulated:
    """Answers from which tables may follow: none, unless a family knows better."""

    @property
    def has_tables(self) -> bool:
        """Whether tables of attributes follow from the answers."""
        return False

    def table_cells(self, names: tuple[str, ...]) -> TableCells | None:
        """The table of these different attributes; None if it does not follow from the answers."""
        return None

    def number_field(self, name: str) -> NumberGrid | None:
        """The number of that name in people's records; None if there is none."""
        return None
