"""Functions of a person's record, their means in the raw tables of a form, and the weights of answers behind these.

A function is a sum over tables: each table has a weight for every cell, and a record counts with the weight of its
cell. The mean over people is the sum of weights times raw shares, so it is linear in the raw answers, and its variance
is the exact one of the design. The product of two functions needs the tables of both attributes together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from sottovoce.domain import Domain
from sottovoce.estimates.tables import ShareTable
from sottovoce.mechanisms.base import Floats

__all__ = ["Functions", "RecordMeans", "product"]

Attributes = tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Functions:
    """Several functions of a record.

    Attributes
    ----------
    parts
        For each set of attributes, in alphabetical order, the weights of their table's cells: one axis for the
        functions, then those of the table. No attributes: a constant.
    """

    count: int
    parts: Mapping[Attributes, Floats]

    def combined(self, weights: Floats) -> Functions:
        """Sums of these functions, one for every row of weights."""
        return Functions(len(weights), {names: np.tensordot(weights, part, 1) for names, part in self.parts.items()})

    def __sub__(self, other: Functions) -> Functions:
        parts = dict(self.parts)
        for names, part in other.parts.items():
            parts[names] = parts[names] - part if names in parts else -part
        return Functions(self.count, parts)


def product(first: Functions, second: Functions) -> Functions:
    """Each function of the one times the same function of the other, or times its only one."""
    count, parts = max(first.count, second.count), dict[Attributes, Floats]()
    for a, left in first.parts.items():
        for b, right in second.parts.items():
            names = tuple(sorted({*a, *b}))
            term = _along(left, a, names) * _along(right, b, names)
            parts[names] = parts[names] + term if names in parts else term
    return Functions(count, parts)


def _along(part: Floats, own: Attributes, names: Attributes) -> Floats:
    """Weights of a table as those of a larger one, along whose other attributes they do not change."""
    sizes = dict(zip(own, part.shape[1:], strict=True))
    return part.reshape(len(part), *(sizes.get(name, 1) for name in names))


@final
@dataclass(frozen=True, eq=False)
class RecordMeans:
    """The raw tables of a form's estimate, for means of functions of its records."""

    estimate: Any
    """A `TableEstimate`, whose module imports this one."""

    @cached_property
    def _tables(self) -> dict[Attributes, ShareTable]:
        return {}

    def table(self, names: Attributes) -> ShareTable:
        """The table of these attributes; raises `SurveyError` where the form does not ask for it."""
        if names not in self._tables:
            self._tables[names] = self.estimate.table(*names)
        return self._tables[names]

    def axis(self, name: str) -> Domain:
        """The cells of an attribute."""
        return self.table((name,)).axes[0]

    def _cells(self, names: Attributes) -> Floats:
        """The raw share of every cell; of all people, 1."""
        return self.table(names).raw if names else np.ones(())

    def means(self, functions: Functions) -> Floats:
        """The mean of every function over people."""
        found = np.zeros(functions.count)
        for names, part in functions.parts.items():
            cells = self._cells(names)
            spread = np.broadcast_to(part, (len(part), *cells.shape)).reshape(len(part), -1)
            found = found + spread @ cells.reshape(-1)
        return found

    def moments(self, first: Functions, second: Functions) -> Floats:
        """The mean of the product of every function of the one (rows) and every function of the other."""
        found = np.zeros((first.count, second.count))
        for a, left in first.parts.items():
            for b, right in second.parts.items():
                names = tuple(sorted({*a, *b}))
                cells = self._cells(names)
                one, other = (
                    np.broadcast_to(_along(part, own, names), (len(part), *cells.shape)).reshape(len(part), -1)
                    for part, own in ((left, a), (right, b))
                )
                found += (one * cells.reshape(-1)) @ other.T
        return found

    def rows(self, functions: Functions) -> Floats:
        """Weights of the answers, one row per function; constants have none."""
        rows = np.zeros((functions.count, len(self.estimate.raw)))
        for names, part in functions.parts.items():
            if names:
                table = self.table(names)
                shape = tuple(axis.size for axis in table.axes)
                spread = np.broadcast_to(part, (functions.count, *shape)).reshape(functions.count, -1)
                rows += table.rows(spread)
        return rows

    def variances(self, functions: Functions) -> Floats:
        """The variance of the mean of every function, people's sampling included; for the projected population."""
        rows, answers = self.rows(functions), self.estimate._combinable
        known = answers.survey.design.variance(rows, answers.population, answers.n_reports)
        return np.asarray(known.value, dtype=np.float64)
