"""What is measured and what is found, as plain typed records: a row of a CSV file each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from sottovoce.theory.bounds import BY_PROJECTION

__all__ = [
    "ALONG",
    "HARD",
    "ROWS",
    "Along",
    "Case",
    "Check",
    "Measured",
    "Progress",
    "Repaired",
    "Row",
    "seed_of",
    "setting_of",
]

Row = Literal["offline", "distribution", "adaptive"]
Along = Literal["people", "queries", "values", "epsilon"]
Progress = Callable[[int], object]

ROWS: Final[dict[Row, str]] = {
    "offline": "General offline queries (L2 error)",
    "distribution": "Distribution estimation (L2 error)",
    "adaptive": "General adaptive queries (L-infinity error)",
}
"""The rows of Table 1, as the paper calls them."""

ALONG: Final[dict[Along, str]] = {
    "people": "people",
    "queries": "queries",
    "values": "values",
    "epsilon": "epsilon",
}
"""What a figure's horizontal axis counts."""

HARD: Final[dict[Row, str]] = {"offline": "spread", "distribution": "spread", "adaptive": "overfit"}
"""The population, or the analyst, that comes nearest to the worst case."""


@dataclass(frozen=True)
class Case:
    """One point of one figure: a problem of radius 1 and the people who answer.

    Attributes
    ----------
    along
        Which of the numbers below varies in the figure that the point belongs to.
    population
        How people are distributed; for adaptive queries, how the analyst chooses.
    queries, values
        d and J; for distributions d = J.
    """

    row: Row
    along: Along
    population: str
    people: int
    queries: int
    values: int
    epsilon: float

    @property
    def at(self) -> float:
        """Where the point stands on the figure's horizontal axis."""
        return float(getattr(self, self.along))


@dataclass(frozen=True)
class Repaired:
    """The paper's own protocol for offline queries, rejection sampling made sound, on the same people and projected.

    Attributes
    ----------
    bound, bound_statement
        What is stated here for it; what the paper prints is the same for every protocol.
    """

    error: float
    standard_error: float
    bound: float
    bound_statement: str


@dataclass(frozen=True)
class Measured:
    """Mean errors over the repeats with their standard errors, beside what is stated here and printed.

    Attributes
    ----------
    error
        Of what this project ships for the problem, projected.
    previous
        Of the previous work, measured on the same people: sphere sampling for offline queries, unprojected Hadamard
        Response for distributions. Table 1 has none for adaptive queries.
    bound, bound_statement
        What is stated here for `error`, for every population, and which statement it is.
    bound_printed
        What the paper prints for its protocol; None where the theorem says nothing.
    lower_shape
        The lower bound's expression without its unknown constant: a shape, not a bound.
    repaired
        For offline queries and the hardest population, else None.
    """

    case: Case
    repeats: int
    seed: int
    error: float
    standard_error: float
    previous: float | None
    previous_standard_error: float | None
    bound: float
    bound_printed: float | None
    lower_shape: float
    bound_statement: str
    repaired: Repaired | None = None

    @property
    def few(self) -> bool:
        """Whether people are so few that projecting rules: the first term of the bound's minimum is the smaller one.

        That is known from the parameters, before anything is measured.
        """
        return self.bound_statement.startswith(BY_PROJECTION)

    def to_dict(self) -> dict[str, Any]:
        """Everything in one flat row."""
        flat = asdict(self)
        beside = flat.pop("repaired") or dict.fromkeys(("error", "standard_error", "bound", "bound_statement"))
        return {**flat.pop("case"), **flat, **{f"repaired_{name}": number for name, number in beside.items()}}


@dataclass(frozen=True)
class Check:
    """Something expected before anything was measured, and whether it came out.

    Attributes
    ----------
    holds
        None where it was not checked: the quick grid has too few points.
    why
        Where it fails: what is known about the reason.
    """

    row: str
    expected: str
    found: str
    holds: bool | None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A row of the checks' table."""
        return asdict(self)


def setting_of(case: Case) -> str:
    """The numbers of a case, as they are told.

    Examples
    --------
    >>> setting_of(Case("distribution", "people", "zipf", 1000, 16, 16, 1.0))
    'n = 1,000, J = 16, epsilon 1'
    """
    queries = "" if case.row == "distribution" else f", d = {case.queries:,}"
    values = "" if case.row == "adaptive" else f", J = {case.values:,}"
    return f"n = {case.people:,}{queries}{values}, epsilon {case.epsilon:g}"


def seed_of(seed: int, case: Case) -> int:
    """The case's own seed: the same whichever other cases are measured, and in whatever order.

    Examples
    --------
    >>> case = Case("distribution", "people", "zipf", 1000, 16, 16, 1.0)
    >>> seed_of(7, case) == seed_of(7, case) != seed_of(8, case)
    True
    """
    told = "/".join(map(str, (seed, case.row, case.population, case.people, case.queries, case.values, case.epsilon)))
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")
