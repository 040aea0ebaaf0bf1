"""A survey: the frozen description of one collection, from which device and collector derive everything; and a tracking
survey, which asks the same in every period of a calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import NoReportsError, SimulationError, SurveyError
from sottovoce.core.progress import steps
from sottovoce.domain import Domain
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate, SearchProgress
from sottovoce.estimates.words.search import SearchRule
from sottovoce.questions.base import Question
from sottovoce.questions.people import People
from sottovoce.questions.shares import Shares
from sottovoce.randomness import os_source
from sottovoce.strategies.setting import AUTO
from sottovoce.surveys.aggregate import Aggregate, Reports
from sottovoce.surveys.amplified import Amplified, amplified
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.choosing import Asking, NamedMechanism
from sottovoce.surveys.constructors import Constructors
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.simulation import Seed, count_reports, draw_reports
from sottovoce.surveys.statement import Attachments, Stated, check_fields, read_json
from sottovoce.surveys.tracked import Histories, curve_of, simulate_periods

__all__ = ["Survey", "Tracking"]


@final
@dataclass(frozen=True, repr=False)
class Survey(Constructors):
    """One collection: a question, its design and epsilon; for a round its seat in a panel, or its period.

    Make one with `distribution`, `queries`, `mean`, `choices`, `number` or `records`; `adaptive` makes a panel, and
    `tracking` a survey that asks any of these in every period.

    Examples
    --------
    >>> survey = Survey.distribution(["red", "green", "blue"], epsilon=1.0)
    >>> reports = survey.simulate(["red"] * 5000 + ["green"] * 3000 + ["blue"] * 2000, seed=7)
    >>> estimate = survey.estimate(reports)
    >>> [label for label, *_ in estimate.top(1)]
    ['red']
    """

    # --- construction -------------------------------------------------------------------------

    @staticmethod
    def tracking(
        question: Question,
        epsilon: float,
        delta: float = 0.0,
        *,
        every: str | int,
        starts: date | str,
        periods: int | None = None,
        renews: int | str | None = None,
        grace: int | None = None,
        mechanism: NamedMechanism = AUTO,
        **others: Unpack[Asking],
    ) -> Tracking:
        """Ask a question in every period, under one epsilon for a person's whole history.

        Everybody draws one period, once, and answers in that period only. Nothing is memoised, so values may change at
        will.

        Parameters
        ----------
        question
            One of `sottovoce.questions`.
        epsilon, delta
            For the whole history; with `renews`, for each window.
        every
            The length of a period: "day", "week", "month", "quarter", "year", or a number of days.
        starts
            The first day of the first period, in UTC.
        periods
            Number of periods. More periods mean fewer people in each.
        renews
            Everybody answers once in that many periods, for example 13 or "quarter"; without `periods` there is no end.
        grace
            Days after its end in which a period may still be answered; a week, or one period if that is shorter.
        users
            The expected number of people in one period, for which the design is chosen.
        others
            As for `ask`.

        Examples
        --------
        >>> from sottovoce.questions import Shares
        >>> weekly = Survey.tracking(Shares(["yes", "no"]), periods=52, every="week", starts="2027-01-04", epsilon=1.0)
        >>> weekly.promise
        'epsilon 1 for all 52 weeks together'
        >>> weekly.period(3).period.label
        'week of 18 January 2027'
        """
        calendar = Calendar.of(every=every, starts=starts, periods=periods, renews=renews, grace=grace)
        return Tracking(Survey.ask(question, epsilon, delta, mechanism=mechanism, **others), calendar)

    @staticmethod
    def from_json(text: str | bytes, attachments: Attachments | None = None) -> Survey | Panel | Tracking:
        """Read a survey, a panel or a tracking survey from JSON. Every field is checked; unknown fields are refused.

        `attachments` maps the digests in the JSON to their bytes; see `survey.attachments`.
        """
        if attachments is not None and not isinstance(attachments, Mapping):
            raise SurveyError("attachments must be a mapping of digests to bytes, as survey.attachments is")
        statement, attached = read_json(text), {} if attachments is None else attachments
        if "panel" in statement:
            return Panel.from_statement(statement)
        if "calendar" in statement and "period" not in statement:
            return Tracking.from_statement(statement, attached)
        return Survey.from_statement(statement, attached)

    @cached_property
    def tracked(self) -> Tracking | None:
        """The tracking survey that this is a period of."""
        return None if self.period is None else Tracking(replace(self, period=None), self.period.calendar)

    @property
    def parent_id(self) -> str | None:
        """The id of the panel that this is a round of, or of the tracking survey that it is a period of."""
        if self.tracked is not None:
            return self.tracked.id
        return None if self.seat is None else self.seat.panel.id

    def amplified(self, n: int | None = None, delta: float | None = None) -> Amplified:
        """What a shuffler adds: the central epsilon of n reports that the collector sees only as a multiset.

        Parameters
        ----------
        n
            Honest answers in one forwarded batch, since the collector sees batches; the smallest one of the survey's
            relay if it states one.
        delta
            Of the central guarantee, above 0; that of the survey's relay if it states one.

        Examples
        --------
        >>> survey = Survey.distribution(100, epsilon=4.0, mechanism="randomized_response")
        >>> found = survey.amplified(n=100_000, delta=1e-6)
        >>> print(found)
        local epsilon 4 on the device; ...
        >>> found.lower <= found.epsilon < 0.07
        True
        """
        return amplified(self, n, delta)

    # --- the device's side ------------------------------------------------------------------

    def randomize(self, value: object) -> bytes:
        """One device's report as bytes, with randomness from the operating system.

        Every call draws again and spends epsilon again: a device must call this once and store the bytes.
        """
        report = self.mechanism.randomize(self.private_input(value), os_source())
        return self.tag + self.mechanism.encode(report)

    # --- the collector's side ---------------------------------------------------------------

    def aggregate(self) -> Aggregate:
        """The empty aggregate; add reports to it, merge it with others."""
        return Aggregate(self, 0, self.mechanism.empty())

    def estimate(
        self,
        reports: Aggregate | Reports | Iterable[bytes],
        *,
        rule: SearchRule | None = None,
        progress: SearchProgress | None = None,
    ) -> Estimate:
        """Raw and projected answers, with intervals, from an aggregate or from reports.

        For words, `rule` says how they are searched for, and `progress` is called with the steps done and of how many.
        """
        with steps("estimating"):
            aggregate = reports if isinstance(reports, Aggregate) else self.aggregate().add(reports)
            aggregate.check_of(self)
            return self.estimate_counts(aggregate.counts, aggregate.n_reports, rule=rule, progress=progress)

    @steps("estimating")
    def estimate_counts(
        self, counts: Any, n_reports: int, *, rule: SearchRule | None = None, progress: SearchProgress | None = None
    ) -> Estimate:
        """`estimate` from counts; there must be at least one report."""
        if n_reports == 0:
            raise NoReportsError("the aggregate has no reports: collect some first")
        return self.question.estimate_class.from_counts(self, counts, n_reports, rule=rule, progress=progress)

    # --- simulation -------------------------------------------------------------------------

    def simulate(self, values: Any, seed: Seed = None) -> Reports:
        """Reports of simulated people with these values: vectorised, as a device draws them, reproducible."""
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
        if (values is None) == (histogram is None):
            raise SimulationError("give either values (one per person) or histogram (people per value)")
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

    def _answering(self, people: People) -> People:
        """The same people, with the inputs of the mechanism."""
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


@final
@dataclass(frozen=True, repr=False)
class Tracking(Stated):
    """A question that is asked in every period of a calendar, of other people each time.

    One signed statement. Everybody has one seat in each window, a period, and answers `period(k)` in it. What a person
    reveals in a window is the period and one report about the value in that period; the period does not depend on any
    value, so any two histories of values give the same reports with probabilities within e**epsilon.

    Attributes
    ----------
    once
        The same question, asked once.
    calendar
        Its periods.
    """

    once: Survey
    calendar: Calendar

    kind: ClassVar[str] = "tracking"

    def __post_init__(self) -> None:
        if not isinstance(self.once, Survey) or self.once.seat is not None or self.once.period is not None:
            raise SurveyError("once must be a survey that is no round and no period; use Survey.tracking").at("once")
        if not isinstance(self.calendar, Calendar):
            raise SurveyError("calendar must be a Calendar; use Survey.tracking").at("calendar")

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.once.title

    @property
    def question(self) -> Question:
        return self.once.question

    @property
    def domain(self) -> Domain | None:
        """The domain of a person's value in a period; None for vectors."""
        return self.once.domain

    def parse(self, text: str) -> object:
        """The value that typed text stands for; text that stands for none is returned as it is."""
        return self.once.parse(text)

    @property
    def epsilon(self) -> float:
        """The privacy parameter of one report, and of a person's history in a window."""
        return self.once.epsilon

    @property
    def delta(self) -> float:
        return self.once.delta

    @property
    def relay(self) -> Relay | None:
        """The relay of every period."""
        return self.once.relay

    @property
    def seats(self) -> int:
        """The periods of a window, of which everybody has one."""
        return self.calendar.seats

    @property
    def promise(self) -> str:
        """The guarantee per window and over the life of the survey, and through what reports go."""
        found = self.calendar.promise(self.epsilon, self.delta)
        return found if self.relay is None else f"{found}, {self.relay}"

    def period(self, number: int) -> Survey:
        """The survey of one period, as its people answer it; its id follows from this survey's statement."""
        period, once = Period(self.calendar, number), self.once
        if period.number not in self._made:
            self._made[period.number] = Survey(once.question, once.design, once.title, None, period, once.relay)
        return self._made[period.number]

    @cached_property
    def _made(self) -> dict[int, Survey]:
        return {}

    def amplified(self, n: int | None = None, delta: float | None = None) -> Amplified:
        """As of `Survey`, for n honest answers in one forwarded batch of one period.

        A person has one report in a window, so this holds for a window; several of them are composed (`compose`).
        """
        return self.once.amplified(n, delta)

    def simulate(
        self, histories: Histories, seed: Seed = None, progress: Callable[[int], object] | None = None
    ) -> dict[int, Aggregate]:
        """Counted reports of simulated people by period; everybody draws one seat in each window.

        Parameters
        ----------
        histories
            People's values: an array with a row per person and a column per period; a list with the values of every
            period; or a function of the period's number that returns them. In a window people are the same, in the
            same order.
        progress
            Called with the number of people done since the last call.
        """
        return simulate_periods(self, histories, seed, progress)

    def estimate(self, aggregates: Mapping[int, Aggregate], closed: Collection[int] | None = None) -> Curve:
        """The curve: an estimate per period, from their aggregates by number.

        All periods are taken as closed unless their numbers are given; the others are shown as unfinished.
        """
        return curve_of(self, aggregates, closed)

    def to_statement(self) -> dict[str, Any]:
        """The survey as plain JSON values."""
        return {**self.once.to_statement(), "calendar": self.calendar.to_statement()}

    @property
    def attachments(self) -> dict[str, bytes]:
        """The design's attachment, which all periods share."""
        return self.once.attachments

    @classmethod
    def from_statement(cls, statement: object, attachments: Attachments) -> Self:
        """Read a tracking survey from JSON; every field is checked, unknown fields are refused."""
        if not isinstance(statement, dict) or "calendar" not in statement:
            check_fields(statement, "a tracking survey", {"calendar"})
        stated: Any = statement
        own = {name: entry for name, entry in stated.items() if name != "calendar"}
        return cls(Survey.from_statement(own, attachments), Calendar.from_statement(stated["calendar"]))

    def __repr__(self) -> str:
        return f"<tracking survey {self.id[:12]}: {self.question.kind}, {self.promise}, {self.once.mechanism.name}>"
