"""Searches for words in simulated reports, with new hashes and new people every time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.estimates.words.search import SearchRule, WordSearch, search_words
from sottovoce.strategies.words.tallies import Tallies


class Runs:
    """Searches of one survey, by their random choices."""

    def __init__(self, survey: Any) -> None:
        self.survey, self.code, self.mechanism = survey, survey.question.code, survey.mechanism

    def search(
        self, codes: NDArray[np.uint8], rng: np.random.Generator, rule: SearchRule | None = None, hostile: Any = None
    ) -> WordSearch:
        """Find words in reports of people with these codes; `hostile(mechanism)` gives reports that are added."""
        mechanism = self.mechanism.for_key(tuple(rng.integers(0, 2**32, 2).tolist()))
        counts = np.bincount(mechanism.randomize_many(codes, rng), minlength=mechanism.cells)
        if hostile is not None:
            counts += np.bincount(hostile(mechanism), minlength=mechanism.cells)
        return search_words(Tallies.of(mechanism, counts), self.code, rule)

    def uniform(self, n: int, rng: np.random.Generator, length: int = 12) -> NDArray[np.uint8]:
        """Codes of words of so many letters, all letters alike."""
        units = rng.integers(1, len(self.code.alphabet) + 1, size=(n, length))
        padded = np.zeros((n, self.code.units), dtype=np.int64)
        padded[:, :length] = units
        shifts = np.arange(self.code.unit_bits - 1, -1, -1)
        bits = (padded[:, :, None] >> shifts & 1).reshape(n, -1).astype(np.uint8)
        return np.packbits(bits, axis=1)


def small(epsilon: float = 4.0, people: int = 4000) -> Runs:
    """Words of up to 12 of three letters: two levels of six."""
    return Runs(sv.Survey(sv.words(12, "abc"), epsilon=epsilon, people=people, strategy="prefixes"))
