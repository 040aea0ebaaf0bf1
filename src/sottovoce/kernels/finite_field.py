"""The field F_q of q = p^k elements, by small tables: what a projective space computes with.

Elements are the integers 0 .. q-1. If q is a prime they are taken modulo q. Otherwise the digits of an
integer in base p are the coefficients of a polynomial over F_p, the lowest digit its constant one; digits
add modulo p, and products are reduced modulo the polynomial that `reduction_polynomial` finds.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_EXTENSION_ORDER",
    "MAX_ORDER",
    "ExtensionField",
    "FiniteField",
    "PrimeField",
    "Tables",
    "field_of_order",
    "is_field_order",
    "is_prime",
    "kernel_tables",
    "prime_and_exponent",
    "reduction_polynomial",
]

MAX_ORDER = 2**31 - 1
"""Products of two field elements stay below 2**62, so compiled code multiplies them in 64 bits."""

MAX_EXTENSION_ORDER = 256
"""Largest order that may be a prime power: an element is a byte. Above it primes are dense enough."""

Tables: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]
"""a - b and a b by row a and column b, and 1/a."""

Element = TypeVar("Element", int, NDArray[np.int64])


@dataclass(frozen=True)
class FiniteField(abc.ABC):
    """The arithmetic of one field; arguments are trusted to be its elements."""

    order: int

    @abc.abstractmethod
    def add(self, a: int, b: int) -> int:
        """The sum."""

    @abc.abstractmethod
    def subtract(self, a: int, b: int) -> int:
        """The difference."""

    @abc.abstractmethod
    def multiply(self, a: int, b: int) -> int:
        """The product."""

    @abc.abstractmethod
    def inverse(self, a: int) -> int:
        """1/a, for a other than 0."""


@final
@dataclass(frozen=True)
class PrimeField(FiniteField):
    """Integers modulo a prime."""

    def add(self, a: int, b: int) -> int:
        """a + b mod q."""
        return (a + b) % self.order

    def subtract(self, a: int, b: int) -> int:
        """a - b mod q."""
        return (a - b) % self.order

    def multiply(self, a: int, b: int) -> int:
        """a b mod q."""
        return a * b % self.order

    def inverse(self, a: int) -> int:
        """1/a mod q."""
        return pow(a, -1, self.order)


@final
@dataclass(frozen=True)
class ExtensionField(FiniteField):
    """Polynomials over F_p of degree below k, modulo `reduction_polynomial(p, k)`, k at least 2.

    Examples
    --------
    >>> F4 = ExtensionField(4)  # 2 is x, 3 is x + 1, and x^2 = x + 1
    >>> F4.add(2, 3), F4.multiply(2, 2), F4.multiply(2, 3), F4.inverse(2)
    (1, 3, 1, 3)
    """

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return prime_and_exponent(self.order)

    @cached_property
    def _powers(self) -> tuple[int, ...]:
        """x^0, x^1, .., twice around: two logarithms add up without a remainder."""
        p, k = self._shape
        once = _powers_of_x(p, k, _digits_to_integer(reduction_polynomial(p, k), p))
        return once * 2

    @cached_property
    def _logarithms(self) -> dict[int, int]:
        return {element: i for i, element in enumerate(self._powers[: self.order - 1])}

    def add(self, a: int, b: int) -> int:
        """Digit by digit."""
        return _add_multiple(a, 1, b, *self._shape)

    def subtract(self, a: int, b: int) -> int:
        """Digit by digit."""
        return _add_multiple(a, -1, b, *self._shape)

    def multiply(self, a: int, b: int) -> int:
        """By logarithms to the base x."""
        return self._powers[self._logarithms[a] + self._logarithms[b]] if a and b else 0

    def inverse(self, a: int) -> int:
        """x^(q-1) is 1."""
        return self._powers[self.order - 1 - self._logarithms[a]]

    @cached_property
    def tables(self) -> Tables:
        """The tables of this field's arithmetic, for compiled loops."""
        q = self.order
        powers, every = np.array(self._powers, dtype=np.int64), np.arange(q, dtype=np.int64)
        logarithms = np.array([self._logarithms[a] for a in range(1, q)], dtype=np.int64)
        differences = _add_multiple(np.repeat(every, q), -1, np.tile(every, q), *self._shape).reshape(q, q)
        products = np.zeros((q, q), dtype=np.int64)
        products[1:, 1:] = powers[logarithms[:, None] + logarithms]
        inverses = np.concatenate(([0], powers[q - 1 - logarithms]))
        return differences.astype(np.uint8), products.astype(np.uint8), inverses.astype(np.uint8)


