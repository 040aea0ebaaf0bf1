"""What was expected before anything was measured. A check that fails is shown as failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sottovoce.experiments.reproduce.records import ALONG, ROWS, Along, Check, Measured, Row
from sottovoce.experiments.reproduce.slopes import slope

__all__ = ["SIGMAS", "checks_of", "few_people"]

SIGMAS: Final = 4.0
"""How many standard errors a mean may be on the wrong side by chance: some hundred points, one false alarm in a
hundred runs."""

_SLACK: Final = 0.08
"""How far a slope may be from its power over a finite range, besides chance: logarithms bend the lines."""

HARD: Final[dict[Row, str]] = {"offline": "spread", "distribution": "spread", "adaptive": "overfit"}
"""The population, or the analyst, that comes nearest to the worst case."""


def checks_of(measured: Sequence[Measured]) -> tuple[Check, ...]:
    """All that was expected of these points, row by row."""
    found: list[Check] = []
    for row in ROWS:
        points = [one for one in measured if one.case.row == row]
        if points:
            found += [
                *_below_bounds(row, points),
                *_gain(row, points),
                *_powers(row, points),
                *_overfitting(row, points),
            ]
    return tuple(found)


def few_people(points: Iterable[Measured]) -> list[Measured]:
    """Those in the regime that projection is for: previous work errs more than all that can be true is apart."""
    return [one for one in points if one.previous is not None and one.previous > 2 * one.error]


def _below_bounds(row: Row, points: list[Measured]) -> Iterator[Check]:
    for words, name in (("the bound proved here", "bound"), ("the bound that the paper prints", "bound_printed")):
        stated = [one for one in points if getattr(one, name) is not None]
        above = [one for one in stated if one.error - SIGMAS * one.standard_error > getattr(one, name)]
        by_chance = sum(one.error > getattr(one, name) for one in stated) - len(above)
        nearest = max((one.error / getattr(one, name) for one in stated), default=0.0)
        yield Check(
            row,
            f"no error above {words}",
            f"{_told(len(above), len(stated), by_chance, 'above')}; the largest comes to {nearest:.2f} of it",
            not above,
            "" if not above else _said(above),
        )


def _gain(row: Row, points: list[Measured]) -> Iterator[Check]:
    compared = [one for one in points if one.previous is not None and one.previous_standard_error is not None]
    if not compared:
        return
    worse = [
        one
        for one in compared
        if one.error - SIGMAS * (one.standard_error + (one.previous_standard_error or 0)) > (one.previous or 0)
    ]
    by_chance = sum(one.error > (one.previous or 0) for one in compared) - len(worse)
    most = max((one.previous or 0) / one.error for one in compared)
    yield Check(
        row,
        "never a larger error than the previous work's",
        f"{_told(len(worse), len(compared), by_chance, 'larger')}; at best {most:.1f} times smaller",
        not worse,
        "" if not worse else _said(worse),
    )


_EXPECTED: Final[tuple[tuple[Row, Along, str, float], ...]] = (
    ("distribution", "users", "error", -0.25),
    ("distribution", "users", "previous", -0.5),
    ("distribution", "values", "error", 0.0),
    ("distribution", "values", "previous", 0.5),
    ("offline", "users", "error", -0.25),
    ("offline", "users", "previous", -0.5),
    ("offline", "queries", "error", 0.0),
    ("offline", "queries", "previous", 0.5),
    ("offline", "values", "error", 0.0),
    ("adaptive", "users", "error", -0.5),
    ("adaptive", "queries", "error", 0.5),
)
"""Powers of Table 1, where its first term rules (few people); for adaptive queries everywhere."""


def _powers(row: Row, points: list[Measured]) -> Iterator[Check]:
    for its_row, along, of, power in _EXPECTED:
        hard = [one for one in points if one.case.along == along and one.case.population == HARD[row]]
        if row == "adaptive" and along == "queries":
            # d log d: the power of d alone is found where the logarithm is taken out.
            hard = [one for one in hard if one.case.queries >= 4]
        chosen = hard if row == "adaptive" or of == "previous" else few_people(hard)
        if its_row != row or len(chosen) < 3:
            continue
        found = slope(chosen, of)
        wide = _SLACK + SIGMAS * found.standard_error + (0.1 if row == "adaptive" and along == "queries" else 0.0)
        what = "previous work's error" if of == "previous" else "error"
        yield Check(
            row,
            f"{what} goes like {ALONG[along]}^{power:+.2f}" if power else f"{what} does not grow with {ALONG[along]}",
            f"power {found.value:+.3f} ± {found.standard_error:.3f} ({HARD[row]}, {len(chosen)} points)",
            abs(found.value - power) <= wide,
            "" if abs(found.value - power) <= wide else "the range holds both regimes of the bound, or too few points",
        )


def _overfitting(row: Row, points: list[Measured]) -> Iterator[Check]:
    if row != "adaptive":
        return
    pairs: defaultdict[tuple[object, ...], dict[str, Measured]] = defaultdict(dict)
    for one in points:
        case = one.case
        pairs[case.along, case.users, case.queries, case.epsilon][case.population] = one
    both = [(pair["random"], pair["overfit"]) for pair in pairs.values() if len(pair) == 2]
    worse = [
        overfit
        for fixed, overfit in both
        if overfit.error - fixed.error > SIGMAS * (overfit.standard_error**2 + fixed.standard_error**2) ** 0.5
    ]
    by_chance = sum(overfit.error > fixed.error for fixed, overfit in both) - len(worse)
    yield Check(
        row,
        "an analyst who overfits gets no larger error than one whose questions are fixed",
        _told(len(worse), len(both), by_chance, "larger"),
        not worse,
        "" if not worse else _said(worse),
    )


def _told(wrong: int, of: int, by_chance: int, word: str) -> str:
    """How many are on the wrong side, and how many only by so little that chance explains it."""
    little = f" and {by_chance} {word} by less" if by_chance else ""
    return f"{wrong} of {of} {word} by more than {SIGMAS:g} standard errors{little}"


def _said(points: Sequence[Measured]) -> str:
    first = points[0]
    case = first.case
    return (
        f"first at {case.population}, n = {case.users:,}, d = {case.queries:,}, J = {case.values:,}, epsilon "
        f"{case.epsilon:g}: {first.error:.4g} ± {first.standard_error:.2g}"
    )
