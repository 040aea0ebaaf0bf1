"""What a device of projective geometry response must send, over arrays and by a field arithmetic of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.fields import field_products, field_sums, wrong_in_field
from sottovoce.auditing.reference import Draws, TwoLevelReference, index_rows
from sottovoce.auditing.script import Request
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry

__all__ = ["ProjectiveReference"]

Numbers = NDArray[np.int64]
Payloads = NDArray[np.uint8]


class ProjectiveReference(TwoLevelReference[ProjectiveGeometry]):
    """A point of the value's hyperplane, or one off it, by rank: its coordinates without the value's leading one.

    They are those of a point of one dimension less, or any; the coordinate left out follows from the inner product
    with the value's point, 0 or 1.
    """

    def __init__(self, mechanism: ProjectiveGeometry) -> None:
        super().__init__(mechanism)
        self.order, self.length = mechanism.order, mechanism.dimension
        self.points, self.inside = self._points(self.length), self._points(self.length - 1)
        self.outside = self.points - self.inside
        self._requests = [-self.threshold, self.inside, self.outside]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def wrong_law(self) -> str:
        return wrong_in_field(self.mechanism.space.field)

    def payloads(self, values: Numbers, draws: Draws) -> Payloads:
        coin, on, off = draws.T
        free = self._canonical(on, self.length - 1)
        free[coin == 0] = self._digits(off, self.length - 1)[coin == 0]
        return index_rows(self._completed(values, free, 1 - coin), self.points)

    def _points(self, length: int) -> int:
        return int(self.order**length - 1) // (self.order - 1)

    def _digits(self, numbers: Numbers, length: int) -> Numbers:
        return np.stack([numbers // self.order**place % self.order for place in reversed(range(length))], axis=1)

    def _canonical(self, numbers: Numbers, length: int) -> Numbers:
        """Vectors whose first entry that is not 0 is 1: those with most zeros first, then in the order of the rest."""
        firsts = np.array([self._points(free) for free in range(length)])
        free = np.searchsorted(firsts, numbers, "right") - 1
        vectors = self._digits(numbers - firsts[free], length)
        vectors[np.arange(len(numbers)), length - 1 - free] = 1
        return vectors

    def _completed(self, values: Numbers, others: Numbers, inner_products: Numbers) -> Numbers:
        """The number of the point with these other coordinates and this inner product with the value's point."""
        held, rows = self._canonical(values, self.length), np.arange(len(values))
        pivot = np.argmax(held != 0, axis=1)
        spread = np.zeros_like(held)
        spread[np.arange(self.length) != pivot[:, None]] = others.reshape(-1)
        rest = inner_products
        for place in range(self.length):
            rest = field_sums(self.order, rest, field_products(self.order, held[:, place], spread[:, place]), -1)
        spread[rows, pivot] = rest
        lead = np.argmax(spread != 0, axis=1)
        scale = self._inverses(spread[rows, lead])
        scaled = np.stack([field_products(self.order, scale, column) for column in spread.T], axis=1)
        scaled[rows, lead] = 0
        powers = self.order ** np.arange(self.length - 1, -1, -1)
        firsts = np.array([self._points(free) for free in range(self.length)])
        return np.asarray(firsts[self.length - 1 - lead] + scaled @ powers)

    def _inverses(self, elements: Numbers) -> Numbers:
        """x^(q - 2), by squaring."""
        power, square, exponent = np.ones_like(elements), elements, self.order - 2
        while exponent:
            if exponent & 1:
                power = field_products(self.order, power, square)
            square, exponent = field_products(self.order, square, square), exponent >> 1
        return power
