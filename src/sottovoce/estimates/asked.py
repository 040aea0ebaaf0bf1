"""The part of a survey that an estimate needs; every `Survey` has it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms import Mechanism
from sottovoce.strategies.base import Strategy
from sottovoce.theory.bounds import Bound

__all__ = ["AskedSurvey", "ListedQuestion", "PeriodLabels", "TrackedSurvey"]

PerAnswer = float | NDArray[np.float64]


class ListedQuestion(Protocol):
    """A question with listed answers."""

    @property
    def unit(self) -> str: ...

    @property
    def n_answers(self) -> int: ...

    @property
    def answers_are_shares(self) -> bool: ...

    @property
    def answer_range(self) -> tuple[PerAnswer, PerAnswer]: ...

    def label(self, index: int, /) -> str: ...


class AskedSurvey(Protocol):
    """A survey, of whose reports an estimate is made."""

    @property
    def id(self) -> str: ...

    @property
    def parent_id(self) -> str | None: ...

    @property
    def title(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def query_text(self) -> str: ...

    @property
    def question(self) -> Any: ...

    @property
    def seat(self) -> Any: ...

    @property
    def period(self) -> Any: ...

    @property
    def group(self) -> Any: ...

    @property
    def group_of(self) -> str: ...

    @property
    def design(self) -> Strategy: ...

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def n_answers(self) -> int: ...

    @property
    def answer_range(self) -> tuple[PerAnswer, PerAnswer]: ...

    def answer_label(self, index: int, /) -> str: ...

    def answer_labels(self) -> list[str]: ...

    def answer_index(self, name: object, /) -> int: ...

    def bound(self, n_reports: int, /) -> Bound: ...


class PeriodLabels(Protocol):
    """A calendar: when a period begins, its name, and which one contains a day."""

    def label(self, number: int, /) -> str: ...

    def start(self, number: int, /) -> datetime: ...

    def on(self, day: date, /) -> int | None: ...


class TrackedSurvey(Protocol):
    """A survey that asks the same question in every period of a calendar."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def question(self) -> Any: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def promise(self) -> str: ...

    @property
    def calendar(self) -> PeriodLabels: ...
