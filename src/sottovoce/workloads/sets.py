"""Shares of options among people who each hold a set of at most a few of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import DomainError, SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import MAX_DIMENSION, check_integer
from sottovoce.domain import Domain, LabelDomain, RangeDomain
from sottovoce.workloads.base import Body, Floats
from sottovoce.workloads.tabulated import HeldPairs

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Sets"]

_MOST_ENTRIES: Final = 2**28
"""Maximum number of entries of people's answers that are listed together."""


@final
@dataclass(frozen=True)
class Sets(Body):
    """The share of people whose set holds each option; no set holds more than `most` options.

    One person's set is a row of `most` different numbers in increasing order: its options, then *dummies*, which are
    the numbers from `n_queries` on. Rows have one length, so the size of a set does not show.

    Examples
    --------
    >>> sets = Sets(Domain.of(["bus", "tram", "bike", "car"]), most=2)
    >>> sets.n_queries, sets.diameter, sets.name(1), sets.find("car")
    (4, 2.0, 'tram', 3)
    >>> sets.columns([[0, 2], [1, 4], [4, 5]])
    array([[1., 0., 1., 0.],
           [0., 1., 0., 0.],
           [0., 0., 0., 0.]])
    """

    domain: Domain
    most: int

    def __post_init__(self) -> None:
        if not isinstance(self.domain, LabelDomain | RangeDomain):
            raise DomainError("options must be labels, or a range of integers").at("options")
        if self.domain.size > MAX_DIMENSION:
            raise DomainError(
                f"there are {self.domain.size:,} options; a person can choose among at most {MAX_DIMENSION:,}"
            ).at("options")
        object.__setattr__(self, "most", check_integer("most", self.most, 1, self.domain.size))

    def held_pairs(self, over: Floats, under: Floats) -> HeldPairs:
        """The pairs of every option alone, which is a set; all others are sums of these."""
        return HeldPairs(over, under, complete=False)

    @property
    def n_queries(self) -> int:
        return self.domain.size

    @property
    def answer_range(self) -> tuple[float, float]:
        """Shares."""
        return 0.0, 1.0

    @property
    def radius(self) -> float:
        """The root of `most`."""
        return math.sqrt(self.most)

    @property
    def diameter(self) -> float:
        """Two sets differ in 2 `most` options at most, or in all."""
        return math.sqrt(min(2 * self.most, self.n_queries))

    def columns(self, values: ArrayLike) -> Floats:
        """Zeros and ones, one row for each row of `values`."""
        rows = np.asarray(values, dtype=np.int64)
        if rows.ndim != 2 or rows.shape[1] != self.most or not self.are_rows(rows):
            raise ValueOutsideDomainError(
                f"a set must be a row of {self.most} increasing numbers: its options, then dummies"
            )
        if len(rows) * (self.n_queries + self.most) > _MOST_ENTRIES:
            raise SurveyError("the answers of so many people cannot be listed; give fewer at a time")
        answers = np.zeros((len(rows), self.n_queries + self.most))
        np.put_along_axis(answers, rows, 1.0, axis=1)
        return answers[:, : self.n_queries]

    def are_rows(self, rows: NDArray[np.int64]) -> bool:
        """Whether every row is a set in the one form that it has."""
        ticked = rows < self.n_queries
        dummies = self.n_queries + np.arange(self.most) - ticked.sum(axis=1, keepdims=True)
        apart = (np.diff(rows, axis=1) > 0).all()
        return bool(apart and (rows >= 0).all() and (ticked | (rows == dummies)).all())

    def combined_range(self, weights: Floats) -> tuple[Floats, Floats]:
        """The least and the largest sum of weights that a set can have, for every row of `weights`."""
        ordered = np.sort(weights, axis=1)
        low, high = ordered[:, : self.most], ordered[:, -self.most :]
        return np.asarray(np.minimum(low, 0.0).sum(axis=1)), np.asarray(np.maximum(high, 0.0).sum(axis=1))

    def panels(self) -> Iterator[Panel]:
        from sottovoce.workloads.pictures import Bars

        yield Bars("share of people who tick each option", 0, self.n_queries, shares=True)

    def name(self, query: int) -> str:
        """The label of an option."""
        return self.domain.label(query)

    def find(self, name: str) -> int:
        """The number of the option with that label."""
        return self.domain.index(name)
