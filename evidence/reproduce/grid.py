"""Which cases are measured: one figure for each row and each number that varies, over all populations.

Each figure spans both regimes of its bound, few people and many, as far as two cores come in the time they have, with
three points or more where people are few: that is where Table 1 has powers to check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from evidence.reproduce.records import HARD, Along, Case, Row
from evidence.reproduce.rows import POPULATIONS
from sottovoce.lab.simulation.adaptive_error import ANALYSTS
from sottovoce.lab.simulation.analysts import VALUES

__all__ = ["FULL", "QUICK", "Figure", "Grid", "people_in"]


@dataclass(frozen=True)
class Figure:
    """One curve for each population: the numbers that stay, and what the one that varies runs through."""

    still: Case
    through: tuple[float, ...]
    repeats: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.still.row}-{self.still.along}"

    def cases(self) -> Iterator[Case]:
        """Every point of every curve."""
        row, along = self.still.row, self.still.along
        for population in ANALYSTS if row == "adaptive" else POPULATIONS:
            for number in self.through:
                varied: dict[str, Any] = {along: float(number) if along == "epsilon" else int(number)}
                if row == "distribution" and along == "values":
                    varied["queries"] = int(number)  # every value is a query
                yield replace(self.still, population=population, **varied)


Grid = tuple[Figure, ...]


def _figure(row: Row, along: Along, still: Sequence[float], through: Sequence[float], repeats: int) -> Figure:
    people, queries, values, epsilon = still
    case = Case(row, along, "", int(people), int(queries), int(values), epsilon)
    return Figure(case, tuple(through), repeats)


FULL: Final[Grid] = (
    _figure("distribution", "people", (0, 1024, 1024, 1.0), (1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7), 40),
    _figure("distribution", "values", (1e5, 0, 0, 1.0), (2**2, 2**5, 2**8, 2**11, 2**14, 2**17), 20),
    _figure("distribution", "epsilon", (1e5, 1024, 1024, 0), (0.25, 0.5, 1, 2, 4, 8), 20),
    _figure("offline", "people", (0, 256, 512, 1.0), (300, 1e3, 3e3, 1e4, 3e4, 1e5), 8),
    _figure("offline", "queries", (4e3, 0, 512, 1.0), (4, 16, 64, 256, 1024, 2048), 8),
    _figure("offline", "values", (4e3, 256, 0, 1.0), (2**3, 2**6, 2**9, 2**12), 8),
    _figure("offline", "epsilon", (4e3, 256, 512, 0), (0.25, 0.5, 1, 2, 4), 8),
    _figure("adaptive", "people", (0, 16, VALUES, 1.0), (3e3, 1e4, 3e4, 1e5, 3e5, 1e6), 20),
    _figure("adaptive", "queries", (1e5, 0, VALUES, 1.0), (2, 4, 16, 64, 256), 20),
    _figure("adaptive", "epsilon", (1e5, 16, VALUES, 0), (0.25, 0.5, 1, 2, 4), 20),
)
"""What `python -m evidence reproduce` measures."""

QUICK: Final[Grid] = (
    _figure("distribution", "people", (0, 64, 64, 1.0), (300, 3e3, 3e4), 4),
    _figure("distribution", "values", (3e3, 0, 0, 1.0), (4, 64, 1024), 4),
    _figure("offline", "people", (0, 16, 32, 1.0), (300, 1e3, 3e3), 3),
    _figure("offline", "queries", (500, 0, 32, 1.0), (4, 16, 64), 3),
    _figure("adaptive", "people", (0, 4, VALUES, 1.0), (1e3, 1e4), 4),
    _figure("adaptive", "queries", (1e4, 0, VALUES, 1.0), (2, 8), 4),
)
"""The same with few people, in seconds: to see that it works, not to believe its figures."""


def people_in(grid: Grid) -> int:
    """How many people are simulated in all, for a bar of progress; those of offline queries answer more than once."""
    return sum(_times(case) * figure.repeats * case.people for figure in grid for case in figure.cases())


def _times(case: Case) -> int:
    """By how many protocols they answer."""
    if case.row != "offline":
        return 1
    return 3 if case.population == HARD["offline"] else 2
