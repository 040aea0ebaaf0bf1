"""Words on which a device is run: random walks through a code's automaton, edge cases, and non-words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, final

import numpy as np

from sottovoce.domain.trials import Trial, Trials
from sottovoce.domain.words.codes import LONGEST, ByteCode, IntegerCode, LetterCode, WordCode
from sottovoce.randomness.scripts import random_below

__all__ = ["WordTrials", "random_word"]

_NO_WORDS: Final = (
    *(None, True, 1.5, "", b"", " ", "a\x00b", "\ud800", "\u202ea", "ab" * LONGEST, b"a" * 200, -1, 2**70),
    *((), object),
)
"""Values that are words of no code; the last ones are no values of other languages."""
_IN_PYTHON: Final = (tuple, type)

_SPELLINGS: Final = (
    "\u00e9",
    "e\u0301",
    "\u0130",
    "i\u0307",
    "\u1e9e",
    "\u03a3\u03c2",
    "\uac00",
    "\u1100\u1161",
    "\ufb01",
    "\u212a",
)
"""Letters that have another spelling: composed or not, in capitals, at the end of a word, for compatibility."""

_CHARACTERS: Final = (
    "abzAZ059 -'~\u00e9\u00c9\u00df\u0130\u03a3\u0301\u0327\u07ff\u0800\u05d0\u5b57\uac00\uffff\U0001f44d"
)
_REFUSED: Final = "\u200b\u202e\x00\ud83d"
"""Characters that no word contains. (One surrogate only: JavaScript would make one character of two.)"""

_MOST_TRIES: Final = 1000


def random_word(code: WordCode, rng: np.random.Generator, *, full: bool = False) -> int:
    """The code of a random word: of a random length, or about as long as the code allows if `full`.

    Chains of units that spell no word are thrown away, and shorter ones are tried: a code has room for as many of its
    widest characters as a word may have.
    """
    longest = code.units
    for _ in range(_MOST_TRIES):
        length = longest if full or not code.ends_anywhere else int(rng.integers(1, longest + 1))
        number = state = 0
        for _ in range(length):
            table = code.step(state)
            unit = int(rng.choice(np.flatnonzero(table >= 0)))
            number, state = number << code.unit_bits | unit, int(table[unit])
        number <<= (code.units - length) * code.unit_bits
        if state == 0 and code.value(number) is not None:
            return number
        if code.ends_anywhere:
            longest = max(1, longest - 1)
    raise RuntimeError("the code seems to have no words")


@final
class WordTrials(Trials):
    """Values that are not words, and random words; texts also as people type them, with spaces and in capitals."""

    def __init__(self, code: WordCode) -> None:
        self.code = code

    def edges(self) -> Iterator[Trial]:
        """Values that are no words, the longest ones, one unit more, equal beginnings, and other spellings."""
        for index, value in enumerate(_NO_WORDS):
            yield Trial(f"non-word {index + 1}", value, self._row(0), not isinstance(value, _IN_PYTHON))
        for value in self._edge_values():
            yield Trial(f"the value {value!a:.60}", value)

    def _edge_values(self) -> Iterator[Any]:
        code, longest = self.code, self._longest
        if isinstance(code, IntegerCode):
            yield from (0, 1, 2, code.below - 2, code.below - 1, code.below, *(1 << bit for bit in range(0, 64, 7)))
        elif isinstance(code, ByteCode):
            for unit, length in product((b"\x00", b"\xff", b"a"), (1, longest - 1, longest, longest + 1)):
                yield unit * length
            yield from (b"a" * (longest - 1) + bytes([last]) for last in (0, 1, 254, 255))
        else:
            known = self._letters
            for letter, length in product((known[0], known[-1]), (1, 2, longest - 1, longest, longest + 1)):
                yield letter * length
            yield from (known[0] * (longest - 1) + letter for letter in known[:8])
            yield from ((known[0] * (longest - len(one)) + one)[:longest] for one in _SPELLINGS)

    @property
    def _longest(self) -> int:
        """The most letters or bytes of a word."""
        return self.code.units if isinstance(self.code, LetterCode | ByteCode) else self.code.units // 4

    @property
    def _letters(self) -> str:
        return self.code.alphabet if isinstance(self.code, LetterCode) else _CHARACTERS

    def random(self, rng: np.random.Generator) -> Trial:
        """A word whose code is known, as people may type it; every fourth time any value of that kind."""
        typed = int(rng.integers(0, 4))
        if typed == 0:
            value = self._any(rng)
            return Trial(f"the value {value!a:.60}", value)
        number = random_word(self.code, rng)
        value, row = self.code.value(number), self._row(number)
        if isinstance(value, str) and typed == 1:
            return Trial(f"the word {value!a} between spaces", f" \t{value}\u3000", row)
        if isinstance(value, str) and typed == 2 and getattr(self.code, "case", "keep") == "lower" and value.isascii():
            return Trial(f"the word {value!a} in capitals", value.upper(), row)
        return Trial(f"the word {value!a}", value, row)

    def _any(self, rng: np.random.Generator) -> Any:
        """A value of any length up to one unit too many, sometimes no word at all."""
        code = self.code
        if isinstance(code, IntegerCode):
            return (int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(0, 64))) % (code.below + 1)
        length = int(rng.integers(1, self._longest + 2))
        if isinstance(code, ByteCode):
            return rng.bytes(length)
        # Some texts may have characters that no word contains, and every fourth letter is a capital.
        known = self._letters + (_REFUSED if rng.random() < 0.1 else "")
        letters = [known[index] for index in rng.integers(0, len(known), length).tolist()]
        return "".join(letter.upper() if rng.random() < 0.25 else letter for letter in letters)

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """A word, one that begins differently, one that ends differently, and a value that is not a word."""
        first, second, third = (random_word(self.code, rng, full=True) for _ in range(3))
        for _ in range(200):
            last = first ^ 1 + random_below(min(2, (1 << self.code.unit_bits) - 1), rng)
            if self.code.value(last) is not None:
                third = last
                break
        words = [self.code.value(number) for number in (first, second, third)]
        return [*(Trial(f"the word {word!a}", word) for word in words), Trial("no word", None)]

    def _row(self, number: int) -> Any:
        """The bytes of a code, which the highest bits of the first byte begin."""
        size = self.code.row_bytes
        return np.frombuffer((number << 8 * size - self.code.bits).to_bytes(size, "big"), dtype=np.uint8)
