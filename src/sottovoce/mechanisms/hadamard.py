"""Hadamard Response: the paper's distribution estimator (Alg. 5), one number below 2J+2 a person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.finite import FiniteMechanism, ReportSpread
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

__all__ = ["Hadamard", "most_odd"]


def most_odd(n: int) -> int:
    """The largest number of i in 0 .. n-1 with an odd <i, x>, over all bit masks x.

    Below the lowest bit b of x nothing counts. Runs of 2^(b+1) numbers are half odd; of the rest of n, which is a run
    of 2^b and a tail if bit b of n is set and a tail only if not, x's higher bits can make one of the two odd, if there
    is any higher bit to choose.

    Examples
    --------
    >>> [most_odd(n) for n in (1, 2, 3, 4, 7, 8)]
    [0, 1, 2, 2, 4, 4]
    """
    best = 0
    for b in range(n.bit_length()):
        run, tail = 1 << b, n & ((1 << b) - 1)
        pairs, has_run = n >> (b + 1), bool(n >> b & 1)
        with_higher_bit, without = (run, tail) if has_run else (tail, 0)
        rest = with_higher_bit if pairs else without
        best = max(best, pairs * run + rest)
    return best


@final
@dataclass(frozen=True)
class Hadamard(FiniteMechanism):
    """A position of the value's Hadamard row: its +1 half with weight e^eps, its -1 half with weight 1.

    Guarantee
        Pure epsilon-LDP: a report's probability takes two values in the ratio e^epsilon
        (Acharya, Sun, Zhang 2019, Sec. 3; Bassily 2019, Alg. 5).
    Error
        Var p(v) = (c^2 - p(v)^2)/n with c = coth(eps/2); sub-Gaussian proxy c^2/n. After projection
        E||error|| <= min((8 c^2 log J/n)^(1/4), sqrt(c^2 J/n)); see `sottovoce.theory.bounds`.
    Symbols
        K = 2^ceil(log2(J+1)) is `outputs_size`; value v owns row v+1 of the K x K Sylvester matrix
        H[i, j] = (-1)^popcount(i & j); row 0 is constant and never used.
    Deviations
        The paper's q(w) counts v_i where it means z_i. K comes from the integer's bit length, not
        from a floating logarithm.
    Raises
        `ValueOutsideDomainError` for a value that is not an index, `ReportError` for foreign bytes.
    """

    name: ClassVar[str] = "hadamard"
    summary: ClassVar[str] = "one position of a Hadamard row"
    use_when: ClassVar[str] = "epsilon up to about 1, any number of values: the least work on both sides"
    counted_as = "number"

    @classmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        return cls(domain_size, epsilon)

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Two, three and five values."""
        return tuple(cls(size, epsilon) for size in (2, 3, 5))

    def _check_parameters(self) -> None:
        pass

    @property
    def outputs_size(self) -> int:
        """K, the smallest power of two above J."""
        return 1 << self.domain_size.bit_length()

    @property
    def cells(self) -> int:
        """One count per position."""
        return self.outputs_size

    @cached_property
    def codec(self) -> IndexCodec:
        """A position below K."""
        return IndexCodec(self.outputs_size)

    @cached_property
    def _levels(self) -> TwoLevel:
        half = self.outputs_size // 2
        return TwoLevel(half, half, self.epsilon)

    @property
    def signal(self) -> Fraction:
        """2w - 1, the inverse of the de-biasing factor c."""
        return 2 * self._levels.probability_inside - 1

    def _randomize(self, value: int, source: Source) -> Report:
        sign = source.bernoulli(self._levels.threshold)
        position = source.below(self.outputs_size)
        row = value + 1
        agrees = (row & position).bit_count() % 2 == 0
        # Flipping the row's lowest bit toggles the parity and maps one half onto the other.
        return position ^ ((row & -row) * (agrees != sign))

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import hadamard_positions

        return hadamard_positions(values, self._levels.threshold, self.outputs_size, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of positions."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """w/(K/2) on the row's +1 half, (1-w)/(K/2) on the other."""
        agrees = (cast(int, report) & (value + 1)).bit_count() % 2 == 0
        return self._levels.each_inside if agrees else self._levels.each_outside

    def privacy_ratio(self) -> Fraction:
        """Two distinct non-zero rows differ somewhere, so both levels meet in one report, and there are no others."""
        return self._levels.ratio

    def blanket(self) -> Blanket:
        """All pairs have one law: two rows agree in half of all positions, a quarter in +1 and a quarter in -1.

        In position 0 all rows are +1; in any other some used row is -1, since a bit of the position's number is itself
        the number of one: 2^b <= K/2 <= J. The rows of values 0, 1 and 2 are 1, 2 and 3, the third the product of the
        other two: a bystander favours what both of the pair favour or neither does.
        """
        levels, K = self._levels, self.outputs_size
        quarter, common, nothing = Fraction(1, 4), Fraction(1, K), Fraction(0)
        law = two_level_law(
            levels.each_inside * K,
            levels.each_outside * K,
            favoured=Fraction(1, 2),
            shared=quarter,
            common=common,
            third=Third(quarter - common, nothing, nothing, quarter) if self.domain_size > 2 else None,
        )
        return Blanket((law,), "any two rows agree in as many positions")

    def outputs(self) -> Iterator[Report]:
        """All positions."""
        return iter(range(self.outputs_size))

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """c (H counts)[v+1]/n by one fast transform; its sums are integers below 2^53, hence exact."""
        from sottovoce.kernels.walsh import walsh_hadamard_of_counts

        return walsh_hadamard_of_counts(counts, self.domain_size, 1 / (n_reports * float(self.signal)))

    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """(c^2 - p^2)/n."""
        return np.asarray((self.proxy - frequencies**2) / n_reports)

    def _second_moments(self, rows: Floats) -> Floats:
        """By two transforms.

        The report z alone answers X(z) = c sum_v weights_v H[v+1, z], and P(z | u) = (1 + H[u+1, z]/c)/K. With
        S = H X^2 the moment is (S_0 + S_(u+1)/c)/K.
        """
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        sums, signal = self.report_answers(rows), float(self.signal)
        np.square(sums, out=sums)
        walsh_hadamard_rows(sums)
        return np.asarray((sums[:, :1] + signal * sums[:, 1 : self.domain_size + 1]) / self.outputs_size)

    def report_chances(self, shares: Floats) -> Floats:
        """(sum p + (H p)/c)/K, values in their rows."""
        from sottovoce.kernels.walsh import walsh_hadamard

        chances = np.zeros(self.outputs_size)
        chances[1 : self.domain_size + 1] = float(self.signal) * shares
        walsh_hadamard(chances)
        chances += shares.sum()
        chances /= self.outputs_size
        return chances

    def report_means(self, numbers: Floats) -> Floats:
        """(sum w + (H w)/c)/K in the values' rows."""
        from sottovoce.kernels.walsh import walsh_hadamard

        sums = numbers.copy()
        walsh_hadamard(sums)
        return np.asarray((sums[0] + float(self.signal) * sums[1 : self.domain_size + 1]) / self.outputs_size)

    def report_answers(self, rows: Floats) -> Floats:
        """c times the rows' transforms."""
        from sottovoce.kernels.walsh import walsh_hadamard_rows

        sums = np.zeros((len(rows), self.outputs_size))
        sums[:, 1 : self.domain_size + 1] = rows / float(self.signal)
        walsh_hadamard_rows(sums)
        return sums

    @property
    def two_outcomes(self) -> tuple[float, float]:
        """-c and c."""
        return -float(1 / self.signal), float(1 / self.signal)

    @property
    def proxy(self) -> float:
        """c^2: the estimate is a mean of numbers in [-c, c]."""
        return float(1 / self.signal**2)

    @property
    def worst_total_variance(self) -> float:
        """J c^2 - 1/J, at the uniform distribution."""
        return self.domain_size * self.proxy - 1 / self.domain_size

    @property
    def values_per_block(self) -> int:
        """All."""
        return self.domain_size

    @property
    def report_spread(self) -> ReportSpread:
        """2 c in every row in which the two positions differ in sign."""
        each = 2 * float(1 / self.signal)
        return ReportSpread(each, each * math.sqrt(most_odd(self.domain_size + 1)), True)

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """The +1 entries of the values' rows."""
        if self.cells > most_reports:
            return None
        rows, positions = np.arange(1, self.domain_size + 1), np.arange(self.cells)
        return np.asarray(np.bitwise_count(rows & positions[:, None]) % 2 == 0)

    def audit_reference(self) -> ChannelReference:
        return HadamardReference(self.domain_size, self.epsilon)

    def citation(self) -> str:
        """Acharya, Sun and Zhang 2019; the projection's analysis is Bassily's."""
        return (
            "@inproceedings{acharya2019hadamard, author={Acharya, Jayadev and Sun, Ziteng and Zhang, Huanyu}, "
            "title={Hadamard Response: Estimating Distributions Privately, Efficiently, and with Little "
            "Communication}, booktitle={AISTATS}, year={2019}}\n"
            "@inproceedings{bassily2019linear, author={Bassily, Raef}, title={Linear Queries Estimation with "
            "Local Differential Privacy}, booktitle={AISTATS}, year={2019}}"
        )


class HadamardReference(TwoLevelReference):
    """A position with the parity that the coin says; a wrong one is corrected in the row's lowest bit."""

    def __init__(self, values: int, epsilon: float) -> None:
        self.positions = 1 << values.bit_length()
        super().__init__(values, epsilon, inside=self.positions // 2, outside=self.positions // 2)
        self._requests = [-self.threshold, self.positions]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        coin, position = draws.T
        row = values + 1
        corrected = position ^ np.where(odd_parity(row & position) == (coin == 1), row & -row, 0)
        return index_rows(corrected, self.positions)
