"""Coverage of confidence intervals, measured on simulated people: how often they hold the truth, and how wide they are.

In every run people are drawn from a population and report once. The intervals are compared with the answers of the
population and with those of these very people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install
from sottovoce.estimates.intervals import Interval, Observed, certified_interval
from sottovoce.lab.simulation.repeats import check_people, check_repeats, mean_and_error, seeds_of
from sottovoce.mechanisms.unary import Unary
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey

__all__ = ["LEVEL", "MANY", "TESTS", "Coverage", "evidence_against", "measure_coverage"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEVEL: Final = 0.95
"""Of all intervals."""

TESTS: Final = 6
"""Of one measurement: single, worst and simultaneous, of the population and of these very people."""

MANY: Final = 100
"""Reports are many where a standard deviation is so many times what one report can move the answer."""

_NORMAL: Final = 1.959963984540054
_ROUNDING: Final = 1e-10
_STAKES: Final = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])


@dataclass(frozen=True)
class Coverage:
    """Coverage and width of the 95 % intervals of one survey, for one population and number of people.

    Attributes
    ----------
    single, single_error
        The fraction of answers inside their interval, mean over the runs, and its standard error. Answers of one run
        depend on each other; runs do not.
    worst
        The least coverage of any one answer. The least of many varies more than one; `evidence` accounts for that.
    simultaneous
        The fraction of runs in which every answer was inside its simultaneous interval.
    *_people
        The same for the answers of these very people.
    evidence
        Powers of ten by which the runs speak against a coverage of 95 %, the largest of `TESTS`: if it is 95 % or more,
        k is reached with probability 10^-k at most.
    width, widest
        Half of the single intervals over 1.96 true standard deviations: the median and the largest over all answers,
        each a mean over the runs, of ends that no run clipped to the range of the answers. None if there are none.
    widest_of_many
        The largest of those answers for which reports are many (`MANY`). None if there are none.
    """

    answers: int
    repeats: int
    single: float
    single_error: float
    worst: float
    simultaneous: float
    single_people: float
    single_people_error: float
    worst_people: float
    simultaneous_people: float
    evidence: float
    width: float | None
    widest: float | None
    widest_of_many: float | None

    @property
    def simultaneous_error(self) -> float:
        """Standard error of a simultaneous coverage of exactly 95 % in as many runs."""
        return math.sqrt(LEVEL * (1 - LEVEL) / self.repeats)


def measure_coverage(
    survey: Survey,
    shares: Floats,
    people: int,
    repeats: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> Coverage:
    """Coverage and width in independent runs, each of `people` people drawn from `shares`.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(8), epsilon=1.0, mechanism="randomized_response")
    >>> found = measure_coverage(survey, np.full(8, 1 / 8), 500, repeats=60, seed=1)
    >>> found.single > 0.95 - 2 * found.single_error, found.evidence < 3
    (True, True)
    """
    n, times = check_people(people), check_repeats(repeats, fewest=2)
    workload = survey.design.workload
    truth = workload.matvec(shares)
    of_population, of_people, widths = _Misses(len(truth)), _Misses(len(truth)), _Widths(survey, len(truth))
    seeds = seeds_of(seed, 2 * times)
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        crowd = histogram_of(shares, n, people_seed)
        observed = _observed(survey, crowd, report_seed)
        single = certified_interval(observed, LEVEL)
        together = certified_interval(observed, LEVEL, len(truth))
        of_population.add(truth, single, together)
        of_people.add(workload.matvec(crowd / n), single, together)
        widths.add(observed.raw, single)
        if progress is not None:
            progress(n)
    deviation = np.sqrt(np.broadcast_to(survey.design.variance(None, shares, n).value, truth.shape))
    return Coverage(
        len(truth),
        times,
        *of_population.found(),
        *of_people.found(),
        max(of_population.evidence(), of_people.evidence()),
        *widths.found(deviation, n * deviation >= MANY * survey.design.spread.per_answer),
    )


def evidence_against(missed: Floats, allowed: float) -> float:
    """Powers of ten by which independent numbers in [0, 1] speak against a mean of `allowed` at most.

    Every gambler bets a fixed part of their fortune, in every run, that more is missed. If the mean is `allowed` at
    most, a bet gains nothing on average, so the mean fortune reaches 10^k with probability 10^-k at most (Markov's
    inequality; Waudby-Smith and Ramdas 2024). That holds for any distribution and any number of runs, also where few
    people give few different numbers.

    Examples
    --------
    >>> evidence_against(np.full(100, 0.05), 0.05) < 1e-9, evidence_against(np.full(100, 0.1), 0.05) > 25
    (True, True)
    """
    fortunes = np.log1p(np.multiply.outer(_STAKES, missed / allowed - 1)).sum(axis=1)
    return float(np.logaddexp.reduce(fortunes) - math.log(len(_STAKES))) / math.log(10)


def _observed(survey: Survey, people: Integers, seed: int) -> Observed:
    """Raw answers as `Survey.estimate` has them; nothing is projected, since intervals are of raw answers."""
    n, design = int(people.sum()), cast(LinearStrategy, survey.design)
    counts = _counts(survey, people, seed)
    return Observed(design, design.raw_answers(counts, n), n, counts, *survey.answer_range)


def _counts(survey: Survey, people: Integers, seed: int) -> Any:
    """The counts of everybody's reports. Independent bits are counted as such: two binomial numbers per value."""
    mechanism = survey.mechanism
    if not isinstance(mechanism, Unary):
        return survey.simulate_aggregate(histogram=people, seed=seed).counts
    rng = np.random.default_rng(seed)
    own, other = mechanism.own_threshold / 2**64, mechanism.other_threshold / 2**64
    return rng.binomial(people, own) + rng.binomial(people.sum() - people, other)


