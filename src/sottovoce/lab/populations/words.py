"""People with words that nobody listed: invented words by Zipf's law, or the lines of a text file."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.domain.word_codes import ALPHABETS, ByteCode, IntegerCode, LetterCode, WordCode
from sottovoce.questions.words import Words

__all__ = ["STANDARD_INPUT", "ZIPF", "WordPeople", "read_lines", "read_words"]

Floats = NDArray[np.float64]

_INVENTED: Final = 1000
_TRIES: Final = 5 * _INVENTED
_SEED: Final = 20
"""Of invented words, which are the same for everybody; who has which is drawn anew."""
_EXPONENT: Final = 1.2

_LARGEST_FILE: Final = 2**30

ZIPF: Final = "zipf"
"""Invented words; every other population of words is the name of a file."""

STANDARD_INPUT: Final = "-"
"""Instead of the name of a file."""


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
    >>> people = WordPeople.of_lines(Words.of(longest=8, alphabet="latin"), ["tea", "Tea ", "coffee", "42"])
    >>> people.labels, people.answers, people.lines
    (['tea', 'coffee'], array([0.5 , 0.25]), 4)
    """

    question: Words
    held: tuple[Any, ...]
    weights: Floats

    words: ClassVar[str] = "words, the first the most frequent"

    @classmethod
    def invented(cls, question: Words) -> Self:
        """Up to a thousand words of the survey's own letters; the share of word k is proportional to k^-1.2."""
        held = _invent(question.code)
        return cls(question, held, np.arange(1, len(held) + 1, dtype=np.float64) ** -_EXPONENT)

    @classmethod
    def of_lines(cls, question: Words, lines: Iterable[str]) -> Self:
        """A person per line, with the value that it stands for; a line that is no word is a person of "other"."""
        counted = Counter(lines)
        if not counted:
            raise SimulationError("there are no people: give a file with one word per line").at("population")
        held = tuple(question.code.typed(line) for line in counted)
        return cls(question, held, np.array([*counted.values()], dtype=np.float64))

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
        return [self.held[place] for place in places.tolist()]

    def values(self, n: int, rng: np.random.Generator) -> list[Any]:
        """The values of n people, one by one."""
        return self.draw(n, rng)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of every word, as it is shown once it is normalised, the largest first."""
        found: dict[str, float] = {}
        for value, weight in zip(self.held, (self.weights / self.weights.sum()).tolist(), strict=True):
            if self.question.code.admits(value):
                word = self.question.shown(value)
                found[word] = found.get(word, 0.0) + weight
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    @property
    def labels(self) -> list[str]:
        """The words, the most common first."""
        return [*self.shares]

    @property
    def answers(self) -> Floats:
        """What a perfect estimate would say of them."""
        return np.array([*self.shares.values()])


def read_words(question: Words, name: str) -> WordPeople:
    """The people of a text file with one word per line."""
    return WordPeople.of_lines(question, read_lines(name, "population"))


def read_lines(name: str, field: str) -> list[str]:
    """The lines of a text file in UTF-8, or of standard input if the name is "-"."""
    problem = ""
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(_LARGEST_FILE).decode("utf-8").splitlines()
        path = Path(name)
        if path.is_file() and path.stat().st_size > _LARGEST_FILE:
            problem = f"it is larger than {_LARGEST_FILE:,} bytes"
        else:
            return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        problem = "it is not a text file in UTF-8"
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "it cannot be read"
    message = f"the words cannot be read from {name!r}: {problem}; name a file with one word per line"
    raise SimulationError(message).at(field)


def _invent(code: WordCode) -> tuple[Any, ...]:
    rng, found = np.random.default_rng(_SEED), dict[bytes, Any]()
    letters = [one for one in (code.alphabet if isinstance(code, LetterCode) else ALPHABETS["latin"]) if one.isalnum()]
    for _ in range(_TRIES):
        if len(found) == _INVENTED:
            break
        value = _drawn(code, letters, rng)
        if code.admits(value):
            found.setdefault(code.row(value).tobytes(), value)
    return tuple(found.values())


def _drawn(code: WordCode, letters: list[str], rng: np.random.Generator) -> Any:
    if isinstance(code, IntegerCode):
        return int(rng.integers(0, code.below, dtype=np.uint64))
    length = 1 + int(rng.binomial(code.longest - 1, 0.4))  # type: ignore[attr-defined]
    if isinstance(code, ByteCode):
        return rng.bytes(length)
    return "".join(letters[place] for place in rng.integers(0, len(letters), size=length).tolist())
