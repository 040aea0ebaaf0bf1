"""A channel matrix over the points of a grid, for numbers between them: rounded at random, then sent by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Batch, Counts, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.matrix_channel import MatrixChannel, MatrixReference
from sottovoce.mechanisms.reference import ChannelReference, CriticalRun, Draws, Rows, Values, index_rows
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket

__all__ = ["RoundedChannel"]


@final
@dataclass(frozen=True)
class RoundedChannel(ChannelMechanism):
    """A position between two grid points becomes one of the two at random, with that position as its mean.

    Guarantee
        Pure epsilon-LDP: a position's chances are a mixture of its two neighbours' columns, so within the limits that
        `ChannelMatrix.verify` checked for every row.
    Error
        That of the estimates a strategy pairs it with. Between grid points second moments are linear.
    Symbols
        The matrix has one column per grid point; `domain_size` is (points - 1) steps + 1, every `steps`-th position
        being a grid point.
    Raises
        `MechanismError` for a matrix that breaks epsilon, or a number of positions that does not fit its points.

    Examples
    --------
    >>> channel = RoundedChannel(5, 0.8, ChannelMatrix(np.array([[11, 5], [5, 11]]), 4))
    >>> channel.steps, channel.probability(0, 0), channel.probability(0, 1)
    (4, Fraction(11, 16), Fraction(19, 32))
    """

    matrix: ChannelMatrix

    name: ClassVar[str] = "rounded_channel"
    summary: ClassVar[str] = "one row of the survey's channel matrix, for a number rounded at random"
    use_when: ClassVar[str] = "the mean or the spread of a number between two ends"
    counted_as = "number"
    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"domain_size", "epsilon", "matrix"})

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Three grid points and a position between each two of them: every branch, the ends among them."""
        return (cls(5, epsilon, MatrixChannel.miniatures(epsilon)[-1].matrix),)

    def _check_parameters(self) -> None:
        if not isinstance(self.matrix, ChannelMatrix):
            raise MechanismError(f"matrix has type {type(self.matrix).__name__}: it must be a ChannelMatrix").at(
                "matrix"
            )
        between, rest = divmod(self.domain_size - 1, self.matrix.values - 1)
        if rest or between < 2:
            raise MechanismError(
                f"{self.domain_size:,} positions do not fit a channel matrix over {self.matrix.values:,} grid points"
            ).at("matrix")
        _ = self._channel

    @cached_property
    def _channel(self) -> MatrixChannel:
        """The channel of grid points, verified."""
        return MatrixChannel(self.matrix.values, self.epsilon, self.matrix)

    @property
    def steps(self) -> int:
        """Positions from one grid point to the next."""
        return (self.domain_size - 1) // (self.matrix.values - 1)

    @property
    def cells(self) -> int:
        """One count per report."""
        return self.matrix.reports

    @cached_property
    def codec(self) -> IndexCodec:
        """A row number."""
        return IndexCodec(self.cells)

    def _randomize(self, value: int, source: Source) -> Report:
        # Drawn for grid points too: what is asked of the source must not tell them from the others.
        drawn = source.below(self.steps)
        point, beyond = divmod(value, self.steps)
        return self._channel._randomize(point + int(drawn < beyond), source)

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Vectorised, same law."""
        point, beyond = np.divmod(np.asarray(values, dtype=np.int64), self.steps)
        up = rng.integers(0, self.steps, size=len(point)) < beyond
        return self._channel.randomize_many(point + up, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of rows."""
        self._channel.count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """The entries of the two neighbouring grid points, by how near they are."""
        point, beyond = divmod(value, self.steps)
        row = self.matrix.integers[cast(int, report)]
        here, next_ = int(row[point]), int(row[min(point + 1, self.matrix.values - 1)])
        return Fraction((self.steps - beyond) * here + beyond * next_, self.steps << self.matrix.bits)

    def privacy_ratio(self) -> Fraction:
        """The matrix's: every mixture of a row's entries lies between its least and its largest one."""
        return self.matrix.ratio

    def blanket(self) -> Blanket | None:
        """The blanket of the grid points.

        A position's column is a mixture of two points', so it is nowhere below the least of them; and L, which is
        linear in either of the pair's columns, is the mean of that of pairs of points. Convex functions of a mean are
        at most the mean of them, and so at most the largest: points are the worst.
        """
        return self._channel.blanket()

    def outputs(self) -> Iterator[Report]:
        """All row numbers."""
        return iter(range(self.cells))

    def audit_reference(self) -> ChannelReference:
        return RoundedReference(self.domain_size, self.matrix)

    def citation(self) -> str:
        """Wang et al. 2019, for numbers; the channel itself is searched by a linear program of ours."""
        return (
            "@inproceedings{wang2019collecting, author={Wang, Ning and Xiao, Xiaokui and Yang, Yin and Zhao, Jun and "
            "Hui, Siu Cheung and Shin, Hyejin and Shin, Junbum and Yu, Ge}, title={Collecting and analyzing "
            "multidimensional data with local differential privacy}, booktitle={ICDE}, year={2019}}"
        )


class RoundedReference(MatrixReference):
    """One integer rounds: up where position modulo steps exceeds it. The next shares out the grid point's column."""

    def __init__(self, values: int, matrix: ChannelMatrix) -> None:
        super().__init__(values, matrix)
        self.block = (values - 1) // (self.points - 1)

    def requests(self, value: int) -> list[Request]:
        return [self.block, self.unit]

    def payloads(self, values: Values, draws: Draws) -> Rows:
        rounding, drawn = draws.T
        # A position rounds up for as many outcomes as it is steps beyond its grid point.
        column = (values + self.block - 1 - rounding) // self.block
        ends = self.ends[column]
        return index_rows((ends <= drawn[:, None]).sum(axis=1), self.reports)

    def critical_runs(self, rng: np.random.Generator) -> Iterator[CriticalRun]:
        """To every grid point from positions that are just rounded down to it, and just up."""
        steps, last = self.block, self.values - 1
        for point, ends in enumerate(self.ends.tolist()):
            for end in ends[:-1]:
                rounding = int(rng.integers(steps))
                yield CriticalRun(min(steps * point + rounding, last), "any", {0: rounding, 1: end - 1})
                yield CriticalRun(max(steps * (point - 1) + rounding + 1, 0), "any", {0: rounding, 1: end})

    @cached_property
    def cells(self) -> int:
        """The first and the last draw of every entry, and every outcome of the rounding."""
        return max(2 * int(self.points * self.reports), self.block)

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        """Every entry is reached by a position that its rounding moves just so far, from below or from above."""
        entry, last = np.divmod(numbers % (2 * self.points * self.reports), 2)
        column, report = np.divmod(entry, self.reports)
        rounding = numbers % self.block
        up = (rng.integers(0, 2, size=len(numbers)) == 1) & (column > 0) | (column == self.points - 1)
        positions = np.where(up, (column - 1) * self.block + rounding + 1, column * self.block + rounding)
        end = self.ends[column, report]
        first = end - self.entries[report, column]
        return positions, np.stack([rounding, np.where(last == 1, end - 1, first)], axis=1)
