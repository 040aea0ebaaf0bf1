"""Words on which a device is run: random walks through a code's automaton, edge cases, and non-words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Final, final

import numpy as np

from sottovoce.domain.trials import Trial, Trials
from sottovoce.domain.words.codes import LONGEST, ByteCode, IntegerCode, LetterCode, WordCode
from sottovoce.randomness.scripts import random_below

__all__ = ["EDGE_WORDS", "WordTrials", "random_word"]

_NO_WORDS: Final = (None, True, 1.5, (), "", b"", " ", "a\x00b", "\ud800", "\u202ea", "ab" * LONGEST, -1, 2**64, object)
"""Values that are words of no code."""

EDGE_WORDS: Final = 24
"""How many numbers of `WordTrials.value` stand for words at the edges."""

_CHARACTERS: Final = (
    "abzAZ059 -'~\u00e9\u00c9\u00df\u0130\u03a3\u0301\u0327\u07ff\u0800\u05d0\u5b57\uac00\uffff\U0001f44d"
)
_REFUSED: Final = "\u200b\u202e\x00\ud83d"
"""Characters that no word contains. (One surrogate only: JavaScript would make one character of two.)"""

_NUMBERED_NO_WORDS: Final = (None, "", " ", b"", -1, True, 0.5, "a" * 200, b"a" * 200, 2**70)
"""Values that are words of no code and that JSON can hold."""

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
        self.code, self._number = code, count()

    def edges(self) -> Iterator[Trial]:
        for index, value in enumerate(_NO_WORDS):
            yield Trial(f"non-word {index + 1}", value, self._row(0))

    def random(self, rng: np.random.Generator) -> Trial:
        number, typed = random_word(self.code, rng), next(self._number) % 3
        value, row = self.code.value(number), self._row(number)
        if isinstance(value, str) and typed == 1:
            return Trial(f"the word {value!a} between spaces", f" \t{value}\u3000", row)
        if isinstance(value, str) and typed == 2 and getattr(self.code, "case", "keep") == "lower" and value.isascii():
            return Trial(f"the word {value!a} in capitals", value.upper(), row)
        return Trial(f"the word {value!a}", value, row)

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

    def value(self, number: int) -> Any:
        """A word of any length up to one too many, sometimes no word at all; JSON can hold it."""
        code, rng = self.code, np.random.default_rng(number)
        if number < EDGE_WORDS and number % 2:
            return _NUMBERED_NO_WORDS[number // 2 % len(_NUMBERED_NO_WORDS)]
        if isinstance(code, IntegerCode):
            from_end = number // 4
            wide = int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(0, 64))
            return (
                (from_end, code.below - from_end)[number // 2 % 2] if number < EDGE_WORDS else wide % (code.below + 1)
            )
        # At the edges the longest, and one that is too long.
        longest = code.units if isinstance(code, LetterCode | ByteCode) else code.units // 4
        length = longest + number // 2 % 2 if number < EDGE_WORDS else int(rng.integers(1, longest + 2))
        if isinstance(code, ByteCode):
            edge = (b"\xff" if number < EDGE_WORDS // 2 else b"\x00") * length
            return edge if number < EDGE_WORDS else rng.bytes(length)
        known = code.alphabet if isinstance(code, LetterCode) else _CHARACTERS
        # Some texts may have characters that no word contains, and every fourth letter is a capital.
        known = known + _REFUSED if rng.random() < 0.1 else known
        letters = [known[index] for index in rng.integers(0, len(known), length).tolist()]
        return "".join(letter.upper() if rng.random() < 0.25 else letter for letter in letters)
