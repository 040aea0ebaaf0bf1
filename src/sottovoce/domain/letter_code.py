"""The code of words over an alphabet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DomainError
from sottovoce.domain.spelling import spelt
from sottovoce.domain.word_code import ENDED, REFUSED, WordCode, check_case, check_longest, joined_units, units_of
from sottovoce.domain.word_rows import AsciiUnits

__all__ = ["ALPHABETS", "LetterCode"]

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
    """Words of at most `longest` letters of an alphabet: a letter is a unit, its place in the alphabet from 1 on.

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
            twice = next(letter for place, letter in enumerate(self.alphabet) if letter in self.alphabet[:place])
            raise DomainError(
                f"the alphabet contains {twice!r} more than once: write each of its characters once, or give a name: "
                f"unicode, {', '.join(ALPHABETS)} or bytes"
            ).at("alphabet")
        for place, letter in enumerate(self.alphabet):
            if letter != " " and spelt(letter, self.case) != letter:
                raise DomainError(
                    f"character {place + 1} of the alphabet, {letter!r}, is spelt otherwise once words are normalised "
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
        return {letter: place for place, letter in enumerate(self.alphabet, 1)}

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
