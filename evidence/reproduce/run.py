"""Measures a grid, case by case."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evidence.reproduce.checks import checks_of
from evidence.reproduce.coverage import CoverageCell, CoverageRow, cells_of, coverage_people, measure_cell
from evidence.reproduce.coverage_summary import coverage_checks, low_cells, skipped_of, summaries_of
from evidence.reproduce.exceeding import Exceeding, exceeding_of
from evidence.reproduce.findings import Finding, findings
from evidence.reproduce.grid import FULL, QUICK, Figure, Grid, people_in
from evidence.reproduce.records import ROWS, Case, Check, Measured, Progress, Row, seed_of
from evidence.reproduce.rows import measure_adaptive, measure_distribution, measure_offline
from evidence.reproduce.table import TableRow, table_of
from sottovoce.auditing.page import build_facts
from sottovoce.core.errors import SimulationError

__all__ = ["PARTS", "Reproduction", "grid_of", "people_of", "reproduce"]

PARTS: Final = ("table1", *ROWS, "findings", "coverage")
"""What can be reproduced by itself; table1 takes all three rows, and coverage is not of the paper."""

_MEASURES: Final[dict[Row, Callable[[Case, int, int, Progress | None], Measured]]] = {
    "offline": measure_offline,
    "distribution": measure_distribution,
    "adaptive": measure_adaptive,
}


@dataclass(frozen=True)
class Reproduction:
    """All that was measured with one seed, what was expected of it, and the paper's claims checked.

    Attributes
    ----------
    exceeding
        Every point above a bound, also where chance explains it.
    coverage
        Every cell of the coverage of intervals, if that was asked for.
    made
        Versions, machine and time.
    """

    seed: int
    quick: bool
    figures: tuple[Figure, ...]
    measured: tuple[Measured, ...]
    table: tuple[TableRow, ...]
    checks: tuple[Check, ...]
    exceeding: tuple[Exceeding, ...]
    findings: tuple[Finding, ...]
    coverage: tuple[CoverageRow, ...]
    made: Mapping[str, str]

    @property
    def as_expected(self) -> bool:
        """Whether no check has failed and no claim has another verdict than docs/contributors/findings.md gives it."""
        return all(check.holds is not False for check in self.checks) and all(one.as_expected for one in self.findings)

    def of(self, figure: Figure) -> list[Measured]:
        """The points of one figure."""
        return [
            one for one in self.measured if (one.case.row, one.case.along) == (figure.still.row, figure.still.along)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "seed": self.seed,
            "quick": self.quick,
            "made": dict(self.made),
            "table": [row.to_dict() for row in self.table],
            "checks": [check.to_dict() for check in self.checks],
            "exceeding": [one.to_dict() for one in self.exceeding],
            "findings": [finding.to_dict() for finding in self.findings],
            "measured": [one.to_dict() for one in self.measured],
            "coverage": self.coverage_dict(),
        }

    def coverage_dict(self) -> dict[str, Any]:
        """What came of the coverage of intervals, without its cells; empty if it was not measured."""
        if not self.coverage:
            return {}
        return {
            "seed": self.seed,
            "made": dict(self.made),
            "low": low_cells(self.coverage),
            "cells": len(self.coverage),
            "runs": sum(row.found.repeats for row in self.coverage if row.found is not None),
            "checks": [check.to_dict() for check in coverage_checks(self.coverage)],
            "designs": [one.to_dict() for one in summaries_of(self.coverage)],
            "skipped": skipped_of(self.coverage),
        }


def grid_of(parts: Sequence[str], *, quick: bool) -> Grid:
    """The figures that these parts need."""
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise SimulationError(f"{unknown[0]!r} cannot be reproduced; choose among {', '.join(PARTS)}").at("parts")
    wanted = set(ROWS) if not parts or "table1" in parts else set(parts)
    return tuple(figure for figure in (QUICK if quick else FULL) if figure.still.row in wanted)


def people_of(parts: Sequence[str], *, quick: bool) -> int:
    """How many people are simulated for these parts."""
    return people_in(grid_of(parts, quick=quick)) + coverage_people(_cells(parts, quick))


def _cells(parts: Sequence[str], quick: bool) -> tuple[CoverageCell, ...]:
    return cells_of(quick=quick) if "coverage" in parts else ()


def reproduce(
    parts: Sequence[str] = (), seed: int | None = None, *, quick: bool = False, progress: Progress | None = None
) -> Reproduction:
    """Measure the parts named, or all of the paper; the same seed gives the same figures with the same versions.

    Parameters
    ----------
    progress
        Called with the number of people done since its last call; `people_of(parts)` in all.

    Examples
    --------
    >>> found = reproduce(["distribution"], seed=1, quick=True)
    >>> [row.name for row in found.table], found.as_expected
    (['distribution'], True)
    """
    grid = grid_of(parts, quick=quick)
    seed = secrets.randbits(32) if seed is None else seed
    measured = tuple(
        _MEASURES[case.row](case, figure.repeats, seed_of(seed, case), progress)
        for figure in grid
        for case in figure.cases()
    )
    covered = tuple(measure_cell(cell, seed, progress) for cell in _cells(parts, quick))
    return Reproduction(
        seed=seed,
        quick=quick,
        figures=grid,
        measured=measured,
        table=table_of(measured),
        checks=checks_of(measured, quick=quick) + coverage_checks(covered),
        exceeding=exceeding_of(measured),
        findings=findings(seed=seed) if not parts or "findings" in parts else (),
        coverage=covered,
        made=build_facts(),
    )
