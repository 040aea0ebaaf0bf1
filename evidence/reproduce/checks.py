"""What was expected before anything was measured. A check that fails is shown as failed, and so is one without points.

Which points a check takes is known from the parameters alone. Nothing measured decides it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from evidence.reproduce.chance import allowed
from evidence.reproduce.exceeding import PRINTED, REPAIRED, SHIPPED, STATED, comparisons
from evidence.reproduce.powers import EXPECTED, SLACK, Expected, chosen_for, span_of
from evidence.reproduce.records import ROWS, Check, Measured, Row, setting_of
from evidence.reproduce.slopes import slope

__all__ = ["checks_of"]

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
        pairs[case.along, case.users, case.queries, case.epsilon][case.population] = one
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
