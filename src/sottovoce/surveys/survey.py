"""A survey: the frozen description of one collection, from which device and collector derive everything; and a tracking
survey, which asks the same in every period of a calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, partial
from typing import Any, ClassVar, Self, Unpack, final

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES
from sottovoce.core.notebook import facts_html
from sottovoce.core.progress import steps
from sottovoce.domain import Domain
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate, SearchProgress
from sottovoce.estimates.words.search import SearchRule
from sottovoce.questions.base import Question
from sottovoce.randomness import os_source
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import Criterion
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.aggregate import Aggregate, Reports
from sottovoce.surveys.amplified import Amplified, amplified
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.choosing import Asked, Asking, NamedMechanism, as_question, design_for
from sottovoce.surveys.grouped import (
    Grouped,
    Members,
    counted_groups,
    simulate_groups,
    simulate_groups_of_periods,
)
from sottovoce.surveys.groups import GroupName, Groups
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.simulated import SimulatedSurvey
from sottovoce.surveys.simulation import Seed
from sottovoce.surveys.statement import Attachments, Stated, check_fields, check_title, read_json
from sottovoce.surveys.tracked import Counted, Histories, curve_of, simulate_periods

__all__ = ["Survey", "Tracking"]


@final
@dataclass(frozen=True, repr=False, init=False)
class Survey(SimulatedSurvey):
    """One collection: a question, its design and epsilon.

    Parameters
    ----------
    question
        A question, made by `shares`, `number`, `choices`, `records`, `words`, `queries` or `vector`; a list of labels
        asks for shares.
    epsilon
        The privacy parameter: any two values give any report with probabilities within a factor e**epsilon.
    delta
        0 for pure epsilon-LDP; the `gaussian` mechanism needs a small positive delta.
    strategy, mechanism
        Names, or "auto" for the least expected error of all usable designs; `explain` gives the reason. A strategy may
        also be an object of `sottovoce.strategies`, which includes its mechanism; a mechanism for values may be an
        object or class of your own, see "Adding a mechanism".
    people
        The expected number of people, for which the design is chosen; any number may answer.
    max_report_bytes
        Maximum length of a report. A mechanism that is named may exceed it.
    max_counters
        Maximum number of integers of the aggregate, for the mechanism "codebook". With fewer than `people` needs,
        people share rotations, which adds error; aggregates too large for one process are counted in shards by
        `sottovoce.engines`.
    criterion
        The error by which designs are compared: "l2" over all answers, or the "margin" of the worst answer.
    relay
        A relay that all reports go through, which makes the central guarantee much better than epsilon.
    groups
        Public variables and their values, such as ``{"arm": ["A", "B"]}``: each report says in the open of which group
        it is, and every group is estimated by itself. A person sees that before answering.

    Examples
    --------
    >>> from sottovoce import shares
    >>> survey = Survey(shares(["red", "green", "blue"]), epsilon=1.0)
    >>> reports = survey.simulate(["red"] * 5000 + ["green"] * 3000 + ["blue"] * 2000, seed=7)
    >>> estimate = survey.estimate(reports)
    >>> estimate.top(1)[0].label
    'red'
    """

    @with_clear_calls('sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)')
    def __init__(
        self,
        question: Asked,
        *,
        epsilon: float,
        delta: float = 0.0,
        strategy: str | Strategy = AUTO,
        mechanism: NamedMechanism = AUTO,
        people: int = DEFAULT_PEOPLE,
        max_report_bytes: int = DEFAULT_REPORT_BYTES,
        max_counters: int = DEFAULT_COUNTERS,
        criterion: Criterion = "l2",
        title: str = "",
        relay: Relay | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        check_title(title)
        asked = as_question(question)
        setting = Setting(asked.workload, epsilon, delta, people, AUTO, AUTO, max_report_bytes, max_counters)
        design = design_for(asked, setting, strategy, mechanism, criterion)
        super().__init__(asked, design, title, relay=relay, groups=None if groups is None else Groups.of(groups))

    @staticmethod
    def from_json(text: str | bytes, attachments: Attachments | None = None) -> Survey | Panel | Tracking:
        """Read a survey, a panel or a tracking survey from JSON. Every field is checked; unknown fields are refused.

        `attachments` maps the digests in the JSON to their bytes; see `survey.attachments`.
        """
        if attachments is not None and not isinstance(attachments, Mapping):
            raise SurveyError("attachments must be a mapping of digests to bytes, as survey.attachments is").at(
                "attachments"
            )
        statement, attached = read_json(text), {} if attachments is None else attachments
        if "panel" in statement:
            return Panel.from_statement(statement)
        if "calendar" in statement and "period" not in statement:
            return Tracking.from_statement(statement, attached)
        return Survey.from_statement(statement, attached)

    @cached_property
    def tracked(self) -> Tracking | None:
        """The tracking survey that this is a period of."""
        if self.period is None:
            return None
        once = Survey.of_design(self.question, self.design, self.title, relay=self.relay, groups=self.groups)
        return Tracking.of_survey(once, self.period.calendar)

    @property
    def parent_id(self) -> str | None:
        """The id of the panel that this is a round of, of the tracking survey that it is a period of, or of the survey
        that it is a group of.
        """
        if self.tracked is not None:
            return self.tracked.id
        if self.group is not None:
            return self.group_of
        return None if self.seat is None else self.seat.panel.id

    def in_group(self, group: GroupName) -> Survey:
        """The survey that the people of one group answer; its id follows from this survey's statement.

        Examples
        --------
        >>> survey = Survey(["yes", "no"], epsilon=1.0, groups={"arm": ["A", "B"]})
        >>> survey.in_group("B").group.label
        'arm B'
        """
        if self.groups is None or self.group is not None:
            raise SurveyError("this survey has no groups: leave the group out").at("group")
        chosen = self.groups.find(group)
        if chosen.number not in self._members:
            terms: Any = {"period": self.period, "relay": self.relay, "groups": self.groups, "group": chosen}
            self._members[chosen.number] = Survey.of_design(self.question, self.design, self.title, **terms)
        return self._members[chosen.number]

    @cached_property
    def whole(self) -> Survey:
        """The survey that this is a group of, or itself.

        Examples
        --------
        >>> survey = Survey(["yes", "no"], epsilon=1.0, groups={"arm": ["A", "B"]})
        >>> survey.in_group("B").whole == survey
        True
        """
        if self.group is None:
            return self
        terms: Any = {"period": self.period, "relay": self.relay, "groups": self.groups}
        return Survey.of_design(self.question, self.design, self.title, **terms)

    @property
    def answered(self) -> Survey:
        """What a device runs: this survey, or that of its first group, whose reports differ from others in the tag."""
        return self if self.groups is None or self.takes_reports else self.in_group(next(iter(self.groups)))

    @cached_property
    def _members(self) -> dict[int, Survey]:
        return {}

    @with_clear_calls('survey.simulate_groups({"A": ["tea"], "B": ["coffee"]}, seed=7)')
    def simulate_groups(self, people: Members, seed: Seed = None) -> dict[str, Aggregate]:
        """Counted reports of simulated people by group, from the values of the people of each."""
        return simulate_groups(self, people, seed)

    def amplified(self, *, people: int | None = None, delta: float | None = None) -> Amplified:
        """The central epsilon that a shuffler adds, for reports that the collector sees only as a multiset.

        Parameters
        ----------
        people
            Honest answers in one forwarded batch, since the collector sees batches. By default the smallest batch of
            the survey's relay, if it states one, as if nobody had invented any of its messages; with up to f invented
            ones, give that number less f.
        delta
            The delta of the central guarantee, above 0; by default that of the survey's relay if it states one.

        Examples
        --------
        >>> from sottovoce import shares
        >>> survey = Survey(shares(100), epsilon=4.0, mechanism="randomized_response")
        >>> found = survey.amplified(people=100_000, delta=1e-6)
        >>> print(found)
        local epsilon 4 on the device; ...
        >>> found.lower <= found.epsilon < 0.07
        True
        """
        return amplified(self, people, delta)

    # --- the device's side ------------------------------------------------------------------

    def randomize(self, value: object) -> bytes:
        """One device's report as bytes, with randomness from the operating system.

        Every call draws again and spends epsilon again: a device must call this once and store the bytes.
        """
        if not self.takes_reports:
            raise SurveyError("this survey has groups: randomize for one of them, survey.in_group(...)").at("group")
        report = self.mechanism.randomize(self.private_input(value), os_source())
        return self.tag + self.mechanism.encode(report)

    # --- the collector's side ---------------------------------------------------------------

    def aggregate(self) -> Aggregate:
        """The empty aggregate; add reports to it, merge it with others."""
        return Aggregate(self, 0, self.mechanism.empty())

    @with_clear_calls("survey.estimate(reports)")
    def estimate(
        self,
        reports: Aggregate | Reports | Iterable[bytes] | Grouped,
        *,
        rule: SearchRule | None = None,
        progress: SearchProgress | None = None,
    ) -> Estimate:
        """Raw and projected answers, with intervals, from an aggregate or from reports.

        For a survey with groups, give the aggregates or reports of each by its group, or reports of all groups.
        For words, `rule` says how they are searched for, and `progress` is called with the steps done and of how many.
        """
        if not self.takes_reports and not isinstance(reports, Aggregate):
            found = counted_groups(self, reports)
            whole = self.estimate(found.pooled, rule=rule, progress=progress)
            return replace(whole, groups=found.counts(partial(self.estimate_counts, rule=rule)))
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


@final
@dataclass(frozen=True, repr=False, init=False)
class Tracking(Stated):
    """A question that is asked in every period of a calendar, of other people each time, under one epsilon.

    There is one signed statement. Everybody draws one period in each window, once, and answers `period(k)` in that
    period only. A person reveals the period and one report about the value in that period; the period does not depend
    on any value, so any two histories of values give the same reports with probabilities within e**epsilon. Nothing is
    memoised, so values may change at will.

    Parameters
    ----------
    question
        A question or labels, as for `Survey`.
    epsilon, delta
        For the whole history; with `renews`, for each window.
    every
        The length of a period: "day", "week", "month", "quarter", "year", or a number of days.
    starts
        The first day of the first period, in UTC.
    periods
        Number of periods. More periods mean fewer people in each.
    renews
        Everybody answers once in that many periods, for example 13 or "quarter"; without `periods` the survey goes on.
    grace
        Days after its end in which a period may still be answered; a week, or one period if that is shorter.
    design
        Further arguments as for `Survey`; `people` is the expected number of people in one period.

    Attributes
    ----------
    once
        The survey that asks this question once.
    calendar
        The calendar of its periods.

    Examples
    --------
    >>> weekly = Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=52)
    >>> weekly.promise
    'epsilon 1 for all 52 weeks together'
    >>> weekly.period(3).period.label
    'week of 18 January 2027'
    """

    once: Survey
    calendar: Calendar

    kind: ClassVar[str] = "tracking"
    called: ClassVar[str] = "Every week or month"
    noun: ClassVar[str] = "tracking survey"
    part: ClassVar[str] = "period"

    @with_clear_calls('sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=52)')
    def __init__(
        self,
        question: Asked,
        *,
        epsilon: float,
        every: str | int,
        starts: date | str,
        periods: int | None = None,
        renews: int | str | None = None,
        grace: int | None = None,
        **design: Unpack[Asking],
    ) -> None:
        calendar = Calendar.of(every=every, starts=starts, periods=periods, renews=renews, grace=grace)
        self._hold(Survey(question, epsilon=epsilon, **design), calendar)

    @classmethod
    def of_survey(cls, once: Survey, calendar: Calendar) -> Self:
        """The tracking survey that asks `once` in every period of the calendar."""
        made = cls.__new__(cls)
        made._hold(once, calendar)
        return made

    def _hold(self, once: Survey, calendar: Calendar) -> None:
        if not isinstance(once, Survey) or once.seat is not None or once.period is not None:
            raise SurveyError("once must be a survey that is asked once, neither a round nor a period").at("once")
        if once.group is not None:
            raise SurveyError(
                "a tracking survey states groups, and not one of them: its periods have groups, each of its own"
            ).at("group")
        if not isinstance(calendar, Calendar):
            raise SurveyError("calendar must be a Calendar").at("calendar")
        object.__setattr__(self, "once", once)
        object.__setattr__(self, "calendar", calendar)

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
    def groups(self) -> Groups | None:
        """The public groups of every period."""
        return self.once.groups

    @property
    def seats(self) -> int:
        """The number of periods in a window; everybody answers in one of them."""
        return self.calendar.seats

    @property
    def promise(self) -> str:
        """The guarantee per window and over the life of the survey, and through what reports go."""
        guarantee = self.calendar.promise(self.epsilon, self.delta)
        return guarantee if self.relay is None else f"{guarantee}, {self.relay}"

    def period(self, number: int) -> Survey:
        """The survey of one period, as its people answer it; its id follows from this survey's statement."""
        period, once = Period(self.calendar, number), self.once
        if period.number not in self._made:
            terms: Any = {"period": period, "relay": once.relay, "groups": once.groups}
            self._made[period.number] = Survey.of_design(once.question, once.design, once.title, **terms)
        return self._made[period.number]

    @cached_property
    def _made(self) -> dict[int, Survey]:
        return {}

    def amplified(self, *, people: int | None = None, delta: float | None = None) -> Amplified:
        """The central guarantee of one forwarded batch of one period with that many honest answers.

        A person has one report in a window, so this holds for a window; several of them are composed (`compose`).
        """
        return self.once.amplified(people=people, delta=delta)

    @with_clear_calls("tracking.simulate(histories, seed=7)")
    def simulate(
        self, histories: Histories, seed: Seed = None, progress: Callable[[int], object] | None = None
    ) -> dict[int, Aggregate]:
        """Counted reports of simulated people by period; everybody draws one seat in each window.

        Parameters
        ----------
        histories
            People's values: an array or DataFrame with a row per person and a column per period; a DataFrame with the
            columns person, period (numbered from 1) and value; a list with the values of every period; or a function
            of the period's number that returns them. In a window people are the same, in the same order.
        progress
            Called with the number of people done since the last call.
        """
        return simulate_periods(self, histories, seed, progress)

    def simulate_groups(self, histories: Mapping[Any, Histories], seed: Seed = None) -> dict[int, dict[str, Aggregate]]:
        """Counted reports of simulated people by period and group, from the histories of each group's people."""
        return simulate_groups_of_periods(self, histories, seed)

    @with_clear_calls("tracking.estimate(tracking.simulate(histories))")
    def estimate(self, aggregates: Counted, closed: Collection[int] | None = None) -> Curve:
        """The curve: an estimate per period, from their aggregates by number, and by group if there are groups.

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
        return cls.of_survey(Survey.from_statement(own, attachments), Calendar.from_statement(stated["calendar"]))

    def __repr__(self) -> str:
        return f"<tracking survey {self.id[:12]}: {self.question.kind}, {self.promise}, {self.once.mechanism.name}>"

    def _repr_html_(self) -> str:
        periods = self.calendar.periods
        length = "without an end" if periods is None else f"{periods:,}"
        own = {"guarantee": self.promise, "periods": length, "first": f"{self.calendar.starts}", "id": self.id}
        return facts_html(f"tracking survey of {self.question.kind}", self.once._facts() | own)
