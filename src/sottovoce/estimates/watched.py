"""Intervals that hold at every look together: for somebody who watches reports come in.

Two kinds, and every interval says which it is. "population": for what people are drawn from, if they all come from one
population. "so far": for the mean of those who have answered until now, also where people change. How each is made of
the law of one report: `sottovoce.theory.watching`. Which way is taken depends on the design alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.estimates.intervals import Interval, Observed, certified_interval, raw_bias, rotations_note
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.theory.two_arms import ArmProcess
from sottovoce.theory.watching import PLANNED, bit_limits, bounded_limits, listed_limits, miss_of_look

__all__ = [
    "Always",
    "arm_process",
    "check_always",
    "level_of_look",
    "look_note",
    "refuse_so_far",
    "still_changing",
    "watched_interval",
]

Always = Literal["population", "so far"]
"""What an interval that holds at every look is about."""

_HOLDS: Final[dict[Always, str]] = {
    "population": "holds at every look together, for people who come from one population",
    "so far": "holds at every look together, for the mean of those who have answered so far, also where people change",
}

Indices = NDArray[np.int64]
Pair = tuple[Floats, Floats]

_NOTHING: Final = "no reports yet: the whole range"
_BITS: Final = "beta mixture of counts"
_LISTED: Final = "mixture of fixed bets on counted reports"
_BOUNDED: Final = "mixture of fixed bets, by Bennett's inequality"
_LOOKS: Final = "a limit for every number of reports, all together at this level"


def check_always(always: object) -> Always | None:
    """The kind of interval that is asked for: True is "population", False none; raises `SurveyError` for others."""
    if isinstance(always, bool):
        return "population" if always else None
    if isinstance(always, str) and always in _HOLDS:
        return always
    raise SurveyError(
        'always must be True or "population" for people from one population, "so far" for the mean of those who have '
        "answered so far, or False for an interval of one look"
    ).at("always")


def still_changing(state: str, waiting: int) -> bool:
    """Whether reports of a survey are still to be counted: until then, what is shown holds at every look."""
    return state == "open" or waiting > 0


def look_note(always: Always) -> str:
    """What the interval is about, for its `method`."""
    return f"; {_HOLDS[always]}; bets are tuned for {PLANNED:,} reports"


def level_of_look(level: float, n_reports: int) -> float:
    """The level of one look at so many reports, such that all looks together have `level`."""
    return 1 - miss_of_look(n_reports, 1 - level, PLANNED)


def refuse_so_far(what: str) -> SurveyError:
    """The error where the mean of those so far is not what reports tell about."""
    return SurveyError(
        f'{what} for the mean of those who have answered so far; use always="population", which holds if people come '
        "from one population"
    ).at("always")


def watched_interval(observed: Observed, level: float, always: Always, together: int = 1) -> Interval:
    """Intervals that hold at every look, for each answer or for `together` of them simultaneously (Bonferroni)."""
    n, miss, bias = observed.n_reports, (1 - level) / together, raw_bias(observed)
    ends = None if observed.weights is None else (observed.least, observed.most)
    law = observed.design.law(observed.weights, Evidence(observed.counts, n, miss / 2, always=True), ends)
    if always == "so far" and (not law.steady or law.counted is not None):
        raise refuse_so_far("which reports are about an answer is drawn by chance, so there is no interval")
    shape = observed.raw.shape
    lowest, highest = (
        np.array(np.broadcast_to(end, shape), dtype=np.float64) for end in (observed.least - bias, observed.most + bias)
    )
    low, high, methods = lowest.copy(), highest.copy(), []
    limits = _Limits(observed, law, miss, together, (lowest, highest))
    for where, method, find in limits.ways(always):
        if n and where.any():
            low[where], high[where] = find(np.flatnonzero(where))
            methods.append(method)
    low, high = (low - bias).clip(observed.least, observed.most), (high + bias).clip(observed.least, observed.most)
    note = rotations_note(observed.design, n) + law.note + look_note(always)
    return Interval(low, high, "; ".join(methods or [_NOTHING]) + note)


def arm_process(observed: Observed, miss: float) -> ArmProcess | None:
    """The processes of all answers, for a comparison with other people's that holds at every look.

    For people from one population. None where X of a report changes as further ones come in: it has no such process.
    """
    ends = None if observed.weights is None else (observed.least, observed.most)
    law = observed.design.law(observed.weights, Evidence(observed.counts, observed.n_reports, miss / 2, True), ends)
    if not law.steady:
        return None
    bias, shape = raw_bias(observed), observed.raw.shape
    lowest, highest = (
        np.array(np.broadcast_to(end, shape), dtype=np.float64) for end in (observed.least - bias, observed.most + bias)
    )
    limits = _Limits(observed, law, miss, 1, (lowest, highest))
    bits = np.zeros(shape, dtype=np.bool_) if law.bits is None else ~np.isnan(law.bits[0])
    parts = []
    for where, process in ((bits, limits.process_of_bits), (~bits, limits.process_of_bounded)):
        if where.any():
            parts.append((np.flatnonzero(where), process(np.flatnonzero(where))))
    return ArmProcess.joined(parts, len(observed.raw))


@final
@dataclass(frozen=True, eq=False)
class _Limits:
    """The limits of some answers, before bias and clipping, in every way."""

    observed: Observed
    law: ReportLaw
    miss: float
    together: int
    ends: tuple[Floats, Floats]

    def ways(self, always: Always) -> Iterator[tuple[NDArray[np.bool_], str, Callable[[Indices], Pair]]]:
        """Which answers, the method's name, and the function that finds their limits: by the design alone."""
        law, shape = self.law, self.observed.raw.shape
        bits = np.zeros(shape, dtype=np.bool_) if law.bits is None else ~np.isnan(law.bits[0])
        if always == "population":
            yield bits, _BITS, self.of_bits
        else:
            yield bits, _BOUNDED, self.of_moving_bits
        if not law.steady:
            yield ~bits, _LOOKS, self.of_single_looks
        elif law.listed is not None and always == "population":
            yield ~bits, _LISTED, self.of_listed
        else:
            yield ~bits, _BOUNDED, self.of_bounded

    def _bits(self, some: Indices) -> tuple[Floats, Floats, Floats, Pair]:
        """The number that a zero stands for, the width of a bit, the share of ones, and the least and largest share."""
        bits: Any = self.law.bits
        zero, width = bits[0][some], (bits[1] - bits[0])[some]
        divisor = np.where(width == 0, 1.0, width)  # of an answer that is certain
        ends = [((end[some] - zero) / divisor).clip(0, 1) for end in self.ends]
        low, high = np.minimum(*ends), np.maximum(*ends)
        # Raw answers beyond the range are moved to its end: the process is convex in them, so nothing more is excluded.
        return zero, width, ((self.observed.raw[some] - zero) / divisor).clip(low, high), (low, high)

    def of_bits(self, some: Indices) -> Pair:
        """Where X can be two numbers: a count of bits, of people from one population."""
        zero, width, share, _ = self._bits(some)
        n = self.observed.n_reports if self.law.counted is None else self.law.counted[some]
        reports = np.broadcast_to(n, share.shape)
        planned = np.broadcast_to(PLANNED * np.asarray(self.law.expected), self.observed.raw.shape)[some]
        low, high = np.zeros(share.shape), np.ones(share.shape)
        for count, plan in np.unique(np.stack([reports, planned]), axis=1).T.tolist():
            mine = (reports == count) & (planned == plan)
            low[mine], high[mine] = bit_limits(_counts(share[mine], int(count)), int(count), self.miss, plan)
        return _ordered(zero + low * width, zero + high * width)

    def of_moving_bits(self, some: Indices) -> Pair:
        """Where X can be two numbers, of people who may change."""
        zero, width, share, (low, high) = self._bits(some)
        n = self.observed.n_reports
        middle = (low + high) / 2
        typical = _typical(*(q * (1 - q) for q in (low, middle, high)))
        rows, index = np.unique(np.stack([_counts(share, n) / n, typical, low, high]), axis=1, return_inverse=True)
        ends = bounded_limits(rows[0], n, _bit, rows[1], (rows[2], rows[3]), self.miss)
        return _ordered(*(zero + end[index.reshape(-1)] * width for end in ends))

    def of_bounded(self, some: Indices) -> Pair:
        """By the range and the variance of X."""
        raw, n = self.observed.raw[some], self.observed.n_reports
        low, high = (end[some] for end in self.ends)
        curve, typical = self._bounded(some)
        given = raw.clip(low, high), *curve, self.law.reach[some], typical, low, high
        rows, index = np.unique(np.stack(np.broadcast_arrays(*given)), axis=1, return_inverse=True)
        mean, *parts, reach, tuned, least, most = rows

        def spread(candidate: Floats, of: Any, side: int) -> Pair:
            variance = VarianceCurve(*(part[of] for part in parts)).at(candidate)
            return np.minimum(variance, reach[of] ** 2), reach[of]

        below, above = bounded_limits(mean, n, spread, tuned, (least, most), self.miss)
        return below[index.reshape(-1)], above[index.reshape(-1)]

    def _bounded(self, some: Indices) -> tuple[VarianceCurve, Floats]:
        """A variance that holds wherever the true answers are, a parabola about the raw ones; and one to tune for."""
        return self._curve(self.observed.raw.clip(*self.ends), some), self._tuned_for(some)

    def _tuned_for(self, some: Indices) -> Floats:
        low, high = (end[some] for end in self.ends)
        middle = self._curve((self.ends[0] + self.ends[1]) / 2, some)
        return _typical(middle.at(low), middle.at((low + high) / 2), middle.at(high))

    def _curve(self, at: Floats, some: Indices) -> VarianceCurve:
        curve = (self.law.anywhere or self.law.curve)(at)
        return VarianceCurve(*(np.broadcast_to(part, at.shape)[some] for part in curve))

    def process_of_bits(self, some: Indices) -> ArmProcess:
        """The process of `of_bits`, of the answers themselves."""
        bits: Any = self.law.bits
        n = self.observed.n_reports if self.law.counted is None else self.law.counted[some]
        reports = np.broadcast_to(np.asarray(n, dtype=np.float64), some.shape)
        planned = np.broadcast_to(PLANNED * np.asarray(self.law.expected), self.observed.raw.shape)[some]
        ends = self.ends[0][some], self.ends[1][some]
        raw = self.observed.raw[some]
        return ArmProcess.of_bits(bits[0][some], bits[1][some], raw, reports, ends, self.miss, planned)

    def process_of_bounded(self, some: Indices) -> ArmProcess:
        """The process of `of_bounded`."""
        curve, typical = self._bounded(some)

        def variance(candidate: Floats, of: Any) -> Floats:
            return VarianceCurve(*(part[of] for part in curve)).at(candidate)

        ends = self.ends[0][some], self.ends[1][some]
        raw, reach = self.observed.raw[some], self.law.reach[some]
        return ArmProcess.of_bounded(raw, self.observed.n_reports, variance, reach, typical, ends, self.miss)

    def of_listed(self, some: Indices) -> Pair:
        """By the counts of single reports, of people from one population."""
        listed: Any = self.law.listed
        low, high = (end[some] for end in self.ends)
        below, above = listed_limits(listed[some], self.observed.counts, self._tuned_for(some), self.miss)
        # What is left of an interval of a raw answer beyond the range may have no width: more is never wrong.
        beyond = (self.observed.raw[some] < low) | (self.observed.raw[some] > high)
        if beyond.any():
            wider = self.of_bounded(some[beyond])
            below[beyond] = np.minimum(below[beyond], wider[0])
            above[beyond] = np.maximum(above[beyond], wider[1])
        return below, above

    def of_single_looks(self, some: Indices) -> Pair:
        """Where X depends on the number of reports: the limits of one look, with a miss for each."""
        level = level_of_look(1 - self.miss * self.together, self.observed.n_reports)
        interval = certified_interval(self.observed, level, self.together)
        return interval.low[some], interval.high[some]


def _counts(shares: Floats, n: int) -> Floats:
    """Counts of bits from their shares: integers, but where shares were moved to the end of their range."""
    counts = shares * n
    whole = np.rint(counts)
    return np.where(np.abs(counts - whole) < 1e-6, whole, counts)


def _bit(chance: Floats, _: Any, side: int) -> Pair:
    """Variance and largest distance of a bit, upward for candidates below."""
    return chance * (1 - chance), 1 - chance if side < 0 else chance


def _typical(first: Floats, middle: Floats, last: Floats) -> Floats:
    """A variance to tune for, between those of the ends of the range: their geometric mean, but not far off the most.

    Shares of rare values and of frequent ones may differ in variance by ten times; either is then off by the root.
    """
    most = np.maximum(np.maximum(first, last), middle)
    return np.asarray(np.sqrt(np.maximum(first, most / 100) * np.maximum(last, most / 100)))


def _ordered(first: Floats, second: Floats) -> Pair:
    return np.minimum(first, second), np.maximum(first, second)
