"""Words that nobody listed: whatever is asked later, the share of people with one word is one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from numpy.typing import ArrayLike

from sottovoce.core.errors import SurveyError
from sottovoce.domain.words.codes import WordCode
from sottovoce.workloads.base import Body, Floats

__all__ = ["OneWord"]


@final
@dataclass(frozen=True)
class OneWord(Body):
    """The share of people with one word, which may be any: none is listed."""

    code: WordCode

    @property
    def radius(self) -> float:
        """One person's answer is 0 or 1."""
        return 1.0

    @property
    def n_queries(self) -> int:
        return 1

    @property
    def answer_range(self) -> tuple[float, float]:
        """A share."""
        return 0.0, 1.0

    @property
    def diameter(self) -> float:
        return 1.0

    def columns(self, values: ArrayLike) -> Floats:
        """Always refused: no word is listed to compare with."""
        raise SurveyError("words are not listed: ask an estimate for the share of one, with estimate.of(word)")

    def name(self, query: int) -> str:
        """The name of the only answer."""
        return "share of a word"

    def find(self, name: str) -> int:
        """Always refused: no word is listed."""
        raise SurveyError("words are not listed: ask an estimate for the share of one, with estimate.of(word)")
