"""Growing prefixes: the schedule of rounds, the frequency a value needs to be found, and the expected recall.

A value is written as `length` digits of some `base`: an integer's bits, or a text's letters. A stage asks for the next
digits of the prefixes kept so far, and keeps the best of its choices; the last one keeps k. Every estimate is the truth
plus normal noise of exactly known variance, fresh in each stage, so a value of frequency p survives a stage whose
smallest kept estimate is t with probability Phi((p - t)/sigma). The t of a stage is where the expected number of
estimates above it is the number kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.adaptive.answer import mechanism_of_choices
from sottovoce.core.errors import DomainError, PlanError
from sottovoce.core.extras import full_install
from sottovoce.domain import Domain, RangeDomain, TextDomain
from sottovoce.expressions.tree import integer_node

__all__ = [
    "Bits",
    "Digits",
    "Letters",
    "Stage",
    "detectable_frequency",
    "digits_of",
    "predicted_recall",
    "shortest_schedules",
]

Mask = NDArray[np.bool_]


class Digits(Protocol):
    """An attribute whose values have `length` digits of `base` each. A prefix is a number or a text."""

    @property
    def base(self) -> int:
        """The base of the digits."""

    @property
    def length(self) -> int:
        """The number of digits of a value."""

    @property
    def root(self) -> Any:
        """The prefix of no digits."""

    def listed(self, prefix: Any) -> Any:
        """A prefix as a constant of an expression."""

    def next(self, start: int, stop: int) -> Any:
        """The expression for the number that the digits from `start` to `stop` make."""

    def possible(self, prefixes: Sequence[Any], start: int, stop: int) -> Mask:
        """The numbers that can follow each prefix: one row per prefix."""

    def extend(self, prefix: Any, number: int, start: int, stop: int) -> Any:
        """The prefix extended by the digits of a number."""

    def value(self, prefix: Any) -> int | str:
        """The value that a prefix of full length is."""


@final
@dataclass(frozen=True)
class Bits:
    """The position of an integer in its range, from the highest bit; a prefix is a number."""

    name: str
    values: RangeDomain
    base: int = 2
    root: int = 0

    @property
    def length(self) -> int:
        return (self.values.size - 1).bit_length()

    def listed(self, prefix: int) -> Any:
        return integer_node(prefix)

    def next(self, start: int, stop: int) -> Any:
        """The longer prefix modulo the shorter one's place value."""
        return ["%", ["prefix", ["attribute", self.name], stop], integer_node(2 ** (stop - start))]

    def possible(self, prefixes: Sequence[int], start: int, stop: int) -> Mask:
        """Up to the last position's own prefix."""
        last = (self.values.size - 1) >> (self.length - stop)
        room = np.array([last - (prefix << (stop - start)) for prefix in prefixes], dtype=np.int64)
        return np.asarray(np.arange(2 ** (stop - start)) <= room[:, None])

    def extend(self, prefix: int, number: int, start: int, stop: int) -> int:
        return (prefix << (stop - start)) + number

    def value(self, prefix: int) -> int:
        return self.values.start + self.values.step * prefix


