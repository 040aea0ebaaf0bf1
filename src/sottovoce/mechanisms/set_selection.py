"""Set selection: a random subset of the options, more often than not with some of the person's own among them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import Codec, subset_codec
from sottovoce.mechanisms.sets import Row, SetMechanism, SetReference
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport
from sottovoce.randomness import ONE, Source
from sottovoce.randomness.thresholds import floor_of
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import two_level_law

__all__ = ["SetSelection"]

_LARGEST_SET: Final = 2**8
"""Larger sets take too many coins."""


@final
@dataclass(frozen=True)
class SetSelection(SetMechanism):
    """A subset of `subset_size` out of J' = J + m numbers: with weight e^eps if it meets the set, else with weight 1.

    Guarantee
        Pure epsilon-LDP (Wang et al. 2018, PrivSet). Every set is padded with dummies to m members, so a subset's
        probability says nothing about the size of the set, and people who ticked nothing answer like all others.
    Error
        `Support` with P1 = (k/J') e^eps/W and P0 = (d0 + e^eps (k/J' - d0))/W, where D = C(J, k)/C(J', k) is the share
        of subsets that miss a set, W = D + e^eps (1 - D) and d0 = D k/J.
    Symbols
        J is `options`, m `most`, k `subset_size`: the one of least total variance unless a survey says otherwise.
    Deviations
        The paper draws the number of common members from floats. Here the set's members are gone through in
        increasing order: until one belongs to the subset each has a coin, rounded down; after that an integer draw.
    Raises
        `MechanismError` when a report would be too large, or a set has more than 256 members.
    """

    subset_size: int

    name: ClassVar[str] = "set_selection"
    summary: ClassVar[str] = "a subset of the options, sorted"
    use_when: ClassVar[str] = "the least error for few options out of many, where a report may take up to J bits"

    @classmethod
    def best(cls, options: int, most: int, epsilon: float, people: int) -> Self:
        """The k of least total variance for the worst population."""
        k = np.arange(1, options + 1, dtype=np.float64)
        padded_options, weight = options + most, math.exp(epsilon)
        # D(k+1)/D(k) = (J - k)/(J' - k), from D(0) = 1.
        missed = np.exp(np.cumsum(np.log1p(-most / (padded_options - (k - 1)))))
        total = missed + weight * (1 - missed)
        own = k / padded_options * weight / total
        other = (missed * k / options * (1 - weight) + weight * k / padded_options) / total
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip((0.5 - other) / (own - other), 0.0, most / options)
            phi = other + share * (own - other)
            error = np.where(own > other, phi * (1 - phi) / (own - other) ** 2, np.inf)
        for index in np.argsort(error, kind="stable")[:3].tolist():
            try:
                return cls(options, most, epsilon, index + 1)
            except MechanismError as refused:
                refusal = refused
        raise refusal

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Sets of one and of several, one and several members in common, bitmaps and lists, all options allowed."""
        shapes = ((2, 1, 1), (3, 2, 2), (4, 2, 1), (2, 2, 2), (8, 1, 1))
        return tuple(cls(options, most, epsilon, k) for options, most, k in shapes)

    def _check_parameters(self) -> None:
        self._check_own("subset_size", 1, self.options)
        if self.most > _LARGEST_SET:
            raise MechanismError(
                f"set_selection takes sets of at most {_LARGEST_SET:,} options; use mechanism='auto' or a smaller most"
            ).at("most")

    @property
    def _padded_options(self) -> int:
        return self.options + self.most

    @cached_property
    def _missed(self) -> tuple[Fraction, ...]:
        """The share of subsets of the last N numbers that miss the last members: of none, of one, .., of all."""
        shares, k = [Fraction(1)], self.subset_size
        for numbers in range(self.options + 1, self._padded_options + 1):
            shares.append(shares[-1] * Fraction(numbers - k, numbers))
        return tuple(shares)

    @cached_property
    def thresholds(self) -> tuple[int, ...]:
        """For each member of a set: that it belongs to the subset, if none before it does; out of 2**64.

        Rounded down, so that subsets that meet a set are at most e^eps times as likely as those that miss it: the
        ratio of the two grows with the coin of the first common member and with every coin after it.
        """
        k, e = self.subset_size, self.epsilon
        thresholds = []
        for index in range(self.most):
            numbers, missed = self._padded_options - index, self._missed[self.most - index]
            hit = Fraction(k, numbers)
            thresholds.append(floor_of(lambda w, a=hit, d=missed: a * w / (w * (1 - d) + d), e))  # type: ignore[misc]
        return tuple(thresholds)

    @cached_property
    def _levels(self) -> tuple[Fraction, ...]:
        """Relative probabilities of a subset, by its first common member, and last of one that misses the set.

        Relative: all times the number of subsets of J' numbers.
        """
        levels, chance, share = [], Fraction(1), Fraction(1)
        for index, threshold in enumerate(self.thresholds):
            # The subsets whose first common member this is: C(J' - place - 1, k - 1), over C(J', k).
            here = share * Fraction(self.subset_size, self._padded_options - index)
            levels.append(chance * Fraction(threshold, ONE) / here)
            chance *= Fraction(ONE - threshold, ONE)
            share -= here
        return (*levels, chance / share)

    @cached_property
    def _met(self) -> Fraction:
        """The probability that the subset meets the set."""
        return 1 - self._levels[-1] * self._missed[-1]

    @cached_property
    def support(self) -> Support:
        """As if all subsets that meet the set were equally likely: rounded coins differ from that by 2^-60 or so."""
        k, missed = self.subset_size, self._missed[-1]
        met, hit, spared = self._met / (1 - missed), Fraction(k, self._padded_options), Fraction(k, self.options)
        return Support(met * hit, met * (hit - missed * spared) + (1 - self._met) * spared)

    @cached_property
    def pair_support(self) -> PairSupport:
        k, missed, J, all_numbers = self.subset_size, self._missed[-1], self.options, self._padded_options
        met, hit = self._met / (1 - missed), Fraction(k * (k - 1), all_numbers * (all_numbers - 1))
        spared = Fraction(k * (k - 1), J * (J - 1))
        return PairSupport(met * hit, met * (hit - missed * spared) + (1 - self._met) * spared)

    @property
    def moved_options(self) -> tuple[float, bool]:
        """The members of two subsets that have none in common."""
        return float(min(2 * self.subset_size, self.options)), 2 * self.subset_size <= self.options

    @cached_property
    def codec(self) -> Codec:
        """A bitmap, or the sorted members, whichever is shorter."""
        return subset_codec(self._padded_options, self.subset_size)

    @property
    def cells(self) -> int:
        """One count per option: how many subsets hold it. Dummies are not counted."""
        return self.options

    @property
    def simulation_words(self) -> int:
        return self.subset_size + 3 * self.most

    def _randomize(self, row: Row, source: Source) -> Report:
        k, members = self.subset_size, list[int]()
        for index, (member, threshold) in enumerate(zip(row, self.thresholds, strict=True)):
            first = source.bernoulli(threshold)
            later = source.below(self._padded_options - index) < k - len(members)
            if later if members else first:
                members.append(member)
        # The rest are the first of k others in random order (Fisher and Yates): all are drawn, whatever is needed.
        places, others = dict[int, int](), list[int]()
        for index in range(k):
            drawn = index + source.below(self.options - index)
            others.append(places.get(drawn, drawn))
            places[drawn] = places.get(index, index)
        before = [member - index for index, member in enumerate(row)]
        chosen = (other + bisect_right(before, other) for other in others[: k - len(members)])
        return tuple(sorted([*members, *chosen]))

    def randomize_many(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.sets import selected_subsets

        return selected_subsets(rows, self.thresholds, self.subset_size, self.options, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """How many subsets hold each option."""
        from sottovoce.kernels.counting import count_into

        members = batch.reshape(-1)
        count_into(counts, members[members < self.options])

    def bits(self, counts: Counts, n_reports: int) -> tuple[Counts, Counts]:
        return counts, np.full(self.options, n_reports)

    def estimate(self, counts: Any, n_reports: int) -> Floats:
        return self.support.estimate(counts, n_reports)

    def probability(self, report: Report, row: Row) -> Fraction:
        """By the first member in common."""
        subset = set(cast(tuple[int, ...], report))
        index = next((index for index, member in enumerate(row) if member in subset), self.most)
        return self._levels[index] / math.comb(self._padded_options, self.subset_size)

    def privacy_ratio(self) -> Fraction:
        """The ratio of the likeliest and the least likely subset: one that meets a set misses another, for k <= J.

        Subsets that miss a set are the least likely, but that is not relied on.
        """
        return max(self._levels) / min(self._levels)

    def blanket(self) -> Blanket:
        """The law of two sets that have nothing in common, with g the least of all probabilities, everywhere.

        Padded sets are alike, 2 m <= J' numbers of two sets can be different ones (m <= J), and then the fewest
        subsets meet both. Rounded coins make subsets that meet a set differ by 2^-60 or so: each probability is
        replaced by a coin between the largest and the least, which raises the law in convex order, and the two coins
        of a subset that meets both sets are taken to differ as often as they can.
        """
        high, low, missed, spared = max(self._levels), min(self._levels), self._missed[-1], Fraction(1)
        for numbers in range(self._padded_options, self._padded_options - 2 * self.most, -1):
            spared *= Fraction(max(0, numbers - self.subset_size), numbers)
        favoured = (1 - low) / (high - low)
        lost = (high * (1 - missed) - self._met) / (high - low)
        shared = max(Fraction(0), 2 * favoured - 1, 1 - 2 * missed + spared - 2 * lost)
        law = two_level_law(high, low, favoured=favoured, shared=shared)
        return Blanket((law,), "no two sets have less in common than those without common members")

    def outputs(self) -> Iterator[Report]:
        """All subsets of k numbers."""
        return combinations(range(self._padded_options), self.subset_size)

    def audit_reference(self) -> SetReference:
        return SetSelectionReference(
            self.options, self.most, self.epsilon, self.privacy_ratio(), self.subset_size, self.thresholds
        )

    def citation(self) -> str:
        """Wang, Huang, Nie, Wang, Xu and Yang 2018."""
        return (
            "@inproceedings{wang2018privset, author={Wang, Shaowei and Huang, Liusheng and Nie, Yiwen and Wang, "
            "Pengzhan and Xu, Hongli and Yang, Wei}, title={PrivSet: Set-Valued Data Analyses with Locale "
            "Differential Privacy}, booktitle={INFOCOM}, year={2018}}"
        )


@final
class SetSelectionReference(SetReference):
    """Members by coins until one is in, then by sampling without replacement; others by a shuffle of the rest."""

    def __init__(
        self, options: int, most: int, epsilon: float, ratio: Fraction, subset: int, thresholds: tuple[int, ...]
    ) -> None:
        asked = [request for index, t in enumerate(thresholds) for request in (-t, options + most - index)]
        super().__init__(options, most, epsilon, ratio, asked + [options - index for index in range(subset)])
        self.subset = subset

    def payload(self, row: Row, draws: list[int]) -> bytes:
        most, numbers = self.most, self.options + self.most
        coins, later, drawn = draws[: 2 * most : 2], draws[1 : 2 * most : 2], draws[2 * most :]
        first = coins.index(1) if 1 in coins else most
        members, left = [], self.subset
        for index in range(first, most):
            if index == first or later[index] < left:
                members.append(row[index])
                left -= 1
        others = sorted(set(range(numbers)) - set(row))
        for index, at in enumerate(drawn):
            others[index], others[index + at] = others[index + at], others[index]
        return subset_codec(numbers, self.subset).encode(tuple(sorted(members + others[:left])))
