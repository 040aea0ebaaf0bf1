"""The channel that a matrix states: one draw, one look-up. What its reports mean is said by a strategy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import ChannelReference, CriticalRun, Draws, Rows, Values, index_rows
from sottovoce.randomness import Source, within_epsilon
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import listed_blanket

__all__ = ["MatrixChannel"]

_LEAST_BITS: Final = 8
_MOST_BITS: Final = 14
"""Bits of the miniatures: audits run all their 2**bits outcomes."""


@final
@dataclass(frozen=True)
class MatrixChannel(ChannelMechanism):
    """A row number of a channel matrix, drawn with the chances in the value's column.

    Guarantee
        Pure epsilon-LDP: entries of one row differ by a factor of e^epsilon at most. The constructor decides it with
        integers (`ChannelMatrix.verify`), so a device that holds an instance has checked the matrix it was sent.
    Error
        That of the reconstruction a strategy pairs it with; the channel alone estimates nothing.
    Symbols
        m is the number of reports, J the number of values; `matrix` holds m x J integers out of 2^bits.
    Raises
        `MechanismError` for a matrix that breaks epsilon, or is not over this domain.

    Examples
    --------
    >>> channel = MatrixChannel(2, 0.8, ChannelMatrix(np.array([[11, 5], [5, 11]]), 4))
    >>> channel.privacy_ratio()
    Fraction(11, 5)
    >>> from sottovoce.randomness import tape_source
    >>> channel.randomize(1, tape_source(bytes([4]))), channel.randomize(1, tape_source(bytes([5])))
    (0, 1)
    """

    matrix: ChannelMatrix

    name: ClassVar[str] = "matrix_channel"
    summary: ClassVar[str] = "one row of the survey's channel matrix"
    use_when: ClassVar[str] = "one query set over up to a few hundred values: the channel is searched for it"
    counted_as = "number"
    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"domain_size", "epsilon", "matrix"})

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Two values with three reports, three values with four; rows at their limits, rows between, an even row."""
        return cls(2, epsilon, _miniature(epsilon, 2)), cls(3, epsilon, _miniature(epsilon, 3))

    def _check_parameters(self) -> None:
        if not isinstance(self.matrix, ChannelMatrix):
            raise MechanismError(f"matrix has type {type(self.matrix).__name__}: it must be a ChannelMatrix").at(
                "matrix"
            )
        if self.matrix.values != self.domain_size:
            raise MechanismError(
                f"the channel matrix is over {self.matrix.values:,} values, the survey over {self.domain_size:,}"
            ).at("matrix")
        self.matrix.verify(self.epsilon)

    @property
    def cells(self) -> int:
        """One count per report."""
        return self.matrix.reports

    @cached_property
    def codec(self) -> IndexCodec:
        """A row number."""
        return IndexCodec(self.cells)

    @cached_property
    def _cumulative(self) -> NDArray[np.uint64]:
        """Row v: running sums of column v, from its first entry to 2^bits."""
        return np.cumsum(self.matrix.integers.T, axis=1, dtype=np.uint64)

    def _randomize(self, value: int, source: Source) -> Report:
        drawn = np.uint64(source.below(1 << self.matrix.bits))
        # All m sums are compared, whatever was drawn: a search that stops early would take a telling time.
        return int(np.count_nonzero(self._cumulative[value] <= drawn))

    @cached_property
    def _joined(self) -> NDArray[np.uint64]:
        """The columns' running sums one after the other, each beginning where the last one ended: increasing."""
        starts = np.arange(self.domain_size, dtype=np.uint64) << np.uint64(self.matrix.bits)
        return (self._cumulative + starts[:, None]).reshape(-1)

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Vectorised, same law: everybody's draw is looked up in all columns joined together."""
        values = np.asarray(values, dtype=np.int64)
        draws = rng.integers(0, 1 << self.matrix.bits, size=len(values), dtype=np.uint64)
        draws += values.astype(np.uint64) << np.uint64(self.matrix.bits)
        return np.asarray(np.searchsorted(self._joined, draws, side="right") - values * self.cells)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of rows."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """The matrix's entry over 2^bits."""
        return Fraction(int(self.matrix.integers[cast(int, report), value]), 1 << self.matrix.bits)

    def privacy_ratio(self) -> Fraction:
        """The largest ratio within a row, found by looking at all of them: no symmetry is used."""
        return self.matrix.ratio

    def blanket(self) -> Blanket | None:
        """The blanket of the matrix as it stands: no symmetry is used."""
        return listed_blanket(self._chances.T, "every pair of values is gone through")

    def outputs(self) -> Iterator[Report]:
        """All row numbers."""
        return iter(range(self.cells))

    @cached_property
    def _chances(self) -> Floats:
        """Q, one row per report and one column per value."""
        return self.matrix.integers / float(1 << self.matrix.bits)

    def report_chances(self, shares: Floats) -> Floats:
        return np.asarray(self._chances @ shares)

    def report_means(self, numbers: Floats) -> Floats:
        return np.asarray(numbers @ self._chances)

    def audit_reference(self) -> ChannelReference:
        return MatrixReference(self.domain_size, self.matrix)

    def citation(self) -> str:
        """McKenna, Maity, Mazumdar and Miklau 2020."""
        return (
            "@article{mckenna2020workload, author={McKenna, Ryan and Maity, Raj Kumar and Mazumdar, Arya and Miklau, "
            "Gerome}, title={A workload-adaptive mechanism for linear queries under local differential privacy}, "
            "journal={PVLDB}, volume={13}, number={11}, year={2020}}"
        )


