"""Points above a bound, and how far beyond it chance may take a mean over repeats: Student's t, one tail each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from evidence.reproduce.records import Measured, setting_of
from sottovoce.core.extras import full_install
from sottovoce.theory.bounds import BY_VARIANCE

__all__ = [
    "PRINTED",
    "REPAIRED",
    "SHIPPED",
    "SIGMAS",
    "STATED",
    "Comparison",
    "Exceeding",
    "allowed",
    "comparisons",
    "exceeding_of",
]

SIGMAS: Final = 4.0
"""The tail of every comparison is that of a normal variable beyond so many standard deviations, 3.2e-5.

The full grid makes some six hundred comparisons. If every one of them were on its edge, and errors were normal, one
run in fifty would raise a false alarm; nearly all are far from it.
"""


@lru_cache(maxsize=256)
def allowed(freedom: float) -> float:
    """How many standard errors a mean may be on the wrong side, the standard error having so many degrees of freedom.

    Of R normal repeats the mean, in units of its measured standard error, has Student's distribution with R - 1.

    Examples
    --------
    >>> [round(allowed(repeats - 1), 1) for repeats in (3, 8, 20, 40)]
    [125.6, 8.5, 5.1, 4.5]
    >>> round(allowed(1e9), 3) == SIGMAS
    True
    """
    with full_install:
        from scipy.special import ndtr, stdtrit

    return float(-stdtrit(freedom, ndtr(-SIGMAS)))


STATED: Final = "the bound stated here"
PRINTED: Final = "the bound that the paper prints"
SHIPPED: Final = "shipped"
REPAIRED: Final = "rejection"


class Comparison(NamedTuple):
    """A measured error beside one bound that is said to hold for it, and which statement that is, where it is ours."""

    point: Measured
    protocol: str
    bound: str
    error: float
    standard_error: float
    limit: float
    statement: str

    @property
    def sigmas(self) -> float:
        """By how many standard errors it is above; below zero where it is not."""
        above = self.error - self.limit
        return above / self.standard_error if self.standard_error > 0 else above * float("inf")

    @property
    def beyond_chance(self) -> bool:
        """Whether it is above by more than chance may make of so many repeats."""
        return self.error > self.limit and self.sigmas > allowed(self.point.repeats - 1)


@dataclass(frozen=True)
class Exceeding:
    """A point above a bound.

    Attributes
    ----------
    protocol
        "shipped", or "rejection": the paper's own, made sound.
    ratio, sigmas
        The error in units of the bound, and how many standard errors it is above.
    """

    figure: str
    protocol: str
    population: str
    setting: str
    bound: str
    error: float
    standard_error: float
    limit: float
    ratio: float
    sigmas: float
    beyond_chance: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """A row of the table of points above a bound."""
        return asdict(self)


def comparisons(points: Sequence[Measured]) -> Iterator[Comparison]:
    """Every error with every bound that is stated for it."""
    for point in points:
        yield Comparison(point, SHIPPED, STATED, point.error, point.standard_error, point.bound, point.bound_statement)
        if point.bound_printed is not None:
            yield Comparison(point, SHIPPED, PRINTED, point.error, point.standard_error, point.bound_printed, "")
        if (one := point.repaired) is not None:
            yield Comparison(point, REPAIRED, STATED, one.error, one.standard_error, one.bound, one.bound_statement)
            if point.bound_printed is not None:
                yield Comparison(point, REPAIRED, PRINTED, one.error, one.standard_error, point.bound_printed, "")


def exceeding_of(measured: Sequence[Measured]) -> tuple[Exceeding, ...]:
    """Those above, farthest first in standard errors."""
    above = [one for one in comparisons(measured) if one.error > one.limit]
    return tuple(
        Exceeding(
            figure=f"{one.point.case.row}-{one.point.case.along}",
            protocol=one.protocol,
            population=one.point.case.population,
            setting=setting_of(one.point.case),
            bound=one.bound,
            error=one.error,
            standard_error=one.standard_error,
            limit=one.limit,
            ratio=one.error / one.limit,
            sigmas=one.sigmas,
            beyond_chance=one.beyond_chance,
            why=_why(one),
        )
        for one in sorted(above, key=lambda one: -one.sigmas)
    )


def _why(one: Comparison) -> str:
    """What is known, and no more."""
    if one.beyond_chance:
        return "not explained"
    repeats = one.point.repeats
    chance = f"within chance: up to {allowed(repeats - 1):.1f} standard errors for {repeats} repeats"
    if one.statement.startswith(BY_VARIANCE):
        return f"{chance}; the bound is the root of the exact variance, nearly attained where projecting changes little"
    return chance
