"""RecordMoments: the means of a record's features and of their products, from which every regression follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import WorkloadError
from sottovoce.domain.features import Product, RecordFeatures
from sottovoce.domain.number import NumberGrid
from sottovoce.workloads.base import Body, Floats
from sottovoce.workloads.naming import quote_label
from sottovoce.workloads.record_tables import Field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sottovoce.workloads.pictures import Panel

__all__ = ["RecordMoments"]

_TIMES = " * "


@final
@dataclass(frozen=True)
class RecordMoments(Body):
    """The mean of every feature and of every product of two features; the last field is the outcome.

    A number goes from -1 at its low end to 1 at its high end; see `RecordFeatures`.

    Examples
    --------
    >>> from sottovoce.workloads.record_tables import checked_fields
    >>> fields = {"age": NumberGrid(18, 90, points=2), "plan": ["free", "pro"], "minutes": NumberGrid(0, 600, points=2)}
    >>> moments = RecordMoments(checked_fields(fields))
    >>> moments.n_queries, moments.name(1), moments.name(3), moments.find("minutes * age")
    (8, 'plan=pro', 'age * age', 5)
    >>> moments.columns([[0, 1, 65536]]).tolist()
    [[-1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0]]
    """

    fields: tuple[tuple[str, Field], ...]

    @cached_property
    def features(self) -> RecordFeatures:
        """The features of a record."""
        return RecordFeatures(tuple(0 if isinstance(field, NumberGrid) else field.size for _, field in self.fields))

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The name of every feature: that of a number, or "plan=pro" for a value of a list."""
        names = []
        for place, value in self.features.listed:
            name, field = self.fields[place]
            number = isinstance(field, NumberGrid)
            names.append(name if number else f"{name}={quote_label(field.label(value), _TIMES)}")
        return tuple(names)

    @property
    def n_queries(self) -> int:
        return len(self.features.products)

    @property
    def radius(self) -> float:
        """No feature is larger than 1."""
        return math.sqrt(self.n_queries)

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self.answer_range[1] - self.answer_range[0]))

    @cached_property
    def answer_range(self) -> tuple[Floats, Floats]:
        """Squares are not negative."""
        low = np.array([0.0 if product.is_square else -1.0 for product in self.features.products])
        return low, np.ones(self.n_queries)

    def columns(self, records: ArrayLike) -> Floats:
        features = self.features.of_inputs(np.asarray(records, dtype=np.int64)) / self.features.scale
        first, second = np.array(self.features.products).T
        return np.asarray(features[:, first] * np.where(second < 0, 1.0, features[:, second]))

    def number_field(self, name: str) -> NumberGrid | None:
        field = dict(self.fields).get(name)
        return field if isinstance(field, NumberGrid) else None

    def panels(self) -> Iterator[Panel]:
        from sottovoce.workloads.pictures import Bars

        yield Bars("means of features and products, each range from -1 to 1", 0, self.n_queries, shares=False)

    def name(self, query: int) -> str:
        """The name of a feature, or those of two."""
        number = as_integer(query)
        if number is None or not 0 <= number < self.n_queries:
            raise WorkloadError(f"query must be an integer from 0 to {self.n_queries - 1}")
        return self._named(self.features.products[number])

    def _named(self, product: Product) -> str:
        return _TIMES.join(self.feature_names[place] for place in product if place >= 0)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self._named(product): number for number, product in enumerate(self.features.products)}

    def find(self, name: str) -> int:
        """The number of a feature or product; two features may stand in either order."""
        turned = _TIMES.join(reversed(name.split(_TIMES))) if isinstance(name, str) else ""
        number = self._numbers.get(name, self._numbers.get(turned))
        if number is None:
            raise WorkloadError(f"no mean is named so; names look like {self.name(self.n_queries - 1)!r}").at("name")
        return number
