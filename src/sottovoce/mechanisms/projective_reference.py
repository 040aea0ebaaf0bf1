"""What a device of projective geometry response must send, over arrays, with a field arithmetic of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.finite_field import FiniteField, prime_and_exponent, reduction_polynomial
from sottovoce.mechanisms.reference import CriticalRun, Draws, Rows, TwoLevelReference, index_rows
from sottovoce.randomness.scripts import Request, random_below, unpredictable

__all__ = ["ProjectiveReference", "wrong_in_field"]

Numbers = NDArray[np.int64]

MOST_PAIRS: Final = 2**20
"""Pairs of elements that are checked; in a larger field this many random pairs, and the ends."""

MOST_PRODUCTS: Final = 2**17
"""Products in a field of order q are run one by one in other languages if 2 q^2 is not above this."""


class ProjectiveReference(TwoLevelReference):
    """A point of the value's hyperplane, or one off it, by rank: its coordinates without the value's leading one.

    They are those of a point of one dimension less, or any; the coordinate left out follows from the inner product
    with the value's point, 0 or 1.
    """

    def __init__(self, values: int, epsilon: float, order: int, dimension: int, field: FiniteField) -> None:
        self.order, self.length, self.field = order, dimension, field
        self.points, inside = self._points(dimension), self._points(dimension - 1)
        super().__init__(values, epsilon, inside=inside, outside=self.points - inside)
        self._requests = [-self.threshold, self.inside, self.outside]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def wrong_law(self) -> str:
        return wrong_in_field(self.field)

    def payloads(self, values: Numbers, draws: Draws) -> Rows:
        coin, on, off = draws.T
        free = self._canonical(on, self.length - 1)
        free[coin == 0] = self._digits(off, self.length - 1)[coin == 0]
        return index_rows(self._completed(values, free, 1 - coin), self.points)

    def critical_runs(self, rng: np.random.Generator) -> Iterator[CriticalRun]:
        """Every product of a small field.

        The last draw, of a point off the hyperplane, has all coordinates but one as its digits in base q.
        """
        q, t = self.order, self.length
        if 2 * q**2 > MOST_PRODUCTS:
            return
        for a, b in product(range(q), repeat=2):
            # Number 1 + a is the point (0, .., 1, a): a times the last coordinate, b.
            yield CriticalRun(min(1 + a, self.values - 1), "down", {2: q * random_below(q ** (t - 2), rng) + b})
            # Number 0 is (0, .., 0, 1): the first coordinate is a, by which the second, b, is divided.
            yield CriticalRun(0, "down", {2: a * q ** (t - 2) + b * q ** max(t - 3, 0)})

    def _points(self, length: int) -> int:
        return int(self.order**length - 1) // (self.order - 1)

    def _digits(self, numbers: Numbers, length: int) -> Numbers:
        return np.stack([numbers // self.order**power % self.order for power in reversed(range(length))], axis=1)

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
        for axis in range(self.length):
            rest = _sums(self.order, rest, _products(self.order, held[:, axis], spread[:, axis]), -1)
        spread[rows, pivot] = rest
        lead = np.argmax(spread != 0, axis=1)
        scale = self._inverses(spread[rows, lead])
        scaled = np.stack([_products(self.order, scale, column) for column in spread.T], axis=1)
        scaled[rows, lead] = 0
        powers = self.order ** np.arange(self.length - 1, -1, -1)
        firsts = np.array([self._points(free) for free in range(self.length)])
        return np.asarray(firsts[self.length - 1 - lead] + scaled @ powers)

    def _inverses(self, elements: Numbers) -> Numbers:
        """x^(q - 2), by squaring."""
        power, square, exponent = np.ones_like(elements), elements, self.order - 2
        while exponent:
            if exponent & 1:
                power = _products(self.order, power, square)
            square, exponent = _products(self.order, square, square), exponent >> 1
        return power


def wrong_in_field(field: FiniteField) -> str:
    """The first result that is wrong, in words; empty if there is none.

    Examples
    --------
    >>> from sottovoce.kernels.finite_field import field_of_order
    >>> wrong_in_field(field_of_order(9))
    ''
    """
    q = field.order
    a, b = _pairs(q)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    expected = {"multiply": _products(q, a, b), "add": _sums(q, a, b), "subtract": _sums(q, a, b, -1)}
    for name, right in expected.items():
        compute = getattr(field, name)
        for (x, y), known in zip(pairs, right.tolist(), strict=True):
            if compute(x, y) != known:
                return f"{name}({x}, {y}) in the field of {q} elements is {compute(x, y)}, where {known} is right"
    elements = np.unique(a[a > 0])
    inverses = np.array([field.inverse(int(x)) for x in elements], dtype=np.int64)
    wrong = np.flatnonzero(_products(q, elements, inverses) != 1)
    if len(wrong):
        return f"inverse({elements[wrong[0]]}) in the field of {q} elements is wrong"
    return ""


def _pairs(q: int) -> tuple[Numbers, Numbers]:
    if q * q <= MOST_PAIRS:
        return np.repeat(np.arange(q), q), np.tile(np.arange(q), q)
    ends = np.array([0, 1, 2, q // 2, q - 2, q - 1])
    drawn = unpredictable().integers(0, q, size=(2, MOST_PAIRS // 8))
    return np.append(np.repeat(ends, 6), drawn[0]), np.append(np.tile(ends, 6), drawn[1])


def _sums(q: int, a: Numbers, b: Numbers, sign: int = 1) -> Numbers:
    """a + sign b, digit by digit in the base of the field's prime."""
    p, k = prime_and_exponent(q)
    total = np.zeros_like(a)
    for power in (p**i for i in range(k)):
        total += (a // power % p + sign * (b // power % p)) % p * power
    return total


def _products(q: int, a: Numbers, b: Numbers) -> Numbers:
    """a b: modulo a prime, or as polynomials by long multiplication and division, without logarithms."""
    p, k = prime_and_exponent(q)
    if k == 1:
        return a * b % q
    low = reduction_polynomial(p, k)
    left, right = ([x // p**i % p for i in range(k)] for x in (a, b))
    digits = [np.zeros_like(a) for _ in range(2 * k - 1)]
    for i, j in product(range(k), repeat=2):
        digits[i + j] += left[i] * right[j]
    for top in range(2 * k - 2, k - 1, -1):
        for i, coefficient in enumerate(low):
            digits[top - k + i] -= digits[top] % p * coefficient
    return np.asarray(sum(digit % p * p**i for i, digit in enumerate(digits[:k])))
