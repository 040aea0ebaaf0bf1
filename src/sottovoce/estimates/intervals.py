"""Confidence intervals that hold: for every number of reports, and for these very people as for a population.

An interval holds every true answer that the raw one is not too far from. What is too far depends on the true answer,
since its variance does (Wilson 1927); the limit is exact or certified (`sottovoce.theory.tails`). Nothing is taken from
the estimate that was not accounted for in the level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.law import Evidence, ReportLaw, ThreeValues
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.theory.feldman_cousins import EXACT, feldman_cousins
from sottovoce.theory.tails import METHODS, clopper_pearson, deviation
from sottovoce.theory.three_values import LEAST_MISS, LEAST_REPORTS, MOST_REPORTS, THREE_VALUES, lower_limit

__all__ = [
    "Interval",
    "Observed",
    "UncutInterval",
    "certified_interval",
    "check_level",
    "counts_differences",
    "raw_bias",
    "rotations_note",
    "uncut_interval",
]

_ROUNDS: Final = 40
"""Steps in which an end is found; few suffice, and where they do not, the end is taken farther out."""

_CLOSE: Final = 1e-7

UNCUT: Final = "Clopper and Pearson's limits of a count"

_SHARING_NOTED: Final = 1.01
"""Factor of the variance by shared rotations above which an interval says so."""


@final
@dataclass(frozen=True, eq=False)
class Interval:
    """Lower and upper ends, one entry per answer, and the inequalities that were used; `low, high = interval`."""

    low: Floats
    high: Floats
    method: str

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.low, self.high))

    def nearest(self, values: Floats) -> Floats:
        """The numbers in the intervals that are nearest to these values: what is shown for them."""
        return np.asarray(values.clip(self.low, self.high))


@final
@dataclass(frozen=True, eq=False)
class UncutInterval:
    """Raw answers, ends around them that know nothing of their range, the bias that is not in the ends, and the law."""

    raw: Floats
    low: Floats
    high: Floats
    bias: Any
    method: str
    law: ReportLaw


@final
@dataclass(frozen=True, eq=False)
class Observed:
    """Raw answers of a design, or combinations of them by `weights`, and the limits of the true ones."""

    design: Strategy
    raw: Floats
    n_reports: int
    counts: Counts | None
    least: Any
    most: Any
    weights: Floats | None = None


def check_level(level: object) -> None:
    """Raise `SurveyError` for an invalid level."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise SurveyError("level must be a number between 0 and 1, for example 0.95").at("level")


def certified_interval(observed: Observed, level: float, together: int = 1) -> Interval:
    """Intervals at this level for each answer, or for `together` answers simultaneously (Bonferroni)."""
    design, n = observed.design, observed.n_reports
    evidence = Evidence(observed.counts, n, (1 - level) / (2 * together))
    ends = None if observed.weights is None else (observed.least, observed.most)
    law = design.law(observed.weights, evidence, ends)
    methods, bias = (*METHODS, EXACT, THREE_VALUES), raw_bias(observed)
    low, high, used = _ends(observed, law, bias)
    low, high = (low - bias).clip(observed.least, observed.most), (high + bias).clip(observed.least, observed.most)
    return Interval(
        np.asarray(np.minimum(low, high)),
        np.asarray(np.maximum(low, high)),
        "; ".join(methods[i] for i in np.unique(used)) + rotations_note(design, n) + law.note,
    )


def uncut_interval(observed: Observed, level: float) -> UncutInterval:
    """Intervals of the raw answers' expectations that are not cut to the range, even where they lie wholly outside.

    Differences of independent answers are computed from these. Counts of bits by Clopper and Pearson's limits; other
    answers by the deviation at the nearest possible answer, which has a variance.
    """
    design, n, raw = observed.design, observed.n_reports, observed.raw
    ends = None if observed.weights is None else (observed.least, observed.most)
    law = design.law(observed.weights, Evidence(observed.counts, n, (1 - level) / 2), ends)
    nearest = raw.clip(observed.least, observed.most)
    if law.bits is None or np.isnan(law.bits[0]).any():
        variance = law.curve(nearest).at(nearest)
        below, above = (_deviation(law, nearest, variance, n, side) for side in (-1, 1))
        low, high = raw - below.size, raw + above.size
        methods = {METHODS[i] for i in np.unique([below.method, above.method])}
    else:
        low, high, methods = raw.copy(), raw.copy(), set()
    if law.bits is not None:
        exact = ~np.isnan(law.bits[0])
        low[exact], high[exact] = _any_chance(observed, law, exact)
        methods.add(UNCUT)
    note = rotations_note(design, n) + law.note
    return UncutInterval(raw, low, high, raw_bias(observed), "; ".join(sorted(methods)) + note, law)


