"""The points whose hull is projected on: a query matrix's columns, or these and their opposites, none of them stored.

Lengths are measured in a power of two, so that no square overflows or vanishes, and from the mean of the columns,
so that an offset common to all of them costs no accuracy.
"""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ProjectionError
from sottovoce.projections.operator import Operator

__all__ = ["Choice", "Points"]

Floats = NDArray[np.float64]
Choice = tuple[NDArray[np.int64], Floats]
"""Some of the points: their columns' numbers, and the sign (1 or -1) with which each column is taken."""

_LARGEST_EXPONENT = 1000
_NO_EXPONENT = -2000
"""Of zero: less than that of any number."""

_LARGEST_POWER = 400
"""Of two, in units: squares of such numbers, and sums of many of them, are still far from overflowing."""


class Points:
    """The points sign_j a_j - centre and the target raw - centre, in units of 2^exponent."""

    def __init__(self, operator: Operator, raw: Floats, symmetric: bool) -> None:
        self.symmetric = symmetric
        self.dimension, self.columns = operator.shape
        self._operator = operator
        self._raw = raw
        self._mean = np.zeros(self.dimension)
        if not symmetric:
            self._mean = self._answer(
                "matvec", operator.matvec(np.full(self.columns, 1 / self.columns)), self.dimension
            )
        self._measure_in(max(_exponent(raw), _exponent(self._mean)))

    def measure_by(self, choice: Choice) -> None:
        """Choose the unit by some columns, or by a raw estimate that is larger than any square of theirs could be."""
        columns = max(_exponent(self._mean), *(_exponent(self._column(int(j))) for j in choice[0]))
        raw = _exponent(self._raw)
        self._measure_in(max(columns, raw - _LARGEST_POWER) if columns > _NO_EXPONENT else raw)

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

    def rows(self, choice: Choice) -> Floats:
        """Return the points chosen, one a row."""
        rows = np.empty((len(choice[0]), self.dimension))
        for row, j, sign in zip(rows, *choice, strict=True):
            np.subtract(sign * np.ldexp(self._column(int(j)), -self.exponent), self._centre, out=row)
        if _exponent(rows) > _LARGEST_POWER:
            raise ProjectionError(
                "The columns' sizes differ by more than 120 orders of magnitude, and the smaller ones are nothing "
                "beside the larger; rescale the queries, or leave some out."
            )
        return rows

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

    def column_length(self, rows: Floats) -> float:
        """Return the length of the longest of the columns that these points are."""
        return float(np.linalg.norm(rows + self._centre, axis=1).max())

    def as_answers(self, average: Floats) -> Floats:
        """Return an average of points as an average of columns, in the caller's unit."""
        answers: Floats = np.ldexp(average + self._centre, self.exponent)
        return answers

    def _measure_in(self, exponent: int) -> None:
        self.exponent = min(max(exponent, -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
        self._centre = np.ldexp(self._mean, -self.exponent)
        self.target: Floats = np.ldexp(self._raw, -self.exponent) - self._centre

    def _column(self, j: int) -> Floats:
        return self._answer("column", self._operator.column(j), self.dimension)

    def _answer(self, method: str, answer: Floats, size: int) -> Floats:
        """Return what the operator answered, or say that it is of no use."""
        vector = np.asarray(answer, dtype=np.float64)
        if vector.shape != (size,):
            raise ProjectionError(
                f"The query matrix's {method} answered with shape {vector.shape}; a matrix of shape "
                f"({self.dimension}, {self.columns}) must answer with ({size},)."
            )
        if not np.isfinite(vector).all():
            raise ProjectionError(
                f"The query matrix's {method} answered with infinite entries or entries that are not numbers; "
                "only a hull of finite columns can be projected on."
            )
        return vector


def _exponent(entries: Floats) -> int:
    """Return the least power of two above all entries."""
    largest = float(np.abs(entries).max())
    return frexp(largest)[1] if largest else _NO_EXPONENT
