"""Subset selection: a random set of values, more often than not with the true one among them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Report
from sottovoce.mechanisms.codecs import Codec, subset_codec
from sottovoce.mechanisms.reference import ChannelReference, Draws, Rows, TwoLevelReference, Values
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport, SymmetricMechanism
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import Third, two_level_law

__all__ = ["SubsetSelection"]


@final
@dataclass(frozen=True)
class SubsetSelection(SymmetricMechanism):
    """A set of `subset_size` values: sets that contain the value with weight e^eps, the others with weight 1.

    Guarantee
        Pure epsilon-LDP (Ye and Barg 2018, Sec. III). The report is a *set*: it is encoded in
        increasing order, so its bytes do not say which member was drawn first.
    Error
        `Support` with P1 = k e^eps/(k e^eps + J - k), P0 = (k - P1)/(J - 1); the least total variance
        known for every epsilon, at a price in report size.
    Symbols
        k is `subset_size`, the floor or ceiling of J/(1 + e^eps) unless a survey says otherwise.
    Raises
        `MechanismError` when a report would be too large.
    """

    subset_size: int

    name: ClassVar[str] = "subset_selection"
    summary: ClassVar[str] = "a set of values, sorted"
    use_when: ClassVar[str] = "the least error, where a report may take up to J bits"

    @classmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """k = floor or ceil of J/(1+e^eps), at least 1, whichever has the lower variance."""
        ideal = domain_size / (1 + math.exp(epsilon))
        sizes = {max(1, k) for k in (math.floor(ideal), math.ceil(ideal))}
        return min((cls(domain_size, epsilon, k) for k in sorted(sizes)), key=lambda m: m.worst_total_variance)

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Sets of one, of several and of nearly all values, encoded as bitmaps and as lists."""
        return tuple(cls(size, epsilon, k) for size, k in ((2, 1), (4, 2), (5, 3), (5, 4), (17, 1), (17, 2)))

    def _check_parameters(self) -> None:
        self._check_own("subset_size", 1, self.domain_size - 1)

    @property
    def cells(self) -> int:
        """One count per value: how many sets hold it."""
        return self.domain_size

    @cached_property
    def codec(self) -> Codec:
        """A bitmap, or the sorted members, whichever is shorter."""
        return subset_codec(self.domain_size, self.subset_size)

    @cached_property
    def _levels(self) -> TwoLevel:
        # C(J-1, k-1) sets hold the value and C(J-1, k) do not: the same proportion as k to J - k.
        return TwoLevel(self.subset_size, self.domain_size - self.subset_size, self.epsilon)

    @cached_property
    def _support(self) -> Support:
        own = self._levels.probability_inside
        return Support(own, (self.subset_size - own) / (self.domain_size - 1))

    @property
    def _pair_support(self) -> PairSupport:
        """A set is the value with k-1 of the J-1 others at random, or k of them without it."""
        own, k, others = self._levels.probability_inside, self.subset_size, self.domain_size - 1
        two_others = (k - 1) * (own * (k - 2) + (1 - own) * k) / (others * (others - 1)) if others > 1 else Fraction(0)
        return PairSupport(own * (k - 1) / others, two_others)

    @property
    def support_size(self) -> int:
        """The number of values in a reported set."""
        return self.subset_size

    def _randomize(self, value: int, source: Source) -> Report:
        contains = source.bernoulli(self._levels.threshold)
        # A uniform k-set of the J-1 others (Floyd 1987), then, if the value belongs, it takes the
        # place of a uniform member. Every draw is made either way, so time says nothing.
        members: set[int] = set()
        last = self.domain_size - 1
        for bound in range(last - self.subset_size, last):
            drawn = source.below(bound + 1)
            members.add(bound if drawn in members else drawn)
        replaced = source.below(self.subset_size)
        others = sorted(other + (other >= value) for other in members)
        # One member is taken out and one put in between its neighbours, whether or not they are the same.
        member = others.pop(replaced)
        put = value if contains else member
        return tuple(max(a, min(put, b)) for a, b in zip((0, *others), (*others, last), strict=True))

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Vectorised, same law; rows of sorted members."""
        from sottovoce.kernels.channels import subsets

        return subsets(values, self._levels.threshold, self.subset_size, self.domain_size, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """How many sets hold each value."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch.reshape(-1))

    def probability(self, report: Report, value: int) -> Fraction:
        """w/C(J-1, k-1) for sets that hold the value, (1-w)/C(J-1, k) for the others."""
        w = self._levels.probability_inside
        others = self.domain_size - 1
        if value in cast(tuple[int, ...], report):
            return w / math.comb(others, self.subset_size - 1)
        return (1 - w) / math.comb(others, self.subset_size)

    def privacy_ratio(self) -> Fraction:
        """Some set holds one value and not another (1 <= k <= J-1), and there are only two levels."""
        return self._levels.ratio

    def blanket(self) -> Blanket:
        """Renaming values changes nothing, so all pairs have one law: by which of the two a set holds.

        No set holds all values (k < J), so the lower level is everywhere the least.
        """
        J, k, w = self.domain_size, self.subset_size, self._levels.probability_inside
        one = Fraction(k, J)
        two = one * Fraction(k - 1, J - 1)
        third = None
        if J > 2:
            three = two * Fraction(k - 2, J - 2)
            third = Third(three, two - three, two - three, one - 2 * two + three)
        law = two_level_law(w / one, (1 - w) / (1 - one), favoured=one, shared=two, third=third)
        return Blanket((law,), "all pairs of values are alike")

    def outputs(self) -> Iterator[Report]:
        """All sets of k values."""
        return combinations(range(self.domain_size), self.subset_size)

    def _supporting(self, counts: Counts) -> Counts:
        return counts

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """The members of every set."""
        if math.comb(self.domain_size, self.subset_size) > most_reports:
            return None
        marks = np.zeros((math.comb(self.domain_size, self.subset_size), self.domain_size), dtype=np.bool_)
        for row, members in zip(marks, combinations(range(self.domain_size), self.subset_size), strict=True):
            row[list(members)] = True
        return marks

    def audit_reference(self) -> ChannelReference:
        return SubsetSelectionReference(self.domain_size, self.epsilon, self.subset_size)

    def citation(self) -> str:
        """Ye and Barg 2018."""
        return (
            "@article{ye2018optimal, author={Ye, Min and Barg, Alexander}, title={Optimal Schemes for Discrete "
            "Distribution Estimation under Locally Differential Privacy}, journal={IEEE Transactions on "
            "Information Theory}, volume={64}, number={8}, year={2018}}"
        )


