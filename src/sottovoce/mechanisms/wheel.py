"""The wheel: a public seed throws options into bins, and one bin is reported. A few bytes for any number of options."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.limits import DEFAULT_COUNTERS, SHARD_CELLS
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import index_rows
from sottovoce.mechanisms.sets import Row, SetMechanism, SetReference
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.philox import WHEEL_BINS, Key, philox4x32, words
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import two_level_law

__all__ = ["Wheel"]

_MAX_BINS: Final = 2**20
_MAX_SEEDS: Final = 2**32
_SHARING: Final = 0.02
"""What people who share a seed may add to the variance, where counters and look-ups allow."""

_MOST_LOOKUPS: Final = 2**31
"""Seeds times options: an estimate looks up as many bins, which takes some seconds."""


@final
@dataclass(frozen=True)
class Wheel(SetMechanism):
    """One of G public seeds, and one of B bins into which the seed throws options: own bins with weight e^eps.

    Guarantee
        Pure epsilon-LDP, exactly, whatever the seeds are (Wang et al. 2020). A bin that holds an option of the set has
        probability w/m; the others share what is left equally. However many bins the set takes, the probabilities lie
        between those of a set that takes m bins, which are in the ratio e^eps at most. No padding is needed.
    Error
        `Support` with P1 = w/m = e^eps/(B Omega), Omega = 1 + (m/B)(e^eps - 1), and P0 = 1/B, for seeds that throw
        options independently and uniformly. People who share a seed are correlated: see `sharing_factor`.
    Symbols
        m is `most`, B `bins`, G `seeds`. The report seed B + bin is one integer; the aggregate counts reports. An
        estimate looks up one bin for every seed and option, whatever the number of people.
    Deviations
        Arcs of a circle in the paper are one bin wide here: the same P1 and P0, and the fewest counts for a number of
        seeds. The paper's seeds are private to each person, and then an estimate takes n J look-ups.
    """

    bins: int
    seeds: int
    key: Key = field(default=(0, 0), repr=False)

    name: ClassVar[str] = "wheel"
    summary: ClassVar[str] = "a public seed, and one bin of the options it throws"
    use_when: ClassVar[str] = "sets out of very many options: at most eight bytes"
    counted_as = "number"

    @classmethod
    def best(cls, options: int, most: int, epsilon: float, people: int) -> Self:
        """The number of bins of least total variance, and seeds for `people`."""
        tried = np.unique(np.rint(np.geomspace(most + 1, _MAX_BINS, 2048)))
        near = tried[_errors(tried, options, most, epsilon).argmin()]
        tried = np.arange(max(most + 1, near * 0.98 - 2) // 1, min(_MAX_BINS, near * 1.02 + 2) // 1 + 1)
        bins = int(tried[_errors(tried, options, most, epsilon).argmin()])
        return cls(options, most, epsilon, bins, 1).for_people(people, DEFAULT_COUNTERS)

    def for_people(self, people: int, max_counters: int) -> Self:
        """So many seeds that sharing them adds 2 % to the variance, as far as counters and look-ups allow."""
        wanted = math.ceil(people * self._shared_noise / _SHARING)
        most = min(min(max_counters, DEFAULT_COUNTERS) // self.bins, _MOST_LOOKUPS // self.options, _MAX_SEEDS)
        return replace(self, seeds=max(1, min(wanted, most)))

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Sets of one, of several and of all options, whose options fall into the same bins and into different ones."""
        shapes = ((2, 1, 2, 1), (5, 2, 3, 3), (4, 2, 4, 2), (3, 3, 4, 1))
        return tuple(cls(options, most, epsilon, bins, seeds) for options, most, bins, seeds in shapes)

    def _check_parameters(self) -> None:
        self._check_own("bins", self.most + 1, _MAX_BINS)
        self._check_own("seeds", 1, _MAX_SEEDS)

    @cached_property
    def levels(self) -> TwoLevel:
        """The probability w that one of the m bins of a set is reported, rounded down."""
        return TwoLevel(self.most, self.bins - self.most, self.epsilon)

    @property
    def support(self) -> Support:
        return Support(self.levels.each_inside, Fraction(1, self.bins))

    @property
    def pair_support(self) -> PairSupport:
        """Two options share a bin with probability 1/B, whatever is reported."""
        return PairSupport(self.levels.each_inside / self.bins, Fraction(1, self.bins**2))

    @cached_property
    def _shared_noise(self) -> float:
        """What one more person with the same seed adds to the variance, relative to that of an option nobody holds.

        A seed that throws an option together with frequent ones supports it too often, for everybody who uses it. By
        the Efron-Stein inequality the variance of that is at most sum_i f_i^2 delta^2 (1/B + 1/(2 (B - m)^2)), delta
        the difference of the two levels and f_i the share of people who hold option i; sum_i f_i^2 is at most m.
        """
        between = float(self.levels.each_inside - self.levels.each_outside)
        each = between**2 * (1 / self.bins + 1 / (2 * (self.bins - self.most) ** 2))
        return self.most * each / (float(self.support.other) * (1 - float(self.support.other)))

    def sharing_factor(self, n_reports: int) -> float:
        """1 + (n - 1)/G times what one more person with the same seed adds."""
        return 1 + (n_reports - 1) / self.seeds * self._shared_noise

    def expected_maximum(self, n_reports: int) -> float:
        """Given the seeds, reports are independent bits; and the means of the seeds are independent numbers.

        These lie within delta of each other, so both parts are sub-Gaussian, with proxies 1/4 and delta^2/4.
        """
        between = float((self.levels.each_inside - self.levels.each_outside) / self.support.signal)
        tau = math.sqrt(self.support.proxy / n_reports) + between / (2 * math.sqrt(self.seeds))
        return tau * math.sqrt(2 * math.log(self.options + 1))

    @property
    def moved_options(self) -> tuple[float, bool]:
        """The options of two bins; by Bernstein's inequality no bin holds more, except in one survey in 2^64."""
        tail, mean = math.log(self.cells) + 64 * math.log(2), self.options / self.bins
        return min(float(self.options), 2 * (mean + math.sqrt(2 * mean * tail) + 2 * tail / 3)), False

    @property
    def cells(self) -> int:
        """One count per seed and bin."""
        return self.seeds * self.bins

    @cached_property
    def codec(self) -> IndexCodec:
        """seed B + bin."""
        return IndexCodec(self.cells)

    @property
    def simulation_words(self) -> int:
        return 2 + self.most

    def bins_of(self, members: ArrayLike, seed: int) -> NDArray[np.int64]:
        """The bins of options under a seed: word i of its stream, times B, over 2^32."""
        numbers = np.asarray(members, dtype=np.int64)
        counters = np.zeros((len(numbers), 4), dtype=np.uint32)
        counters[:, 0], counters[:, 2], counters[:, 3] = numbers // 4, seed, WHEEL_BINS
        words = philox4x32(self.key, counters)[np.arange(len(numbers)), numbers % 4]
        return (words.astype(np.int64) * self.bins) >> 32

    def _taken(self, row: Row, seed: int) -> list[int]:
        """The bins that hold an option of the set, in increasing order; dummies take none."""
        bins = self.bins_of(row, seed).tolist()
        return sorted({b for b, member in zip(bins, row, strict=True) if member < self.options})

    def _randomize(self, row: Row, source: Source) -> Report:
        seed = source.below(self.seeds)
        inside = source.bernoulli(self.levels.threshold)
        index = source.below(self.most)
        # A place among the other bins, for every number of bins that a set can take: one of them is used.
        ranks = [source.below(self.bins - taken) for taken in range(self.most + 1)]
        taken = self._taken(row, seed)
        other = ranks[len(taken)]
        for b in taken:
            other += other >= b
        own = (taken + [other] * self.most)[index]
        return seed * self.bins + (own if inside else other)

    def randomize_many(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.sets import wheel_reports

        return wheel_reports(rows, self.levels.threshold, self.options, self.bins, self.seeds, self.key, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def estimate(self, counts: Any, n_reports: int) -> Floats:
        """From the number of reports whose bin holds each option; counts that come in shards too."""
        from sottovoce.kernels.sets import wheel_supports

        if not isinstance(counts, np.ndarray):
            whole = self.empty()
            for number, part in counts.shards():
                whole[number * SHARD_CELLS :][: len(part)] = part
            counts = whole
        supports = wheel_supports(counts.reshape(self.seeds, self.bins), self.key, self.options)
        return self.support.estimate(supports, n_reports)

    def probability(self, report: Report, row: Row) -> Fraction:
        """w/m for a bin of the set; the other bins share the rest."""
        seed, reported = divmod(cast(int, report), self.bins)
        taken, each = self._taken(row, seed), self.levels.each_inside
        if reported in taken:
            return each / self.seeds
        return (1 - each * len(taken)) / ((self.bins - len(taken)) * self.seeds)

    def privacy_ratio(self) -> Fraction:
        """A bin that is taken has w/m. Others have least where m bins are taken: (1 - w)/(B - m)."""
        return self.levels.ratio

    def blanket(self) -> Blanket:
        """As if every seed had sets that take m bins each, as few of them in common as can be.

        The seed is drawn alike for all. A set that takes fewer bins is as one that takes m bins, some of them at
        random: in those and the bins that are left it has the mean of both probabilities. So its law is below that of
        m bins in convex order, and with it that of the pair if both of its values move against each other as far as
        they can (`theory.convex_order.opposed`): if the bins in common are the fewest. What bins sets take depends on
        the seeds, so no pair's own law is stated.
        """
        B, m, levels = self.bins, self.most, self.levels
        law = two_level_law(
            levels.each_inside * B,
            levels.each_outside * B,
            favoured=Fraction(m, B),
            shared=Fraction(max(0, 2 * m - B), B),
        )
        why = "no seed tells two sets apart better than one that throws them into different bins"
        return Blanket((), why, Blanket((law,), why))

    def outputs(self) -> Iterator[Report]:
        """All seeds and bins."""
        return iter(range(self.cells))

    def audit_reference(self) -> SetReference:
        return WheelReference(
            self.options, self.most, self.epsilon, self.privacy_ratio(), self.bins, self.seeds, self.key
        )

    def citation(self) -> str:
        """Wang, Qian, Du, Yang, Huang and Xu 2020."""
        return (
            "@article{wang2020set, author={Wang, Shaowei and Qian, Yuqiu and Du, Jiachun and Yang, Wei and Huang, "
            "Liusheng and Xu, Hongli}, title={Set-valued Data Publication with Local Privacy: Tight Error Bounds and "
            "Efficient Mechanisms}, journal={Proceedings of the VLDB Endowment}, volume={13}, number={8}, year={2020}}"
        )


def _errors(bins: Floats, options: int, most: int, epsilon: float) -> Floats:
    """The variance of an option that a typical share of people holds, for numbers of bins."""
    weight = math.exp(epsilon)
    own, other = weight / (bins + most * (weight - 1)), 1 / bins
    share = np.clip((0.5 - other) / (own - other), 0.0, most / options)
    phi = other + share * (own - other)
    return np.asarray(phi * (1 - phi) / (own - other) ** 2)


@final
class WheelReference(SetReference):
    """A public seed puts every option into a bin; the coin decides between bins of the set and all others."""

    def __init__(
        self, options: int, most: int, epsilon: float, ratio: Fraction, bins: int, seeds: int, key: Key
    ) -> None:
        threshold = TwoLevel(most, bins - most, epsilon).threshold
        super().__init__(
            options, most, epsilon, ratio, [seeds, -threshold, most, *(bins - taken for taken in range(most + 1))]
        )
        self.bins, self.seeds, self.key = bins, seeds, key

    def payload(self, row: Row, draws: list[int]) -> bytes:
        seed, inside, index, *ranks = draws
        stream = words(self.key, self.options, layers=1, rotation=seed, purpose=WHEEL_BINS)[0].astype(object)
        own = sorted({int(stream[member]) * self.bins // 2**32 for member in row if member < self.options})
        reported = [b for b in range(self.bins) if b not in set(own)][ranks[len(own)]]
        if inside and index < len(own):
            reported = own[index]
        return index_rows(np.array([seed * self.bins + reported]), self.seeds * self.bins).tobytes()