def _add_multiple(a: Element, scale: int, b: Element, p: int, k: int) -> Element:
    """a + scale b, digit by digit modulo p, always k digits."""
    total = 0 * a
    for power in (p**i for i in range(k)):
        total = total + (a // power + scale * (b // power)) % p * power
    return total


def _digits_to_integer(digits: tuple[int, ...], p: int) -> int:
    return sum(digit * p**i for i, digit in enumerate(digits))


def _powers_of_x(p: int, k: int, low: int) -> tuple[int, ...]:
    """x^0, x^1, .. modulo x^k + low, up to the last before 1 returns; empty unless that takes p^k - 1 steps."""
    top_place, powers, power = p ** (k - 1), [], 1
    for _ in range(p**k - 1):
        powers.append(power)
        top, rest = divmod(power, top_place)
        power = _add_multiple(rest * p, -top, low, p, k)
        if power == 1:
            break
    return tuple(powers) if power == 1 and len(powers) == p**k - 1 else ()


@lru_cache(maxsize=64)
def reduction_polynomial(p: int, k: int) -> tuple[int, ...]:
    """Coefficients a_0 .. a_(k-1) of the polynomial x^k + .. + a_1 x + a_0 over F_p that F_q is built with.

    Of all monic primitive polynomials of degree k, those modulo which the powers of x are all q - 1 non-zero
    residues, it is the one of least a_0 + a_1 p + .. + a_(k-1) p^(k-1). A primitive polynomial is irreducible:
    every non-zero residue is a power of x, and x has an inverse.

    Examples
    --------
    >>> reduction_polynomial(2, 3)  # x^3 + x + 1
    (1, 1, 0)
    >>> reduction_polynomial(3, 2)  # x^2 + x + 2: modulo x^2 + 1, x^4 is 1 too early
    (2, 1)
    """
    low = next(low for low in range(p**k) if _powers_of_x(p, k, low))
    return tuple(low // p**i % p for i in range(k))


def is_prime(n: int) -> bool:
    """Whether n is a prime, by trial division (orders stay below `MAX_ORDER`)."""
    return n >= 2 and all(n % d for d in range(2, math.isqrt(n) + 1))


def prime_and_exponent(order: int) -> tuple[int, int]:
    """(p, k) with p the least prime factor and k how often it divides: order is p^k if it is a prime power.

    Examples
    --------
    >>> prime_and_exponent(27), prime_and_exponent(31)
    ((3, 3), (31, 1))
    """
    p = next((d for d in range(2, math.isqrt(order) + 1) if order % d == 0), order)
    k = 0
    while order % p == 0:
        order, k = order // p, k + 1
    return p, k


def is_field_order(n: int) -> bool:
    """Whether a field of n elements is offered: n a prime, or a prime power up to `MAX_EXTENSION_ORDER`.

    Examples
    --------
    >>> [n for n in range(30) if is_field_order(n)]
    [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29]
    """
    if n < 2 or n > MAX_EXTENSION_ORDER:
        return is_prime(n)
    p, k = prime_and_exponent(n)
    return bool(p**k == n)


@lru_cache(maxsize=64)
def field_of_order(order: int) -> FiniteField:
    """The field with `order` elements, `is_field_order(order)` being true.

    Examples
    --------
    >>> field_of_order(7).multiply(3, 5), field_of_order(9).multiply(3, 5)
    (1, 4)
    """
    return PrimeField(order) if is_prime(order) else ExtensionField(order)


def kernel_tables(order: int) -> Tables | None:
    """What compiled loops need beside the order: nothing if it is a prime."""
    field = field_of_order(order)
    return field.tables if isinstance(field, ExtensionField) else None
