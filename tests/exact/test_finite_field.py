"""Finite fields: the axioms by brute force, the reduction polynomials by long division, the tables by both."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sottovoce.kernels.finite_field import (
    MAX_EXTENSION_ORDER,
    MAX_ORDER,
    ExtensionField,
    FiniteField,
    PrimeField,
    field_of_order,
    is_field_order,
    is_prime,
    kernel_tables,
    prime_and_exponent,
    reduction_polynomial,
)

EXTENSIONS = [4, 8, 9, 16, 25, 27, 32, 49, 64, 81, 121, 125, 128, 169, 243, 256]
SMALL = [2, 3, 4, 5, 7, 8, 9, 16, 25, 27]

extensions = pytest.mark.parametrize("order", EXTENSIONS)
small = pytest.mark.parametrize("field", [field_of_order(q) for q in SMALL], ids=lambda field: f"F{field.order}")


def coefficients(element: int, p: int, k: int) -> list[int]:
    return [element // p**i % p for i in range(k)]


def long_product(a: int, b: int, p: int, k: int, low: list[int]) -> int:
    """Multiply polynomials term by term and divide by x^k + low."""
    terms = [0] * (2 * k - 1)
    for (i, x), (j, y) in product(enumerate(coefficients(a, p, k)), enumerate(coefficients(b, p, k))):
        terms[i + j] += x * y
    for top in range(2 * k - 2, k - 1, -1):
        for i, c in enumerate(low):
            terms[top - k + i] -= terms[top] * c
    return sum(term % p * p**i for i, term in enumerate(terms[:k]))


def order_of_x(p: int, k: int, low: list[int]) -> int:
    """The least n >= 1 with x^n = 1 modulo x^k + low; 0 if there is none."""
    power = 1
    for n in range(1, p**k):
        power = long_product(power, p, p, k, low)
        if power == 1:
            return n
    return 0


@small
def test_the_axioms_of_a_field(field: FiniteField) -> None:
    every = range(field.order)
    for a in every:
        assert field.add(a, 0) == a == field.multiply(a, 1)
        assert field.multiply(a, 0) == 0
        assert field.subtract(a, a) == 0
        assert sorted(field.add(a, b) for b in every) == list(every)
        if a:
            assert field.multiply(a, field.inverse(a)) == 1
            assert sorted(field.multiply(a, b) for b in every) == list(every)
    for a, b in product(every, every):
        assert field.add(a, b) == field.add(b, a)
        assert field.multiply(a, b) == field.multiply(b, a)
        assert field.add(field.subtract(a, b), b) == a
    for a, b, c in product(every, every, range(0, field.order, 1 + field.order // 6)):
        assert field.add(field.add(a, b), c) == field.add(a, field.add(b, c))
        assert field.multiply(field.multiply(a, b), c) == field.multiply(a, field.multiply(b, c))
        assert field.multiply(field.add(a, b), c) == field.add(field.multiply(a, c), field.multiply(b, c))


@small
def test_the_first_elements_are_the_integers_modulo_p(field: FiniteField) -> None:
    p, _ = prime_and_exponent(field.order)
    for a, b in product(range(p), range(p)):
        assert field.add(a, b) == (a + b) % p
        assert field.multiply(a, b) == a * b % p


@extensions
def test_elements_are_polynomials(order: int) -> None:
    """Sums digit by digit, products by long division: pairs of all elements with some."""
    p, k = prime_and_exponent(order)
    low = list(reduction_polynomial(p, k))
    field = field_of_order(order)
    assert type(field) is ExtensionField
    for a, b in product(range(order), range(0, order, 1 + order // 20)):
        assert field.multiply(a, b) == long_product(a, b, p, k, low)
        digits = zip(coefficients(a, p, k), coefficients(b, p, k), strict=True)
        assert coefficients(field.add(a, b), p, k) == [(x + y) % p for x, y in digits]


@extensions
def test_the_reduction_polynomial_is_the_least_primitive_one(order: int) -> None:
    p, k = prime_and_exponent(order)
    found = reduction_polynomial(p, k)
    number = sum(c * p**i for i, c in enumerate(found))
    assert order_of_x(p, k, list(found)) == order - 1
    for smaller in range(number):
        assert order_of_x(p, k, coefficients(smaller, p, k)) != order - 1


def test_the_reduction_polynomials_do_not_change() -> None:
    """They are part of the wire format: every report over such a field depends on them."""
    numbers = []
    for order in EXTENSIONS:
        p, k = prime_and_exponent(order)
        numbers.append(sum(c * p**i for i, c in enumerate(reduction_polynomial(p, k))))
    assert numbers == [3, 3, 5, 3, 7, 7, 5, 10, 3, 5, 18, 17, 3, 15, 7, 29]


@extensions
def test_the_tables_say_what_the_field_says(order: int) -> None:
    field = field_of_order(order)
    tables = kernel_tables(order)
    assert tables is not None
    differences, products, inverses = tables
    every = range(order)
    assert differences.tolist() == [[field.subtract(a, b) for b in every] for a in every]
    assert products.tolist() == [[field.multiply(a, b) for b in every] for a in every]
    assert inverses[1:].tolist() == [field.inverse(a) for a in every if a]
    assert {table.dtype for table in (differences, products, inverses)} == {np.dtype(np.uint8)}


def test_a_prime_takes_no_tables() -> None:
    for order in (2, 251, MAX_ORDER):
        assert type(field_of_order(order)) is PrimeField
        assert kernel_tables(order) is None


def test_primes() -> None:
    sieve = np.ones(2000, dtype=bool)
    sieve[:2] = False
    for d in range(2, 45):
        sieve[d * d :: d] = False
    assert [n for n in range(-3, 2000) if is_prime(n)] == np.flatnonzero(sieve).tolist()
    assert is_prime(MAX_ORDER)
    assert not is_prime(46337**2)


def test_orders_are_primes_and_small_prime_powers() -> None:
    powers = {p**k for p in range(2, 17) if is_prime(p) for k in range(2, 9)}
    assert sorted(n for n in powers if n <= MAX_EXTENSION_ORDER) == EXTENSIONS
    for n in range(-3, 3000):
        assert is_field_order(n) == (is_prime(n) or n in EXTENSIONS)
    assert is_field_order(MAX_ORDER)
    assert not is_field_order(2**31)


def test_an_order_is_split_into_prime_and_exponent() -> None:
    for p in (2, 3, 5, 7, 46337):
        for k in range(1, 4):
            assert prime_and_exponent(p**k) == (p, k)
