"""Block Hadamard Response: Hadamard Response inside one of several blocks, for epsilon above 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.finite import FiniteMechanism, ReportSpread
from sottovoce.mechanisms.hadamard import most_odd
from sottovoce.mechanisms.reference import (
    ChannelReference,
    Draws,
    Rows,
    TwoLevelReference,
    Values,
    index_rows,
    odd_parity,
)
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import Third, two_level_law

__all__ = ["HadamardBlocks"]


@final
@dataclass(frozen=True)
class HadamardBlocks(FiniteMechanism):
    """The +1 half of the value's row inside its block with weight e^eps, every other position with weight 1.

    Guarantee
        Pure epsilon-LDP: two levels in the ratio e^epsilon (Acharya, Sun, Zhang 2019, Sec. 5).
    Error
        With kappa = (e^eps+2B-1)/(e^eps-1) and p(beta) the mass of v's block:
        Var p(v) = [kappa^2 (2 + (e^eps-1) p(beta))/(e^eps+2B-1) - p(v)^2]/n; proxy kappa^2/n.
        B = 1 is plain Hadamard Response.
    Symbols
        B is `blocks`, a power of two; b is `block_size`, the least power of two with B(b-1) >= J;
        K = B b positions; s = b/2 of them are favoured. Value v lives in block v div (b-1) and owns
        row v mod (b-1) + 1 of H_b there.
    Deviations
        B minimises the exact total variance, which the authors' closed form for it does not.
    Raises
        `SurveyError` if the number of blocks is not a power of two.
    """

    blocks: int

    name: ClassVar[str] = "hadamard_blocks"
    summary: ClassVar[str] = "one position of a Hadamard row in a block"
    use_when: ClassVar[str] = "epsilon above 1 with the same arithmetic: additions and one transform per block"
    counted_as = "number"

    @classmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """The power of two B <= J with the least total variance."""
        sizes = (1 << k for k in range(domain_size.bit_length()))
        return min((cls(domain_size, epsilon, b) for b in sizes), key=lambda m: m.worst_total_variance)

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """One block, several, a short last one, an empty one."""
        return tuple(cls(size, epsilon, blocks) for size, blocks in ((2, 1), (5, 1), (6, 2), (5, 4), (7, 4)))

    def _check_parameters(self) -> None:
        self._check_own("blocks", 1, self.domain_size)
        if self.blocks & (self.blocks - 1):
            raise SurveyError(f"blocks is {self.blocks}: it must be a power of two up to the domain size").at("blocks")

    @property
    def block_size(self) -> int:
        """b: room for ceil(J/B) rows and the unused row 0."""
        return 1 << (-(-self.domain_size // self.blocks)).bit_length()

    @property
    def cells(self) -> int:
        """One count per position."""
        return self.blocks * self.block_size

    @cached_property
    def codec(self) -> IndexCodec:
        """A position below K."""
        return IndexCodec(self.cells)

    @cached_property
    def _levels(self) -> TwoLevel:
        favoured = self.block_size // 2
        return TwoLevel(favoured, self.cells - favoured, self.epsilon)

    def _place(self, value: int) -> tuple[int, int]:
        """(block, row) of a value."""
        block, row = divmod(value, self.block_size - 1)
        return block, row + 1

    @property
    def signal(self) -> Fraction:
        """1/kappa: mean of (+1 on the favoured half, -1 on the rest of the block) for the own value."""
        return self.block_size // 2 * (self._levels.each_inside - self._levels.each_outside)

    def _randomize(self, value: int, source: Source) -> Report:
        b, block_row = self.block_size, self._place(value)
        block, row = block_row
        inside = source.bernoulli(self._levels.threshold)
        # One draw for each outcome, both always made, and all places found: time must not tell which one was used.
        favoured = source.below(b)
        rest = source.below(self.cells - b // 2)
        low, elsewhere = row & -row, self.cells - b
        agreeing = block * b + (favoured ^ (low * ((row & favoured).bit_count() % 2)))
        other, position = divmod(rest, b)
        outside = (other + (other >= block)) * b + position
        # The other half of the own block: spread the rank around row's lowest bit, then make the parity odd.
        rank = max(rest - elsewhere, 0)
        spread = (rank & (low - 1)) | (rank & ~(low - 1)) << 1
        opposed = block * b + (spread ^ (low * (1 - (row & spread).bit_count() % 2)))
        return agreeing if inside else outside if rest < elsewhere else opposed

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import block_positions

        return block_positions(values, self._levels.threshold, self.blocks, self.block_size, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of positions."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """w/s on the favoured half of the own block, (1-w)/(K-s) elsewhere."""
        block, row = self._place(value)
        at, position = divmod(cast(int, report), self.block_size)
        favoured = at == block and (row & position).bit_count() % 2 == 0
        return self._levels.each_inside if favoured else self._levels.each_outside

    def privacy_ratio(self) -> Fraction:
        """Favoured sets of two values differ (other blocks, or distinct rows), and there are two levels."""
        return self._levels.ratio

    def blanket(self) -> Blanket:
        """The law of two values of different blocks, which favour nothing in common: the highest in convex order.

        Where all values are in one block, it is that of `Hadamard` with more positions that nobody favours; then, and
        only then, every value favours a position.
        """
        levels, K, b, nothing = self._levels, self.cells, self.block_size, Fraction(0)
        used = -(-self.domain_size // self.values_per_block)
        favoured, shared, common, third = Fraction(b, 2 * K), nothing, nothing, None
        if used == 1:
            shared, common = favoured / 2, Fraction(1, K)
            third = Third(shared - common, nothing, nothing, shared) if self.domain_size > 2 else None
        elif used > 2:
            third = Third(nothing, nothing, nothing, favoured)
        law = two_level_law(
            levels.each_inside * K,
            levels.each_outside * K,
            favoured=favoured,
            shared=shared,
            common=common,
            third=third,
        )
        return Blanket((law,), "two values of different blocks have nothing in common, where there are such")

    def outputs(self) -> Iterator[Report]:
        """All positions."""
        return iter(range(self.cells))

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """kappa (H_b counts_beta)[row]/n, one transform per block."""
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        spectrum = counts.astype(np.float64).reshape(self.blocks, self.block_size)
        walsh_hadamard_rows(spectrum)
        return spectrum[:, 1:].reshape(-1)[: self.domain_size] / (n_reports * float(self.signal))

    @cached_property
    def _hit(self) -> tuple[float, float]:
        """Probability that a report falls into a given block: for values of that block, for the others."""
        own = self.block_size // 2 * (self._levels.each_inside + self._levels.each_outside)
        return float(own), float(self.block_size * self._levels.each_outside)

    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """kappa^2 P(report in v's block) - p(v)^2, over n, of the first values, whose frequencies are given."""
        own, other = self._hit
        block = np.arange(len(frequencies)) // (self.block_size - 1)
        mass = np.bincount(block, weights=frequencies)[block]
        return np.asarray((self.proxy * (other + (own - other) * mass) - frequencies**2) / n_reports)

    def _second_moments(self, rows: Floats) -> Floats:
        """By two transforms in every block.

        In block beta the report z alone answers X(z) = kappa sum_v weights_v H_b[row of v, z] over the block's values.
        Value u sends each position with the lower probability, and each of its favoured half with 2/(kappa b) more;
        that half's sum of X^2 is half of (H_b X^2)[0] + (H_b X^2)[row of u] in u's block.
        """
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        signal, b = float(self.signal), self.block_size
        sums = self.report_answers(rows).reshape(-1, b)
        np.square(sums, out=sums)
        walsh_hadamard_rows(sums)
        everywhere = sums[:, 0].reshape(len(rows), self.blocks).sum(axis=1, keepdims=True)
        favoured = (sums[:, :1] + sums[:, 1:]).reshape(len(rows), -1)[:, : self.domain_size]
        return np.asarray(float(self._levels.each_outside) * everywhere + signal / b * favoured)

    def report_chances(self, shares: Floats) -> Floats:
        """The lower probability for everybody; on the favoured half of the own block the difference more."""
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        places = np.zeros(self.blocks * (self.block_size - 1))
        places[: self.domain_size] = shares
        sums = np.zeros((self.blocks, self.block_size))
        sums[:, 1:] = places.reshape(self.blocks, -1)
        # Row 0 is constant: with a block's mass there, the transform is twice the mass of the favoured.
        sums[:, 0] = sums.sum(axis=1)
        walsh_hadamard_rows(sums)
        more = float(self.signal) / self.block_size
        return np.asarray(float(self._levels.each_outside) * shares.sum() + more * sums.reshape(-1))

    def report_means(self, numbers: Floats) -> Floats:
        """The transpose of `report_chances`."""
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        sums = numbers.reshape(self.blocks, self.block_size).copy()
        walsh_hadamard_rows(sums)
        favoured = (sums[:, :1] + sums[:, 1:]).reshape(-1)[: self.domain_size]
        more = float(self.signal) / self.block_size
        return np.asarray(float(self._levels.each_outside) * numbers.sum() + more * favoured)

    def report_answers(self, rows: Floats) -> Floats:
        """kappa times the transforms of every block's part of the rows."""
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        places = np.zeros((len(rows), self.blocks * (self.block_size - 1)))
        places[:, : self.domain_size] = rows / float(self.signal)
        sums = np.zeros((len(rows) * self.blocks, self.block_size))
        sums[:, 1:] = places.reshape(-1, self.block_size - 1)
        walsh_hadamard_rows(sums)
        return sums.reshape(len(rows), self.cells)

    @property
    def two_outcomes(self) -> tuple[float, float] | None:
        """-kappa and kappa; 0 too where there are other blocks."""
        return None if self.blocks > 1 else (-float(1 / self.signal), float(1 / self.signal))

    @property
    def proxy(self) -> float:
        """kappa^2: the estimate is a mean of numbers in [-kappa, kappa]."""
        return float(1 / self.signal**2)

    @property
    def worst_total_variance(self) -> float:
        """The largest summed variance: all mass spread evenly over the full blocks, or over the one there is.

        With m values in v's block the sum is constant + kappa sum_v m p(v) - sum_v p(v)^2, concave in p. In a shorter
        block m is less by one at least, which costs mass kappa > 1 there; leaving the full blocks, of three values or
        more, gains 2/3 at most.
        """
        constant = self.proxy * self._hit[1] * self.domain_size
        values = min(self.block_size - 1, self.domain_size)
        return constant + float(1 / self.signal) * values - 1 / (self.domain_size // values * values)

    @property
    def values_per_block(self) -> int:
        """One for every row but row 0."""
        return self.block_size - 1

    @property
    def report_spread(self) -> ReportSpread:
        """Two reports of the fullest block differ twice as far in half of it as any other two do in all of both."""
        each, rows = 2 * float(1 / self.signal), min(self.domain_size, self.values_per_block)
        return ReportSpread(each, each * math.sqrt(most_odd(rows + 1)), True)

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """The +1 entries of the values' rows inside their blocks; None for one block, which is `hadamard`."""
        if self.blocks == 1 or self.cells > most_reports:
            return None
        block, row = np.divmod(np.arange(self.domain_size), self.values_per_block)
        at, position = np.divmod(np.arange(self.cells), self.block_size)
        even = np.bitwise_count((row + 1) & position[:, None]) % 2 == 0
        return np.asarray((at[:, None] == block) & even)

    def audit_reference(self) -> ChannelReference:
        return HadamardBlocksReference(self.domain_size, self.epsilon, self.blocks)

    def citation(self) -> str:
        """Acharya, Sun and Zhang 2019, the general form."""
        return (
            "@inproceedings{acharya2019hadamard, author={Acharya, Jayadev and Sun, Ziteng and Zhang, Huanyu}, "
            "title={Hadamard Response: Estimating Distributions Privately, Efficiently, and with Little "
            "Communication}, booktitle={AISTATS}, year={2019}}"
        )


class HadamardBlocksReference(TwoLevelReference):
    """Hadamard in the value's block; or, by rank, other blocks' positions and then the own block's odd ones."""

    def __init__(self, values: int, epsilon: float, blocks: int) -> None:
        self.size = 1 << (-(-values // blocks)).bit_length()
        self.positions, self.block = blocks * self.size, self.size - 1
        super().__init__(values, epsilon, inside=self.size // 2, outside=self.positions - self.size // 2)
        self._requests = [-self.threshold, self.size, self.outside]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        coin, even, rest = draws.T
        own, row = values // self.block, values % self.block + 1
        low = row & -row
        even = even ^ np.where(odd_parity(row & even), low, 0)
        elsewhere = self.positions - self.size
        away = rest + np.where(rest // self.size >= own, self.size, 0)
        rank = np.maximum(rest - elsewhere, 0)
        odd = rank % low + rank // low * low * 2
        odd = odd ^ np.where(odd_parity(row & odd), 0, low)
        off = np.where(rest < elsewhere, away, own * self.size + odd)
        return index_rows(np.where(coin == 1, own * self.size + even, off), self.positions)
