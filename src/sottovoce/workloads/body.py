"""`Body`: the possible answers of people whose values cannot be listed."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from numpy.typing import ArrayLike

from sottovoce.workloads.base import Floats
from sottovoce.workloads.pictures import Bars, Panel

__all__ = ["Body"]


class Body(abc.ABC):
    """The possible answers of one person, of which the mean over people is asked: a ball, or all sets of a few items.

    It has the part of `Workload` that strategies and questions use, and no columns: `n_values` is None.
    """

    n_values: ClassVar[None] = None

    if TYPE_CHECKING:  # a field or a property of each body; a property here would conflict at run time

        @property
        def radius(self) -> float:
            """The largest norm of one person's answers."""

    @property
    @abc.abstractmethod
    def n_queries(self) -> int:
        """The number of answers."""

    @property
    @abc.abstractmethod
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """Lower and upper limits of the answers: for all of them, or one per answer."""

    @property
    @abc.abstractmethod
    def diameter(self) -> float:
        """The largest distance between two means, in L2."""

    def panels(self) -> Iterator[Panel]:
        """How the answers are drawn."""
        yield Bars("mean of each coordinate", 0, self.n_queries, shares=False)

    @abc.abstractmethod
    def columns(self, values: ArrayLike) -> Floats:
        """The answers of many people, one row each, from their values as questions give them."""

    @abc.abstractmethod
    def name(self, query: int) -> str:
        """The name of an answer, given by its number."""

    @abc.abstractmethod
    def find(self, name: str) -> int:
        """The number of the answer with that name."""
