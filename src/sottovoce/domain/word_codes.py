"""Codes of values nobody listed: made from what a survey asks, and read from its JSON."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.core.errors import DomainError
from sottovoce.domain.byte_code import ByteCode
from sottovoce.domain.integer_code import IntegerCode
from sottovoce.domain.integers import integer_from_json
from sottovoce.domain.letter_code import ALPHABETS, LetterCode
from sottovoce.domain.unicode_code import UnicodeCode
from sottovoce.domain.word_code import ENDED, LONGEST, Extensions, WordCode

__all__ = ["ALPHABETS", "ENDED", "LONGEST", "ByteCode", "Extensions", "IntegerCode", "LetterCode", "UnicodeCode"]
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
    """Refuse what is a name or a range to its author, and would be taken for a few characters."""
    names = ("unicode", *ALPHABETS, "bytes")
    meant = _NAMED_OTHERWISE.get(alphabet.lower()) or next(
        (name for name in names if len(alphabet) > 2 and name.startswith(alphabet.lower())), alphabet
    )
    if meant != alphabet:
        raise DomainError(
            f"alphabet is {alphabet!r}, which would be its {len(alphabet)} characters: for the alphabet of that name "
            f"write {meant!r}; the names are {', '.join(names)}"
        ).at("alphabet")
    for found in _RANGE.finditer(alphabet):
        if found[1] < found[2] and found[1].isdigit() == found[2].isdigit():
            raise DomainError(
                f"alphabet contains {found[0]!r}, which would be three characters and no range: write out all "
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
