"""What curves and simulations need of a tracking survey and of its periods; `Tracking` and `Survey` have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sottovoce.questions.base import Question
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.simulation import Seed

__all__ = ["PeriodSurvey", "TrackedSurvey"]


class PeriodSurvey(Protocol):
    """The survey of one period."""

    @property
    def id(self) -> str: ...

    def estimate(self, reports: Aggregate, /) -> Estimate: ...

    def simulate_aggregate(
        self, values: Any = None, *, seed: Seed = None, progress: Callable[[int], object] | None = None
    ) -> Aggregate: ...


class TrackedSurvey(Protocol):
    """A survey that asks the same question in every period of a calendar."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def question(self) -> Question: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def calendar(self) -> Calendar: ...

    @property
    def promise(self) -> str: ...

    def period(self, number: int, /) -> PeriodSurvey: ...
