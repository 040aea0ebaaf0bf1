"""Fourier response: the sign of one random parity of the value's bits, for tables of attributes and parities."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, product
from typing import ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import (
    ChannelReference,
    Draws,
    Rows,
    TwoLevelReference,
    Values,
    index_rows,
    odd_parity,
)
from sottovoce.mechanisms.sampled import MAX_TILT, tilted_weights
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import binary_law

__all__ = ["Fourier"]

_MAX_BITS: Final = 62
_MAX_COEFFICIENTS: Final = 2**24

_MAX_CUBE_BITS: Final = 28
"""Maximum number of bits of the codes where a number is held for every code."""


@final
@dataclass(frozen=True)
class Fourier(ChannelMechanism):
    """A random one of the stated parities of the value's binary code, through binary randomized response.

    Guarantee
        Pure epsilon-LDP: given the coefficient, drawn alike for all, a bit through randomized response.
    Error
        One report's estimate of all coefficients theta_m = E (-1)^<m, code> has second moments c^2/q_m and no
        correlations, for every value, c = coth(eps/2) and q_m the coefficient's share of draws.
    Symbols
        `sizes` are the attributes' sizes, the last one fastest in a value's number; an attribute of size s has
        ceil(log2 s) bits of code, and the codes stand side by side, the first attribute's highest. The coefficients
        are all masks that touch 1 to `order` attributes; or only the attribute numbered `only` where that is not 0
        (they are numbered from 1). They stand by the number of attributes touched, then in the lexicographic order
        of these, then by the mask. `tilt` weights them by that number: above 0 toward many attributes.
    Deviations
        Coefficients are weighted by integers chosen for the workload; Cormode et al. draw them alike.
    Raises
        `SurveyError` for parameters out of range or that do not fit the domain's size.
    """

    sizes: tuple[int, ...]
    order: int
    only: int = 0
    tilt: int = 0

    name: ClassVar[str] = "fourier"
    summary: ClassVar[str] = "the sign of one parity of the value's bits"
    use_when: ClassVar[str] = "tables of a few out of many attributes, and parities"
    counted_as = "number"

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Bits and other sizes, some and all orders, one attribute only, flat and tilted weights."""
        return (
            cls(4, epsilon, (2, 2), order=2),
            cls(6, epsilon, (3, 2), order=2, tilt=8),
            cls(6, epsilon, (2, 3), order=1, only=2),
        )

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the simplest parameters for `size` values."""
        return cls(size, epsilon, (size,), 1)

    def _check_parameters(self) -> None:
        if not isinstance(self.sizes, tuple | list) or not self.sizes:
            raise SurveyError("sizes must be a list of the attributes' sizes, one integer or more").at("sizes")
        if len(self.sizes) > self.domain_size.bit_length():
            raise SurveyError(f"sizes lists more attributes than {self.domain_size:,} values can have").at("sizes")
        sizes = tuple(check_integer(f"sizes[{i}]", size, 2, self.domain_size) for i, size in enumerate(self.sizes))
        object.__setattr__(self, "sizes", sizes)
        if math.prod(sizes) != self.domain_size:
            raise SurveyError(f"sizes must have the product {self.domain_size}, the number of possible values").at(
                "sizes"
            )
        self._check_own("order", 1, len(sizes))
        self._check_own("only", 0, len(sizes))
        self._check_own("tilt", -MAX_TILT, MAX_TILT)
        if self.only and self.order != 1:
            raise SurveyError("where one attribute only is reported on, order must be 1").at("order")
        if sum(self.bits) > _MAX_BITS or sum(self._numbers) > _MAX_COEFFICIENTS:
            raise SurveyError(
                f"these attributes take {sum(self.bits)} bits and {sum(self._numbers):,} parities; at most "
                f"{_MAX_BITS} and {_MAX_COEFFICIENTS:,} are allowed: use a lower order, or fewer or smaller attributes"
            ).at("order")

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The bits of each attribute's code."""
        return tuple((size - 1).bit_length() for size in self.sizes)

    @property
    def _places(self) -> tuple[int, ...]:
        return (self.only - 1,) if self.only else tuple(range(len(self.sizes)))

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        """How many coefficients touch 1, 2, .., `order` attributes: elementary symmetric sums of 2^bits - 1."""
        counts = [1] + [0] * self.order
        for attribute in self._places:
            for touched in range(self.order, 0, -1):
                counts[touched] += ((1 << self.bits[attribute]) - 1) * counts[touched - 1]
        return tuple(counts[1:])

    @cached_property
    def coefficients(self) -> NDArray[np.int64]:
        """The masks, in the order of the reports; read-only."""
        shifts = [sum(self.bits[attribute + 1 :]) for attribute in range(len(self.bits))]
        single = {p: np.arange(1, 1 << self.bits[p], dtype=np.int64) << shifts[p] for p in self._places}
        groups = []
        for touched in range(1, self.order + 1):
            for attributes in combinations(self._places, touched):
                masks = np.zeros(1, dtype=np.int64)
                for attribute in attributes:
                    masks = (masks[:, None] + single[attribute]).reshape(-1)
                groups.append(masks)
        coefficients = np.concatenate(groups)
        coefficients.flags.writeable = False
        return coefficients

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """How often a coefficient is drawn that touches 1, 2, .., `order` attributes, relative to others."""
        return tilted_weights(self.order, self.tilt)

    @cached_property
    def _drawn(self) -> tuple[int, ...]:
        """Cumulative weights of all coefficients that touch 1, 2, .., `order` attributes."""
        return tuple(accumulate(n * w for n, w in zip(self._numbers, self.weights, strict=True)))

    @property
    def drawn(self) -> int:
        """The sum of all coefficients' weights."""
        return self._drawn[-1]

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """q: the probability that each coefficient is drawn."""
        return np.repeat(np.array(self.weights) / self._drawn[-1], self._numbers)

    @cached_property
    def _response(self) -> TwoLevel:
        return TwoLevel(1, 1, self.epsilon)

    @property
    def signal(self) -> Fraction:
        """2w - 1: the mean of a reported sign, for a sign of +1."""
        return 2 * self._response.probability_inside - 1

    @property
    def cells(self) -> int:
        """Two counts a coefficient."""
        return 2 * sum(self._numbers)

    @cached_property
    def codec(self) -> IndexCodec:
        """A report is twice the coefficient's number, plus 1 for a sign of -1."""
        return IndexCodec(self.cells)

    def codes(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The binary codes of values."""
        if all(size.bit_count() == 1 for size in self.sizes):
            return values
        codes, shift = np.zeros_like(values), 0
        for size, bits in zip(reversed(self.sizes), reversed(self.bits), strict=True):
            values, digit = np.divmod(values, size)
            codes |= digit << shift
            shift += bits
        return codes

    def _code(self, value: int) -> int:
        code = shift = 0
        for size, bits in zip(reversed(self.sizes), reversed(self.bits), strict=True):
            value, digit = divmod(value, size)
            code |= digit << shift
            shift += bits
        return code

    def _randomize(self, value: int, source: Source) -> Report:
        drawn = source.below(self._drawn[-1])
        kept = source.bernoulli(self._response.threshold)
        touched = bisect_right(self._drawn, drawn)
        before = self._drawn[touched - 1] if touched else 0
        number = sum(self._numbers[:touched]) + (drawn - before) // self.weights[touched]
        odd = (int(self.coefficients[number]) & self._code(value)).bit_count() % 2 == 1
        return 2 * number + (odd == kept)

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import below_threshold

        n = len(values)
        drawn = rng.integers(0, self._drawn[-1], size=n)
        kept = below_threshold(self._response.threshold, n, rng)
        touched = np.searchsorted(self._drawn, drawn, "right")
        before = np.array((0, *self._drawn))[touched]
        first = np.array((0, *accumulate(self._numbers)))[touched]
        number = first + (drawn - before) // np.array(self.weights)[touched]
        odd = np.bitwise_count(self.coefficients[number] & self.codes(values)) & 1
        return np.asarray(2 * number + (odd == kept))

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def report_chances(self, shares: Floats) -> Floats:
        """The coefficient's share, halved, times sum p plus or minus the signal times its parity's mean."""
        from sottovoce.kernels.walsh import walsh_hadamard

        cube = self.code_cube()
        cube[self.all_codes] = float(self.signal) * shares
        walsh_hadamard(cube)
        parities, total = cube[self.coefficients], float(shares.sum())
        return np.asarray((self.shares / 2 * np.stack([total + parities, total - parities])).T.reshape(-1))

    def report_means(self, numbers: Floats) -> Floats:
        """The transpose of `report_chances`."""
        from sottovoce.kernels.walsh import walsh_hadamard

        plus, minus = numbers[::2], numbers[1::2]
        cube = self.code_cube()
        cube[self.coefficients] = self.shares / 2 * float(self.signal) * (plus - minus)
        cube[0] = self.shares / 2 @ (plus + minus)
        walsh_hadamard(cube)
        return np.asarray(cube[self.all_codes])

    @cached_property
    def all_codes(self) -> NDArray[np.int64]:
        """The binary codes of all values."""
        return self.codes(np.arange(self.domain_size))

    def code_cube(self) -> Floats:
        """Zeros for all codes."""
        bits = sum(self.bits)
        if bits > _MAX_CUBE_BITS:
            raise CapacityError(
                f"the values' codes have {bits} bits, and at most {_MAX_CUBE_BITS} fit into memory; "
                "use answers or single columns, which do not list all values"
            )
        return np.zeros(1 << bits)

    def probability(self, report: Report, value: int) -> Fraction:
        """The coefficient's share, times w for the true sign and 1 - w for the other."""
        number, negative = divmod(cast(int, report), 2)
        odd = (int(self.coefficients[number]) & self._code(value)).bit_count() % 2
        touched = bisect_right(tuple(accumulate(self._numbers)), number)
        chance = self._response.each_inside if odd == negative else self._response.each_outside
        return chance * Fraction(self.weights[touched], self._drawn[-1])

    def privacy_ratio(self) -> Fraction:
        """The coefficient is drawn alike for all; given it, both signs are true for some value: 0, and one bit set."""
        return self._response.ratio

    def blanket(self) -> Blanket:
        """The law of two values whose signs differ most often.

        Every parity is odd for some value and even for value 0, so none is the same for all. Two values' signs differ
        where the parity of the bits in which their codes differ is odd. Over the masks that touch given attributes, the
        sum of (-1)^parity is the product of -1 for every attribute in which the values differ and of the number of
        masks, 2^bits - 1, for every other: it matters only which attributes these are, and then only their bits.
        """
        by_bits = sorted(Counter(self.bits[attribute] for attribute in self._places).items())
        least = min(
            self._sum_of_signs(by_bits, differing)
            for differing in product(*(range(number + 1) for _, number in by_bits))
        )
        law = binary_law(self._response.probability_inside, Fraction(self.drawn - least, 2 * self.drawn))
        return Blanket((law,), "no two values' signs differ more often")

    def _sum_of_signs(self, by_bits: list[tuple[int, int]], differing: tuple[int, ...]) -> int:
        """The weights of parities even for the bits that differ, less those odd: by the number of attributes touched.

        So many attributes differ out of the number with each number of bits.
        """
        sums = [1] + [0] * self.order
        for (bits, number), apart in zip(by_bits, differing, strict=True):
            for sign in [-1] * apart + [(1 << bits) - 1] * (number - apart):
                for touched in range(self.order, 0, -1):
                    sums[touched] += sign * sums[touched - 1]
        return sum(weight * each for weight, each in zip(self.weights, sums[1:], strict=True))

    def outputs(self) -> Iterator[Report]:
        """All reports."""
        return iter(range(self.cells))

    def audit_reference(self) -> ChannelReference:
        return FourierReference(self.domain_size, self.epsilon, self.sizes, self.order, self.only, self.weights)

    def citation(self) -> str:
        """Marginals through the Hadamard transform: Cormode, Kulkarni and Srivastava 2018."""
        return (
            "@inproceedings{cormode2018marginal, author={Cormode, Graham and Kulkarni, Tejas and Srivastava, Divesh}, "
            "title={Marginal Release Under Local Differential Privacy}, booktitle={SIGMOD}, year={2018}}"
        )


class FourierReference(TwoLevelReference):
    """A coefficient is drawn in public; the coin keeps the parity of the value's code there, or turns it."""

    def __init__(
        self, values: int, epsilon: float, sizes: tuple[int, ...], order: int, only: int, weights: tuple[int, ...]
    ) -> None:
        super().__init__(values, epsilon, inside=1, outside=1)
        self.sizes = sizes
        self.bits = [(size - 1).bit_length() for size in sizes]
        places = [only - 1] if only else range(len(sizes))
        groups = [group for n in range(1, order + 1) for group in combinations(places, n)]
        masks = [self._masks(group) for group in groups]
        self.masks = np.concatenate(masks)
        self.shares = np.cumsum(np.repeat([weights[len(group) - 1] for group in groups], [len(part) for part in masks]))
        self._requests = [int(self.shares[-1]), -self.threshold]

    def _masks(self, group: tuple[int, ...]) -> Values:
        masks = np.zeros(1, dtype=np.int64)
        for attribute in range(len(self.sizes)):
            digits = np.arange(1, 1 << self.bits[attribute]) if attribute in group else np.zeros(1, dtype=np.int64)
            masks = ((masks[:, None] << self.bits[attribute]) + digits).reshape(-1)
        return masks

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        drawn, kept = draws.T
        number = np.searchsorted(self.shares, drawn, "right")
        code, weight = np.zeros_like(values), self.values
        for size, bits in zip(self.sizes, self.bits, strict=True):
            weight //= size
            code = (code << bits) + values // weight % size
        return index_rows(2 * number + (odd_parity(self.masks[number] & code) == (kept == 1)), 2 * len(self.masks))
