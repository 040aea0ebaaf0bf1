"""Seats beside sums over a dyadic tree of changes, for a yes-no value followed over T periods.

The tree (Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta 2019): a person is "no" before the first
period and changes at most k times. A device draws one of L = floor(log2 T) + 1 levels and one of its k changes, keeps
only the block of its level in which that change happens, and after every block of its level sends a bit: the sign of
the change, by randomized response, or a fair coin. The share of yes in period t is a sum over the blocks of the binary
expansion of t, one for each bit that is set.

Two histories differ in at most one block that is kept for each, and the ratio of the bits' probabilities is then at
most that of one randomized response: epsilon need not be split between them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.history import History, HistoryDevice
from sottovoce.core.errors import SimulationError
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.randomness import Source

__all__ = [
    "DyadicLine",
    "compare_dyadic",
    "dyadic_device",
    "dyadic_variance",
    "few_changes",
    "seats_variance",
    "simulate_dyadic",
]


@final
@dataclass(frozen=True)
class DyadicLine:
    """Variances times the number of people, of the share of yes, at one half.

    Attributes
    ----------
    seats
        With one seat per person, in every period.
    worst, average
        With the tree: in the worst period, and on the average over periods.
    """

    periods: int
    changes: int
    epsilon: float
    seats: float
    worst: float
    average: float

    @property
    def wins(self) -> str:
        """Where the tree has less variance: in "every" period, "on average", or "never"."""
        if self.worst < self.seats:
            return "every"
        return "on average" if self.average < self.seats else "never"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self) | {"wins": self.wins}


def levels_of(periods: int) -> int:
    """The number of levels of the tree.

    Examples
    --------
    >>> levels_of(52), levels_of(365), levels_of(1000)
    (6, 9, 10)
    """
    return periods.bit_length()


def seats_variance(periods: int, epsilon: float, share: float = 0.5) -> float:
    """n Var of the share of yes in one period, if everybody answers in one of `periods`.

    Examples
    --------
    >>> round(seats_variance(52, 1.0), 1), round(seats_variance(365, 1.0))
    (60.9, 427)
    """
    e = math.exp(check_epsilon(epsilon))
    return periods * (e / (e - 1) ** 2 + share * (1 - share))


def dyadic_variance(period: int, periods: int, changes: int, epsilon: float, share: float = 0.5) -> float:
    """n Var of the share of yes in one period by the tree: exact.

    A person of a level that is used counts L k c b, b = 1 or -1 and c = coth(epsilon/2); the others count nothing.

    Examples
    --------
    The worst period of a year of days, for people who change once.

    >>> round(dyadic_variance(255, 365, 1, 1.0))
    337
    """
    used = check_integer("period", period, 1, periods).bit_count()
    c = 1 / math.tanh(check_epsilon(epsilon) / 2)
    return used * levels_of(periods) * (changes * c) ** 2 - share**2


def compare_dyadic(
    periods: tuple[int, ...] = (52, 104, 182, 365, 730, 1000),
    changes: tuple[int, ...] = (1, 2, 4),
    epsilon: float = 1.0,
) -> list[DyadicLine]:
    """Both methods for every number of periods and of changes."""
    lines = []
    for count in periods:
        for most in changes:
            each = [dyadic_variance(period, count, most, epsilon) for period in range(1, count + 1)]
            seats = seats_variance(count, epsilon)
            lines.append(DyadicLine(count, most, epsilon, seats, max(each), sum(each) / count))
    return lines


def few_changes(periods: int, changes: int) -> list[History]:
    """All yes-no histories that start from "no" and change at most so often; a "yes" at once is a change."""
    numbers = range(2**periods)
    listed = [tuple(number >> at & 1 for at in range(periods)) for number in numbers]
    return [one for one in listed if sum(a != b for a, b in zip((0, *one), one, strict=False)) <= changes]


def dyadic_device(periods: int, changes: int, epsilon: float) -> HistoryDevice:
    """The device of the tree: its level, and a bit for every block of its level."""
    coin = RandomizedResponse(2, epsilon)

    def run(history: History, source: Source) -> bytes:
        level = source.below(levels_of(periods))
        kept = source.below(changes)
        sent, seen = bytearray([level]), 0
        before = 0
        for end in range(1 << level, periods + 1, 1 << level):
            change = history[end - 1] - before
            before = history[end - 1]
            if change and seen == kept:
                sent += coin.encode(coin.randomize(int(change > 0), source))
            else:
                sent.append(source.below(2))
            seen += change != 0
        return bytes(sent)

    return run


def simulate_dyadic(
    histories: NDArray[np.int8], changes: int, epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The estimated share of yes in every period, from an array of people by periods of 0 and 1."""
    people, periods = len(histories), histories.shape[1]
    steps = np.diff(histories, axis=1, prepend=0)
    if (np.abs(steps).sum(axis=1) > changes).any():
        raise SimulationError(f"histories must change at most {changes} times, the first yes included").at("histories")
    levels, c = levels_of(periods), 1 / math.tanh(epsilon / 2)
    level = rng.integers(levels, size=people)
    kept = rng.integers(changes, size=people)
    estimate = np.zeros(periods + 1)
    for height in range(levels):
        mine = level == height
        ends = np.arange(1 << height, periods + 1, 1 << height)
        blocks = np.diff(histories[mine][:, ends - 1].astype(np.int64), axis=1, prepend=0)
        order = np.cumsum(blocks != 0, axis=1) - 1
        held = np.where((blocks != 0) & (order == kept[mine, None]), blocks, 0)
        # Truthful with probability (1 + 1/c)/2; a fair coin where nothing is held.
        bits = np.where(rng.random(held.shape) < (1 + held / c) / 2, 1, -1)
        sums: NDArray[np.float64] = levels * changes * c * bits.sum(axis=0) / people
        for period in range(1, periods + 1):
            if period >> height & 1:
                estimate[period] += sums[(period >> height) - 1]
    return estimate[1:]
