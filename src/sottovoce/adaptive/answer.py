"""The result of one round: a mean, or a distribution over choices, with its interval and bound."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, final

from sottovoce.core.answer import Answer, within
from sottovoce.core.errors import SessionError
from sottovoce.core.words import plural
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import check_level
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.questions.shares import shares
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Seat
from sottovoce.surveys.survey import Survey
from sottovoce.surveys.terms import Terms
from sottovoce.theory.bounds import Bound

__all__ = ["ChoiceAnswer", "RoundAnswer", "RoundInterval", "answer_of", "mechanism_of_choices", "n_choices", "seat_of"]


def seat_of(survey: Terms) -> Seat:
    """The survey's seat; raises `SessionError` if it is not a round of a panel."""
    if survey.seat is None:
        raise SessionError(
            "this survey is not a round of a panel; make one with sottovoce.adaptive.round_of(panel, ...)"
        )
    return survey.seat


def n_choices(survey: Terms) -> int:
    """The number of choices of a round; 0 if it asks for a mean."""
    return survey.question.round_choices


@lru_cache(maxsize=256)
def mechanism_of_choices(choices: int, epsilon: float) -> FiniteMechanism:
    """The mechanism of a round with this number of choices."""
    mechanism = Survey(shares(choices), epsilon=epsilon).mechanism
    assert isinstance(mechanism, FiniteMechanism)
    return mechanism


class RoundInterval(NamedTuple):
    """An interval for the true answer."""

    low: float
    high: float


@final
@dataclass(frozen=True, repr=False)
class RoundAnswer:
    """The answer to one question.

    Attributes
    ----------
    round
        Number of the round, from 1.
    query
        The question, as text.
    value
        The estimate, clipped to the query's range; the value nearest to 0 if nobody answered.
    raw
        The unbiased estimate before clipping; NaN if nobody answered.
    n_reports
        The number of people who answered.
    bound
        Upper bound on the expected error, for every population.
    """

    round: int
    query: str
    value: float
    raw: float
    n_reports: int
    bound: Bound
    _range: RoundInterval
    _estimate: Estimate | None

    def interval(self, level: float = 0.95) -> RoundInterval:
        """Confidence interval for this question alone, exact; see `Session.intervals` for simultaneous intervals.

        If nobody answered, it is the whole range of the query.
        """
        if self._estimate is None:
            check_level(level)
            return self._range
        low, high = self._estimate.interval(level)
        return RoundInterval(float(low[0]), float(high[0]))

    @property
    def empty(self) -> bool:
        """Whether nobody answered."""
        return self.n_reports == 0

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All fields as plain values."""
        low, high = self.interval(level)
        return {
            "round": self.round,
            "query": self.query,
            "value": within(self.value, low, high),
            "raw": None if math.isnan(self.raw) else self.raw,
            "low": low,
            "high": high,
            "level": level,
            "n_reports": self.n_reports,
            "bound": {"error": self.bound.value, "statement": self.bound.statement},
        }

    def __repr__(self) -> str:
        low, high = self.interval()
        if self.empty:
            return f"<round {self.round}: nobody answered; anything from {low:.4g} to {high:.4g} is possible>"
        reports = plural(self.n_reports, "report")
        return f"<round {self.round}: {self.value:.4g}, 95 % from {low:.4g} to {high:.4g}, {reports}>"

    def _repr_html_(self) -> str:
        return f"<p><code>{html.escape(self.query)}</code>: {html.escape(repr(self).strip('<>'))}</p>"


@final
@dataclass(frozen=True, repr=False)
class ChoiceAnswer:
    """How people are distributed over the choices of one round.

    `estimate` is None if nobody answered. Choices without `labels` are named by number.
    """

    round: int
    query: str
    labels: Sequence[str]
    n_reports: int
    bound: Bound
    estimate: Estimate | None

    @property
    def empty(self) -> bool:
        """Whether nobody answered."""
        return self.n_reports == 0

    def _named(self, number: str) -> str:
        return self.labels[int(number)] if self.labels else number

    def require_estimate(self) -> Estimate:
        """The estimate; raises `SessionError` if nobody answered."""
        if self.estimate is None:
            raise SessionError(f"nobody answered round {self.round}: there is nothing to estimate from")
        return self.estimate

    def top(self, k: int = 10, level: float = 0.95) -> list[Answer]:
        """The k most frequent choices by name, with their intervals; empty if nobody answered."""
        if self.estimate is None:
            return []
        return [replace(answer, label=self._named(answer.label)) for answer in self.estimate.top(k, level)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """All fields as plain values, with the twenty most frequent choices."""
        return {
            "round": self.round,
            "query": self.query,
            "choices": [answer.row() for answer in self.top(20, level)],
            "level": level,
            "n_reports": self.n_reports,
            "bound": {"error": self.bound.value, "statement": self.bound.statement},
        }

    def __repr__(self) -> str:
        if self.empty:
            return f"<round {self.round}: nobody answered>"
        first = ", ".join(f"{answer.label} {answer:.3g}" for answer in self.top(3))
        choices = plural(len(self.require_estimate()), "choice")
        return f"<round {self.round}: {first}; {choices}, {plural(self.n_reports, 'report')}>"


def answer_of(asked: Survey, seat: Seat, aggregate: Aggregate, labels: Sequence[str]) -> Any:
    """The `RoundAnswer` or `ChoiceAnswer` estimated from a round's reports."""
    n = aggregate.n_reports
    estimate = asked.estimate(aggregate) if n else None
    nothing = Bound(asked.question.workload.diameter, "nobody answered: only what the values can be is known")
    bound = nothing if estimate is None else estimate.bound
    if asked.question.round_choices:
        return ChoiceAnswer(seat.round, seat.query.text, labels, n, bound, estimate)
    low, high = asked.answer_range
    ends = RoundInterval(float(low), float(high))
    value = min(max(0.0, ends.low), ends.high) if estimate is None else float(estimate.shown()[0])
    raw = math.nan if estimate is None else float(estimate.raw[0])
    return RoundAnswer(seat.round, seat.query.text, value, raw, n, bound, ends, estimate)
