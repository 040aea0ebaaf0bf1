"""Every report of a finite mechanism, its probability for every value, and the answers that are read from it alone.

All that is to be known of a strategy follows from these: it is what a strategy does not say itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.listed import MOST_LISTED, counted_moments, law_of_rows
from sottovoce.strategies.laws.spread import Spread, farthest

__all__ = ["ListedReports"]

_MOST_LISTED: Final = 2**20
"""Maximum number of probabilities, and of answers, that are listed."""


@final
@dataclass(frozen=True, eq=False)
class ListedReports:
    """A finite channel with its reading.

    Attributes
    ----------
    answers
        X of every answer (rows) and report (columns).
    chances
        The probability of every report (rows) for every value (columns).
    cells
        The counter of each report, where every report has one of its own; None where reports are not distinguished.
    """

    answers: Floats
    chances: Floats
    cells: NDArray[np.int64] | None

    @classmethod
    def of(cls, name: str, mechanism: object, inputs: NDArray[np.int64], read: Callable[[Counts, int], Floats]) -> Self:
        """List the reports of people with these inputs of the mechanism; `read` gives raw answers from counts.

        Raises `CapacityError` if there are too many, with what the strategy of that name must then say itself.
        """
        remedy = f"strategy {name!r} must implement _each, _combined, _total, law and spread itself"
        if not isinstance(mechanism, ChannelMechanism):
            raise CapacityError(f"the reports of this mechanism cannot be listed: {remedy}")
        reports = list(islice(mechanism.outputs(), _MOST_LISTED // len(inputs) + 1))
        if len(reports) * len(inputs) > _MOST_LISTED:
            raise CapacityError(f"{mechanism.name} has too many reports to be listed for all values: {remedy}")
        columns, counted = [], []
        for report in reports:
            counts = mechanism.empty()
            payload = np.frombuffer(mechanism.encode(report), dtype=np.uint8)
            mechanism.count_encoded(counts, payload[None, :])
            columns.append(read(counts, 1))
            counted.append(np.flatnonzero(counts))
            if len(columns) * len(columns[0]) > _MOST_LISTED:
                raise CapacityError(f"{mechanism.name} has too many reports to list all their answers: {remedy}")
        chances = [[float(mechanism.probability(report, value)) for value in inputs.tolist()] for report in reports]
        alone = len(reports) == mechanism.cells and all(len(cells) == 1 for cells in counted)
        places = np.concatenate(counted) if alone else np.empty(0, dtype=np.int64)
        one_each = alone and len(np.unique(places)) == len(reports)
        return cls(np.column_stack(columns), np.array(chances), places if one_each else None)

    def moments(self, weights: Floats | None) -> Floats:
        """M(u) of every answer, or combination of answers (rows), for every value u (columns)."""
        return np.asarray(np.square(self._read(weights)) @ self.chances)

    @property
    def value_moments(self) -> Floats:
        """T(u) for every value u: the sum of M(u) over all answers."""
        return np.asarray(np.square(self.answers).sum(axis=0) @ self.chances)

    def spread(self) -> Spread:
        """Where answers are projected in their own space, projected ones move no farther than raw ones."""
        l2, exact = farthest(self.answers)
        return Spread(np.ptp(self.answers, axis=1), l2, l2, True, exact)

    def law(self, weights: Floats | None, rows: Floats, evidence: Evidence) -> ReportLaw:
        """The law of every answer, or of combinations of answers; `rows` are the true answers of every value."""
        answers, seen, listed = self._read(weights), None, None
        if evidence.counts is not None and self.cells is not None:
            by_cell = np.empty_like(answers)
            by_cell[:, self.cells] = answers
            seen = None if evidence.limiting is None else counted_moments(by_cell, evidence)
            listed = by_cell if by_cell.size <= MOST_LISTED else None
        limits = answers.min(axis=1), answers.max(axis=1)
        blocks = [(rows, self.moments(weights), seen)]
        return law_of_rows(blocks, limits[1] - limits[0], None, evidence, limits, listed)

    def _read(self, weights: Floats | None) -> Floats:
        return self.answers if weights is None else np.asarray(weights @ self.answers)
