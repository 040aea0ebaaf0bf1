"""Differences and ratios of two independent answers, with limits and p-values that hold at every look together.

Each arm has a process for every candidate that is 1 at the beginning and whose expectation never grows if the candidate
is true (`sottovoce.theory.watching`). The product of both is such a process for a pair of candidates, as long as which
arm reports next does not depend on the coming answer. So all pairs together whose product stays below 1/alpha hold the
true pair at all looks, with probability 1 - alpha (Ville 1939): a difference is excluded where every pair with that
difference is. Logarithms of the processes are convex, so the least product over such pairs is found by a search along
one line, and what is not excluded is an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.watching import PLANNED, Bets, bit_log_process, bounded_log_process, outermost, strength

__all__ = ["ArmProcess", "difference_limits", "lasting_p_values", "least_product"]

Floats = NDArray[np.float64]

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_SECTIONS: Final = 36
"""Steps of a golden-section search: what is left is 3e-8 of the bracket, in which a smooth function is flat."""

_HALVINGS: Final = 32
_SLACK: Final = 1e-9
"""What a search along a line may miss of its least value, relative to it and to one."""

_LARGEST: Final = 1e300

_LEAST_PART: Final = 1e-4
"""The part of the squared reach that bets are tuned for at least."""


def _strength(planned: Any, miss: float) -> Floats:
    """The strength of each of two mixtures whose product is narrowest at `planned` reports of each arm.

    For normal numbers the product excludes a difference where d^2/(2 Var) shrunk by n/(n + rho) exceeds
    ln((n + rho)/rho) + ln(1/miss): twice the first term of a single mixture, as if the miss were its root.
    """
    unit = strength(1.0, math.sqrt(miss))
    return np.asarray(unit * np.asarray(planned, dtype=np.float64))


@final
@dataclass(frozen=True, eq=False)
class ArmProcess:
    """The processes of one arm's answers, one per entry.

    Attributes
    ----------
    centre
        The raw answers, moved into the range of the true ones.
    low, high
        The range of the true answers.
    log
        The logarithm of the process of one candidate per entry of those that are given by their places; convex in the
        candidate, least near the raw answer.
    """

    centre: Floats
    low: Floats
    high: Floats
    log: Callable[[Floats, Any], Floats]

    @classmethod
    def of_bits(
        cls, zero: Floats, one: Floats, raw: Floats, n: Floats, ends: tuple[Floats, Floats], miss: float, planned: Any
    ) -> Self:
        """Raw answers that are means of n reports of two outcomes, `zero` and `one`, of people from one population."""
        rho = np.broadcast_to(_strength(planned, miss), raw.shape)
        certain = one == zero
        width = np.where(certain, 1.0, one - zero)
        ends = np.where(certain, zero, ends[0]), np.where(certain, zero, ends[1])
        ones = np.where(certain, 0.0, (raw - zero) / width) * n
        whole = np.rint(ones)
        ones = np.where(np.abs(ones - whole) < 1e-6, whole, ones)

        def log(candidate: Floats, some: Any) -> Floats:
            chance = ((candidate - zero[some]) / width[some]).clip(0, 1)
            return bit_log_process(chance, ones[some], n[some], rho[some])

        return cls(raw.clip(*ends), *ends, log)._not_empty()

    @classmethod
    def of_bounded(
        cls,
        raw: Floats,
        n: int,
        variance: Callable[[Floats, Any], Floats],
        reach: Floats,
        typical: Floats,
        ends: tuple[Floats, Floats],
        miss: float,
    ) -> Self:
        """Raw answers that are means of n numbers no farther than `reach` from their expectation.

        `variance` is a concave upper bound of their variance at candidates, and `typical` what bets are tuned for, from
        the design alone. Bets on the other side of a candidate are left out, which can only exclude less.
        """
        bets = Bets.normal()
        tuned = np.maximum(typical, np.maximum(_LEAST_PART * reach**2, 1e-200))
        unit = 1 / np.sqrt(_strength(PLANNED, miss) * tuned)

        def log(candidate: Floats, some: Any) -> Floats:
            bet, most = unit[some][:, None] * bets.size, reach[some]
            spread = np.minimum(variance(candidate, some), most**2)
            return bounded_log_process(np.abs(raw[some] - candidate), n, spread, most, bet, bets.log_weight)

        return cls(raw.clip(*ends), *ends, log)._not_empty()

    def _not_empty(self) -> Self:
        """Less what excludes the possible answer that is nearest to the raw one, so that something is left."""
        excess = np.maximum(0.0, self.log(self.centre, np.arange(len(self.centre))))
        inner = self.log
        return replace(self, log=lambda candidate, some: inner(candidate, some) - excess[some])

    def taken(self, places: Any, constant: Floats) -> ArmProcess:
        """Some of the entries, with constants added to them."""
        inner = self.log

        def log(candidate: Floats, some: Any) -> Floats:
            return inner(candidate - constant[some], places[some])

        return ArmProcess(
            self.centre[places] + constant, self.low[places] + constant, self.high[places] + constant, log
        )

    @classmethod
    def joined(cls, parts: list[tuple[Any, ArmProcess]], size: int) -> ArmProcess:
        """One process from several, each with the places of its entries."""
        whose, place = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        centre, low, high = np.zeros(size), np.zeros(size), np.zeros(size)
        for number, (places, part) in enumerate(parts):
            whose[places], place[places] = number, np.arange(len(part.centre))
            centre[places], low[places], high[places] = part.centre, part.low, part.high

        def log(candidate: Floats, some: Any) -> Floats:
            logs = np.zeros(len(candidate))
            for number, (_, part) in enumerate(parts):
                mine = whose[some] == number
                if mine.any():
                    logs[mine] = part.log(candidate[mine], place[some][mine])
            return logs

        return cls(centre, low, high, log)


def least_product(first: ArmProcess, second: ArmProcess, offset: Floats, factor: Floats, some: Any) -> Floats:
    """The least logarithm of the product over all pairs of the line first = offset + factor second, in both ranges.

    Infinite where no possible pair lies on it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [
            np.where(factor == 0, away, (end[some] - offset) / factor)
            for end, away in ((first.low, -np.inf), (first.high, np.inf))
        ]
        wanted = np.where(factor == 0, second.centre[some], (first.centre[some] - offset) / factor)
    least = np.maximum(second.low[some], np.minimum(*ends))
    most = np.minimum(second.high[some], np.maximum(*ends))
    empty = least > most + 1e-12 * (1 + np.abs(most))
    least = np.minimum(least, most)
    own, other = second.centre[some].clip(least, most), wanted.clip(least, most)
    # Both logarithms grow away from their centres, so the least sum lies between these.
    low, high = np.minimum(own, other), np.maximum(own, other)

    def product(place: Floats) -> Floats:
        there = (offset + factor * place).clip(first.low[some], first.high[some])
        return first.log(there, some) + second.log(place, some)

    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_inner, at_outer = product(inner), product(outer)
    best = np.minimum(np.minimum(product(low), product(high)), np.minimum(at_inner, at_outer))
    for _ in range(_SECTIONS):
        left = at_inner <= at_outer
        low, high = np.where(left, low, inner), np.where(left, outer, high)
        fresh = np.where(left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        value = product(fresh)
        inner, outer = np.where(left, fresh, outer), np.where(left, inner, fresh)
        at_inner, at_outer = np.where(left, value, at_outer), np.where(left, at_inner, value)
        best = np.minimum(best, value)
    best = np.minimum(best, _LARGEST)
    return np.where(empty, np.inf, best - _SLACK * (1 + np.abs(best)))


def difference_limits(first: ArmProcess, second: ArmProcess, miss: float) -> tuple[Floats, Floats]:
    """Limits of first - second, one per entry, that hold at every look together.

    Examples
    --------
    >>> zero, one, ends = np.zeros(1), np.ones(1), (np.zeros(1), np.ones(1))
    >>> def arm(share, n):
    ...     return ArmProcess.of_bits(zero, one, np.array([share]), np.array([n]), ends, 0.05, 10_000)
    >>> low, high = difference_limits(arm(0.53, 10_000), arm(0.45, 10_000), 0.05)
    >>> low.round(3), high.round(3)
    (array([0.056]), array([0.104]))
    """
    most, one = -math.log(miss), np.ones(1)

    def excluded(difference: Floats, some: Any) -> NDArray[np.bool_]:
        return np.asarray(least_product(first, second, difference, np.broadcast_to(one, difference.shape), some) > most)

    centre = first.centre - second.centre
    ends = first.low - second.high, first.high - second.low
    low, high = (outermost(excluded, centre, end, _HALVINGS) for end in ends)
    return low, high


def lasting_p_values(first: ArmProcess, second: ArmProcess, differences: Floats) -> Floats:
    """P-values of given differences, at most 0.05 at any look with probability 0.05 at most if they are true."""
    some = np.arange(len(differences))
    return np.asarray(np.exp(-least_product(first, second, differences, np.ones(len(differences)), some)).clip(max=1.0))