def counts_differences(observed: Observed, level: float, together: int) -> Any:
    """Which answers have limits of a difference of two counts: by design, level and number of reports."""
    ends = None if observed.weights is None else (observed.least, observed.most)
    evidence = Evidence(observed.counts, observed.n_reports, (1 - level) / (2 * together))
    return _has_three_values(observed, observed.design.law(observed.weights, evidence, ends))


def raw_bias(observed: Observed) -> Any:
    """How far the expectation of the raw answers can be off: what is proved, and what was measured of rotations."""
    design, weights = observed.design, observed.weights
    measured = design.measured_answer_bias(weights)
    if weights is None:
        return design.bias_bound + measured
    return np.abs(weights) @ np.broadcast_to(np.asarray(design.bias_bound), weights.shape[1]) + measured


def rotations_note(design: Strategy, n: int) -> str:
    """A note on the bias of public rotations; empty for designs without them."""
    if not design.measured_bias:
        return ""
    note = "; the bias of public rotations as measured"
    if design.sharing_factor(n) <= _SHARING_NOTED:
        return note
    return f"{note}, and people share them: the level is over their random choice, with tails that are not proved"


def _ends(observed: Observed, law: ReportLaw, bias: Any) -> tuple[Floats, Floats, Any]:
    """Both ends before bias and clipping, and the inequalities used, as indices; counts of bits need no steps."""
    if law.bits is None:
        exact = np.zeros(observed.raw.shape, dtype=np.bool_)
    else:
        exact = ~np.isnan(law.bits[0])
        counted = _counted(observed, law, bias, exact)
        if exact.all():
            return *counted, np.array([len(METHODS)])
    three = ~exact & _has_three_values(observed, law)
    if (exact | three).all():
        low, high, used = observed.raw.copy(), observed.raw.copy(), np.zeros(2 * len(exact), dtype=np.int64)
    else:
        near = replace(observed, raw=_near_range(observed, law))
        low, low_method = _end(near, law, -1)
        high, high_method = _end(near, law, 1)
        used = np.append(low_method, high_method)
    if exact.any():
        low[exact], high[exact] = counted
        used = np.where(np.append(exact, exact), len(METHODS), used)
    if law.three is not None:
        for answer in np.flatnonzero(three).tolist():
            low[answer], high[answer] = _of_three_values(observed, law.three, answer)
            used[[answer, len(exact) + answer]] = len(METHODS) + 1
    return low, high, used


def _has_three_values(observed: Observed, law: ReportLaw) -> Any:
    """Where limits of a difference of two counts are used: by design, level and number of reports alone."""
    enough = LEAST_REPORTS <= observed.n_reports <= MOST_REPORTS
    if law.three is None or law.three.miss < LEAST_MISS or not enough:
        return np.zeros(observed.raw.shape, dtype=np.bool_)
    return ~np.isnan(law.three.step)


def _of_three_values(observed: Observed, three: ThreeValues, answer: int) -> tuple[float, float]:
    """Ends of an answer whose X can be three numbers, from the difference of two counts.

    Where that lies far outside its range, it is moved to half a deviation from it for the end on the other side: larger
    counts would exclude more, so the level cannot fall, and something of the range is left.
    """
    n = observed.n_reports
    step, base, most = (float(part[answer]) for part in (three.step, three.base, three.most))
    raw, *ends = (
        (float(np.broadcast_to(part, observed.raw.shape)[answer]) - base) / step * n
        for part in (observed.raw, observed.least, observed.most)
    )
    half = max(0.0, NormalDist().inv_cdf(1 - three.miss)) * math.sqrt(n * most) / 2
    first = min(round(raw), math.floor(max(ends) + half), n)
    last = max(round(raw), math.ceil(min(ends) - half), -n)
    region = three.miss, float(three.least[answer]), most
    return base + step * lower_limit(first, n, *region), base - step * lower_limit(-last, n, *region)


def _counted(observed: Observed, law: ReportLaw, bias: Any, exact: Any) -> tuple[Floats, Floats]:
    """Exact ends where X can be two numbers: the raw answer is an affine function of a count of bits.

    The chance of a bit lies where true answers, moved by the bias, allow it to.
    """
    zero, unit, n = _bits(observed, law, exact)
    range_ends = np.asarray(observed.least) - bias, np.asarray(observed.most) + bias
    least, most = (np.broadcast_to(end, exact.shape)[exact] for end in range_ends)
    share, first, last = (_chances(place, zero, unit) for place in (observed.raw[exact], least, most))
    low, high = feldman_cousins(np.rint(share * n), n, law.miss, first, last)
    # An end of the range is that very number.
    return (
        np.where(low == first, least, zero + low * (unit - zero)),
        np.where(high == last, most, zero + high * (unit - zero)),
    )


