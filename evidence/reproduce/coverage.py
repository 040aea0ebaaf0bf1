"""Coverage of 95 % intervals, over every mechanism and strategy: which cells are measured, and how often.

How often a cell is repeated follows from its expected cost alone. A cell that cannot be repeated often enough within
the time is skipped, and listed as skipped.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidence.experiments.coverage import TESTS, Coverage, measure_coverage
from evidence.reproduce.records import Progress
from sottovoce.domain import Domain
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.questions import Queries, Question, Shares
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Dense, Marginals, Prefix, Ranges

__all__ = [
    "EPSILONS",
    "FALSE_ALARM",
    "FAMILIES",
    "PEOPLE",
    "POPULATIONS",
    "WIDEST",
    "CoverageCell",
    "CoverageDesign",
    "CoverageRow",
    "cells_of",
    "coverage_people",
    "len_of_answers",
    "measure_cell",
    "most_evidence",
    "shares_of",
]

PEOPLE: Final = (1, 20, 50, 500, 10_000, 1_000_000)
EPSILONS: Final = (0.1, 1.0, 5.0)
POPULATIONS: Final = ("uniform", "one value", "zipf")
DELTA: Final = 1e-6
"""Of the Gaussian."""

FALSE_ALARM: Final = 1e-3
"""Probability that a run of the whole grid finds a coverage below 95 % if there is none."""

WIDEST: Final = 1.1
"""Half-width at most, in units of 1.96 true standard deviations, where reports are many."""

FAMILIES: Final[dict[str, str]] = {
    "shares": "shares of values",
    "histogram": "queries by histogram",
    "structured": "queries by trees, wavelets, Fourier, optimized",
    "vectors": "queries as vectors",
}

_MOST_COUNTERS: Final = 2**18
"""Of the codebook: ten thousand people and more share rotations, which intervals have to take into account."""

_MOST_REPEATS: Final = 200
_FEWEST_REPEATS: Final = 10
_USUAL_SECONDS: Final = 0.2
_MOST_SECONDS: Final = 6.0


@dataclass(frozen=True)
class CoverageDesign:
    """A question over `values` values, a strategy and a mechanism."""

    family: str
    question: str
    values: int
    strategy: str
    mechanism: str

    @property
    def name(self) -> str:
        """What it is called in tables.

        Examples
        --------
        >>> CoverageDesign("histogram", "prefix", 100, "histogram", "hadamard").name
        'prefix sums by histogram, hadamard'
        """
        if self.family == "shares":
            return f"shares by {self.mechanism}"
        mechanism = "" if self.mechanism == "auto" else f", {self.mechanism}"
        return f"{_QUESTIONS[self.question][0]} by {self.strategy}{mechanism}"

    def survey(self, epsilon: float, people: int) -> Survey:
        """The survey for so many people; the same for every population."""
        return _survey(self, epsilon, people)


@lru_cache(maxsize=8)
def _survey(design: CoverageDesign, epsilon: float, people: int) -> Survey:
    question = _QUESTIONS[design.question][1](design.values)
    delta = DELTA if design.mechanism == "gaussian" else 0.0
    return Survey(
        question,
        epsilon=epsilon,
        delta=delta,
        strategy=design.strategy,
        mechanism=design.mechanism,
        people=people,
        max_counters=_MOST_COUNTERS,
    )


def _shares(values: int) -> Question:
    return Shares(Domain.of(values))


def _signs(values: int) -> Question:
    return Queries(Dense(np.where(np.arange(values) % 2, -1.0, 1.0)[None, :]))


def _marginals(values: int) -> Question:
    return Queries(Marginals(k=2, **{f"a{i}": 2 for i in range(values.bit_length() - 1)}))


_QUESTIONS: Final[dict[str, tuple[str, Callable[[int], Question]]]] = {
    "shares": ("shares", _shares),
    "prefix": ("prefix sums", lambda values: Queries(Prefix(values))),
    "ranges": ("ranges", lambda values: Queries(Ranges(values))),
    "marginals": ("two-way tables", _marginals),
    "mean": ("one mean", _signs),
}

_FINITE: Final = (
    "randomized_response",
    "hadamard",
    "hadamard_blocks",
    "projective_geometry",
    "subset_selection",
    "unary_optimized",
    "unary_symmetric",
)


def _designs(quick: bool) -> Iterator[CoverageDesign]:
    for mechanism in _FINITE:
        for values in (16,) if quick else (16, 1000, 100_000):
            yield CoverageDesign("shares", "shares", values, "histogram", mechanism)
    for mechanism in _FINITE:
        yield CoverageDesign("histogram", "prefix", 32 if quick else 100, "histogram", mechanism)
    for strategy in ("hierarchical", "haar"):
        yield CoverageDesign("structured", "ranges", 16, strategy, "auto")
        if not quick:
            yield CoverageDesign("structured", "prefix", 1000, strategy, "auto")
    yield CoverageDesign("structured", "marginals", 16 if quick else 256, "fourier", "auto")
    yield CoverageDesign("structured", "prefix", 8 if quick else 16, OptimizedStrategy.name, "auto")
    yield CoverageDesign("vectors", "mean", 16, "direct", "binary")
    for strategy, mechanism in (
        ("direct", "codebook"),
        ("direct", "rejection"),
        ("direct", "gaussian"),
        ("factorized", "codebook"),
    ):
        for values in (8,) if quick else (8, 64):
            yield CoverageDesign("vectors", "prefix", values, strategy, mechanism)


@dataclass(frozen=True)
class CoverageCell:
    """A design, and who answers."""

    design: CoverageDesign
    epsilon: float
    population: str
    people: int

    @property
    def repeats(self) -> int:
        """The number of runs: as many as take about 0.2 s, and at least ten; 0 where these take too long."""
        runs = int(_USUAL_SECONDS / self.seconds)
        if runs < _FEWEST_REPEATS and _FEWEST_REPEATS * self.seconds > _MOST_SECONDS:
            return 0
        return max(_FEWEST_REPEATS, min(_MOST_REPEATS, runs))

    @property
    def skipped(self) -> str:
        """Why it is not measured, or an empty string."""
        if self.repeats:
            return ""
        return f"the {self.slowest} of one run take about {self.seconds:.0f} s"

    @property
    def slowest(self) -> str:
        """What takes most of a run."""
        return "intervals" if self._seconds_of_intervals > self._seconds_of_people else "reports"

    @property
    def seconds(self) -> float:
        """Of one run on two cores, roughly, without looking at a clock: the same seed gives the same figures."""
        return self._seconds_of_people + self._seconds_of_intervals

    @property
    def _seconds_of_people(self) -> float:
        design = self.design
        if design.mechanism.startswith("unary"):
            return 2e-7 * design.values  # counts are drawn, not reports
        if design.mechanism == "projective_geometry" and design.values > 10_000 and self.epsilon > 2:
            return 1.0  # a geometry with many points on a line: each report supports many values
        per_value = {
            "subset_selection": 2e-8,
            "codebook": 2e-8 if self.epsilon < 2 else 2.5e-7,  # it draws the best of many candidates
            "rejection": 1.6e-7,
            "gaussian": 4e-8,
        }
        return self.people * (2e-7 + per_value.get(design.mechanism, 0.0) * design.values)

    @property
    def _seconds_of_intervals(self) -> float:
        """Counts of bits are fast; other intervals are found in steps."""
        design = self.design
        answers = len_of_answers(design)
        if design.mechanism == "binary":
            return 1e-3
        if design.family == "shares" and not (design.mechanism == "hadamard_blocks" and self.epsilon > 2):
            return 3e-3 + 1.5e-6 * answers
        if design.family == "shares":
            return 2e-2 + 4e-5 * answers
        return 2e-2 + 6e-5 * answers + (5e-2 if design.family == "histogram" else 0.0)

    def seed(self, seed: int) -> int:
        """The cell's own seed, whichever others are measured."""
        told = "/".join(map(str, (seed, *asdict(self.design).values(), self.epsilon, self.population, self.people)))
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")