@final
@dataclass(frozen=True)
class Letters:
    """The characters of a text, 0 after its end; a prefix is a text, which may end early."""

    name: str
    values: TextDomain
    root: str = ""

    @property
    def base(self) -> int:
        return len(self.values.alphabet) + 1

    @property
    def length(self) -> int:
        return self.values.max_length

    def listed(self, prefix: str) -> Any:
        return prefix

    def next(self, start: int, stop: int) -> Any:
        """The letters as digits, the first one counting most."""
        number: Any = ["letter", ["attribute", self.name], start]
        for position in range(start + 1, stop):
            number = ["+", ["*", number, self.base], ["letter", ["attribute", self.name], position]]
        return number

    def possible(self, prefixes: Sequence[str], start: int, stop: int) -> Mask:
        """Whether each number can follow each prefix: a text has no letter after its end."""
        numbers = np.arange(self.base ** (stop - start))
        letters = [numbers // self.base**i % self.base > 0 for i in range(stop - start)]  # the last letter first
        texts = np.all([before | ~after for after, before in pairwise(letters)], axis=0)
        ended = np.array([len(prefix) < start for prefix in prefixes])
        return np.asarray(np.where(ended[:, None], numbers == 0, texts))

    def extend(self, prefix: str, number: int, start: int, stop: int) -> str:
        codes = [number // self.base**i % self.base for i in reversed(range(stop - start))]
        return prefix + "".join(self.values.alphabet[code - 1] for code in codes if code)

    def value(self, prefix: str) -> str:
        return prefix


def digits_of(name: str, values: Domain) -> Digits:
    """The attribute's values as digits; refused for labels, which have no prefixes."""
    if isinstance(values, RangeDomain):
        return Bits(name, values)
    if isinstance(values, TextDomain):
        return Letters(name, values)
    raise DomainError(
        f"attribute {name!r} has labels, which have no prefixes: ask for their distribution in a single round, or give "
        "a range of integers or Domain.text"
    ).at("attribute")


Floats = NDArray[np.float64]

_SCHEDULES: Final = 2
"""Number of schedules compared: each further round leaves fewer people per round."""

_FAR: Final = 40.0
"""No estimate is this many standard deviations from the truth."""

_LEAST: Final = math.log(1e-18)
"""Below the frequency of one person in the world."""


@dataclass(frozen=True)
class Stage:
    """One round: from `start` to `stop` digits of `room` prefixes, as one question with this number of `choices`."""

    start: int
    stop: int
    room: int
    choices: int


def shortest_schedules(base: int, length: int, k: int, most_choices: int, most_kept: int) -> list[tuple[Stage, ...]]:
    """Schedules worth comparing, the one of fewest rounds first.

    The first round takes as many digits as its choices allow, because it has no prefixes; the others share the rest
    evenly, and keep as many prefixes as their choices allow: the more are kept, the less often a common value is lost.
    At least 2 k are kept.

    Examples
    --------
    >>> [(s.start, s.stop, s.room, s.choices) for s in shortest_schedules(2, 40, 10, 2**20, 1024)[0]]
    [(0, 20, 1, 1048576), (20, 30, 1023, 1047553), (30, 40, 1023, 1047553)]
    """
    first = min(length, _digits_within(base, most_choices))
    if first == length:
        return [(Stage(0, length, 1, base**length),)]
    schedules: list[tuple[Stage, ...]] = []
    for later in range(1, length - first + 1):
        stages = [Stage(0, first, 1, base**first)]
        for i in range(later):
            start = stages[-1].stop
            stop = start + -(-(length - start) // (later - i))
            room = min(most_kept, (most_choices - 1) // base ** (stop - start))
            stages.append(Stage(start, stop, room, room * base ** (stop - start) + 1))
        if min(stage.room for stage in stages[1:]) >= 2 * k:
            schedules.append(tuple(stages))
        if len(schedules) == _SCHEDULES:
            break
    if not schedules:
        raise PlanError(
            f"{k} values need at least {2 * k * base + 1} choices per round; {most_choices} are allowed"
        ).at("most_choices")
    return schedules


def _digits_within(base: int, most_choices: int) -> int:
    digits = 0
    while base ** (digits + 1) <= most_choices:
        digits += 1
    return digits


@lru_cache(maxsize=64)
def _variance(choices: int, epsilon: float) -> tuple[float, float]:
    """(a, b) such that n Var of a choice of frequency p is exactly a + b p - p^2, for the mechanism of a round."""
    mechanism = mechanism_of_choices(choices, epsilon)
    alone = np.zeros(choices)
    a = float(mechanism.variance(alone, 1)[0])
    alone[0] = 1.0
    return a, float(mechanism.variance(alone, 1)[0]) - a + 1


def _survival(frequencies: Floats, alive: Floats, stage: Stage, kept: int, epsilon: float, people: float) -> Floats:
    """Probability that each value is kept, given that it was a choice."""
    with full_install:
        from scipy.optimize import brentq
        from scipy.special import ndtr

    if kept >= stage.choices:
        return np.ones_like(frequencies)
    a, b = _variance(stage.choices, epsilon)
    deviations = np.sqrt((a + b * frequencies - frequencies**2) / people)
    nobody = math.sqrt(a / people)
    rest = max(0.0, stage.choices - float(alive.sum()))

    def too_many(t: float) -> float:
        return float(alive @ ndtr((frequencies - t) / deviations) + rest * ndtr(-t / nobody)) - kept

    far = _FAR * max(nobody, float(deviations.max()))
    t = brentq(too_many, -far, 1 + far, xtol=1e-4 * nobody)
    return np.asarray(ndtr((frequencies - t) / deviations))


def predicted_recall(frequencies: ArrayLike, stages: Sequence[Stage], epsilon: float, people: float, k: int) -> float:
    """Expected share of the k most common values that are among the k reported, with so many people per round.

    `frequencies` are those of the most common values; all others are assumed to be rare.

    Examples
    --------
    >>> stages = shortest_schedules(2, 60, 10, 2**20, 1024)[0]
    >>> zipf = np.arange(1, 1001) ** -1.2 / 5.5916
    >>> [round(predicted_recall(zipf, stages, 2.0, n / len(stages), 10), 2) for n in (10**5, 10**6, 10**7)]
    [0.44, 0.95, 0.99]
    """
    values = np.sort(np.asarray(frequencies, dtype=np.float64))[::-1]
    alive = np.ones(len(values))
    for stage, after in zip(stages, [*stages[1:], None], strict=True):
        kept = k if after is None else after.room
        alive = alive * _survival(values, alive, stage, min(kept, stage.choices), epsilon, people)
    return float(alive[:k].mean())


@lru_cache(maxsize=256)
def detectable_frequency(
    stages: tuple[Stage, ...], epsilon: float, people: float, k: int, probability: float = 0.9
) -> float:
    """The least f such that k values of frequency f each, all others being rare, are found with `probability`.

    1 if even values of frequency 1 are missed more often, 0 if nothing can be missed.

    Examples
    --------
    >>> stages = shortest_schedules(2, 60, 10, 2**20, 1024)[0]
    >>> [round(detectable_frequency(stages, 2.0, n / len(stages), 10), 4) for n in (10**5, 10**6, 10**7)]
    [0.0337, 0.0106, 0.0033]
    """
    with full_install:
        from scipy.optimize import brentq

    def missing(log_frequency: float) -> float:
        alike = np.full(k, math.exp(log_frequency))
        return probability - predicted_recall(alike, stages, epsilon, people, k)

    if missing(0.0) > 0:
        return 1.0
    return math.exp(brentq(missing, _LEAST, 0.0, xtol=1e-4)) if missing(_LEAST) > 0 else 0.0
