"""The features of a record that a line is fitted to, and the products of them whose means tell it.

A number is one feature: its place between the ends, from -1 to 1. A list of m values is m - 1 features, each 1 for
people with that value and -1 for others; the first value is the one that the others are compared with. The last
attribute is the outcome. The means of all features and of the products of two of them tell means, covariances and
every regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.domain.number import STEPS

__all__ = ["MAX_FEATURES", "SCALE", "Feature", "Product", "RecordFeatures"]

SCALE: Final = STEPS
"""The scale of every survey: a number's inputs are the positions between its ends."""

MAX_FEATURES: Final = 32
"""Most features, the outcome among them: a design spreads people over (p^2 + 3 p)/2 products of p features."""

MAX_VALUES: Final = MAX_FEATURES
"""Most values of an attribute that is a list."""

_NUMBER: Final = 0
"""The size that stands for a number."""


class Feature(NamedTuple):
    """A number, or one value of a list: by its attribute and, for a value, its place there."""

    attribute: int
    value: int


class Product(NamedTuple):
    """One feature, or the product of two: by their numbers, the first not above the second; -1 where there is one."""

    first: int
    second: int

    @property
    def is_square(self) -> bool:
        """Whether it is a feature times itself."""
        return self.first == self.second


@final
@dataclass(frozen=True)
class RecordFeatures:
    """The features of records whose attributes have these sizes: 0 for a number, otherwise the number of values.

    Examples
    --------
    >>> features = RecordFeatures((0, 3, 0))
    >>> len(features.listed), len(features.products)
    (4, 11)
    >>> RecordFeatures((0, 0)).products
    (Product(first=0, second=-1), Product(first=1, second=-1), Product(first=0, second=0), Product(first=0, second=1), \
Product(first=1, second=1))
    """

    sizes: tuple[int, ...]
    scale: int = SCALE
    """A feature as an integer lies from -scale to scale; a number's inputs are 0 to scale."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_integer("scale", self.scale, 1, SCALE))
        sizes = tuple(check_integer("sizes", size, 0, MAX_VALUES) for size in self.sizes)
        object.__setattr__(self, "sizes", sizes)
        if len(sizes) < 2 or 1 in sizes:
            raise SurveyError("a relation needs two attributes or more, and none of them with one value").at("sizes")
        if len(self.listed) > MAX_FEATURES:
            raise SurveyError(
                f"there are {len(self.listed)} features; at most {MAX_FEATURES} are allowed, a list of m values being "
                "m - 1 of them: leave some out, or merge values"
            ).at("sizes")

    @cached_property
    def listed(self) -> tuple[Feature, ...]:
        """All features, in the order of the attributes and of their values."""
        return tuple(
            Feature(attribute, value)
            for attribute, size in enumerate(self.sizes)
            for value in ((0,) if size == _NUMBER else range(1, size))
        )

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """Every feature alone, then every product of two that does not follow from these.

        The square of an indicator is 1, and two of the same list are never 1 together.
        """
        numbers = range(len(self.listed))
        pairs = (Product(i, j) for i in numbers for j in numbers[i:])
        return (*(Product(i, -1) for i in numbers), *(pair for pair in pairs if not self._follows(pair)))

    def _follows(self, pair: Product) -> bool:
        first, second = self.listed[pair.first], self.listed[pair.second]
        return first.attribute == second.attribute and self.sizes[first.attribute] != _NUMBER

    @property
    def range(self) -> int:
        """A feature, a square or a product of two features as an integer lies from 0 to this: see `values`."""
        return 2 * self.scale * self.scale

    def values(self, entries: Sequence[int]) -> list[int]:
        """Every product of a record, times scale^2: 1 + f for a feature f, 2 f^2 for a square, 1 + f g for others."""
        held = [self.of_input(number, entries[one.attribute]) for number, one in enumerate(self.listed)]
        unit = self.scale
        return [
            (held[i] + unit) * unit if j < 0 else 2 * held[i] ** 2 if i == j else held[i] * held[j] + unit * unit
            for i, j in self.products
        ]

    def chosen_values(self, rows: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """One product of each of many records: `values` at the chosen numbers."""
        features, people, unit = self.of_inputs(rows), np.arange(len(rows)), self.scale
        first, second = np.array(self.products)[chosen].T
        held, other = features[people, first], features[people, second]
        pairs = np.where(first == second, 2 * held**2, held * other + unit * unit)
        return np.asarray(np.where(second < 0, (held + unit) * unit, pairs))

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """How many inputs each attribute has."""
        return tuple(self.scale + 1 if size == _NUMBER else size for size in self.sizes)

    def of_input(self, number: int, entry: int) -> int:
        """A feature of an attribute with this input, from -scale to scale."""
        feature = self.listed[number]
        if self.sizes[feature.attribute] == _NUMBER:
            return 2 * entry - self.scale
        return self.scale if entry == feature.value else -self.scale

    def of_inputs(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """All features of many records, one row each."""
        columns = []
        for feature in self.listed:
            entries = rows[:, feature.attribute]
            number = self.sizes[feature.attribute] == _NUMBER
            columns.append(
                2 * entries - self.scale if number else np.where(entries == feature.value, self.scale, -self.scale)
            )
        return np.stack(columns, axis=1)
