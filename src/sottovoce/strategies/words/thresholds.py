"""How much evidence a search for words asks for: one home for the search itself and for plans of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Final, NamedTuple, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.domain.words.codes import ENDED, WordCode

__all__ = ["SearchRule", "Ways", "certain_tail", "chance_tail", "ways_on"]

_NOT_LISTED_BY_CHANCE: Final = 0.02
"""A certain word's tail, relative to that of the threshold of the list: its 95 % interval is then above zero."""


@final
@dataclass(frozen=True)
class SearchRule:
    """How much evidence is asked for, and how much memory may be used.

    Attributes
    ----------
    false_discovery
        The largest probability that any word called certain is nobody's.
    spurious
        Prefixes that may be kept by chance at each level, on average.
    doubtful
        Words that may be listed by chance at each level, on average; they are not called certain.
    most_prefixes
        Prefixes kept at a level at most: the memory and the time of a search are in proportion to it.

    Examples
    --------
    >>> SearchRule(false_discovery=0.01, most_prefixes=512)
    SearchRule(false_discovery=0.01, spurious=16.0, doubtful=1.0, most_prefixes=512)
    """

    false_discovery: float = 0.05
    spurious: float = 16.0
    doubtful: float = 1.0
    most_prefixes: int = 1024

    def __post_init__(self) -> None:
        for name, most in (("false_discovery", 0.5), ("spurious", 4096.0), ("doubtful", 64.0)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) <= most:
                raise SurveyError(f"{name} must be a number above 0 and at most {most:g}").at(name)
            object.__setattr__(self, name, float(given))
        object.__setattr__(self, "most_prefixes", check_integer("most_prefixes", self.most_prefixes, 1, 2**16))


def chance_tail(expected: float, candidates: float) -> float:
    """The tail with which `expected` of `candidates` that nobody has pass on average."""
    return min(0.5, expected / max(1, candidates))


def certain_tail(rule: SearchRule, ending: int, candidates: float) -> float:
    """The tail of a word that is called certain (Bonferroni), where words end at `ending` of the levels."""
    return min(rule.false_discovery / max(1, ending), _NOT_LISTED_BY_CHANCE * rule.doubtful) / max(1, candidates)


class Ways(NamedTuple):
    """How many ways there are to go on from one prefix: those that stay open, and those that end a word."""

    open: int
    ended: int


@lru_cache(maxsize=256)
def ways_on(code: WordCode, units: int, *, last: bool) -> Ways:
    """Ways to go on for `units` from between two characters, counted without listing them.

    Examples
    --------
    >>> from sottovoce.domain.words.codes import LetterCode
    >>> ways_on(LetterCode("abc", 4, "lower"), 2, last=False), ways_on(LetterCode("abc", 4, "lower"), 2, last=True)
    (Ways(open=9, ended=4), Ways(open=0, ended=13))
    """
    states = {0: 1}
    for _ in range(units):
        following: dict[int, int] = {}
        for state, count in states.items():
            if state == ENDED:
                following[ENDED] = following.get(ENDED, 0) + count
                continue
            for after in code.step(state).tolist():
                if after >= ENDED:
                    following[after] = following.get(after, 0) + count
        states = following
    ended, between = states.get(ENDED, 0), states.get(0, 0)
    if last:
        return Ways(0, ended + between)
    return Ways(sum(states.values()) - ended, ended)
