"""Short texts over an alphabet, numbered so that texts with a common prefix are consecutive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, repeat
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.entries import as_integer, as_text, entries_of
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import MAX_PRODUCT_SIZE, check_domain_size, check_integer
from sottovoce.domain.base import AllTexts, Domain, Indices
from sottovoce.domain.lookup import Lookup

__all__ = ["TextDomain"]

_LARGEST_ALPHABET: Final = 64
_LONGEST: Final = 62
"""Longest texts whose numbers fit into int64, for an alphabet of two letters."""
_MOST: Final = 2**63 - 1
_ENDED: Final = "\0"
"""Marks the end of a text; not allowed in an alphabet."""


@final
@dataclass(frozen=True, repr=False)
class TextDomain(Domain):
    """All texts of at most `max_length` characters of `alphabet`, the empty one included.

    Numbered in dictionary order, with letters in the order of the alphabet: a text comes before its
    extensions, so the texts with a given prefix have consecutive numbers. With N(l) texts of at most l characters,
    text s has the number
    ``sum_i (1 + code(s[i]) * N(max_length - i - 1))``, where code counts the alphabet from 0.

    A character is a Unicode code point. A text is given by itself: an integer is neither a text nor its number, see
    `ValueNumbers`.

    Examples
    --------
    >>> words = Domain.text(2, "ab")
    >>> words.labels()
    ['', 'a', 'aa', 'ab', 'b', 'ba', 'bb']
    >>> words.prefixes(words.indices(["ba", "a"]), 1), words.letters(words.indices(["ba", "a"]), 1)
    (array([4, 1]), array([1, 0]))
    """

    alphabet: str
    max_length: int

    def __post_init__(self) -> None:
        if type(self.alphabet) is not str or not 2 <= len(self.alphabet) <= _LARGEST_ALPHABET:
            raise DomainError(f"a text's alphabet must be a string of 2 to {_LARGEST_ALPHABET} characters").at(
                "alphabet"
            )
        if len(set(self.alphabet)) < len(self.alphabet):
            raise DomainError("the alphabet contains a character more than once: its characters must be distinct").at(
                "alphabet"
            )
        if _ENDED in self.alphabet:
            # NumPy drops it from the end of a text.
            raise DomainError("the alphabet contains the character U+0000, which ends texts in arrays: remove it").at(
                "alphabet"
            )
        if any("\ud800" <= letter <= "\udfff" for letter in self.alphabet):
            raise DomainError("the alphabet is not valid Unicode text: remove the lone surrogate").at("alphabet")
        if type(self.max_length) is not int or not 1 <= self.max_length <= _LONGEST:
            raise DomainError(
                f"a text's length must be an integer from 1 to {_LONGEST}, fewer for a larger alphabet: "
                f"there may be at most {MAX_PRODUCT_SIZE} texts"
            ).at("max_length")
        check_domain_size(self.size, MAX_PRODUCT_SIZE, "max_length")

    def __repr__(self) -> str:
        return f"Domain.text({self.max_length}, {self.alphabet!r})"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        if not isinstance(values, AllTexts):
            return None
        length = as_integer(values.max_length)
        return cls(values.alphabet, values.max_length if length is None else length)

    @property
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        return ()

    @property
    def size(self) -> int:
        return self._texts_within[self.max_length]

    @cached_property
    def _texts_within(self) -> list[int]:
        """N(l), the number of texts of at most l characters, for l from 0 to the longest."""
        return list(accumulate(repeat(len(self.alphabet), self.max_length), lambda n, a: 1 + a * n, initial=1))

    @cached_property
    def _codes(self) -> Lookup:
        """As in `letters`: 0 after the end, else 1 + the letter's position in the alphabet."""
        return Lookup(_ENDED + self.alphabet)

    def _indices(self, values: Any) -> Indices:
        """Numbers of many texts."""
        entries = entries_of(values)
        if len(entries) > 1 and all(isinstance(entry, str) for entry in entries):
            return self._inside(self._find_texts(entries))
        return self._find_all(entries)

    def prefixes(self, positions: ArrayLike, k: int) -> Indices:
        """The numbers of the first k characters of each text, or of the whole text if it is shorter.

        Examples
        --------
        >>> names = Domain.text(5)
        >>> names.label(names.prefixes([names.index("anna")], 2)[0])
        'an'
        """
        numbers, length = self._numbers(positions), check_integer("k", k, 0, _MOST)
        return numbers - self._after(numbers, length)

    def letters(self, positions: ArrayLike, i: int) -> Indices:
        """Character i of each text, counted from 0: 1 + its position in the alphabet, 0 after the end of the text.

        Examples
        --------
        >>> names = Domain.text(5)
        >>> names.letters(names.indices(["bob", "a"]), 1)
        array([15,  0])
        """
        numbers, position = self._numbers(positions), check_integer("i", i, 0, _MOST)
        if position >= self.max_length:
            return np.zeros_like(numbers)
        # At the end of a text the remainder is 0, and the floor of -1 / N is -1.
        return 1 + (self._after(numbers, position) - 1) // self._texts_within[self.max_length - position - 1]

    def _after(self, numbers: Indices, length: int) -> Indices:
        """The number of each text less that of its first `length` characters."""
        rest = numbers
        for within in self._texts_within[-2::-1][:length]:
            rest = np.where(rest > 0, (rest - 1) % within, 0)
        return rest

    def _find(self, value: object) -> int:
        # Every value takes the same steps, text or not, short or long, so that timing reveals nothing about it.
        is_text = isinstance(value, str)
        text = as_text(value if isinstance(value, str) else "")[: self.max_length + 1]
        codes = [self._codes.find(letter) for letter in text.ljust(self.max_length + 1, _ENDED)]
        is_inside = (min(codes) >= 0) & (codes.pop() == 0) & (_ENDED not in text)
        steps = zip(codes, reversed(self._texts_within[:-1]), strict=True)
        rank = sum((code > 0) * (1 + (code - 1) * within) for code, within in steps)
        return rank if is_text and is_inside else -1

    def parse(self, text: str) -> object:
        return text

    def _find_texts(self, texts: Any) -> Indices:
        """`_find` for many texts at once, all their characters in one array."""
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        ends = np.cumsum(lengths)
        letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        places = np.arange(len(letters)) - np.repeat(ends - lengths, lengths)
        alphabet = np.frombuffer(self.alphabet.encode("utf-32-le"), dtype="<u4")
        order = np.argsort(alphabet)
        codes = order[np.searchsorted(alphabet, letters, sorter=order).clip(max=len(alphabet) - 1)]
        known = (alphabet[codes] == letters) & (places < self.max_length)
        weights = np.array([*self._texts_within[-2::-1], 0], dtype=np.int64)  # by position; 0 beyond the last
        steps = np.where(known, 1 + codes * weights[places.clip(max=self.max_length)], 0)
        # Differences of a running total; exact although it wraps around, since no text's own sum exceeds int64.
        totals = np.concatenate(([0], np.cumsum(steps)))
        strangers = np.concatenate(([0], np.cumsum(~known)))
        indices = totals[ends] - totals[ends - lengths]
        return np.where(strangers[ends] == strangers[ends - lengths], indices, -1)

    def _find_integers(self, integers: Indices) -> Indices:
        return np.full(len(integers), -1, dtype=np.int64)

    def _label(self, index: int) -> str:
        letters = []
        for within in reversed(self._texts_within[:-1]):
            if index == 0:
                break
            code, index = divmod(index - 1, within)
            letters.append(self.alphabet[code])
        return "".join(letters)

    @property
    def _allowed(self) -> str:
        return f"texts of at most {self.max_length} characters out of {self.alphabet!r}"

    def to_statement(self) -> dict[str, Any]:
        return {"alphabet": self.alphabet, "length": self.max_length}
