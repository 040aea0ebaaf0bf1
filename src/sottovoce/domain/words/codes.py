"""Codes of values nobody listed: made from what a survey asks, and read from its JSON; those of bytes and integers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_whole
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_integer
from sottovoce.domain.integers import integer_from_json, integer_to_json
from sottovoce.domain.words.code import (
    ENDED,
    LONGEST,
    REFUSED,
    Extensions,
    WordCode,
    check_longest,
    joined_units,
    units_of,
)
from sottovoce.domain.words.letters import ALPHABETS, LetterCode, UnicodeCode

__all__ = ["ALPHABETS", "ENDED", "LONGEST", "ByteCode", "Extensions", "IntegerCode", "LetterCode", "UnicodeCode"]


_HEXADECIMAL: Final = re.compile(r"0x((?:[0-9A-Fa-f]{2})+)")


@final
@dataclass(frozen=True)
class ByteCode(WordCode):
    """Byte strings of at most `longest` bytes; a unit is a byte plus one.

    Examples
    --------
    >>> code = ByteCode(2)
    >>> code.bits, code.value((0x41 + 1) << 9), code.shown(b"A"), code.typed("0x41")
    (18, b'A', '0x41', b'A')
    """

    longest: int

    kind: ClassVar[str] = "bytes"

    def __post_init__(self) -> None:
        check_longest(self)

    @property
    def unit_bits(self) -> int:
        return 9

    @property
    def units(self) -> int:
        return self.longest

    @property
    def ends_anywhere(self) -> bool:
        return True

    def step(self, state: int) -> NDArray[np.int64]:
        table = np.full(512, REFUSED, dtype=np.int64)
        table[0], table[1:257] = ENDED, 0
        return table

    def _number(self, value: object) -> int:
        if not isinstance(value, bytes | bytearray) or len(value) > self.longest:
            return 0
        return joined_units([byte + 1 for byte in value], self)

    def _value(self, number: int) -> bytes | None:
        units = units_of(number, self)
        return bytes(unit - 1 for unit in units) if all(1 <= unit <= 256 for unit in units) else None

    def shown(self, value: bytes) -> str:
        return "0x" + value.hex()

    def typed(self, text: str) -> bytes | None:
        read = _HEXADECIMAL.fullmatch(text.strip(" "))
        return bytes.fromhex(read[1]) if read else None

    @property
    def allowed(self) -> str:
        return f"byte strings of 1 to {self.longest} bytes, typed as 0x and two hexadecimal digits for every byte"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "longest": self.longest}


_DECIMAL: Final = re.compile(r"0*([0-9]{1,20})")


@final
@dataclass(frozen=True)
class IntegerCode(WordCode):
    """Integers from 0 to below a limit; the code is the integer plus one, a unit is a bit.

    Examples
    --------
    >>> IntegerCode(2**60).bits, IntegerCode(10).row(9).tolist(), IntegerCode(10).typed("9")
    (61, [160], 9)
    """

    below: int

    kind: ClassVar[str] = "integers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", check_integer("below", self.below, 2, 2**64))

    @property
    def unit_bits(self) -> int:
        return 1

    @property
    def units(self) -> int:
        return self.below.bit_length()

    @property
    def ends_anywhere(self) -> bool:
        return False

    def step(self, state: int) -> NDArray[np.int64]:
        return np.zeros(2, dtype=np.int64)

    def _number(self, value: object) -> int:
        integer = as_whole(value)
        return integer + 1 if integer is not None and 0 <= integer < self.below else 0

    def _value(self, number: int) -> int | None:
        return number - 1

    def shown(self, value: int) -> str:
        return str(value)

    def typed(self, text: str) -> int | None:
        read = _DECIMAL.fullmatch(text.strip(" "))
        return int(read[1]) if read else None

    @property
    def allowed(self) -> str:
        return f"integers from 0 to {self.below - 1}"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "below": integer_to_json(self.below)}


__all__ += ["WordCode", "code_from_statement", "word_code"]

_NAMED_OTHERWISE: Final = {"utf-8": "unicode", "utf8": "unicode", "english": "latin", "a-z": "latin", "0-9": "digits"}
_RANGE: Final = re.compile(r"([A-Za-z0-9])-([A-Za-z0-9])")


def word_code(alphabet: str = "unicode", longest: int = 16, case: str = "lower", below: int | None = None) -> WordCode:
    """The code of words of an alphabet, of byte strings, or of integers below a limit."""
    if below is not None:
        if (alphabet, longest, case) != ("unicode", 16, "lower"):
            raise DomainError(
                "below is for integers, which have no alphabet, length or case: leave alphabet, longest and case out"
            ).at("below")
        return IntegerCode(below)
    if alphabet == "bytes":
        return ByteCode(longest)
    if alphabet == "unicode":
        return UnicodeCode(longest, case)
    if isinstance(alphabet, str):
        _check_written_out(alphabet)
    return LetterCode(ALPHABETS.get(alphabet, alphabet) if isinstance(alphabet, str) else alphabet, longest, case)


def _check_written_out(alphabet: str) -> None:
    """Refuse an alphabet that looks like a name or a range, and would be taken for a few characters."""
    names = ("unicode", *ALPHABETS, "bytes")
    meant = _NAMED_OTHERWISE.get(alphabet.lower()) or next(
        (name for name in names if len(alphabet) > 2 and name.startswith(alphabet.lower())), alphabet
    )
    if meant != alphabet:
        raise DomainError(
            f"alphabet is {alphabet!r}, which would be its {len(alphabet)} characters: for the alphabet of that name "
            f"write {meant!r}; the names are {', '.join(names)}"
        ).at("alphabet")
    for match in _RANGE.finditer(alphabet):
        if match[1] < match[2] and match[1].isdigit() == match[2].isdigit():
            raise DomainError(
                f"alphabet contains {match[0]!r}, which would be three characters and not a range: write out all "
                "characters, or put the hyphen last"
            ).at("alphabet")


def code_from_statement(statement: object) -> WordCode:
    """The code that `to_statement` wrote; anything else raises `DomainError`."""
    match statement:
        case {"code": "letters", "alphabet": str(alphabet), "longest": int(longest), "case": str(case), **rest} if (
            not rest
        ):
            return LetterCode(alphabet, longest, case)
        case {"code": "unicode", "longest": int(longest), "case": str(case), **rest} if not rest:
            return UnicodeCode(longest, case)
        case {"code": "bytes", "longest": int(longest), **rest} if not rest:
            return ByteCode(longest)
        case {"code": "integers", "below": below, **rest} if not rest:
            return IntegerCode(integer_from_json(below))
        case _:
            raise DomainError(
                "the code of words must be letters, unicode, bytes or integers, with exactly its fields"
            ).at("code")