def _miniature(epsilon: float, size: int) -> ChannelMatrix:
    """A cyclic channel over two or three values, and one even row, with the fewest bits that use 99.5 % of epsilon."""
    for bits in range(_LEAST_BITS, _MOST_BITS + 1):
        third = (1 << bits) // 8
        # A high and a low entry share `pair`; where there are three values, the last entry is half of that.
        pair = 2 * third
        low = max(1, math.ceil(pair / (1 + math.exp(epsilon))))
        while not within_epsilon(Fraction(pair - low, low), epsilon):
            low += 1
        if math.log((pair - low) / low) > 0.995 * epsilon:
            break
    column = [pair - low, low, third][:size]
    rows = [[column[(row - value) % size] for value in range(size)] for row in range(size)]
    even = [(1 << bits) - sum(column)] * size
    return ChannelMatrix(np.array([*rows, even], dtype=np.uint32), bits)


class MatrixReference(ChannelReference):
    """One integer below 2^bits: the entries of the value's column, laid side by side, share them out."""

    def __init__(self, values: int, matrix: ChannelMatrix) -> None:
        super().__init__(values)
        self.entries, self.unit = matrix.integers, 1 << matrix.bits
        self.ends = np.cumsum(self.entries.T, axis=1, dtype=np.int64)
        self.points, self.reports = self.ends.shape

    def requests(self, value: int) -> list[Request]:
        return [self.unit]

    def payloads(self, values: Values, draws: Draws) -> Rows:
        drawn = draws[:, 0].tolist()
        reports = [np.searchsorted(self.ends[v], at, "right") for v, at in zip(values.tolist(), drawn, strict=True)]
        return index_rows(np.array(reports), self.reports)

    def ratio(self) -> Fraction:
        rows = self.entries
        pairs = set(zip(rows.max(axis=1).tolist(), rows.min(axis=1).tolist(), strict=True))
        return max(Fraction(high, max(1, low)) for high, low in pairs)

    def wrong_law(self) -> str:
        if int(self.entries.min()) < 1 or (self.ends[:, -1] != self.unit).any():
            return "an entry of the channel matrix is 0, or a column does not add up"
        return ""

    def critical_runs(self, rng: np.random.Generator) -> Iterator[CriticalRun]:
        """Both sides of the end of every entry."""
        for value, ends in enumerate(self.ends.tolist()):
            for end in ends:
                yield CriticalRun(value, "any", {0: end - 1})
                yield CriticalRun(value, "any", {0: end})

    @cached_property
    def cells(self) -> int:
        """The first and the last draw of every entry."""
        return 2 * int(self.values * self.reports)

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        entry, last = np.divmod(numbers, 2)
        values, report = np.divmod(entry, self.reports)
        end = self.ends[values, report]
        first = end - self.entries[report, values]
        return values, np.where(last == 1, end - 1, first)[:, None]
