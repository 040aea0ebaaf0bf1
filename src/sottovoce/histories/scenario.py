"""The surveys whose histories are audited, with the owner's limits and what each report belongs to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, final

from sottovoce.auditing.subject import Subject
from sottovoce.core.errors import SurveyError
from sottovoce.device.turns import derive_seat
from sottovoce.domain import Domain
from sottovoce.domain.trials import NumberedTrials
from sottovoce.histories.events import PANEL, PLAIN, RELAYED, TRACKING, Event
from sottovoce.questions.shares import shares
from sottovoce.surveys.calendar_fields import shortest_days
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.rounds import round_of
from sottovoce.surveys.survey import Survey, Tracking
from sottovoce.workloads.naming import value_at

__all__ = ["AskedSurvey", "Scenario", "scenario_of", "usual_scenarios"]

AskedSurvey: TypeAlias = Survey | Panel | Tracking

_ROUNDS: Final = 3
_MOST_PERIODS: Final = 400
"""Periods whose reports are known; no history lasts longer."""


@final
@dataclass(frozen=True)
class Scenario:
    """A survey, the values that its person may have, and what can happen to a device that answers it.

    Attributes
    ----------
    others
        Surveys by the same collector that the device may be asked beside it; "another survey" is the first of them.
    """

    name: str
    asked: AskedSurvey
    values: tuple[Any, Any]
    events: tuple[Event, ...]
    others: tuple[AskedSurvey, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The owner's limits: two answers and a half; of a tracking survey four, and two in any two windows."""
        epsilon, delta = self.asked.epsilon, getattr(self.asked, "delta", 0.0)
        tracked = isinstance(self.asked, Tracking)
        answers = 4.5 if tracked else 2.5
        return {
            "cap": epsilon,
            "budget": answers * epsilon,
            "delta_cap": delta,
            "delta_budget": min(0.5, answers * delta),
            "window_budget": (2 if tracked else 100) * epsilon,
            "window_days": 2 * self.length(self.window).days + 1,
        }

    @property
    def window(self) -> int:
        """The number of periods in a window; 1 without a calendar."""
        return self.asked.calendar.window if isinstance(self.asked, Tracking) else 1

    @property
    def grace(self) -> timedelta:
        """How long a period may still be answered after its end."""
        return timedelta(days=self.asked.calendar.grace if isinstance(self.asked, Tracking) else 0)

    def length(self, periods: int) -> timedelta:
        """How long so many periods last; without a calendar, days."""
        every = self.asked.calendar.every if isinstance(self.asked, Tracking) else 1
        return timedelta(days=shortest_days(every, periods))

    @property
    def begins(self) -> datetime:
        """When histories begin."""
        starts = self.asked.calendar.starts if isinstance(self.asked, Tracking) else date(2027, 1, 4)
        return datetime.combine(starts, time(12), UTC)

    @cached_property
    def secret(self) -> bytes:
        """The device's secret: it has a panel's second round, and of a tracking survey the last period, then the first.

        In the days of grace two windows can then be answered at once.
        """
        if isinstance(self.asked, Survey):
            return bytes(32)
        seats = self.asked.rounds if isinstance(self.asked, Panel) else self.asked.calendar.seats
        wanted = [2] if isinstance(self.asked, Panel) else [seats, 1]
        for number in range(1_000_000):
            secret = hashlib.sha256(b"%d" % number).digest()
            if all(derive_seat(secret, self.asked.id, w, seats) == seat for w, seat in enumerate(wanted, 1)):
                return secret
        return secret

    @cached_property
    def rounds(self) -> tuple[tuple[Survey, Survey], ...]:
        """Two questions for every round of a panel: the one that is asked, and another."""
        if not isinstance(self.asked, Panel):
            return ()
        name, part = Domain.attributes_of(self.asked.domain)[0]
        queries = [f"{name} == {json.dumps(value_at(part, number))}" for number in (0, part.size - 1)]
        numbers = range(1, min(self.asked.rounds, _ROUNDS) + 1)
        return tuple((round_of(self.asked, k, queries[0]), round_of(self.asked, k, queries[1])) for k in numbers)

    @cached_property
    def answerable(self) -> dict[str, tuple[str, int, Survey]]:
        """By the id in a report: the question and the window that it answers, and the survey of its bytes."""
        found: dict[str, tuple[str, int, Survey]] = {}
        for asked in (self.asked, *self.others):
            if isinstance(asked, Survey):
                found[asked.id] = asked.id, 1, asked
            elif isinstance(asked, Tracking):
                calendar = asked.calendar
                for number in range(1, min(calendar.periods or _MOST_PERIODS, _MOST_PERIODS) + 1):
                    survey = asked.period(number)
                    found[survey.id] = asked.id, calendar.window_of(number), survey
        found |= {one.id: (self.asked.id, 1, one) for questions in self.rounds for one in questions}
        return found

    def own_period(self, window: int) -> int:
        """The number of the period that the device must answer in a window of a tracking survey."""
        assert isinstance(self.asked, Tracking)
        calendar = self.asked.calendar
        return calendar.first_of(window) + derive_seat(self.secret, self.asked.id, window, calendar.seats) - 1

    def knows(self, text: str) -> bool:
        """Whether all events of a history can happen to this survey's device."""
        return {name.strip() for name in text.split(";")} <= {event.name for event in self.events}

    def history(self, text: str) -> tuple[Event, ...]:
        """The events of a history that is written down."""
        by_name = {event.name: event for event in self.events}
        names = [name.strip() for name in text.split(";")]
        unknown = next((name for name in names if name not in by_name), None)
        if unknown is not None:
            raise SurveyError(f"history has an unknown event {unknown!r}; events are: {'; '.join(by_name)}").at(
                "history"
            )
        return tuple(by_name[name] for name in names)


