"""k-ary randomized response: the true value, or one of the others at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import ChannelReference, Draws, Rows, TwoLevelReference, Values, index_rows
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport, SymmetricMechanism
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import Third, two_level_law

__all__ = ["RandomizedResponse"]


@final
@dataclass(frozen=True)
class RandomizedResponse(SymmetricMechanism):
    """The value with weight e^eps, every other value with weight 1.

    Guarantee
        Pure epsilon-LDP (Warner 1965; Kairouz, Bonawitz, Ramage 2016, Sec. 3).
    Error
        `Support` with P1 = e^eps/(e^eps+J-1), P0 = 1/(e^eps+J-1): best when J < e^eps + 2, poor for large J.
    Raises
        `MechanismError` when epsilon is so small and the domain so large that the rounded channel
        carries nothing.
    """

    name: ClassVar[str] = "randomized_response"
    summary: ClassVar[str] = "one value, often somebody else's"
    use_when: ClassVar[str] = "a handful of values, or epsilon well above log J"
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
    def cells(self) -> int:
        """One count per value."""
        return self.domain_size

    @cached_property
    def codec(self) -> IndexCodec:
        """A value."""
        return IndexCodec(self.domain_size)

    @cached_property
    def _levels(self) -> TwoLevel:
        return TwoLevel(1, self.domain_size - 1, self.epsilon)

    @cached_property
    def _support(self) -> Support:
        return Support(self._levels.each_inside, self._levels.each_outside)

    @property
    def _pair_support(self) -> PairSupport:
        """A report supports one value only."""
        return PairSupport(Fraction(0), Fraction(0))

    @property
    def support_size(self) -> int:
        """The one that it names."""
        return 1

    def _randomize(self, value: int, source: Source) -> Report:
        truthful = source.bernoulli(self._levels.threshold)
        # Drawn even when it is not used: the time taken must not say whether the answer is true.
        other = source.below(self.domain_size - 1)
        return value if truthful else other + (other >= value)

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import randomized_response_values

        return randomized_response_values(values, self._levels.threshold, self.domain_size, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reported values."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """w for the value itself, (1-w)/(J-1) for every other."""
        return self._levels.each_inside if report == value else self._levels.each_outside

    def privacy_ratio(self) -> Fraction:
        """A report is its own value's likely output and everybody else's unlikely one."""
        return self._levels.ratio

    def blanket(self) -> Blanket:
        """Renaming values changes nothing, so all pairs have one law: their own reports, and those of all others."""
        J, levels, nothing = self.domain_size, self._levels, Fraction(0)
        own = Fraction(1, J)
        law = two_level_law(
            levels.each_inside * J,
            levels.each_outside * J,
            favoured=own,
            shared=nothing,
            third=Third(nothing, nothing, nothing, own) if J > 2 else None,
        )
        return Blanket((law,), "all pairs of values are alike")

    def outputs(self) -> Iterator[Report]:
        """All values."""
        return iter(range(self.domain_size))

    def _supporting(self, counts: Counts) -> Counts:
        return counts

    def report_chances(self, shares: Floats) -> Floats:
        """(1 - w)/(J - 1) for everybody, and more for those who have the value."""
        other = float(self._levels.each_outside)
        return np.asarray(other * shares.sum() + float(self.signal) * shares)

    def report_means(self, numbers: Floats) -> Floats:
        """The matrix is symmetric."""
        return self.report_chances(numbers)

    def report_answers(self, rows: Floats) -> Floats:
        """A report supports the value that it names."""
        supported = rows - float(self._support.other) * rows.sum(axis=1, keepdims=True)
        return np.asarray(supported / float(self.signal))

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """Every value's own report."""
        return np.eye(self.domain_size, dtype=np.bool_) if self.domain_size <= most_reports else None

    def audit_reference(self) -> ChannelReference:
        return RandomizedResponseReference(self.domain_size, self.epsilon)

    def citation(self) -> str:
        """Warner 1965; the k-ary form after Kairouz, Bonawitz and Ramage 2016."""
        return (
            "@article{warner1965randomized, author={Warner, Stanley L.}, title={Randomized Response: A Survey "
            "Technique for Eliminating Evasive Answer Bias}, journal={JASA}, volume={60}, number={309}, year={1965}}\n"
            "@inproceedings{kairouz2016discrete, author={Kairouz, Peter and Bonawitz, Keith and Ramage, Daniel}, "
            "title={Discrete Distribution Estimation under Local Privacy}, booktitle={ICML}, year={2016}}"
        )


class RandomizedResponseReference(TwoLevelReference):
    """The value, or one of the others by its rank among them."""

    def __init__(self, values: int, epsilon: float) -> None:
        super().__init__(values, epsilon, inside=1, outside=values - 1)
        self._requests = [-self.threshold, self.values - 1]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        coin, other = draws.T
        return index_rows(np.where(coin == 1, values, other + (other >= values)), self.values)
