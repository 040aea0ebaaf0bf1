"""Moments: the mean of a number, and of its squared distance from the middle, over the points of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, NumberGrid
from sottovoce.workloads.base import Floats
from sottovoce.workloads.table import Table

__all__ = ["Moments"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Moments(Table):
    """The mean of a number and, with `spread`, the mean of (x - middle)^2 over half the range: both in its unit.

    The columns are the grid points. People's numbers lie between them; devices round these at random, so a population
    of numbers has the answers of the grid points it is rounded to.

    Examples
    --------
    >>> moments = Moments(NumberGrid(0, 600, "minutes", points=3), spread=True)
    >>> moments.dense()
    array([[  0., 300., 600.],
           [300.,   0., 300.]])
    """

    grid: NumberGrid
    spread: bool

    kind: ClassVar[str] = "moments"

    def __init__(self, grid: NumberGrid, spread: bool = False) -> None:
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "spread", spread)
        rows = [grid.values, (grid.values - grid.middle) ** 2 / grid.half][: 1 + spread]
        self._fill(np.stack(rows), Domain.of(grid.points), ["mean", "spread"][: 1 + spread])

    @cached_property
    def centred(self) -> Moments:
        """The same for a number from -1 to 1, with as many grid points."""
        return Moments(NumberGrid(-1.0, 1.0, "", self.grid.points), self.spread)

    @cached_property
    def rounding_error(self) -> Floats:
        """How far the answers of the grid can be off those of people's own numbers, by positions and by the grid.

        Rounding at random keeps the mean; it makes a square larger by up to a quarter of the spacing's square.
        """
        near, grid = self.grid.position_error, self.grid
        return np.array([near, 2 * near + grid.spacing**2 / (4 * grid.half)][: self.n_queries])

    def _parameters(self) -> dict[str, Any]:
        return {"number": self.grid.to_statement(), "spread": self.spread}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"number": number, "spread": bool(spread), **rest} if not rest:
                made = cls(NumberGrid.from_statement(number), spread)
                if made.domain == domain:
                    return made
        raise WorkloadError("a moments workload must have a number and spread, and the domain of its grid points")
