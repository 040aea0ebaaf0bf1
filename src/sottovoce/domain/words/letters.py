"""Codes of words: over an alphabet, and in any script."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DomainError
from sottovoce.domain.words.code import (
    ENDED,
    REFUSED,
    AsciiUnits,
    WordCode,
    check_case,
    check_longest,
    joined_units,
    spelt,
    units_of,
)

__all__ = ["ALPHABETS", "LetterCode", "UnicodeCode"]


ALPHABETS: Final = {
    "latin": "abcdefghijklmnopqrstuvwxyz'- ",
    "digits": "0123456789",
    "hexadecimal": "0123456789abcdef",
    "ascii": "".join(map(chr, range(0x20, 0x7F))),
}
"""Alphabets with a name."""


@final
@dataclass(frozen=True)
class LetterCode(WordCode):
    """Words of at most `longest` letters of an alphabet: a letter is a unit, its position in the alphabet from 1 on.

    Examples
    --------
    >>> code = LetterCode("abc", 4, "lower")
    >>> code.bits, code.row("Cab").tolist(), code.value(0b11_01_10_00)
    (8, [216], 'cab')
    """

    alphabet: str
    longest: int
    case: str

    kind: ClassVar[str] = "letters"

    def __post_init__(self) -> None:
        check_longest(self)
        check_case(self.case)
        if type(self.alphabet) is not str or not 2 <= len(self.alphabet) <= 1024:
            raise DomainError(
                f"alphabet must be one of unicode, {', '.join(ALPHABETS)}, bytes, or a string of 2 to 1,024 characters"
            ).at("alphabet")
        if len(set(self.alphabet)) < len(self.alphabet):
            twice = next(letter for index, letter in enumerate(self.alphabet) if letter in self.alphabet[:index])
            raise DomainError(
                f"the alphabet contains {twice!r} more than once: write each of its characters once, or give a name: "
                f"unicode, {', '.join(ALPHABETS)} or bytes"
            ).at("alphabet")
        for index, letter in enumerate(self.alphabet):
            if letter != " " and spelt(letter, self.case) != letter:
                raise DomainError(
                    f"character {index + 1} of the alphabet, {letter!r}, is spelt otherwise once words are normalised "
                    f"(NFC, case {self.case!r}), so that no word could contain it: write it as it is normalised"
                ).at("alphabet")

    @cached_property
    def unit_bits(self) -> int:
        return len(self.alphabet).bit_length()

    @property
    def units(self) -> int:
        return self.longest

    @property
    def ends_anywhere(self) -> bool:
        return True

    def step(self, state: int) -> NDArray[np.int64]:
        table = np.full(1 << self.unit_bits, REFUSED, dtype=np.int64)
        table[0], table[1 : len(self.alphabet) + 1] = ENDED, 0
        return table

    @cached_property
    def _places(self) -> dict[str, int]:
        return {letter: number for number, letter in enumerate(self.alphabet, 1)}

    def _number(self, value: object) -> int:
        text = spelt(value, self.case) if isinstance(value, str) else None
        units = [self._places.get(letter, 0) for letter in text or ""]
        return joined_units(units, self) if all(units) else 0

    def _value(self, number: int) -> str | None:
        units = units_of(number, self)
        return "".join(self.alphabet[unit - 1] for unit in units) if max(units) <= len(self.alphabet) else None

    def _counted(self, value: str) -> Any:
        return spelt(value, self.case)

    @cached_property
    def _ascii_units(self) -> AsciiUnits:
        letters = [chr(point).lower() if self.case == "lower" else chr(point) for point in range(128)]
        units = tuple((self._places[letter],) if letter in self._places else () for letter in letters)
        return AsciiUnits(units, self.longest, self.units, self.unit_bits, self.case == "lower")

    def shown(self, value: str) -> str:
        return value

    def typed(self, text: str) -> str:
        return text

    @property
    def allowed(self) -> str:
        shown = next((name for name, letters in ALPHABETS.items() if letters == self.alphabet), repr(self.alphabet))
        return f"words of 1 to {self.longest} characters of the alphabet {shown}"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "alphabet": self.alphabet, "longest": self.longest, "case": self.case}


_NEAR: Final = "0123456789 -'.,/@_&+:#!?()*%=;$~"
"""The characters of two units, after the small letters of one."""

_NATIVE: Final = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"


@final
@dataclass(frozen=True)
class UnicodeCode(WordCode):
    """Any text of at most `longest` UTF-16 code units, in units of five bits: the more usual a character, the shorter.

    The letters a to z take one unit, digits and usual punctuation two, code units below 2,048 three (Latin, Greek,
    Cyrillic, Hebrew, Arabic), all others four. A character beyond the basic plane, such as most emoji, is two code
    units, as JavaScript counts them.

    Examples
    --------
    >>> code = UnicodeCode(4, "lower")
    >>> code.bits, [len(character_units(ord(letter))) for letter in "h7é字"]
    (80, [1, 2, 3, 4])
    >>> code.value(int.from_bytes(code.row("Hi 7"), "big"))
    'hi 7'
    """

    longest: int
    case: str

    kind: ClassVar[str] = "unicode"

    def __post_init__(self) -> None:
        check_longest(self)
        check_case(self.case)

    @property
    def unit_bits(self) -> int:
        return 5

    @property
    def units(self) -> int:
        return 4 * self.longest

    @property
    def ends_anywhere(self) -> bool:
        return True

    def step(self, state: int) -> NDArray[np.int64]:
        """A state is the number of units that the present character still takes."""
        if state > 0:
            return np.full(32, state - 1, dtype=np.int64)
        return np.array([ENDED, *[0] * 26, 1, 2, 2, 3, 3], dtype=np.int64)

    def _number(self, value: object) -> int:
        text = spelt(value, self.case) if isinstance(value, str) else None
        codes = memoryview((text or "").encode("utf-16-be"))
        if len(codes) > 2 * self.longest:
            return 0
        units = [
            unit
            for offset in range(0, len(codes), 2)
            for unit in character_units(codes[offset] << 8 | codes[offset + 1])
        ]
        return joined_units(units, self)

    def _value(self, number: int) -> str | None:
        units = units_of(number, self)
        codes, index = [], 0
        padded = [*units, 0, 0, 0]  # zeros at the end of the last character were taken for the end
        while index < len(units):
            first, *rest = padded[index : index + 4]
            if first == 0:
                return None
            if first <= 26:
                codes.append(first + 0x60)
                index += 1
            elif first == 27:
                codes.append(ord(_NEAR[rest[0]]))
                index += 2
            elif first <= 29:
                codes.append((first - 28) << 10 | rest[0] << 5 | rest[1])
                index += 3
            else:
                codes.append((first - 30) << 15 | rest[0] << 10 | rest[1] << 5 | rest[2])
                index += 4
        return array("H", codes).tobytes().decode(_NATIVE, "replace")

    def _counted(self, value: str) -> Any:
        return spelt(value, self.case)

    @cached_property
    def _ascii_units(self) -> AsciiUnits:
        letters = [spelt(chr(point), self.case) or " " * (point == 0x20) for point in range(128)]
        units = tuple(character_units(ord(letter)) if letter else () for letter in letters)
        return AsciiUnits(units, self.longest, self.units, self.unit_bits, self.case == "lower")

    def shown(self, value: str) -> str:
        return value

    def typed(self, text: str) -> str:
        return text

    @property
    def allowed(self) -> str:
        return f"words of 1 to {self.longest} characters; one beyond the basic plane, such as an emoji, counts twice"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "longest": self.longest, "case": self.case}


@cache
def character_units(code: int) -> tuple[int, ...]:
    """The units of one UTF-16 code unit."""
    if 0x61 <= code <= 0x7A:
        return (code - 0x60,)
    if chr(code) in _NEAR:
        return 27, _NEAR.index(chr(code))
    if code < 0x800:
        return 28 + (code >> 10), code >> 5 & 31, code & 31
    return 30 + (code >> 15), code >> 10 & 31, code >> 5 & 31, code & 31
