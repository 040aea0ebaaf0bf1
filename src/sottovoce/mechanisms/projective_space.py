"""The projective space over F_q: points, their numbers, and the points orthogonal to one of them.

A point is the vector of length t whose first non-zero entry is 1. Its number is
(q^m - 1)/(q - 1) plus its last m entries read as an integer in base q, most significant
first, where m is how many entries follow the leading 1. The numbering does not depend on t.
Entries are elements of F_q, which are integers below q; see `kernels.finite_field`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice

from sottovoce.kernels.finite_field import MAX_ORDER, FiniteField, field_of_order, is_field_order

__all__ = ["MAX_OVERSHOOT", "ProjectiveSpace", "dimension_for", "orders_to_try"]

MAX_OVERSHOOT = 64
"""How many times more points than values the space may have: it bounds the collector's memory."""


@dataclass(frozen=True)
class ProjectiveSpace:
    """All points of the projective space of vectors of length `dimension` over the field of `order` elements.

    Examples
    --------
    >>> fano = ProjectiveSpace(2, 3)
    >>> fano.points, fano.hyperplane_points, fano.shared_points
    (7, 3, 1)
    >>> [fano.vector(i) for i in range(4)]
    [(0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0)]
    >>> fano.number((0, 1, 1))
    2
    """

    order: int
    dimension: int

    @cached_property
    def field(self) -> FiniteField:
        """F_q: the entries of vectors, and their arithmetic."""
        return field_of_order(self.order)

    def _count(self, dimension: int) -> int:
        return int(self.order**dimension - 1) // (self.order - 1)

    @property
    def points(self) -> int:
        """K: the number of points."""
        return self._count(self.dimension)

    @property
    def hyperplane_points(self) -> int:
        """s: how many points are orthogonal to a given one."""
        return self._count(self.dimension - 1)

    @property
    def shared_points(self) -> int:
        """l: how many are orthogonal to two given distinct ones."""
        return self._count(self.dimension - 2)

    def vector(self, number: int) -> tuple[int, ...]:
        """The canonical vector of a point."""
        return self._vector(number, self.dimension)

    def _vector(self, number: int, length: int) -> tuple[int, ...]:
        # With a 1 before its free entries a vector is one number in base q: as many digits for every point.
        free = sum(self._count(m) <= number for m in range(1, self.dimension + 1))
        return self._digits(self.order**free + number - self._count(free), length)

    def _digits(self, number: int, length: int) -> tuple[int, ...]:
        digits = []
        for _ in range(length):
            number, digit = divmod(number, self.order)
            digits.append(digit)
        return tuple(reversed(digits))

    def number(self, vector: tuple[int, ...]) -> int:
        """The number of the point that a non-zero vector spans."""
        lead = min(i if x else len(vector) for i, x in enumerate(vector))
        inverse, free = self.field.inverse(vector[lead]), len(vector) - 1 - lead
        number = 0
        for x in vector:
            number = number * self.order + self.field.multiply(x, inverse)
        return number - int(self.order**free) + self._count(free)

    def orthogonal(self, point: int, other: int) -> bool:
        """Whether two points are orthogonal."""
        return self._inner(self.vector(point), self.vector(other)) == 0

    def _inner(self, a: tuple[int, ...], b: tuple[int, ...]) -> int:
        total = 0
        for x, y in zip(a, b, strict=True):
            total = self.field.add(total, self.field.multiply(x, y))
        return total

    def in_hyperplane(self, point: int, rank: int) -> int:
        """The rank-th point orthogonal to `point`, rank below `hyperplane_points`.

        Leaving out the coordinate of `point`'s leading 1 maps its hyperplane one to one onto the
        space of one dimension less, so a number there names a point here.
        """
        return self._solve(point, self._vector(rank, self.dimension - 1), product=0)

    def off_hyperplane(self, point: int, rank: int) -> int:
        """The rank-th point not orthogonal to `point`, rank below q^(t-1).

        Such a point has exactly one multiple whose inner product with `point` is 1; the other t-1
        coordinates of that multiple are free.
        """
        return self._solve(point, self._digits(rank, self.dimension - 1), product=1)

    def _solve(self, point: int, others: tuple[int, ...], product: int) -> int:
        """The point with these coordinates off the pivot of `point` and this inner product with it."""
        direction = self.vector(point)
        pivot = direction.index(1)
        rest = direction[:pivot] + direction[pivot + 1 :]
        at_pivot = self.field.subtract(product, self._inner(rest, others))
        return self.number((*others[:pivot], at_pivot, *others[pivot:]))


def dimension_for(order: int, domain_size: int) -> int:
    """The least t >= 2 whose space holds `domain_size` points."""
    t = 2
    while ProjectiveSpace(order, t).points < domain_size:
        t += 1
    return t


def _orders_from(n: int) -> Iterator[int]:
    return filter(is_field_order, count(n))


def orders_to_try(ideal: float, domain_size: int) -> Iterator[int]:
    """Orders worth comparing: some around the ideal one, above 2, and for each dimension the least one that fits.

    Where the space of the ideal order would be too large, the largest orders that are not take its place.
    """
    centre = math.floor(ideal)
    room = MAX_OVERSHOOT * domain_size
    centre = min(centre, math.floor(room ** (1 / (dimension_for(centre, domain_size) - 1))))
    tried = set(islice(filter(is_field_order, range(centre, 1, -1)), 8))
    tried.update(islice(_orders_from(centre + 1), 3))
    for dimension in range(2, domain_size.bit_length() + 1):
        # K is a little above q^(t-1): start a little below the real root and step up.
        root = math.floor(domain_size ** (1 / (dimension - 1)))
        if root < MAX_ORDER:
            fitting = (q for q in _orders_from(root - 1) if ProjectiveSpace(q, dimension).points >= domain_size)
            tried.add(next(fitting))
    return iter(sorted(tried))
