"""Sources for audits: one plays given outcomes to a device, another every sequence of outcomes in turn."""

from __future__ import annotations

import math
import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from sottovoce.randomness.source import Source
from sottovoce.randomness.thresholds import ONE

__all__ = ["Enumerator", "Request", "ScriptedSource", "random_below", "row_of", "unpredictable"]

Request = int
"""What a device asks for: n for an integer below n, minus the threshold for a coin."""


class ScriptedSource:
    """Plays one outcome per draw, and notes what it was asked for.

    Beyond the last outcome it plays 0, or random ones if it is given a generator, and never an integer outside the
    range: what was asked shows the difference.

    Examples
    --------
    >>> source = ScriptedSource([1, 4])
    >>> source.bernoulli(2**63), source.below(6), source.asked
    (True, 4, [-9223372036854775808, 6])
    """

    __slots__ = ("_outcomes", "_rng", "asked", "played")

    def __init__(self, outcomes: Sequence[int], rng: np.random.Generator | None = None) -> None:
        self._outcomes, self._rng = iter(outcomes), rng
        self.asked: list[Request] = []
        self.played: list[int] = []

    def below(self, n: int) -> int:
        """The next outcome."""
        return self._play(n, n)

    def bernoulli(self, threshold: int) -> bool:
        """Whether the next outcome is not 0."""
        return self._play(-threshold, 2) != 0

    def _play(self, request: Request, n: int) -> int:
        given = next(self._outcomes, None)
        if given is None:
            given = 0 if self._rng is None else random_below(n, self._rng)
        outcome = min(given, n - 1)
        self.asked.append(request)
        self.played.append(outcome)
        return outcome


def random_below(n: int, rng: np.random.Generator) -> int:
    """A random integer below n, however wide, that no code of a device took part in."""
    return int.from_bytes(rng.bytes(n.bit_length() // 8 + 9), "little") % n


def unpredictable() -> np.random.Generator:
    """A generator that no fault can have been made for: which values and draws are run is chosen afresh every time."""
    return np.random.default_rng(secrets.randbits(128))


class Enumerator:
    """A `Source` that replays a prefix of choices and takes the first outcome of every later draw.

    `advance` moves to the next sequence of outcomes, like an odometer, until none is left.
    """

    def __init__(self) -> None:
        self._choices: list[tuple[int, int, Sequence[int], int]] = []
        """For each draw its outcome, how many there are, and their weights over the sum; none if all are alike."""
        self._position = 0

    @property
    def weight(self) -> tuple[int, int]:
        """Exact probability of the sequence of outcomes just taken: numerator and denominator, not reduced."""
        over = under = 1
        for outcome, _, weights, total in self._choices[: self._position]:
            over *= weights[outcome] if weights else 1
            under *= total
        return over, under

    @property
    def probability(self) -> Fraction:
        """Exact probability of the sequence of outcomes just taken."""
        return Fraction(*self.weight)

    @property
    def outcomes(self) -> int:
        """How many outcomes the draws taken so far have together."""
        return math.prod(count for _, count, _, _ in self._choices)

    def advance(self) -> bool:
        """Go to the next sequence; False when all have been taken."""
        del self._choices[self._position :]
        self._position = 0
        while self._choices:
            outcome, count, weights, total = self._choices.pop()
            if outcome + 1 < count:
                self._choices.append((outcome + 1, count, weights, total))
                return True
        return False

    def _take(self, count: int, weights: Sequence[int], total: int) -> int:
        if self._position == len(self._choices):
            self._choices.append((0, count, weights, total))
        outcome = self._choices[self._position][0]
        self._position += 1
        return outcome

    def below(self, n: int) -> int:
        """Each of 0 .. n-1 in turn, probability 1/n."""
        return self._take(n, (), n)

    def bernoulli(self, threshold: int) -> bool:
        """True, then False, with their exact probabilities."""
        return self._take(2, (threshold, ONE - threshold), ONE) == 0


def row_of(run: Callable[[Source], bytes]) -> dict[bytes, Fraction]:
    """The exact probability of every report that a device, holding one value, can send."""
    source = Enumerator()
    tally: dict[bytes, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    """Numerators by denominator: in integers, since fractions would be reduced once for every outcome."""
    while True:
        report = run(source)
        over, under = source.weight
        tally[report][under] += over
        if not source.advance():
            break
    row = {
        report: sum((Fraction(over, under) for under, over in sums.items()), Fraction())
        for report, sums in tally.items()
    }
    return {report: p for report, p in row.items() if p}
