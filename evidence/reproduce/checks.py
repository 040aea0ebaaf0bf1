"""What is expected of the measurements, fixed before anything is measured, and what was found."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evidence.reproduce.exceeding import PRINTED, REPAIRED, SHIPPED, STATED, allowed, comparisons
from evidence.reproduce.records import ALONG, HARD, ROWS, Along, Case, Check, Measured, Row, setting_of
from evidence.reproduce.rows import spread_over

__all__ = ["EXPECTED", "SLACK", "Expected", "Slope", "checks_of", "chosen_for", "expected_of", "slope", "span_of"]


class Slope(NamedTuple):
    """d log error / d log x, by least squares; the standard error is that of the repeats, with its degrees of freedom.

    The degrees of freedom are Welch's and Satterthwaite's.
    """

    value: float
    standard_error: float
    freedom: float


def slope(
    points: Sequence[Measured], of: str = "error", against: Callable[[Case], float] = lambda case: case.at
) -> Slope:
    """Of two points or more, against what their figure varies or a shape of it.

    An error e with standard error s has a logarithm with standard error s/e (first order). Points count alike: weights
    would have to come from the same few repeats.
    """
    x = np.log([against(point.case) for point in points])
    errors = np.array([getattr(point, of) for point in points], dtype=np.float64)
    suffix = "standard_error" if of == "error" else f"{of}_standard_error"
    spread = np.array([getattr(point, suffix) for point in points], dtype=np.float64) / errors
    centred = x - x.mean()
    weights = centred / (centred**2).sum()
    parts = (weights * spread) ** 2
    each = np.array([point.repeats - 1 for point in points], dtype=np.float64)
    total = float(parts.sum())
    freedom = total**2 / float((parts**2 / each).sum()) if total > 0 else float(each.min())
    return Slope(float(weights @ np.log(errors)), math.sqrt(total), freedom)


SLACK: Final = 0.08
"""How far a slope may be from its power over a finite range, besides chance: logarithms bend the lines."""


@dataclass(frozen=True)
class Expected:
    """How an error goes with what a figure varies: the power, of the number itself or of a shape that the bound has."""

    row: Row
    along: Along
    of: str
    power: float
    shape: str = ""

    def against(self, case: Case) -> float:
        """What the error is a power of."""
        return case.queries * math.log(case.queries) if self.shape else case.at

    def words(self) -> str:
        """The expectation as it is told."""
        what = "previous work's error" if self.of == "previous" else "error"
        if not self.power:
            return f"{what} does not grow with a power of {ALONG[self.along]}"
        base = f"({self.shape})" if self.shape else ALONG[self.along]
        return f"{what} goes like {base}^{self.power:+.2f}"


EXPECTED: Final = (
    Expected("distribution", "people", "error", -0.25),
    Expected("distribution", "people", "previous", -0.5),
    Expected("distribution", "values", "error", 0.0),
    Expected("distribution", "values", "previous", 0.5),
    Expected("offline", "people", "error", -0.25),
    Expected("offline", "people", "previous", -0.5),
    Expected("offline", "queries", "error", 0.0),
    Expected("offline", "queries", "previous", 0.5),
    Expected("offline", "values", "error", 0.0),
    Expected("adaptive", "people", "error", -0.5),
    Expected("adaptive", "queries", "error", 0.5, "d log d"),
)
"""Table 1's; its log J to the fourth root is no power of J."""


def expected_of(row: Row, along: Along) -> Expected | None:
    """What is expected of the error itself in one figure; None of those over epsilon."""
    return next((one for one in EXPECTED if (one.row, one.along, one.of) == (row, along, "error")), None)


def chosen_for(expected: Expected, points: Sequence[Measured]) -> list[Measured]:
    """The points of the hardest population, in order; of the projected error those where people are few.

    And of these the ones that have enough values for the population to be as hard as it is meant to be.
    """
    row, along = expected.row, expected.along
    hard = sorted(
        (one for one in points if (one.case.row, one.case.along, one.case.population) == (row, along, HARD[row])),
        key=lambda one: one.case.at,
    )
    if row == "adaptive" or expected.of == "previous":
        return hard
    return [one for one in hard if one.few and spread_over(one.case) <= one.case.values]


def span_of(points: Sequence[Measured]) -> str:
    """From where to where they go.

    Examples
    --------
    >>> case = Case("distribution", "people", "zipf", 1000, 16, 16, 1.0)
    >>> one = Measured(case, 2, 1, 0.1, 0.01, None, None, 1.0, 2.0, 0.1, "")
    >>> span_of([one])
    'n = 1,000 to 1,000'
    """
    letter = {"people": "n = ", "queries": "d = ", "values": "J = ", "epsilon": "epsilon "}[points[0].case.along]
    ends = [f"{one.case.at:,.0f}" if one.case.at == round(one.case.at) else f"{one.case.at:g}" for one in points]
    return f"{letter}{ends[0]} to {ends[-1]}"


_FEWEST: Final = 3
"""Points of a slope: two lie on a line always."""