def _near_range(observed: Observed, law: ReportLaw) -> Floats:
    """The raw answers, moved to at most half a deviation outside the range of the true ones.

    No true answer is farther from the moved one than from the raw one, so the level cannot fall; and some true answers
    are near enough to every moved one, so no interval is empty or of zero width.
    """
    least, most = (np.broadcast_to(end, observed.raw.shape) for end in (observed.least, observed.most))
    below, above = (
        _deviation(law, end, law.curve(end).at(end), observed.n_reports, side).size
        for end, side in ((least, 1), (most, -1))
    )
    return np.asarray(observed.raw.clip(least - below / 2, most + above / 2))


def _any_chance(observed: Observed, law: ReportLaw, exact: Any) -> tuple[Floats, Floats]:
    """`_counted` where the chance of a bit may be any; infinite ends where nobody was asked."""
    zero, unit, n = _bits(observed, law, exact)
    low, high = np.full(len(n), -np.inf), np.full(len(n), np.inf)
    for reports in np.unique(n[n > 0]).tolist():
        of = n == reports
        share = _chances(observed.raw[exact][of], zero[of], unit[of])
        limits = clopper_pearson(np.rint(share * reports).astype(np.int64), reports, law.miss)
        low[of], high[of] = (zero[of] + limit * (unit[of] - zero[of]) for limit in limits)
    return low, high


def _bits(observed: Observed, law: ReportLaw, exact: Any) -> tuple[Floats, Floats, Any]:
    """The lesser and the greater number that X can be, and the number of reports, where there are two."""
    bits = np.stack(law.bits or ())[:, exact]
    n = np.broadcast_to(observed.n_reports if law.counted is None else law.counted, exact.shape)[exact]
    return bits.min(axis=0), bits.max(axis=0), n


def _chances(answers: Floats, zero: Floats, unit: Floats) -> Floats:
    """The chances of the greater number that make X expect these answers."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num((answers - zero) / (unit - zero), posinf=0.0, neginf=0.0).clip(0, 1)


def _end(observed: Observed, law: ReportLaw, side: int) -> tuple[Floats, Any]:
    """The last true answer on one side of the raw one that is not too far from it, and the inequality for each."""
    raw, n = observed.raw, observed.n_reports
    low, high = np.broadcast_to(observed.least, raw.shape), np.broadcast_to(observed.most, raw.shape)
    end = raw.clip(low, high)
    for _ in range(_ROUNDS):
        curve = law.curve(end)
        away, method = _deviation(law, end, curve.at(end), n, side)
        last, end = end, _root(raw, curve, curve.at(end), away, side).clip(low, high)
        if (np.abs(end - last) <= _CLOSE * (np.abs(end - raw) + 1e-300)).all():
            return end, method
    # Where steps do not settle: as far as the largest variance of any true answer allows.
    curve = (law.anywhere or law.curve)(end)
    away, method = _deviation(replace(law, third=None), end, curve.at(curve.peak.clip(low, high)), n, side)
    settled = np.abs(end - last) <= _CLOSE * (np.abs(end - raw) + 1e-300)
    return np.where(settled, end, (raw + side * away).clip(low, high)), method


def _deviation(law: ReportLaw, true: Floats, variance: Floats, n: int, side: int) -> Any:
    """How far a raw answer can be from these true ones, of this variance, which lie on this side of it."""
    ahead, third = law.above if side < 0 else law.below, None if law.third is None else law.third(true)
    return deviation(variance, law.floor, law.reach, n, law.miss, law.proxy, law.skew, ahead, third)


def _root(raw: Floats, curve: VarianceCurve, variance: Floats, away: Floats, side: int) -> Floats:
    """The y at which (y - raw)^2 = k n Var(y), with k such that both sides agree at the variance of the last step."""
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(variance > 0, away**2 / variance, 0.0)
    away_from = raw - curve.centre
    a, b, c = 1 - k * curve.square, 2 * away_from + k * curve.linear, away_from**2 - k * curve.constant
    square = b**2 - 4 * a * c
    root = curve.centre + (b + side * np.sqrt(np.maximum(0.0, square))) / (2 * a)
    # Where no answer at all is near enough, the raw one: its nearest possible answer is what remains.
    return np.asarray(np.where(variance > 0, np.where(square >= 0, root, raw), raw + side * away))