class SubsetSelectionReference(TwoLevelReference):
    """Floyd's subset of the others, one of them replaced by the value if the coin comes up; sorted."""

    def __init__(self, values: int, epsilon: float, subset: int) -> None:
        super().__init__(values, epsilon, inside=subset, outside=values - subset)
        self.subset = subset
        self._requests = [-self.threshold, *range(self.values - self.subset, self.values), self.subset]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        rows = zip(values.tolist(), draws.tolist(), strict=True)
        return self._packed(np.array([self._set(value, row) for value, row in rows], dtype=np.int64))

    def _set(self, value: int, row: list[int]) -> list[int]:
        coin, *floyd, replaced = row
        others: dict[int, None] = {}
        for last, drawn in enumerate(floyd, self.values - 1 - self.subset):
            others[last if drawn in others else drawn] = None
        members = sorted(other if other < value else other + 1 for other in others)
        return sorted([*members[:replaced], value, *members[replaced + 1 :]]) if coin else members

    def _packed(self, sets: Values) -> Rows:
        """Members of fixed width, the least first, or a bitmap where that is at most as long."""
        each = (self.values - 1).bit_length()
        if (each * self.subset + 7) // 8 < (self.values + 7) // 8:
            bits = (sets[:, :, None] >> np.arange(each) & 1).astype(np.uint8).reshape(len(sets), -1)
        else:
            bits = np.zeros((len(sets), self.values), dtype=np.uint8)
            bits[np.arange(len(sets))[:, None], sets] = 1
        return np.packbits(bits, axis=1, bitorder="little")
