"""The identity query on a ball, for people whose value is a vector or a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.core.limits import check_dimension, check_radius
from sottovoce.workloads.base import Body, Floats

__all__ = ["Ball"]


@final
@dataclass(frozen=True)
class Ball(Body):
    """The mean of people's vectors, coordinate by coordinate; no vector is longer than `radius`.

    Attributes
    ----------
    dimension
        Coordinates of a vector.
    radius
        The largest norm of a vector.
    names
        Names of the coordinates; "x[0]", "x[1]", ... by default.
    low, high
        Limits of every coordinate, if narrower than the ball.

    Examples
    --------
    >>> ball = Ball(3, 2.0)
    >>> ball.n_queries, ball.diameter, ball.name(2), ball.find("x[2]")
    (3, 4.0, 'x[2]', 2)
    >>> Ball(1, 120.0, names=("age",), low=0.0).answer_range
    (0.0, 120.0)
    """

    dimension: int
    radius: float
    names: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", check_dimension(self.dimension))
        object.__setattr__(self, "radius", check_radius(self.radius))
        names = tuple(self.names)
        if names and (len(names) != self.dimension or len(set(names)) != len(names)):
            raise SurveyError(f"names must be {self.dimension} different texts, one for each coordinate")
        object.__setattr__(self, "names", names)
        low, high = self.answer_range
        if not -self.radius <= low <= high <= self.radius:
            raise SurveyError(f"low and high must lie between {-self.radius:g} and {self.radius:g}, low not above high")

    @property
    def n_queries(self) -> int:
        return self.dimension

    @property
    def answer_range(self) -> tuple[float, float]:
        """Lower and upper limit of every answer."""
        low = -self.radius if self.low is None else float(self.low)
        return low, self.radius if self.high is None else float(self.high)

    @property
    def diameter(self) -> float:
        """The largest distance between two means."""
        low, high = self.answer_range
        return min(2 * self.radius, math.sqrt(self.dimension) * (high - low))

    def columns(self, vectors: ArrayLike) -> Floats:
        """The answers of many people: their vectors, one per row."""
        rows = np.asarray(vectors, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise ValueOutsideDomainError(f"every value must be a vector of {self.dimension} numbers").at("vectors")
        return rows

    def name(self, query: int) -> str:
        """The name of a coordinate, given by its number."""
        number = as_integer(query)
        if number is None or not 0 <= number < self.dimension:
            raise WorkloadError(f"coordinate must be an integer from 0 to {self.dimension - 1}").at("query")
        return self.names[number] if self.names else f"x[{number}]"

    def find(self, name: str) -> int:
        """The number of the coordinate with that name."""
        if self.names:
            if name in self.names:
                return self.names.index(name)
        elif isinstance(name, str) and name.startswith("x[") and name.endswith("]"):
            digits = name[2:-1]
            if digits.isascii() and digits.isdecimal() and str(int(digits)) == digits and int(digits) < self.dimension:
                return int(digits)
        shown = repr(name) if len(repr(name)) <= 80 else "that long"
        raise WorkloadError(
            f"no coordinate is named {shown}; names run from {self.name(0)!r} to {self.name(self.dimension - 1)!r}"
        ).at("name")
