"""Simulated people who answer a survey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SimulationError
from sottovoce.questions.people import People
from sottovoce.questions.shares import Shares
from sottovoce.surveys.aggregate import Aggregate, Reports
from sottovoce.surveys.simulation import Seed, count_reports, draw_reports
from sottovoce.surveys.terms import Terms

__all__ = ["SimulatedSurvey"]


class SimulatedSurvey(Terms):
    """The terms of a survey, with simulated people who answer it."""

    @with_clear_calls('survey.simulate(["tea", "coffee"], seed=7)')
    def simulate(self, values: Any, seed: Seed = None) -> Reports:
        """Reports of simulated people with these values: vectorised, as a device draws them, reproducible."""
        self._check_answered()
        return Reports(self, draw_reports(self.mechanism, self.people(values), seed))

    def simulate_aggregate(
        self,
        values: Any = None,
        *,
        histogram: ArrayLike | None = None,
        seed: Seed = None,
        progress: Callable[[int], object] | None = None,
    ) -> Aggregate:
        """Like `simulate`, but reports are only counted, in memory independent of the number of people.

        Give `values`, one per person, or `histogram`, the number of people with each value.
        `progress` is called with the number of people done since the last call.
        """
        self._check_answered()
        if (values is None) == (histogram is None):
            raise SimulationError("give either values (one per person) or histogram (people per value)").at("values")
        people = self.people(values) if histogram is None else self.people_of_histogram(histogram)
        return Aggregate(self, people.n, count_reports(self.mechanism, people, seed, progress))

    def simulate_columns(
        self,
        columns: dict[str, NDArray[np.int64]],
        seed: Seed,
        progress: Callable[[int], object] | None = None,
    ) -> Aggregate:
        """Counted reports of simulated people of a round, whose attributes have these numbers."""
        if self.seat is None:
            raise SimulationError("simulate_columns is for rounds of a panel; use simulate_aggregate")
        people = self._answering(self.seat.people(self.question, columns))
        return Aggregate(self, people.n, count_reports(self.mechanism, people, seed, progress))

    def _check_answered(self) -> None:
        if not self.takes_reports:
            raise SimulationError("this survey has groups: use simulate_groups, or survey.in_group(...)").at("values")

    def _answering(self, people: People) -> People:
        """These people, with inputs of the mechanism in place of their values."""
        return People(people.n, lambda start, stop: self.design.inputs(people.between(start, stop)))

    def people(self, values: Any) -> People:
        """Simulated people with these values, as inputs of the mechanism."""
        if self.seat is None:
            return self._answering(self.question.people(values))
        return self._answering(self.seat.people(self.question, self.seat.panel.domain.columns(values)))

    def people_of_histogram(self, histogram: ArrayLike) -> People:
        """Simulated people from the number of people with each value."""
        if self.seat is None:
            return self._answering(self.question.people_of_histogram(histogram))
        seat, domain = self.seat, self.seat.panel.domain
        listed = Shares(domain).people_of_histogram(histogram)

        def between(start: int, stop: int) -> NDArray[Any]:
            return seat.inputs(self.question, domain.split(listed.between(start, stop)))

        return self._answering(People(listed.n, between))
