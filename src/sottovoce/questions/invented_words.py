"""People with words that nobody listed: invented words by Zipf's law, or the lines of a text file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.domain.words.codes import ALPHABETS, ByteCode, IntegerCode, LetterCode, WordCode

__all__ = ["WordPeople"]

Floats = NDArray[np.float64]

_INVENTED: Final = 1000
_TRIES: Final = 5 * _INVENTED
_SEED: Final = 20
"""Seed of invented words, which are the same for everybody; who has which is drawn anew."""
_EXPONENT: Final = 1.2


@final
@dataclass(frozen=True, eq=False)
class WordPeople:
    """A population of words.

    Attributes
    ----------
    held
        What people have, each once; some of it may be no word of the survey.
    weights
        How many people, or which share of them, have each.

    Examples
    --------
    >>> from sottovoce.domain.words.codes import word_code
    >>> people = WordPeople.of_lines(word_code("latin", 8, "lower"), ["tea", "Tea ", "coffee", "42"])
    >>> people.labels, people.answers, people.lines
    (['tea', 'coffee'], array([0.5 , 0.25]), 4)
    """

    code: WordCode
    held: tuple[Any, ...]
    weights: Floats

    words: ClassVar[str] = "words, the first the most frequent"

    @classmethod
    def invented(cls, code: WordCode) -> Self:
        """Up to a thousand words of the survey's own letters; the share of word k is proportional to k^-1.2."""
        held = _invent(code)
        return cls(code, held, np.arange(1, len(held) + 1, dtype=np.float64) ** -_EXPONENT)

    @classmethod
    def of_lines(cls, code: WordCode, lines: Iterable[str]) -> Self:
        """A person per line, with the value that it stands for; a line that is not a word is a person of "other"."""
        counted = Counter(lines)
        if not counted:
            raise SimulationError("there are no people: give a file with one word per line").at("population")
        held = tuple(code.typed(line) for line in counted)
        return cls(code, held, np.array([*counted.values()], dtype=np.float64))

    @property
    def lines(self) -> int:
        """The number of people, if they were counted."""
        return int(self.weights.sum())

    def everybody(self) -> list[Any]:
        """The values of all counted people."""
        return [value for value, n in zip(self.held, self.weights.astype(int).tolist(), strict=True) for _ in range(n)]

    def draw(self, n: int, rng: np.random.Generator) -> list[Any]:
        """The values of n people."""
        places = rng.choice(len(self.held), size=n, p=self.weights / self.weights.sum())
        return [self.held[index] for index in places.tolist()]

    def values(self, n: int, rng: np.random.Generator) -> list[Any]:
        """The values of n people, one by one."""
        return self.draw(n, rng)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of every word, as it is shown once it is normalised, the largest first."""
        shares: dict[str, float] = {}
        for value, weight in zip(self.held, (self.weights / self.weights.sum()).tolist(), strict=True):
            if self.code.admits(value):
                word = self.code.label(value)
                shares[word] = shares.get(word, 0.0) + weight
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def crowd(self, n: int, seed: int) -> None:
        """None: words are short."""
        return

    @property
    def labels(self) -> list[str]:
        """The words, the most common first."""
        return [*self.shares]

    @property
    def answers(self) -> Floats:
        """What a perfect estimate of them would say."""
        return np.array([*self.shares.values()])


def _invent(code: WordCode) -> tuple[Any, ...]:
    rng, words = np.random.default_rng(_SEED), dict[bytes, Any]()
    letters = [
        letter for letter in (code.alphabet if isinstance(code, LetterCode) else ALPHABETS["latin"]) if letter.isalnum()
    ]
    for _ in range(_TRIES):
        if len(words) == _INVENTED:
            break
        value = _drawn(code, letters, rng)
        if code.admits(value):
            words.setdefault(code.row(value).tobytes(), value)
    return tuple(words.values())


def _drawn(code: WordCode, letters: list[str], rng: np.random.Generator) -> Any:
    if isinstance(code, IntegerCode):
        return int(rng.integers(0, code.below, dtype=np.uint64))
    length = 1 + int(rng.binomial(code.longest - 1, 0.4))  # type: ignore[attr-defined]
    if isinstance(code, ByteCode):
        return rng.bytes(length)
    return "".join(letters[index] for index in rng.integers(0, len(letters), size=length).tolist())
