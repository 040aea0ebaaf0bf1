"""The powers of Table 1, and the points that each of them is about: known from the parameters, not from what was found.

Where people are few the first term of the bound's minimum rules, and the powers are its own; for adaptive queries there
is one term only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evidence.reproduce.populations import spread_over
from evidence.reproduce.records import ALONG, HARD, Along, Case, Measured, Row

__all__ = ["EXPECTED", "SLACK", "Expected", "chosen_for", "expected_of", "span_of"]

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
    Expected("distribution", "users", "error", -0.25),
    Expected("distribution", "users", "previous", -0.5),
    Expected("distribution", "values", "error", 0.0),
    Expected("distribution", "values", "previous", 0.5),
    Expected("offline", "users", "error", -0.25),
    Expected("offline", "users", "previous", -0.5),
    Expected("offline", "queries", "error", 0.0),
    Expected("offline", "queries", "previous", 0.5),
    Expected("offline", "values", "error", 0.0),
    Expected("adaptive", "users", "error", -0.5),
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
    >>> case = Case("distribution", "users", "zipf", 1000, 16, 16, 1.0)
    >>> one = Measured(case, 2, 1, 0.1, 0.01, None, None, 1.0, 2.0, 0.1, "")
    >>> span_of([one])
    'n = 1,000 to 1,000'
    """
    letter = {"users": "n = ", "queries": "d = ", "values": "J = ", "epsilon": "epsilon "}[points[0].case.along]
    ends = [f"{one.case.at:,.0f}" if one.case.at == round(one.case.at) else f"{one.case.at:g}" for one in points]
    return f"{letter}{ends[0]} to {ends[-1]}"