def usual_scenarios(relay: str) -> tuple[Scenario, ...]:
    """A plain survey, a relayed one, a tracking survey and a panel; two draws of a report are hardly ever alike."""
    wide = shares(2**40)
    given: dict[str, Any] = {"epsilon": 1.0, "mechanism": "hadamard"}
    daily: dict[str, Any] = {"every": "day", "starts": "2027-01-04", "renews": 2, "grace": 2}
    asked: tuple[AskedSurvey, ...] = (
        Survey(wide, title="Once", **given),
        Survey(wide, title="Relayed", relay=Relay(relay, 100), **given),
        Tracking(wide, title="Daily", **given, **daily),
        Panel(10, rounds=_ROUNDS, epsilon=1.0),
    )
    return tuple(scenario_of(survey, relay) for survey in asked)


def scenario_of(asked: AskedSurvey, relay: str) -> Scenario:
    """The scenario of a survey; where it states a relay, the audit's own stands in its place, at this address."""
    if isinstance(asked, Panel):
        values = NumberedTrials(asked.domain.size, partial(value_at, asked.domain))
        beside = Survey(shares(["no", "yes"]), epsilon=asked.epsilon, title="Beside it")
        return Scenario("panel", asked, (values.value(0), values.value(asked.domain.size - 1)), PANEL, (beside,))
    if asked.groups is not None:
        raise SurveyError(
            "histories are not run for surveys with groups: audit the device with the same survey without them, and "
            "the reports of a group with sv.audit"
        ).at("survey")
    if isinstance(asked, Tracking):
        once = _through(asked.once, relay)
        tracking = Tracking.of_survey(once, asked.calendar)
        later = Tracking.of_survey(once, replace(asked.calendar, starts=asked.calendar.starts + timedelta(days=1)))
        return Scenario("tracking survey", tracking, _values(tracking.period(1)), TRACKING, (later,))
    if asked.seat is not None or asked.period is not None:
        raise SurveyError(f"this is a part of the survey {asked.parent_id}; audit that survey").at("survey")
    mine = _through(asked, relay)
    named = [_renamed(mine, f"{mine.title} ({number})") for number in (2, 3, 4)]
    name, events = ("plain survey", PLAIN) if mine.relay is None else ("relayed survey", RELAYED)
    return Scenario(name, mine, _values(mine), events, tuple(named))


def _through(survey: Survey, relay: str) -> Survey:
    if survey.relay is None:
        return survey
    own = Relay(relay, survey.relay.least, survey.relay.delta)
    return Survey.of_design(survey.question, survey.design, survey.title, relay=own)


def _renamed(survey: Survey, title: str) -> Survey:
    """A survey that differs from this one in its title alone, and so has another id."""
    return Survey.of_design(survey.question, survey.design, title, relay=survey.relay)


def _values(survey: Survey) -> tuple[Any, Any]:
    """Two values that a person may have."""
    trials = Subject(survey.mechanism, survey).trials
    return trials.value(0), trials.value(1)
