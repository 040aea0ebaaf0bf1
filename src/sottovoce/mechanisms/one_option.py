"""One option, drawn in public: randomized response says whether the person's set contains it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import index_rows
from sottovoce.mechanisms.sets import Row, SetMechanism, SetReference
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import binary_law

__all__ = ["OneOption"]


@final
@dataclass(frozen=True)
class OneOption(SetMechanism):
    """A random option, and yes or no: the truth with probability e^eps/(1 + e^eps), rounded down.

    Guarantee
        Pure epsilon-LDP: given the option, drawn alike for all, a bit through randomized response (Warner 1965).
    Error
        Of the reports about an option, an expected n/J, each is a bit: `Support` with P1 = e^eps/(1 + e^eps) and P0 =
        1 - P1, and J times its variance. How many reports came in about an option is public and independent of what
        people hold, so an estimate divides by that number. Without any, it is one half.
    """

    name: ClassVar[str] = "one_option"
    summary: ClassVar[str] = "yes or no to one option, drawn at random"
    use_when: ClassVar[str] = "people may tick a large part of few options"
    counted_as = "number"

    @classmethod
    def best(cls, options: int, most: int, epsilon: float, people: int) -> Self:
        """It has no parameters of its own to choose."""
        return cls(options, most, epsilon)

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Sets of one, of some and of all options."""
        return tuple(cls(options, most, epsilon) for options, most in ((2, 1), (4, 2), (3, 3)))

    def _check_parameters(self) -> None:
        pass

    @cached_property
    def _response(self) -> TwoLevel:
        return TwoLevel(1, 1, self.epsilon)

    @property
    def support(self) -> Support:
        """Among the reports about an option."""
        return Support(self._response.probability_inside, 1 - self._response.probability_inside)

    @property
    def pair_support(self) -> None:
        return None

    @property
    def groups(self) -> int:
        return self.options

    def sharing_factor(self, n_reports: int) -> float:
        """The mean of 1/N over the number N of reports about an option, relative to J/n, where a share is one half.

        A report at least is about an option with probability 1 - (1 - 1/J)^n; else the estimate is one half, which is
        off by as much at most.
        """
        mean, spread = n_reports / self.options, math.sqrt(n_reports / self.options)
        if mean > 1000:
            return 1 + 1.01 / mean  # E 1/N = (1 + 1/mean + 2/mean^2 + ..)/mean, less for a binomial N
        numbers = np.arange(1.0, min(n_reports, math.ceil(mean + 40 * spread + 60)) + 1)
        none = n_reports * math.log1p(-1 / self.options)
        steps = np.log(n_reports - numbers + 1) - np.log(numbers) - math.log(self.options - 1)
        chances = np.exp(none + np.cumsum(steps))
        inverse = float((chances / numbers).sum()) * mean
        return max(1.0, inverse + mean * math.exp(none) * float(self.support.signal) ** 2)

    def expected_maximum(self, n_reports: int) -> None:
        """Options have different numbers of reports."""

    @property
    def moved_options(self) -> tuple[float, bool]:
        """One report moves the option that it is about, in place of another."""
        return 2.0, False

    @property
    def cells(self) -> int:
        """Two counts per option: no and yes."""
        return 2 * self.options

    @cached_property
    def codec(self) -> IndexCodec:
        """Twice the option, plus 1 for yes."""
        return IndexCodec(self.cells)

    @property
    def simulation_words(self) -> int:
        return 3

    def _randomize(self, row: Row, source: Source) -> Report:
        option = source.below(self.options)
        truthful = source.bernoulli(self._response.threshold)
        # All members are compared, also after one that is the option: timing must not tell where it stands.
        holds = sum(member == option for member in row) > 0
        return 2 * option + (holds == truthful)

    def randomize_many(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import below_threshold

        option = rng.integers(0, self.options, size=len(rows))
        truthful = below_threshold(self._response.threshold, len(rows), rng)
        return np.asarray(2 * option + ((rows == option[:, None]).any(axis=1) == truthful))

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def bits(self, counts: Counts, n_reports: int) -> tuple[Counts, Counts]:
        return counts[1::2], counts[::2] + counts[1::2]

    def estimate(self, counts: Any, n_reports: int) -> Floats:
        yes, reports = self.bits(counts, n_reports)
        support = self.support
        shares = (yes / np.maximum(reports, 1) - float(support.other)) / float(support.signal)
        return np.where(reports > 0, shares, 0.5)

    def probability(self, report: Report, row: Row) -> Fraction:
        """The option's share of draws, times the chance of the truth or of its opposite."""
        option, yes = divmod(cast(int, report), 2)
        own = self._response.each_inside if (option in row) == bool(yes) else self._response.each_outside
        return own / self.options

    def privacy_ratio(self) -> Fraction:
        """The option is drawn alike for all; given it, yes is true for some set and no for another."""
        return self._response.ratio

    def blanket(self) -> Blanket:
        """The law of two sets with the most options that one of them holds and the other does not: min(2 m, J).

        Every option is held by some set and not by another.
        """
        differing = Fraction(min(2 * self.most, self.options), self.options)
        law = binary_law(self._response.probability_inside, differing)
        return Blanket((law,), "no two sets differ in more options")

    def outputs(self) -> Iterator[Report]:
        """Every option with no and with yes."""
        return iter(range(self.cells))

    def audit_reference(self) -> SetReference:
        return OneOptionReference(self.options, self.most, self.epsilon, self.privacy_ratio())

    def citation(self) -> str:
        """Warner 1965."""
        return (
            "@article{warner1965randomized, author={Warner, Stanley L.}, title={Randomized Response: A Survey "
            "Technique for Eliminating Evasive Answer Bias}, journal={Journal of the American Statistical "
            "Association}, volume={60}, number={309}, year={1965}}"
        )


@final
class OneOptionReference(SetReference):
    """An option, and the truth or its opposite about it."""

    def __init__(self, options: int, most: int, epsilon: float, ratio: Fraction) -> None:
        super().__init__(options, most, epsilon, ratio, [options, -TwoLevel(1, 1, epsilon).threshold])

    def payload(self, row: Row, draws: list[int]) -> bytes:
        option, truthful = draws
        yes = (option in row) if truthful else (option not in row)
        return index_rows(np.array([2 * option + yes]), 2 * self.options).tobytes()
