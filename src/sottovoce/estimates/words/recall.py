"""The probability that a survey finds a word, by its share, before anybody has answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.core.errors import PlanError
from sottovoce.core.limits import as_float, check_integer
from sottovoce.domain.words.code import WordCode, units_of
from sottovoce.strategies.words.levels import length_unit
from sottovoce.strategies.words.recall import WordRecall

__all__ = ["PROBABILITY", "Recall", "RecallGoal"]

PROBABILITY: Final = 0.9
"""The default probability with which words are to be found."""

_SHARES: Final = 41
_LENGTHS: Final = 5


class RecallGoal(NamedTuple):
    """A word of this share is to be found with this probability; None where the share is computed."""

    share: float | None = None
    probability: float = PROBABILITY

    @classmethod
    def of(cls, share: object = None, probability: object = None) -> RecallGoal:
        """The checked goal; the probability is 0.9 by default."""
        chance = PROBABILITY if probability is None else _inside("probability", probability)
        return cls(None if share is None else _inside("share", share), chance)

    @property
    def target(self) -> float | None:
        """The share that a plan must reach."""
        return self.share

    @property
    def words(self) -> str:
        """What is to be reached."""
        return f"{100 * (self.share or 0.0):g} % found with probability {self.probability:g}"

    def reached(self, question: Any, design: Any, people: int) -> float:
        """The least share that a design finds so for `people`."""
        return float(question.recall(design, people, self).reached)


_DEFAULT_GOAL: Final = RecallGoal()


@final
@dataclass(frozen=True, eq=False)
class Recall:
    """The probability that a word is found and certain, by its share and its length.

    It is that of a word whose prefixes nobody else has; others' add to them. Lengths are in letters of one unit each
    (for unicode a to z), or in bytes; instead of a length an example can be given, such as "日本語". Without one it is
    the longest.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.questions.words import Words
    >>> recall = sv.plan(Words.of(longest=8, alphabet="latin"), epsilon=2.0, people=1_000_000).recall
    >>> round(recall.share(), 4), round(recall.probability(0.004, length=3), 2)
    (0.0084, 0.45)
    """

    search: WordRecall
    goal: RecallGoal = _DEFAULT_GOAL

    @property
    def code(self) -> WordCode:
        """The code in which words are written."""
        return self.search.code

    def probability(self, share: float, length: object = None) -> float:
        """The probability that a word of this share of people is found."""
        return self.search.probability(_inside("share", share, whole=True), self._units(length))

    def share(self, probability: float | None = None, length: object = None) -> float:
        """The least share of people that is found with this probability, the plan's by default; 1 if none is."""
        chance = self.goal.probability if probability is None else _inside("probability", probability)
        return self.search.least_share(chance, self._units(length))

    @property
    def reached(self) -> float:
        """The least share that is found with the goal's probability."""
        return self.share()

    def _units(self, length: object) -> int:
        code = self.code
        if length is None:
            return self._longest
        if not code.ends_anywhere:
            raise PlanError("integers all have one length, that of the largest: leave length out").at("length")
        if isinstance(length, str | bytes):
            if not code.admits(length):
                raise PlanError(f"the example is not a word of this survey; allowed: {code.allowed}").at("length")
            return len(units_of(code._number(length), code))
        return check_integer("length", length, 1, self._longest)

    @property
    def _longest(self) -> int:
        return int(getattr(self.code, "longest", self.code.units))

    @cached_property
    def lengths(self) -> tuple[int | None, ...]:
        """The longest of those lengths that are found alike, at most five of them; None for integers."""
        if not self.code.ends_anywhere:
            return (None,)
        alike = {self.search.route(length): length for length in range(1, self._longest + 1)}
        distinct = list(alike.values())
        kept = np.unique(np.linspace(0, len(distinct) - 1, min(_LENGTHS, len(distinct))).round().astype(int))
        return tuple(distinct[index] for index in kept.tolist())

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Shares from what is hardly ever found to what nearly always is, for pictures."""
        low = min(self.share(0.01, length) for length in self.lengths)
        high = min(1.0, 1.2 * max(self.share(0.99, length) for length in self.lengths))
        return tuple(np.geomspace(min(low, high / 10), high, _SHARES).tolist())

    def curve(self, length: object = None) -> list[float]:
        """The probability for each of `shares`."""
        return [self.probability(share, length) for share in self.shares]

    @property
    def statement(self) -> str:
        """The least share that is found, in a sentence."""
        least = self.share()
        if least >= 1:
            return f"no share of people is enough for a word to be found with probability {self.goal.probability:g}"
        what = "a value" if self.lengths == (None,) else f"a word of {self._longest} {length_unit(self.code)}"
        return f"{what} that {100 * least:.2g} % of people have is found with probability {self.goal.probability:g}"

    def plot(self, ax: Any = None) -> Any:
        """Draw recall against share, one line per length; returns the matplotlib axes."""
        from sottovoce.figures.recall import RecallLine, plot_recall

        lines = [RecallLine(self._label(length), tuple(self.curve(length))) for length in self.lengths]
        return plot_recall(self.shares, lines, self.goal.probability, self.statement, ax)

    def _label(self, length: int | None) -> str:
        return "any value" if length is None else f"up to {length} {length_unit(self.code)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the lines of the picture."""
        return {
            "probability": self.goal.probability,
            "target": self.goal.share,
            "share": self.share(),
            "statement": self.statement,
            "shares": list(self.shares),
            "lengths": [
                {"length": length, "share": self.share(length=length), "probabilities": self.curve(length)}
                for length in self.lengths
            ],
        }


def _inside(name: str, value: object, *, whole: bool = False) -> float:
    """A share or a probability above 0 and below 1; `whole` allows 1."""
    remedy = f"it must be a number above 0 and {'at most' if whole else 'below'} 1"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PlanError(f"{name} has type {type(value).__name__}: {remedy}").at(name)
    number = as_float(value)
    if not (0 < number < 1 or (whole and number == 1)):
        raise PlanError(f"{name} is {number:g}: {remedy}").at(name)
    return number