class _Misses:
    """How often each answer, how many answers of each run, and in which runs any answer was missed."""

    def __init__(self, answers: int) -> None:
        self.each = np.zeros(answers, dtype=np.int64)
        self.single: list[float] = []
        self.simultaneous: list[float] = []

    def add(self, truth: Floats, single: Interval, together: Interval) -> None:
        missed = _outside(truth, single)
        self.each += missed
        self.single.append(float(missed.mean()))
        self.simultaneous.append(float(_outside(truth, together).any()))

    def found(self) -> tuple[float, float, float, float]:
        mean, error = mean_and_error(self.single)
        return 1 - mean, error, 1 - float(self.each.max()) / len(self.single), 1 - float(np.mean(self.simultaneous))

    def evidence(self) -> float:
        with full_install:
            from scipy.special import bdtrc

        most, answers, allowed = float(self.each.max()), len(self.each), 1 - LEVEL
        chance = min(1.0, answers * float(bdtrc(most - 1, len(self.single), allowed))) if most else 1.0
        bets = (evidence_against(np.array(missed), allowed) for missed in (self.single, self.simultaneous))
        return max(-math.log10(max(chance, 1e-300)), *bets)


def _outside(truth: Floats, interval: Interval) -> NDArray[np.bool_]:
    return np.asarray((truth < interval.low - _ROUNDING) | (truth > interval.high + _ROUNDING))


class _Widths:
    """Half-widths on both sides of the raw answers, of ends that no run has clipped so far."""

    def __init__(self, survey: Survey, answers: int) -> None:
        self.least, self.most = (np.broadcast_to(end, answers) for end in survey.answer_range)
        self.sums = np.zeros((2, answers))
        self.inside = np.ones((2, answers), dtype=np.bool_)
        self.runs = 0

    def add(self, raw: Floats, interval: Interval) -> None:
        self.sums += raw - interval.low, interval.high - raw
        for side, end in enumerate(interval):
            self.inside[side] &= (end > self.least + _ROUNDING) & (end < self.most - _ROUNDING)
        self.runs += 1

    def found(self, deviation: Floats, many: NDArray[np.bool_]) -> tuple[float | None, float | None, float | None]:
        shown = self.inside.any(axis=0) & (deviation > _ROUNDING)
        half = (self.sums * self.inside)[:, shown].sum(axis=0) / (self.inside[:, shown].sum(axis=0) * self.runs)
        ratios = half / (_NORMAL * deviation[shown])
        if not len(ratios):
            return None, None, None
        of_many = ratios[many[shown]]
        return float(np.median(ratios)), float(ratios.max()), float(of_many.max()) if len(of_many) else None