def checks_of(measured: Sequence[Measured], *, quick: bool = False) -> tuple[Check, ...]:
    """All that was expected of the rows measured: the same checks whatever was found.

    One that lacks its points has failed; on the quick grid it was not checked (`holds` is None).
    """
    found: list[Check] = []
    for row in ROWS:
        points = [one for one in measured if one.case.row == row]
        if points:
            found += _below_bounds(row, points, quick)
            found += [_power(expected, points, quick) for expected in EXPECTED if expected.row == row]
            if row == "offline":
                found.append(_gain(row, points, quick))
            if row == "adaptive":
                found.append(_overfitting(row, points, quick))
    return tuple(found)


def _below_bounds(row: Row, points: list[Measured], quick: bool) -> Iterator[Check]:
    stated = list(comparisons(points))
    protocols = {SHIPPED: "", REPAIRED: " of rejection sampling"} if row == "offline" else {SHIPPED: ""}
    for protocol, words in protocols.items():
        for bound in (STATED, PRINTED):
            own = [one for one in stated if (one.protocol, one.bound) == (protocol, bound)]
            expected = f"no error{words} above {bound}"
            if not own:
                yield _unmeasured(row, expected, "0 points", quick)
                continue
            beyond = sum(one.beyond_chance for one in own)
            little = sum(one.error > one.limit for one in own) - beyond
            nearest = max(one.error / one.limit for one in own)
            told = f"{_told(beyond, len(own), little, 'above')}; the largest comes to {nearest:.2f} of it"
            why = "each is listed below" if beyond else ""
            yield Check(row, expected, told, not beyond, why)


def _gain(row: Row, points: list[Measured], quick: bool) -> Check:
    """Not for distributions: there both errors come from the same reports, and projecting cannot hurt (a theorem)."""
    expected = "never a larger error than the previous work's"
    pairs = [
        (one.error, one.standard_error, one.previous, one.previous_standard_error, one)
        for one in points
        if one.previous is not None and one.previous_standard_error is not None
    ]
    if not pairs:
        return _unmeasured(row, expected, "0 points", quick)
    larger = [(error - previous, spread, other, one) for error, spread, previous, other, one in pairs]
    worse = [one for gap, spread, other, one in larger if _beyond(gap, spread, other, one.repeats)]
    little = sum(gap > 0 for gap, *_ in larger) - len(worse)
    most = max(previous / error for error, _, previous, _, _ in pairs)
    told = f"{_told(len(worse), len(pairs), little, 'larger')}; at best {most:.1f} times smaller"
    return Check(row, expected, told, not worse, _said(worse))


def _power(expected: Expected, points: list[Measured], quick: bool) -> Check:
    chosen = chosen_for(expected, points)
    words = expected.words()
    if len(chosen) < _FEWEST:
        return _unmeasured(expected.row, words, f"{len(chosen)} point{'s' * (len(chosen) != 1)}", quick)
    found = slope(chosen, expected.of, expected.against)
    holds = abs(found.value - expected.power) <= SLACK + allowed(found.freedom) * found.standard_error
    where = f"{chosen[0].case.population}, {span_of(chosen)}"
    told = f"power {found.value:+.3f} ± {found.standard_error:.3f} ({where}, {len(chosen)} points)"
    return Check(expected.row, words, told, holds, "" if holds else f"beyond {SLACK:g} and chance: not explained")


def _overfitting(row: Row, points: list[Measured], quick: bool) -> Check:
    expected = "an analyst who overfits gets no larger error than one whose questions are fixed"
    pairs: defaultdict[tuple[object, ...], dict[str, Measured]] = defaultdict(dict)
    for one in points:
        case = one.case
        pairs[case.along, case.people, case.queries, case.epsilon][case.population] = one
    both = [(pair["random"], pair["overfit"]) for pair in pairs.values() if len(pair) == 2]
    if not both:
        return _unmeasured(row, expected, "0 pairs", quick)
    worse = [
        overfit
        for fixed, overfit in both
        if _beyond(overfit.error - fixed.error, overfit.standard_error, fixed.standard_error, overfit.repeats)
    ]
    little = sum(overfit.error > fixed.error for fixed, overfit in both) - len(worse)
    return Check(row, expected, _told(len(worse), len(both), little, "larger"), not worse, _said(worse))


def _unmeasured(row: Row, expected: str, has: str, quick: bool) -> Check:
    return Check(row, expected, f"not measured: {has}", None if quick else False)


def _beyond(gap: float, spread: float, other: float, repeats: int) -> bool:
    """Whether two means are farther apart than chance; R - 1 degrees of freedom are the fewest the gap can have."""
    return gap > allowed(repeats - 1) * math.hypot(spread, other)


def _told(wrong: int, of: int, little: int, word: str) -> str:
    """How many are on the wrong side, and how many of the others only by so little that chance explains it."""
    less = f" and {little} {word} by less" if little else ""
    return f"{wrong} of {of} {word} by more than chance{less}"


def _said(points: Sequence[Measured]) -> str:
    told = (
        f"{one.case.population}, {setting_of(one.case)}: {one.error:.4g} ± {one.standard_error:.2g}" for one in points
    )
    return f"not explained: {'; '.join(told)}" if points else ""
