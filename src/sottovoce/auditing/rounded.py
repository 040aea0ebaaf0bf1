"""What a device must send that rounds a position at random and then draws from a channel matrix."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.reference import Draws, Reference, index_rows
from sottovoce.auditing.script import Request
from sottovoce.mechanisms.rounded_channel import RoundedChannel

__all__ = ["RoundedReference"]

Positions = NDArray[np.int64]
Payloads = NDArray[np.uint8]


class RoundedReference(Reference[RoundedChannel]):
    """One integer rounds: up where position modulo steps exceeds it. The next shares out the grid point's column."""

    def __init__(self, mechanism: RoundedChannel) -> None:
        super().__init__(mechanism)
        self.ends = np.cumsum(mechanism.matrix.integers.T, axis=1, dtype=np.int64)
        self.points, self.reports = self.ends.shape
        self.block = (self.values - 1) // (self.points - 1)
        self._requests = [self.block, 1 << mechanism.matrix.bits]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Positions, draws: Draws) -> Payloads:
        rounding, drawn = draws.T
        # A position rounds up for as many outcomes as it is steps beyond its grid point.
        column = (values + self.block - 1 - rounding) // self.block
        ends = self.ends[column]
        return index_rows((ends <= drawn[:, None]).sum(axis=1), self.reports)

    def ratio(self) -> Fraction:
        rows = self.mechanism.matrix.integers
        pairs = set(zip(rows.max(axis=1).tolist(), rows.min(axis=1).tolist(), strict=True))
        return max(Fraction(high, max(1, low)) for high, low in pairs)

    def wrong_law(self) -> str:
        if int(self.mechanism.matrix.integers.min()) < 1 or (self.ends[:, -1] != self._requests[1]).any():
            return "an entry of the channel matrix is 0, or a column does not add up"
        return ""

    @cached_property
    def cells(self) -> int:
        """The first and the last draw of every entry, and every outcome of the rounding."""
        return max(2 * int(self.points * self.reports), self.block)

    def sweep(self, numbers: Positions, rng: np.random.Generator) -> tuple[Positions, Draws]:
        """Every entry is reached by a position that its rounding moves just so far, from below or from above."""
        entry, last = np.divmod(numbers % (2 * self.points * self.reports), 2)
        column, report = np.divmod(entry, self.reports)
        rounding = numbers % self.block
        up = (rng.integers(0, 2, size=len(numbers)) == 1) & (column > 0) | (column == self.points - 1)
        positions = np.where(up, (column - 1) * self.block + rounding + 1, column * self.block + rounding)
        end = self.ends[column, report]
        first = end - self.mechanism.matrix.integers[report, column]
        return positions, np.stack([rounding, np.where(last == 1, end - 1, first)], axis=1)
