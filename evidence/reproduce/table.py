"""Table 1 with figures in it: each row at one setting, the worst population that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from evidence.reproduce.records import HARD, ROWS, Measured, Row, setting_of

__all__ = ["PRINTED", "TableRow", "table_of"]

PRINTED: Final[dict[Row, tuple[str, str, str]]] = {
    "offline": (
        "r min((log J log n/(n ε²))^¼, √(d/(n ε²)))",
        "r √(d/(n ε²))",
        "r min((1/(n ε²))^¼, √(d/(n ε²)))",
    ),
    "distribution": ("min((log J/(n ε²))^¼, √(J/(n ε²)))", "√(J/(n ε²))", "min((1/(n ε²))^¼, √(J/(n ε²)))"),
    "adaptive": ("r √(c² d log d/n)", "none", "r √(c² d log d/n)"),
}
"""Upper bound, previous upper bound, lower bound, as the paper prints them: without constants."""


@dataclass(frozen=True)
class TableRow:
    """One row of the table: what is printed, and what was measured at one setting.

    Attributes
    ----------
    error
        The largest among the populations, with the population it was found for.
    repaired
        For offline queries, at the same setting: the paper's own protocol made sound, for the hardest population. The
        other rows measure the paper's own protocol as it is.
    """

    name: Row
    problem: str
    setting: str
    population: str
    error: float
    standard_error: float
    bound: float
    bound_printed: float | None
    previous: float | None
    previous_standard_error: float | None
    lower_shape: float
    repaired: float | None
    repaired_standard_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """A row of the CSV file."""
        upper, previous, lower = PRINTED[self.name]
        printed = {"printed_upper": upper, "printed_previous": previous, "printed_lower": lower}
        return asdict(self) | printed


def table_of(measured: Sequence[Measured]) -> tuple[TableRow, ...]:
    """A row for each problem that was measured, in the middle of its figure over people."""
    found = []
    for row in ROWS:
        points = [one for one in measured if one.case.row == row and one.case.along == "people"]
        if points:
            crowds = sorted({one.case.people for one in points})
            middle = [one for one in points if one.case.people == crowds[len(crowds) // 2]]
            found.append(_row(row, middle))
    return tuple(found)


def _row(row: Row, points: Sequence[Measured]) -> TableRow:
    worst = max(points, key=lambda one: one.error)
    repaired = next((one.repaired for one in points if one.case.population == HARD[row]), None)
    return TableRow(
        name=row,
        problem=ROWS[row],
        setting=setting_of(worst.case),
        population=worst.case.population,
        error=worst.error,
        standard_error=worst.standard_error,
        bound=worst.bound,
        bound_printed=worst.bound_printed,
        previous=worst.previous,
        previous_standard_error=worst.previous_standard_error,
        lower_shape=worst.lower_shape,
        repaired=repaired.error if repaired else None,
        repaired_standard_error=repaired.standard_error if repaired else None,
    )
