"""The points whose hull is projected on: a query matrix's columns, or these and their opposites, none of them stored.

Lengths are measured in a power of two, so that no square overflows or vanishes, and from the mean of the columns,
so that an offset common to all of them costs no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import frexp, sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError
from sottovoce.projections.operator import GramOperator, Operator

__all__ = ["Choice", "GramProducts", "PointSubset", "Points"]

Floats = NDArray[np.float64]
Choice = tuple[NDArray[np.int64], Floats]
"""Some of the points: their columns' numbers, and the sign (1 or -1) with which each column is taken."""

_LARGEST_EXPONENT = 1000
_NO_EXPONENT = -2000
"""Exponent of zero: less than that of any number."""

_LARGEST_POWER = 400
"""Largest power of two, in units: squares of such numbers and sums of many of them do not overflow."""

_TOO_DIFFERENT = (
    "The columns' sizes differ by more than 120 orders of magnitude, and the smaller ones are nothing "
    "beside the larger; rescale the queries, or leave some out."
)

_LONGER = 64.0
"""Largest ratio of squared lengths, columns to points, for which points' inner products are computed from columns'.

The common part of the columns is subtracted, which loses that much accuracy."""

_FEW = 64
"""Columns whose inner products are asked for together where only their squares matter."""


@dataclass(frozen=True, eq=False)
class PointSubset:
    """Some of the points, measured.

    Attributes
    ----------
    choice
        Which points.
    rows
        The points, one per row; rows of no entries where the operator knows inner products without them.
    among
        Their inner products with each other.
    longest
        Length of the longest of the columns that they are.
    """

    choice: Choice
    rows: Floats
    among: Floats
    longest: float

    @property
    def spread(self) -> float:
        """Length of the longest point."""
        return sqrt(max(0.0, float(self.among.diagonal().max())))


@dataclass(frozen=True, eq=False)
class GramProducts:
    """Inner products of points s a_i - c, s = 1 or -1, from those of columns that the operator knows.

    Attributes
    ----------
    gram
        <a_i, a_j> for columns i and j.
    centre_prices
        <a_i, c> for all columns i.
    centre_square
        <c, c>.
    """

    gram: Callable[[NDArray[np.int64], NDArray[np.int64]], Floats]
    centre_prices: Floats
    centre_square: float

    def products(self, first: Choice, second: Choice) -> Floats:
        """Return s t <a_i, a_j> - s <a_i, c> - t <a_j, c> + <c, c>, a row for each first and a column each second."""
        (rows, row_signs), (columns, column_signs) = first, second
        products = self.gram(rows, columns)
        products *= np.multiply.outer(row_signs, column_signs)
        products -= (row_signs * self.centre_prices[rows])[:, None]
        products -= column_signs * self.centre_prices[columns] - self.centre_square
        return products

    def growth(self, choice: Choice) -> Floats:
        """Return by how much the square of each point chosen is larger than that of its column."""
        columns, signs = choice
        growth: Floats = self.centre_square - 2 * signs * self.centre_prices[columns]
        return growth


