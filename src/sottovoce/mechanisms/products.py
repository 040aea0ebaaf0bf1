"""Products: one product of a record's features, drawn in public, answered by a channel for numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product
from typing import Any, ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.domain.features import SCALE, RecordFeatures
from sottovoce.mechanisms.base import Batch, Counts, Mechanism, Report, log_of
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.products_reference import ProductsReference
from sottovoce.randomness import Source, epsilon_of
from sottovoce.theory.blanket import Blanket

__all__ = ["MAX_WEIGHT", "Products"]

MAX_WEIGHT: Final = 2**20
"""Largest weight of a product."""


@final
@dataclass(frozen=True)
class Products(Mechanism):
    """A product of features drawn in public by integer weights, and a row of the channel matrix for its value.

    Guarantee
        Pure epsilon-LDP: the product is drawn alike for all; given it, its value is rounded at random to a grid point,
        and a mixture of the matrix's columns keeps the limits that `ChannelMatrix.verify` checked for every row.
    Error
        That of the estimates a strategy pairs it with. The mean over roundings is the value itself, exactly.
    Symbols
        `sizes` are those of `RecordFeatures`: 0 for a number, whose input is a position from 0 to `scale`, 2^16 in
        every survey; else the number of values. A feature f, and a product f g, go from -1 to 1; the integer that is
        rounded is 1 + f or 1 + f g, for a square 2 f^2, times scale^2: all have the same range, and one matrix serves
        all.
    Deviations
        Sampling one attribute with the whole budget (Wang et al. 2019) is done with products too, and with weights.
    Raises
        `SurveyError` for weights that do not fit the products, `MechanismError` for a matrix that breaks epsilon.
    """

    sizes: tuple[int, ...]
    scale: int
    epsilon: float
    matrix: ChannelMatrix
    weights: tuple[int, ...]

    name: ClassVar[str] = "products"
    summary: ClassVar[str] = "one product of features, drawn in public, and a row of the survey's channel matrix"
    use_when: ClassVar[str] = "how numbers are related: slopes, correlations and predictions"
    serves: ClassVar[str] = "relations"
    counted_as = "number"
    deployed_size: ClassVar[int] = 4
    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"sizes", "scale", "epsilon", "matrix"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        self._check_report_size()

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Lists and numbers: features, squares and products, between grid points too; a product that is never drawn."""
        matrix = _small_matrix(epsilon)
        return (
            cls((0, 0), 2, epsilon, matrix, (1, 2, 1, 3, 1)),
            cls((3, 0), 2, epsilon, matrix, (1, 0, 2, 1, 1, 1)),
        )

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """`size` numbers and a list of three values, all products alike."""
        sizes = (3, *(0 for _ in range(max(1, size))))
        weights = (1,) * len(RecordFeatures(sizes).products)
        return cls(sizes, SCALE, epsilon, _small_matrix(epsilon), weights)

    def _check_parameters(self) -> None:
        products = self.features.products
        if not isinstance(self.matrix, ChannelMatrix):
            raise MechanismError(f"matrix has type {type(self.matrix).__name__}: it must be a ChannelMatrix").at(
                "matrix"
            )
        if self.features.range % (self.matrix.values - 1):
            raise MechanismError(f"{self.matrix.values:,} grid points do not divide the range of products").at("matrix")
        if not isinstance(self.weights, tuple | list) or len(self.weights) != len(products):
            raise SurveyError(f"weights must be {len(products):,} integers, one for each product of features").at(
                "weights"
            )
        weights = tuple(check_integer("weights", weight, 0, MAX_WEIGHT) for weight in self.weights)
        if not any(weights):
            raise SurveyError("weights must not all be 0").at("weights")
        object.__setattr__(self, "weights", weights)
        _ = self._channel

    @cached_property
    def features(self) -> RecordFeatures:
        """The features of a record."""
        return RecordFeatures(self.sizes, self.scale)

    @cached_property
    def _channel(self) -> MatrixChannel:
        """The channel of grid points, verified."""
        return MatrixChannel(self.matrix.values, self.epsilon, self.matrix)

    @property
    def steps(self) -> int:
        """Integers from one grid point to the next."""
        return self.features.range // (self.matrix.values - 1)

    @cached_property
    def codec(self) -> IndexCodec:
        """The product's number times the rows of the matrix, and the row."""
        return IndexCodec(self.cells)

    # --- the device -------------------------------------------------------------------------

    @cached_property
    def _drawn(self) -> tuple[int, ...]:
        """Running sums of the products' weights."""
        return tuple(accumulate(self.weights))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The probability that each product is drawn."""
        return np.array(self.weights) / self._drawn[-1]

    def randomize(self, record: Any, source: Source) -> Report:
        """One device's report on its record, one integer per attribute. An error never names the record."""
        entries = list(record.tolist() if isinstance(record, np.ndarray) else record)
        inputs = self.features.inputs
        known = [type(entry) is int and 0 <= entry < most for entry, most in zip(entries, inputs, strict=False)]
        if len(entries) != len(inputs) or not all(known):
            raise ValueOutsideDomainError(
                f"the record is not {len(inputs)} integers, one within the range of each attribute"
            )
        drawn = bisect_right(self._drawn, source.below(self._drawn[-1]))
        up = source.below(self.steps)
        # Every product is computed: which one was drawn is public, what it takes to compute it must not tell more.
        value = self.features.values(entries)[drawn]
        point, beyond = divmod(value, self.steps)
        row = self._channel._randomize(point + int(up < beyond), source)
        return drawn * self.matrix.reports + cast(int, row)

    # --- the collector ----------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """One count for every product and row."""
        return len(self.features.products) * self.matrix.reports

    @property
    def largest_step(self) -> int:
        """A report is counted in one cell."""
        return 1

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def by_product(self, counts: Counts) -> Counts:
        """The counts with one row for every product."""
        return np.asarray(counts).reshape(len(self.weights), self.matrix.reports)

    # --- the simulation ---------------------------------------------------------------------

    def randomize_many(self, records: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law. Records are trusted."""
        n = len(records)
        drawn = np.searchsorted(self._drawn, rng.integers(0, self._drawn[-1], size=n), "right")
        values = self.features.chosen_values(np.asarray(records, dtype=np.int64), drawn)
        point, beyond = np.divmod(values, self.steps)
        up = rng.integers(0, self.steps, size=n) < beyond
        return np.asarray(drawn * self.matrix.reports + self._channel.randomize_many(point + up, rng))

    @property
    def simulation_words(self) -> int:
        """Numbers held for one simulated report."""
        return 8 + len(self.features.listed)

    # --- the auditor ------------------------------------------------------------------------

    def probability(self, report: Report, record: Any) -> Fraction:
        """The product's share, times the entries of the two neighbouring grid points by how near they are."""
        drawn, row = divmod(cast(int, report), self.matrix.reports)
        point, beyond = divmod(self.features.values([int(entry) for entry in record])[drawn], self.steps)
        entries = self.matrix.integers[row]
        here, next_ = int(entries[point]), int(entries[min(point + 1, self.matrix.values - 1)])
        chance = Fraction((self.steps - beyond) * here + beyond * next_, self.steps << self.matrix.bits)
        return chance * Fraction(self.weights[drawn], self._drawn[-1])

    def log_prob(self, report: Report, record: Any) -> float:
        return log_of(self.probability(report, record))

    def privacy_ratio(self) -> Fraction:
        """The matrix's: every mixture of a row's entries lies between its least and its largest one."""
        return self.matrix.ratio

    def blanket(self) -> Blanket | None:
        """As if two records were at the worst pair of grid points of every product.

        Which product is drawn does not depend on the record, and all have the same matrix: given it, L is that of two
        mixtures of grid points, and the cover of the channel is above it in convex order, as in `RoundedChannel`.
        Mixtures over products keep that order. Not all products of two records differ, so no pair's own law is stated.
        """
        inner = self._channel.blanket()
        return None if inner is None else Blanket((), "no product tells two records apart better than its ends", inner)

    @property
    def delta(self) -> float:
        """None: the guarantee is pure."""
        return 0.0

    @property
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    def miniature_inputs(self) -> Iterator[tuple[int, ...]]:
        """Every possible input, in a fixed order. Only for miniatures."""
        return product(*(range(inputs) for inputs in self.features.inputs))

    def outputs(self) -> Iterator[Report]:
        """Every possible report, in a fixed order."""
        return iter(range(self.cells))

    def audit_reference(self) -> ProductsReference:
        return ProductsReference(self.sizes, self.scale, self.epsilon, self.matrix, self.weights)

    def citation(self) -> str:
        """Wang et al. 2019, for one number out of several; products and weights are ours."""
        return (
            "@inproceedings{wang2019collecting, author={Wang, Ning and Xiao, Xiaokui and Yang, Yin and Zhao, Jun and "
            "Hui, Siu Cheung and Shin, Hyejin and Shin, Junbum and Yu, Ge}, title={Collecting and analyzing "
            "multidimensional data with local differential privacy}, booktitle={ICDE}, year={2019}}"
        )


def _small_matrix(epsilon: float) -> ChannelMatrix:
    """Three grid points and three reports out of 32: few enough to run every draw."""
    most = math.floor(16 / (1 + math.exp(-epsilon)))
    return ChannelMatrix(np.array([[most, 8, 16 - most], [16 - most, 8, most], [16, 16, 16]]), 5)
