"""Words, byte strings and integers on which a device is run: at the edges of a code, random ones, and no words."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sottovoce.domain.words.codes import ByteCode, IntegerCode, LetterCode, WordCode

__all__ = ["EDGE_WORDS", "word_value"]

EDGE_WORDS: Final = 24
"""So many numbers stand for words at the edges."""

_CHARACTERS: Final = (
    "abzAZ059 -'~\u00e9\u00c9\u00df\u0130\u03a3\u0301\u0327\u07ff\u0800\u05d0\u5b57\uac00\uffff\U0001f44d"
)
_REFUSED: Final = "\u200b\u202e\x00\ud83d"
"""With these a text is no word. (One surrogate only: JavaScript would make one character of two.)"""

_NO_WORDS: Final = (None, "", " ", b"", -1, True, 0.5, "a" * 200, b"a" * 200, 2**70)


def word_value(code: WordCode, number: int) -> Any:
    """The value of this number: the same for every call, of any length up to one too many, sometimes no word at all."""
    rng = np.random.default_rng(number)
    if number < EDGE_WORDS and number % 2:
        return _NO_WORDS[number // 2 % len(_NO_WORDS)]
    if isinstance(code, IntegerCode):
        from_end = number // 4
        wide = int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(0, 64))
        return (from_end, code.below - from_end)[number // 2 % 2] if number < EDGE_WORDS else wide % (code.below + 1)
    # At the edges the longest, and one that is too long.
    longest = code.units if isinstance(code, LetterCode | ByteCode) else code.units // 4
    length = longest + number // 2 % 2 if number < EDGE_WORDS else int(rng.integers(1, longest + 2))
    if isinstance(code, ByteCode):
        return (b"\xff" if number < EDGE_WORDS // 2 else b"\x00") * length if number < EDGE_WORDS else rng.bytes(length)
    known = code.alphabet if isinstance(code, LetterCode) else _CHARACTERS
    # Some texts may have characters that make them no words, and every fourth letter is a capital.
    known = known + _REFUSED if rng.random() < 0.1 else known
    letters = [known[place] for place in rng.integers(0, len(known), length).tolist()]
    return "".join(letter.upper() if rng.random() < 0.25 else letter for letter in letters)