class Points:
    """The points sign_j a_j - centre and the target raw - centre, in units of 2^exponent."""

    def __init__(self, operator: Operator, raw: Floats, symmetric: bool) -> None:
        self.symmetric = symmetric
        self.dimension, self.columns = operator.shape
        self._operator = operator
        self.known: GramProducts | None = None
        self._raw = raw
        self._mean = np.zeros(self.dimension)
        if not symmetric:
            self._mean = self._answer(
                "matvec", operator.matvec(np.full(self.columns, 1 / self.columns)), self.dimension
            )
        self._measure_in(max(_exponent(raw), _exponent(self._mean)))

    def measure_by(self, choice: Choice) -> None:
        """Choose the unit by some columns, or by a raw estimate that is larger than any square of theirs could be.

        By these columns it is also settled whether inner products are left to the operator.
        """
        squares = self._known_squares(choice[0])
        if squares is None:
            columns = max(_exponent(self._column(int(j))) for j in choice[0])
        else:
            columns = frexp(sqrt(squares.max()))[1]
        columns, raw = max(_exponent(self._mean), columns), _exponent(self._raw)
        self._measure_in(max(columns, raw - _LARGEST_POWER) if columns > _NO_EXPONENT else raw)
        self.known = None
        if squares is not None and isinstance(self._operator, GramOperator):
            known = GramProducts(
                partial(self._products_of_columns, self._operator),
                np.zeros(self.columns) if self.symmetric else self.prices(self._centre),
                float(self._centre @ self._centre),
            )
            lengths = np.ldexp(squares, -2 * self.exponent)
            if lengths.max() <= _LONGER * (lengths + known.growth(choice)).max():
                self.known = known

    def prices(self, direction: Floats) -> Floats:
        """Return <a_j, direction> for every column: one product with A^T."""
        # The unit is taken off before the product, which is then of the size of the result, unless that overflows.
        before = max(self.exponent, _exponent(direction) - _LARGEST_EXPONENT)
        product = self._answer("rmatvec", self._operator.rmatvec(np.ldexp(direction, -before)), self.columns)
        return product if before == self.exponent else np.ldexp(product, before - self.exponent)

    def lowest(self, prices: Floats) -> Floats:
        """Return the price of each column with the sign that makes it lower."""
        return -np.abs(prices) if self.symmetric else prices

    def with_lower_sign(self, columns: NDArray[np.int64], prices: Floats) -> Choice:
        """Return these columns, each with the sign that makes its price lower."""
        signs = np.where(prices[columns] > 0, -1.0, 1.0) if self.symmetric else np.ones(len(columns))
        return columns, signs

    def some(self, choice: Choice) -> PointSubset:
        """Return the points chosen, measured."""
        if self.known is None:
            rows = self._rows(choice)
            return PointSubset(choice, rows, rows @ rows.T, float(np.linalg.norm(rows + self._centre, axis=1).max()))
        among = self.known.products(choice, choice)
        longest = float((among.diagonal() - self.known.growth(choice)).max())
        if longest > 4.0**_LARGEST_POWER:
            raise ProjectionError(_TOO_DIFFERENT).at("operator")
        return PointSubset(choice, np.zeros((len(among), 0)), among, sqrt(max(0.0, longest)))

    def products(self, choice: Choice, row: Floats) -> Floats:
        """Return the inner product of each point chosen with one more, through a product with A^T."""
        columns, signs = choice
        products: Floats = signs * self.prices(row)[columns] - self._centre @ row
        return products

    def average(self, choice: Choice, weights: Floats) -> Floats:
        """Return the average of the points chosen, through a product with A."""
        x = np.zeros(self.columns)
        np.add.at(x, choice[0], choice[1] * weights)
        product = self._answer("matvec", self._operator.matvec(x), self.dimension)
        average: Floats = np.ldexp(product, -self.exponent) - self._centre
        return average

    def as_answers(self, average: Floats) -> Floats:
        """Return an average of points as an average of columns, in the caller's unit."""
        answers: Floats = np.ldexp(average + self._centre, self.exponent)
        return answers

    def _measure_in(self, exponent: int) -> None:
        self.exponent = min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
        self._centre = np.ldexp(self._mean, -self.exponent)
        self.target: Floats = np.ldexp(self._raw, -self.exponent) - self._centre

    def _rows(self, choice: Choice) -> Floats:
        """Return the points chosen, one per row."""
        rows = np.empty((len(choice[0]), self.dimension))
        for row, j, sign in zip(rows, *choice, strict=True):
            np.subtract(sign * np.ldexp(self._column(int(j)), -self.exponent), self._centre, out=row)
        if _exponent(rows) > _LARGEST_POWER:
            raise ProjectionError(_TOO_DIFFERENT).at("operator")
        return rows

    def _known_squares(self, columns: NDArray[np.int64]) -> Floats | None:
        """Return the squares of some columns, if the operator knows them and the largest is in range."""
        if not isinstance(self._operator, GramOperator):
            return None
        parts = [columns[first : first + _FEW] for first in range(0, len(columns), _FEW)]
        with np.errstate(all="ignore"):
            grams = [self._shaped("gram", self._operator.gram(part, part), len(part), len(part)) for part in parts]
        squares = np.concatenate([gram.diagonal() for gram in grams])
        return squares if 4.0**-_LARGEST_POWER < squares.max() < 4.0**_LARGEST_POWER else None

    def _products_of_columns(
        self, operator: GramOperator, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> Floats:
        products: Floats = np.ldexp(
            self._answer("gram", operator.gram(first, second), len(first), len(second)), -2 * self.exponent
        )
        return products

    def _column(self, j: int) -> Floats:
        return self._answer("column", self._operator.column(j), self.dimension)

    def _shaped(self, method: str, answer: Floats, *shape: int) -> Floats:
        """Return the operator's result, or raise if it has the wrong shape."""
        array = np.asarray(answer, dtype=np.float64)
        if array.shape != shape:
            raise ProjectionError(
                f"The query matrix's {method} answered with shape {array.shape}; a matrix of shape "
                f"({self.dimension}, {self.columns}) must answer with {shape}."
            ).at("operator")
        return array

    def _answer(self, method: str, answer: Floats, *shape: int) -> Floats:
        """Return the operator's result, or raise if it is not finite."""
        array = self._shaped(method, answer, *shape)
        if not np.isfinite(array).all():
            raise ProjectionError(
                f"The query matrix's {method} answered with infinite entries or entries that are not numbers; "
                "only a hull of finite columns can be projected on."
            ).at("operator")
        return array


def _exponent(entries: Floats) -> int:
    """Return the least power of two above all entries."""
    largest = float(np.abs(entries).max())
    return frexp(largest)[1] if largest else _NO_EXPONENT