def len_of_answers(design: CoverageDesign) -> int:
    """How many answers the question has."""
    values = design.values
    bits = values.bit_length() - 1
    return {"ranges": values * (values + 1) // 2, "marginals": 2 * bits * (bits - 1), "mean": 1}.get(
        design.question, values
    )


def cells_of(*, quick: bool) -> tuple[CoverageCell, ...]:
    """The whole grid, skipped cells included, or a small one.

    Examples
    --------
    >>> len(cells_of(quick=False)) % (len(PEOPLE) * len(EPSILONS) * len(POPULATIONS))
    0
    """
    return tuple(
        CoverageCell(design, epsilon, population, people)
        for design in _designs(quick)
        for epsilon in (EPSILONS[-1:] if quick else EPSILONS)
        for people in ((50, 500) if quick else PEOPLE)
        for population in (POPULATIONS[-1:] if quick else POPULATIONS)
    )


def coverage_people(cells: Sequence[CoverageCell]) -> int:
    """How many people are simulated in all."""
    return sum(cell.repeats * cell.people for cell in cells)


def shares_of(population: str, values: int) -> NDArray[np.float64]:
    """The share of people at each value."""
    if population != "one value":
        return frequencies(population, values)
    found = np.zeros(values)
    found[values // 3] = 1.0
    return found


@dataclass(frozen=True)
class CoverageRow:
    """A cell and what was measured; None where it was skipped."""

    cell: CoverageCell
    seed: int
    found: Coverage | None

    def to_dict(self) -> dict[str, Any]:
        """Everything in one flat row."""
        cell = self.cell
        names = Coverage.__dataclass_fields__
        found = dict.fromkeys(names) if self.found is None else asdict(self.found)
        return {
            **asdict(cell.design),
            "epsilon": cell.epsilon,
            "population": cell.population,
            "people": cell.people,
            **found,
            "seed": self.seed,
            "skipped": cell.skipped,
        }


def measure_cell(cell: CoverageCell, seed: int, progress: Progress | None = None) -> CoverageRow:
    """Measure one cell, unless it is skipped."""
    own = cell.seed(seed)
    if not cell.repeats:
        return CoverageRow(cell, own, None)
    survey = cell.design.survey(cell.epsilon, cell.people)
    shares = shares_of(cell.population, cell.design.values)
    return CoverageRow(cell, own, measure_coverage(survey, shares, cell.people, cell.repeats, own, progress))


def most_evidence(tests: int) -> float:
    """Evidence against 95 % that chance may give to any of so many cells.

    Examples
    --------
    >>> round(most_evidence(2000), 1)
    7.1
    """
    return math.log10(max(1, tests) * TESTS / FALSE_ALARM)
