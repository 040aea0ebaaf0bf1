"""Values as strings of digits whose prefixes can be asked for: an integer's bits, a text's letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DomainError
from sottovoce.domain import Domain, RangeDomain, TextDomain
from sottovoce.expressions.tree import integer_node

__all__ = ["Bits", "Digits", "Letters", "digits_of"]

Mask = NDArray[np.bool_]


class Digits(Protocol):
    """An attribute whose values have `length` digits of `base` each. A prefix is a number or a text."""

    @property
    def base(self) -> int:
        """The base of the digits."""

    @property
    def length(self) -> int:
        """The number of digits of a value."""

    @property
    def root(self) -> Any:
        """The prefix of no digits."""

    def listed(self, prefix: Any) -> Any:
        """A prefix as a constant of an expression."""

    def next(self, start: int, stop: int) -> Any:
        """The expression for the number that the digits from `start` to `stop` make."""

    def possible(self, prefixes: Sequence[Any], start: int, stop: int) -> Mask:
        """Which numbers can follow each prefix: one row per prefix."""

    def extend(self, prefix: Any, number: int, start: int, stop: int) -> Any:
        """The prefix extended by the digits of a number."""

    def value(self, prefix: Any) -> int | str:
        """The value that a prefix of full length is."""


@final
@dataclass(frozen=True)
class Bits:
    """The position of an integer in its range, from the highest bit; a prefix is a number."""

    name: str
    values: RangeDomain
    base: int = 2
    root: int = 0

    @property
    def length(self) -> int:
        return (self.values.size - 1).bit_length()

    def listed(self, prefix: int) -> Any:
        return integer_node(prefix)

    def next(self, start: int, stop: int) -> Any:
        """The longer prefix modulo the shorter one's place value."""
        return ["%", ["prefix", ["attribute", self.name], stop], integer_node(2 ** (stop - start))]

    def possible(self, prefixes: Sequence[int], start: int, stop: int) -> Mask:
        """Up to the last position's own prefix."""
        last = (self.values.size - 1) >> (self.length - stop)
        room = np.array([last - (prefix << (stop - start)) for prefix in prefixes], dtype=np.int64)
        return np.asarray(np.arange(2 ** (stop - start)) <= room[:, None])

    def extend(self, prefix: int, number: int, start: int, stop: int) -> int:
        return (prefix << (stop - start)) + number

    def value(self, prefix: int) -> int:
        return self.values.start + self.values.step * prefix


@final
@dataclass(frozen=True)
class Letters:
    """The characters of a text, 0 after its end; a prefix is a text, which may end early."""

    name: str
    values: TextDomain
    root: str = ""

    @property
    def base(self) -> int:
        return len(self.values.alphabet) + 1

    @property
    def length(self) -> int:
        return self.values.max_length

    def listed(self, prefix: str) -> Any:
        return prefix

    def next(self, start: int, stop: int) -> Any:
        """The letters as digits, the first one counting most."""
        number: Any = ["letter", ["attribute", self.name], start]
        for place in range(start + 1, stop):
            number = ["+", ["*", number, self.base], ["letter", ["attribute", self.name], place]]
        return number

    def possible(self, prefixes: Sequence[str], start: int, stop: int) -> Mask:
        """After its end a text has no letter."""
        numbers = np.arange(self.base ** (stop - start))
        letters = [numbers // self.base**i % self.base > 0 for i in range(stop - start)]  # the last letter first
        texts = np.all([before | ~after for after, before in pairwise(letters)], axis=0)
        ended = np.array([len(prefix) < start for prefix in prefixes])
        return np.asarray(np.where(ended[:, None], numbers == 0, texts))

    def extend(self, prefix: str, number: int, start: int, stop: int) -> str:
        codes = [number // self.base**i % self.base for i in reversed(range(stop - start))]
        return prefix + "".join(self.values.alphabet[code - 1] for code in codes if code)

    def value(self, prefix: str) -> str:
        return prefix


def digits_of(name: str, values: Domain) -> Digits:
    """The attribute's values as digits; refused for labels, which have no prefixes."""
    if isinstance(values, RangeDomain):
        return Bits(name, values)
    if isinstance(values, TextDomain):
        return Letters(name, values)
    raise DomainError(
        f"attribute {name!r} has labels, which have no prefixes: ask for their distribution in a single round, or give "
        "a range of integers or Domain.text"
    )
