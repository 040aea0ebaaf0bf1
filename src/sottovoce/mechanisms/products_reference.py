"""What an audit holds products to: the drawn product, its value in fractions, and the rows of the matrix."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement
from typing import Any, ClassVar, Final, final

import numpy as np

from sottovoce.domain.trials import Trial, Trials
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.reference import ExactReference, index_rows
from sottovoce.randomness.scripts import Request, random_below

__all__ = ["ProductsReference"]

_EDGES: Final = 16
"""Scripts that an audit runs the first and the last record with."""


@final
class RelatedTrials(Trials):
    """Records as the mechanism takes them: one integer per attribute, numbers at their ends, middle and between."""

    def __init__(self, inputs: Sequence[int]) -> None:
        self.inputs = inputs

    def _trial(self, record: list[int]) -> Trial:
        return Trial(f"the record {record}", record, tuple(record))

    def edges(self) -> Iterator[Trial]:
        """The first, the last and the middle value of every attribute."""
        yield self._trial([0 for _ in self.inputs])
        yield self._trial([most - 1 for most in self.inputs])
        yield self._trial([most // 2 for most in self.inputs])

    def random(self, rng: np.random.Generator) -> Trial:
        return self._trial([random_below(most, rng) for most in self.inputs])

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """Two records that differ in every attribute."""
        return [*self.edges()][:2]


@final
class ProductsReference(ExactReference):
    """The product by its weight, its value rounded to a grid point, and the entries of that column side by side."""

    noun = "records"
    unit = "product"
    samples: ClassVar[int] = 20_000
    least = 400_000
    sure_scripts: ClassVar[int] = _EDGES
    attained: ClassVar[bool] = True

    def __init__(
        self, sizes: Sequence[int], scale: int, epsilon: float, matrix: ChannelMatrix, weights: Sequence[int]
    ) -> None:
        entries = np.asarray(matrix.integers, dtype=np.int64)
        pairs = set(zip(entries.max(axis=1).tolist(), entries.min(axis=1).tolist(), strict=True))
        ratio = max(Fraction(high, max(1, low)) for high, low in pairs)
        inputs = [size if size else scale + 1 for size in sizes]
        super().__init__(RelatedTrials(inputs), len(weights), epsilon, ratio)
        self.inputs, self.sizes, self.entries = inputs, sizes, entries
        self.unit_of_rows, self.scale = 1 << matrix.bits, scale
        self.ends = list(accumulate(weights))
        self.columns = np.cumsum(entries.T, axis=1)
        self.steps = 2 * scale * scale // (len(self.columns) - 1)
        self.products = self._named()

    def _named(self) -> list[tuple[tuple[int, int], ...]]:
        """Every product as a list of (attribute, value): features alone, then pairs in order."""
        features = [
            (place, value) for place, size in enumerate(self.sizes) for value in ([0] if not size else range(1, size))
        ]
        pairs: list[tuple[tuple[int, int], ...]] = [
            pair
            for pair in combinations_with_replacement(features, 2)
            if pair[0][0] != pair[1][0] or not self.sizes[pair[0][0]]
        ]
        return [*((feature,) for feature in features), *pairs]

    def wrong_law(self) -> str:
        if len(self.products) != len(self.ends):
            return "the weights are not one for each product"
        if int(self.entries.min()) < 1 or (self.columns[:, -1] != self.unit_of_rows).any():
            return "an entry of the channel matrix is 0, or a column does not add up"
        return ""

    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        return [self.ends[-1], self.steps, self.unit_of_rows]

    def _feature(self, record: Sequence[int], place: int, value: int) -> Fraction:
        """From -1 to 1."""
        if self.sizes[place]:
            return Fraction(1 if record[place] == value else -1)
        return Fraction(2 * int(record[place]), self.scale) - 1

    def _point(self, record: Sequence[int], product: int, up: int) -> int:
        """The grid point that a product's value is rounded to: up for as many outcomes as it is steps beyond one."""
        held = [self._feature(record, *feature) for feature in self.products[product]]
        is_square = len(held) == 2 and self.products[product][0] == self.products[product][1]
        number = 2 * held[0] ** 2 if is_square else 1 + (held[0] * held[1] if len(held) == 2 else held[0])
        place = number * self.scale * self.scale / self.steps
        below = place.numerator // place.denominator
        return below + int(Fraction(up, self.steps) < place - below)

    def payloads(self, inputs: Sequence[Any], played: Sequence[list[int]]) -> list[bytes]:
        numbers = []
        for record, (drawn, up, row) in zip(inputs, played, strict=True):
            product = bisect_right(self.ends, drawn)
            column = self.columns[self._point(record, product, up)]
            numbers.append(product * column.size + int(np.searchsorted(column, row, "right")))
        rows = index_rows(np.array(numbers), len(self.products) * len(self.entries))
        return [row.tobytes() for row in rows]

    def edge_scripts(self, rng: np.random.Generator) -> Iterator[list[int]]:
        """Products in turn, with the rounding at its ends, and rows at the ends of entries of the extreme columns."""
        for number in range(max(_EDGES, 2 * len(self.ends))):
            product = number % len(self.ends)
            start = (0, *self.ends)[product]
            first = min(max(start, self.ends[product] - 1 if number % 2 else start), self.ends[-1] - 1)
            column = self.columns[-1 if number % 3 == 2 else 0 if number % 3 else len(self.columns) // 2]
            end = int(column[rng.integers(column.size)])
            rounding = (0, self.steps - 1, random_below(self.steps, rng))[number % 3]
            yield [first, rounding, min(end - number % 2, self.unit_of_rows - 1)]

    def swept(self) -> int:
        """None: roundings have too many outcomes for all to be run."""
        return 0

    def rare_scripts(self, rng: np.random.Generator) -> Iterator[list[int]]:
        """The first and the last number of every entry; products and roundings at random."""
        for column in rng.permutation(len(self.columns)).tolist():
            starts = [0, *self.columns[column][:-1].tolist()]
            for start, end in zip(starts, self.columns[column].tolist(), strict=True):
                for row in (start, end - 1):
                    yield [random_below(self.ends[-1], rng), random_below(self.steps, rng), row]
