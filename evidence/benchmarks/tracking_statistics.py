"""What a tracking survey's figures are worth, over simulated histories: 52 weeks, yes or no, epsilon 1.

The variance of a period beside its formula and beside answering every week; how often intervals, differences and bands
hold at 95 %; how often tests find a change where there is none, and one where there is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.domain import Domain
from sottovoce.estimates.curve import Curve
from sottovoce.planning.tracking import CHANGE_PER_MARGIN
from sottovoce.surveys.survey import Tracking

__all__ = ["run"]

Row = dict[str, object]

PERIODS, EPSILON, PEOPLE = 52, 1.0, 104_000
REPEATS = 250
VARIANCE_REPEATS = 1500
LEVEL, TEST = 0.95, 0.05
TARGET = 61.0
"""Largest n Var of a week."""


def run() -> list[Row]:
    """Every figure, one row each."""
    tracking = sv.Tracking(
        sv.questions.Shares(Domain.of(["yes", "no"])),
        periods=PERIODS,
        every="week",
        starts="2027-01-04",
        epsilon=EPSILON,
    )
    margin = sv.plan(["yes", "no"], periods=PERIODS, epsilon=EPSILON, people=PEOPLE).margin
    still = [_curve(tracking, np.full(PERIODS, 0.5), seed) for seed in range(REPEATS)]
    wave: NDArray[np.float64] = 0.5 + 0.2 * np.sin(2 * np.pi * np.arange(PERIODS) / PERIODS)
    moving = [_curve(tracking, wave, 1000 + seed) for seed in range(REPEATS)]
    # As large a slope as a trend test of this size finds with a power of 80 %.
    spread = math.sqrt(float(((np.arange(PERIODS) - (PERIODS - 1) / 2) ** 2).sum()))
    slope = CHANGE_PER_MARGIN / math.sqrt(2) * margin / spread
    line = np.asarray(0.5 + slope * (np.arange(PERIODS) - (PERIODS - 1) / 2), dtype=np.float64)
    rising = [_curve(tracking, line, 2000 + seed) for seed in range(REPEATS)]
    return [*_variance(tracking), *_coverage(moving, wave), *_tests(still, rising)]


def _curve(tracking: Tracking, shares: NDArray[np.float64], seed: int) -> Curve:
    """The curve of people whose values are drawn afresh every week: drawn once, and seen by one report each."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(PEOPLE, np.full(PERIODS, 1 / PERIODS))
    aggregates = {}
    for number, (people, share) in enumerate(zip(counts.tolist(), shares.tolist(), strict=True), 1):
        yes = int(rng.binomial(people, share))
        own = int(rng.integers(2**63))
        aggregates[number] = tracking.period(number).simulate_aggregate(histogram=[yes, people - yes], seed=own)
    return tracking.estimate(aggregates)


def _variance(tracking: Tracking) -> list[Row]:
    """Measured over people whose values change at will from week to week; each is seen in the week of its seat."""
    name = f"tracking, {PERIODS} weeks, epsilon {EPSILON:g}, yes or no at 1/2: n·Var of a week"
    squares = np.concatenate([_squared_errors(tracking, seed) for seed in range(VARIANCE_REPEATS)])
    found, error = PEOPLE * float(squares.mean()), PEOPLE * float(squares.std()) / math.sqrt(len(squares))
    exact = PERIODS * float(tracking.once.design.variance(None, [0.5, 0.5], 1).value[0])
    often = float(sv.Survey(tracking.question, epsilon=EPSILON / PERIODS).design.variance(None, [0.5, 0.5], 1).value[0])
    measured = {"measured": found, "standard_error": error}
    return [
        _row(f"{name}, exact", exact, "1", TARGET),
        _row(f"{name}, measured", found / exact, "exact", round(1 + 3 * error / exact, 4), **measured),
        _row(f"{name}, measured", found / often, f"everybody every week at epsilon/{PERIODS}", 1 / 44, **measured),
    ]


def _squared_errors(tracking: Tracking, seed: int) -> NDArray[np.float64]:
    """Of the share of yes in every week, for one draw of people, seats, values and reports."""
    rng = np.random.default_rng([3, seed])
    seats, values = rng.integers(PERIODS, size=PEOPLE), rng.integers(2, size=PEOPLE)
    mechanism: Any = tracking.once.mechanism
    order = np.argsort(seats, kind="stable")
    reports = mechanism.randomize_many(values[order], rng)
    ends = np.cumsum(np.bincount(seats, minlength=PERIODS))
    errors = []
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        counts = mechanism.empty()
        mechanism.count_into(counts, reports[start:end])
        errors.append(float(tracking.once.design.read(counts, end - start).raw[0]) - 0.5)
    return np.square(errors)


def _coverage(curves: list[Curve], truth: NDArray[np.float64]) -> list[Row]:
    series = [curve.series("yes", LEVEL) for curve in curves]
    each = [[point.low <= p <= point.high for point, p in zip(one.points, truth, strict=True)] for one in series]
    bands = [
        all(point.band_low <= p <= point.band_high for point, p in zip(one.points, truth, strict=True))
        for one in series
    ]
    pairs = [(13, 39), (2, 1), (52, 1), (40, 14), (26, 27), (30, 3)]
    differences = []
    for curve in curves:
        for later, earlier in pairs:
            found = curve.difference(later, earlier, "yes", LEVEL)
            differences.append(found.low <= truth[later - 1] - truth[earlier - 1] <= found.high)
    slopes = [curve.trend("yes", LEVEL) for curve in curves]
    # The line that weighted least squares would fit to the truth; weights are nearly alike.
    middle = np.arange(PERIODS) - (PERIODS - 1) / 2
    line = float(middle @ truth / (middle @ middle))
    held = [one.low <= line <= one.high for one in slopes]
    return [
        _misses("each week's interval", np.ravel(each)),
        _misses("difference of two weeks", differences),
        _misses("band over all weeks", bands),
        _misses("slope", held),
    ]


def _misses(what: str, held: object) -> Row:
    """Misses over those allowed; a target with three standard errors of the simulation."""
    found = np.asarray(held, dtype=bool)
    missed, allowed = 1 - float(found.mean()), 1 - LEVEL
    most = 1 + 3 * math.sqrt(LEVEL / allowed / len(found))
    return _row(
        f"tracking, {what}: misses of the truth over those of {100 * LEVEL:g} %",
        missed / allowed,
        f"{allowed:.2g}",
        round(most, 2),
        coverage=1 - missed,
    )


def _tests(still: list[Curve], rising: list[Curve]) -> list[Row]:
    calm, up = [curve.trend("yes") for curve in still], [curve.trend("yes") for curve in rising]
    size = float(np.mean([one.p_value < TEST for one in calm]))
    change = float(np.mean([one.p_value_change < TEST for one in calm]))
    power = float(np.mean([one.p_value < TEST for one in up]))
    most = round(1 + 3 * math.sqrt((1 - TEST) / TEST / REPEATS), 2)
    return [
        _row("tracking, trend test: false alarms", size / TEST, f"{TEST:g}", most),
        _row("tracking, test that nothing changed: false alarms", change / TEST, f"{TEST:g}", most),
        {"name": "tracking, trend test: power where 80 % are planned", "ratio": power / 0.8, "against": "0.8"},
    ]


def _row(name: str, ratio: float, against: str, most: float, **more: object) -> Row:
    return {"name": name, "ratio": ratio, "against": against, "target": f"<= {most:.4g}", "met": ratio <= most, **more}


if __name__ == "__main__":
    for found in run():
        print(found)
