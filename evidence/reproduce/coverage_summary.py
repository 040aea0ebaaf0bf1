"""What the cells of the coverage grid come to: one row per design, what was expected, what was skipped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evidence.experiments.coverage import LEVEL, MANY, Coverage
from evidence.reproduce.coverage import (
    EPSILONS,
    FALSE_ALARM,
    PEOPLE,
    WIDEST,
    CoverageCell,
    CoverageRow,
    most_evidence,
)
from evidence.reproduce.records import Check

__all__ = ["CoverageSummary", "cell_told", "coverage_checks", "low_cells", "skipped_of", "summaries_of"]


@dataclass(frozen=True)
class CoverageSummary:
    """All cells of one design, over sizes, epsilons, populations and numbers of people.

    Attributes
    ----------
    single, single_error
        Mean over the cells, and its standard error.
    single_least, single_least_error
        The cell with the least coverage, of the population or of these very people, and its own standard error.
    simultaneous
        Over all runs, of the population; `simultaneous_people` of these very people.
    simultaneous_least, simultaneous_least_repeats
        The cell with the least, and its number of runs.
    widest
        The widest half-width where reports are many, in units of 1.96 true standard deviations; None if they never are.
    width
        The median half-width with a million people, in the same unit; None if no cell has them.
    """

    name: str
    family: str
    values: str
    cells: int
    skipped: int
    repeats: str
    single: float
    single_error: float
    single_least: float
    single_least_error: float
    simultaneous: float
    simultaneous_people: float
    simultaneous_least: float
    simultaneous_least_repeats: int
    width: float | None
    widest: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def summaries_of(rows: Sequence[CoverageRow]) -> tuple[CoverageSummary, ...]:
    """One row per design, in the order of the grid."""
    names = dict.fromkeys(row.cell.design.name for row in rows)
    found = (_summary([row for row in rows if row.cell.design.name == name]) for name in names)
    return tuple(one for one in found if one is not None)


def _summary(rows: Sequence[CoverageRow]) -> CoverageSummary | None:
    measured = [(row.cell, row.found) for row in rows if row.found is not None]
    if not measured:
        return None
    design, found = rows[0].cell.design, [one for _, one in measured]
    runs = sum(one.repeats for one in found)
    least = min((end for one in found for end in _singles(one)), key=lambda end: end[0])
    together = min(found, key=lambda one: min(one.simultaneous, one.simultaneous_people))
    crowds = sorted(one.width for cell, one in measured if one.width is not None and cell.people == PEOPLE[-1])
    return CoverageSummary(
        name=design.name,
        family=design.family,
        values=_span(row.cell.design.values for row in rows),
        cells=len(rows),
        skipped=len(rows) - len(measured),
        repeats=_span(one.repeats for one in found),
        single=sum(one.single for one in found) / len(found),
        single_error=math.sqrt(sum(one.single_error**2 for one in found)) / len(found),
        single_least=least[0],
        single_least_error=least[1],
        simultaneous=sum(one.simultaneous * one.repeats for one in found) / runs,
        simultaneous_people=sum(one.simultaneous_people * one.repeats for one in found) / runs,
        simultaneous_least=min(together.simultaneous, together.simultaneous_people),
        simultaneous_least_repeats=together.repeats,
        width=crowds[len(crowds) // 2] if crowds else None,
        widest=max((one.widest_of_many for one in found if one.widest_of_many is not None), default=None),
    )


def _singles(found: Coverage) -> tuple[tuple[float, float], ...]:
    return (found.single, found.single_error), (found.single_people, found.single_people_error)


def _span(numbers: Iterable[int]) -> str:
    """One number, or from where to where they go."""
    listed = sorted(set(numbers))
    return f"{listed[0]:,}" if len(listed) == 1 else f"{listed[0]:,} to {listed[-1]:,}"


def coverage_checks(rows: Sequence[CoverageRow]) -> tuple[Check, ...]:
    """No coverage below 95 % but for chance; no interval wider than it should be where reports are many."""
    measured = [(row.cell, row.found) for row in rows if row.found is not None]
    if not measured:
        return ()
    allowed = most_evidence(len(measured))
    cell, worst = max(measured, key=lambda one: one[1].evidence)
    checks = [
        Check(
            "coverage",
            f"single and simultaneous intervals cover {100 * LEVEL:g} % or more, in every cell",
            f"most evidence against it: 10^{worst.evidence:.1f} in one of {len(measured):,} cells ({cell_told(cell)}); "
            f"with a false alarm of {FALSE_ALARM:g} in all, 10^{allowed:.1f} would be too much",
            worst.evidence < allowed,
        )
    ]
    wide = [(cell, one.widest_of_many) for cell, one in measured if one.widest_of_many is not None]
    if wide:
        cell, widest = max(wide, key=lambda one: one[1])
        checks.append(
            Check(
                "coverage",
                f"half-widths are at most {WIDEST:g} times 1.96 true standard deviations where reports are many: a "
                f"standard deviation is at least {MANY} times what one report can change",
                f"at most {widest:.3f} in {len(wide):,} cells ({cell_told(cell)})",
                widest <= WIDEST,
            )
        )
    return tuple(checks)


def cell_told(cell: CoverageCell) -> str:
    """A cell in words.

    Examples
    --------
    >>> from evidence.reproduce.coverage import cells_of
    >>> cell_told(cells_of(quick=True)[0])
    'shares by randomized_response, J = 16, n = 50, epsilon 5, zipf'
    """
    return (
        f"{cell.design.name}, J = {cell.design.values:,}, n = {cell.people:,}, epsilon {cell.epsilon:g}, "
        f"{cell.population}"
    )


def low_cells(rows: Sequence[CoverageRow]) -> int:
    """How many cells have a single coverage more than two standard errors below the level, for either truth."""
    measured = (row.found for row in rows if row.found is not None)
    return sum(any(mean < LEVEL - 2 * error for mean, error in _singles(one)) for one in measured)


def skipped_of(rows: Sequence[CoverageRow]) -> dict[str, int]:
    """Which cells were skipped and why, in words, and how many they are."""
    groups: dict[tuple[Any, ...], list[CoverageCell]] = {}
    for cell in (row.cell for row in rows if row.found is None):
        groups.setdefault((cell.design, cell.slowest, cell.people), []).append(cell)
    joined: dict[tuple[Any, ...], list[CoverageCell]] = {}
    for (design, slowest, _), cells in groups.items():
        epsilons = tuple(sorted({cell.epsilon for cell in cells}))
        joined.setdefault((design, slowest, epsilons), []).extend(cells)
    return {_why_skipped(cells): len(cells) for cells in joined.values()}


def _why_skipped(cells: Sequence[CoverageCell]) -> str:
    first, epsilons = cells[0], sorted({cell.epsilon for cell in cells})
    crowds = ", ".join(f"{n:,}" for n in sorted({cell.people for cell in cells}))
    told = "" if len(epsilons) == len(EPSILONS) else f", epsilon {', '.join(f'{e:g}' for e in epsilons)}"
    least = min(cell.seconds for cell in cells)
    return (
        f"{first.design.name}, J = {first.design.values:,}, n = {crowds}{told}: the {first.slowest} of one run take "
        f"about {least:.0f} s or more"
    )
