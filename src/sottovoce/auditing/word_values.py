"""Words that an audit runs a device on: random walks through the code's automaton, and what is no word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.domain.words.codes import LONGEST, WordCode

__all__ = ["Held", "random_word", "words_to_run"]

_NO_WORDS: Final = (None, True, 1.5, (), "", b"", " ", "a\x00b", "\ud800", "\u202ea", "ab" * LONGEST, -1, 2**64, object)
"""What is no word of any code; texts and numbers that some codes have are not among them."""

_MOST_TRIES: Final = 1000


class Held(NamedTuple):
    """What one person has, and the code that the device must make of it, as a number."""

    name: str
    value: Any
    number: int


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


def words_to_run(code: WordCode, rng: np.random.Generator) -> Iterator[Held]:
    """Values that are no word, then random words; texts also as people type them, with spaces and in capitals."""
    for place, value in enumerate(_NO_WORDS):
        yield Held(f"non-word {place + 1}", value, 0)
    while True:
        number = random_word(code, rng)
        value = code.value(number)
        yield Held(f"the word {value!a}", value, number)
        if isinstance(value, str):
            yield Held(f"the word {value!a} between spaces", f" \t{value}\u3000", number)
            if getattr(code, "case", "keep") == "lower" and value.isascii():
                yield Held(f"the word {value!a} in capitals", value.upper(), number)
