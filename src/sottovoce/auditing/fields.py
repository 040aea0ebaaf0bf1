"""Is a field's arithmetic right? Every product, sum, difference and inverse where they can be gone through."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.script import unpredictable
from sottovoce.kernels.finite_field import FiniteField, prime_and_exponent, reduction_polynomial

__all__ = ["field_products", "field_sums", "wrong_in_field"]

MOST_PAIRS = 2**20
"""Pairs of elements that are gone through; of a larger field so many are drawn at random, and the ends."""

Elements = NDArray[np.int64]


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
    expected = {"multiply": field_products(q, a, b), "add": field_sums(q, a, b), "subtract": field_sums(q, a, b, -1)}
    for name, right in expected.items():
        compute = getattr(field, name)
        for (x, y), known in zip(pairs, right.tolist(), strict=True):
            if compute(x, y) != known:
                return f"{name}({x}, {y}) in the field of {q} elements is {compute(x, y)}, where {known} is right"
    elements = np.unique(a[a > 0])
    inverses = np.array([field.inverse(int(x)) for x in elements], dtype=np.int64)
    wrong = np.flatnonzero(field_products(q, elements, inverses) != 1)
    if len(wrong):
        return f"inverse({elements[wrong[0]]}) in the field of {q} elements is wrong"
    return ""


def _pairs(q: int) -> tuple[Elements, Elements]:
    if q * q <= MOST_PAIRS:
        return np.repeat(np.arange(q), q), np.tile(np.arange(q), q)
    ends = np.array([0, 1, 2, q // 2, q - 2, q - 1])
    drawn = unpredictable().integers(0, q, size=(2, MOST_PAIRS // 8))
    return np.append(np.repeat(ends, 6), drawn[0]), np.append(np.tile(ends, 6), drawn[1])


def field_sums(q: int, a: Elements, b: Elements, sign: int = 1) -> Elements:
    """a + sign b, digit by digit in the base of the field's prime."""
    p, k = prime_and_exponent(q)
    total = np.zeros_like(a)
    for place in (p**i for i in range(k)):
        total += (a // place % p + sign * (b // place % p)) % p * place
    return total


def field_products(q: int, a: Elements, b: Elements) -> Elements:
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
