"""What is measured and what is found, as plain typed records: a row of a CSV file each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

__all__ = ["ALONG", "ROWS", "Along", "Case", "Check", "Measured", "Progress", "Row", "seed_of"]

Row = Literal["offline", "distribution", "adaptive"]
Along = Literal["users", "queries", "values", "epsilon"]
Progress = Callable[[int], object]

ROWS: Final[dict[Row, str]] = {
    "offline": "General offline queries (L2 error)",
    "distribution": "Distribution estimation (L2 error)",
    "adaptive": "General adaptive queries (L-infinity error)",
}
"""The rows of Table 1, as the paper calls them."""

ALONG: Final[dict[Along, str]] = {
    "users": "people",
    "queries": "queries",
    "values": "values",
    "epsilon": "epsilon",
}
"""What a figure's horizontal axis counts."""


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
    users: int
    queries: int
    values: int
    epsilon: float

    @property
    def at(self) -> float:
        """Where the point stands on the figure's horizontal axis."""
        return float(getattr(self, self.along))


@dataclass(frozen=True)
class Measured:
    """Mean errors over the repeats with their standard errors, beside what is proved and printed.

    Attributes
    ----------
    error
        Of what this project ships for the problem, projected.
    previous
        Of the previous work, measured on the same people: sphere sampling for offline queries, unprojected Hadamard
        Response for distributions. Table 1 has none for adaptive queries.
    bound
        What is proved here for `error`, for every population.
    bound_printed
        What the paper prints for its protocol; None where the theorem says nothing.
    lower_shape
        The lower bound's expression without its unknown constant: a shape, not a bound.
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

    def to_dict(self) -> dict[str, Any]:
        """Everything in one flat row."""
        flat = asdict(self)
        return {**flat.pop("case"), **flat}


@dataclass(frozen=True)
class Check:
    """Something expected before anything was measured, and whether it came out."""

    row: str
    expected: str
    found: str
    holds: bool
    why: str = ""
    """Where it fails: what is known about the reason."""

    def to_dict(self) -> dict[str, Any]:
        """A row of the checks' table."""
        return asdict(self)


def seed_of(seed: int, case: Case) -> int:
    """The case's own seed: the same whichever other cases are measured, and in whatever order.

    Examples
    --------
    >>> case = Case("distribution", "users", "zipf", 1000, 16, 16, 1.0)
    >>> seed_of(7, case) == seed_of(7, case) != seed_of(8, case)
    True
    """
    told = "/".join(map(str, (seed, case.row, case.population, case.users, case.queries, case.values, case.epsilon)))
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")
