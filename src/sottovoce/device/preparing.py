"""Everything that a device decides before it needs the person's value, and the periods that it can answer now."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import final

from sottovoce.core.errors import LedgerError, ServiceError, SottovoceError, SurveyError
from sottovoce.core.text import one_line
from sottovoce.device.allowance import Allowance
from sottovoce.device.drawing import Asked, check_address, check_key, check_question, must_fetch_again
from sottovoce.device.effort import Effort
from sottovoce.device.fetch import CollectorClient, Published, read_survey
from sottovoce.device.sending import Receipt
from sottovoce.device.store import DeviceStore, JoinedSurvey, RecordedAnswer
from sottovoce.device.trust import LogCheck, RelayPolicy, Trust
from sottovoce.device.turns import (
    Clock,
    Turn,
    Turns,
    check_clocks,
    day_of,
    phase,
    read_clock,
    seat_in,
)
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.groups import GroupName
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["Due", "Joined", "Preparation", "Resending"]


@final
@dataclass(frozen=True)
class Resending:
    """An answer that is recorded already; `verified` says that its key was just verified at the collector."""

    kept: RecordedAnswer
    verified: bool
    turn: Turn | None = None


@final
@dataclass(frozen=True)
class Preparation:
    """Fetches what is asked and applies every check."""

    store: DeviceStore
    trust: Trust
    allowance: Allowance
    effort: Effort
    clock: Clock
    relays: RelayPolicy
    log: LogCheck

    def to_answer(
        self, collector: CollectorClient, question: str, group: GroupName | None = None
    ) -> Asked | Resending | Receipt:
        """What may be answered now; or what was answered before; or why nothing is to be done, as a receipt."""
        mine = self.answers_to(question)
        check_address(self._address(question, mine), collector)
        kept = mine[-1] if mine else None
        if kept is not None and not kept.renews and not must_fetch_again(kept):
            return Resending(kept, verified=False)
        published = self._fetch(collector, question, kept)
        match published.survey:
            case Tracking() as tracking:
                return self._period(collector, tracking, published, mine, group)
            case Panel() as panel:
                return self._round(collector, panel, published, kept)
            case Survey() as survey:
                if kept is not None:  # for whatever group: there is one report over all of them
                    return Resending(kept, verified=True)
                member = _member(survey, group)
                self._check_log(collector, published)
                return Asked(question, member, published.key, collector)

    def to_join(self, collector: CollectorClient, question: str) -> tuple[JoinedSurvey, Receipt]:
        """The tracking survey to keep, and the device's turn in it."""
        mine = self.answers_to(question)
        check_address(self._address(question, mine), collector)
        published = self._fetch(collector, question, mine[-1] if mine else None)
        tracking = published.survey
        if not isinstance(tracking, Tracking):
            raise SurveyError("only a survey with a calendar can be joined; answer this one with `answer`").at("survey")
        turn = self._turn(collector, tracking, mine)
        self._check_turn(collector, published, tracking, turn)
        self._check_log(collector, published)
        kept = next((answer for answer in mine if answer.window == turn.period.window), None)
        receipt = _receipt(collector, tracking, turn) if kept is None else Receipt.of(kept)
        return self.joining(collector, published, tracking), replace(receipt, period=turn.period, after=turn.after)

    @staticmethod
    def joining(collector: CollectorClient, published: Published, tracking: Tracking) -> JoinedSurvey:
        """The survey as a store keeps it."""
        return JoinedSurvey(tracking.id, collector.url, published.key, tracking.canonical, dict(tracking.attachments))

    def answers_to(self, question: str) -> list[RecordedAnswer]:
        """The recorded answers to a question in all its windows."""
        return [answer for answer in self.store.answers() if answer.question == question]

    # --- fetching ---------------------------------------------------------------------------

    def _address(self, question: str, mine: list[RecordedAnswer]) -> str | None:
        """The address that answers to this question go to; None before that is settled."""
        if mine and not mine[-1].renews:
            return mine[-1].collector
        joined = next((survey.collector for survey in self.store.joined() if survey.question == question), None)
        return joined if joined is not None or not mine else mine[-1].collector

    def _fetch(self, collector: CollectorClient, question: str, kept: RecordedAnswer | None) -> Published:
        published = self.trust.fetch(collector, question)
        if kept is not None:
            check_key(kept.key, published.key)
        survey = published.survey
        if isinstance(survey, Survey) and survey.seat is not None:
            raise SurveyError(
                f"this is one round of the panel {survey.seat.panel.id}; answer the panel: a device answers only the "
                "round it has drawn"
            ).at("survey")
        if isinstance(survey, Survey) and survey.period is not None:
            raise SurveyError(
                f"this is one period of the tracking survey {survey.parent_id}; answer that survey: a device "
                "answers only the period it has drawn"
            ).at("survey")
        if isinstance(survey, Survey) and survey.group is not None:
            raise SurveyError(
                f"this is one group of the survey {survey.parent_id}; answer that survey, and say the group"
            ).at("survey")
        if kept is None and not isinstance(survey, Tracking):
            self._check(published, collector, day_of(self.clock))
        return published

    def _round(
        self, collector: CollectorClient, panel: Panel, published: Published, kept: RecordedAnswer | None
    ) -> Asked | Resending | Receipt:
        """This device's round of a panel, once it is open; an unsent answer is sent while its question still stands.

        Devices of all seats make the same requests, whichever round is open: what one asks for tells nobody its seat,
        and a question cannot be aimed at those who will answer it. Only a report is a sign of the seat.
        """
        seat = seat_in(self.store, panel.id, 1, panel.rounds)
        latest = collector.latest_round(panel, published.key, self.trust.mechanisms)
        if kept is not None:
            if latest is not None and latest.number == seat:
                check_question(kept, latest.survey.id)
            return Resending(kept, verified=True)
        if latest is None:
            return Receipt(panel.id, collector.url, "waiting")
        self._check_log(collector, latest.published)  # a round states its panel
        if latest.number < seat:
            return Receipt(panel.id, collector.url, "waiting")
        if latest.number > seat:
            raise _sealed(latest.survey)
        self._check(latest.published, collector, day_of(self.clock))
        return Asked(panel.id, latest.survey, published.key, collector)

    def _check(self, published: Published, collector: CollectorClient, day: str) -> None:
        """Raise unless the survey is open and within the owner's limits on that day."""
        if published.state != "open":
            raise _sealed(published.survey)
        self.relays.check(published.survey, collector.url)
        self.effort.check_survey(published.survey)
        self.allowance.check(published.survey, self.store.answers(), day)

    def _check_log(self, collector: CollectorClient, published: Published) -> None:
        """Raise unless the log allows to answer the survey; no relay is asked that the owner does not allow."""
        self.relays.check(published.survey, collector.url)
        self.log.check(collector, published.key, published.survey)

    # --- tracking surveys -------------------------------------------------------------------

    def _period(
        self,
        collector: CollectorClient,
        tracking: Tracking,
        published: Published,
        mine: list[RecordedAnswer],
        group: GroupName | None,
    ) -> Asked | Resending | Receipt:
        turn = self._turn(collector, tracking, mine)
        if turn.state == "answered":
            kept = next(answer for answer in mine if answer.window == turn.period.window)
            return Resending(kept, verified=True, turn=turn)
        self._check_turn(collector, published, tracking, turn)
        if turn.state != "due":
            return _receipt(collector, tracking, turn)
        self._check_log(collector, published)  # its periods follow from it
        asked = _member(tracking.period(turn.period.number), group)
        return Asked(tracking.id, asked, published.key, collector, turn.period, turn.after)

    def _turn(self, collector: CollectorClient, tracking: Tracking, mine: list[RecordedAnswer]) -> Turn:
        """The device's turn by its own clock; a period is answered only while it is open by the collector's too.

        The first time is when the device joined: both clocks agree on it.
        """
        own, theirs = read_clock(self.clock), collector.time()
        check_clocks(own, theirs)
        turn = _turns(self.store, tracking, mine, self.store.take_part(tracking.id, own)).at(own)
        return replace(turn, state=phase(turn.period, theirs)) if turn.state == "due" else turn

    def _check_turn(self, collector: CollectorClient, published: Published, tracking: Tracking, turn: Turn) -> None:
        """Raise if the device could not answer in its turn: what it would have spent by then counts."""
        if turn.state in ("waiting", "due"):
            asked = replace(published, survey=tracking.period(turn.period.number))
            self._check(asked, collector, max(day_of(self.clock), turn.period.start.date().isoformat()))


def _sealed(survey: Survey | Panel | Tracking) -> ServiceError:
    message = f"survey {survey.id[:12]} accepts no more reports; nothing was answered"
    return ServiceError(message, "survey_sealed", 409)


def _member(survey: Survey, group: GroupName | None) -> Survey:
    """What the person answers: the survey itself, or that of their group."""
    if group is None and survey.takes_reports:
        return survey
    return survey.in_group(group)  # type: ignore[arg-type]


def _turns(store: DeviceStore, tracking: Tracking, mine: Iterable[RecordedAnswer], since: datetime) -> Turns:
    """The device's turns in a tracking survey that it joined at a moment."""
    return Turns(
        tracking.calendar,
        lambda window: seat_in(store, tracking.id, window, tracking.calendar.seats),
        {answer.window for answer in mine},
        store.refuses_renewals(tracking.id),
        since,
    )


def _receipt(collector: CollectorClient, tracking: Tracking, turn: Turn) -> Receipt:
    state = "sent" if turn.state == "answered" else turn.state
    title = one_line(tracking.title)
    return Receipt(tracking.id, collector.url, state, title, period=turn.period, after=turn.after)


@final
@dataclass(frozen=True)
class Due:
    """A period of a joined survey that this device can answer now and has not."""

    survey: Tracking
    collector: str
    period: Period


@final
class Joined:
    """The surveys that a device has joined, read from its store; each is parsed once."""

    def __init__(self, store: DeviceStore, mechanisms: Collection[str]) -> None:
        self._store, self._mechanisms = store, mechanisms
        self._read: dict[str, Tracking] = {}

    def due(self, clock: Clock) -> list[Due]:
        """The periods that can be answered now, by the device's own clock, in the order in which it joined.

        A store of an earlier version does not say when that was: then it joins now, until a collector's clock agrees.
        """
        moment, answers = read_clock(clock), self._store.answers()
        found: list[Due] = []
        for kept in self._store.joined():
            try:
                tracking = self._tracking(kept)
            except LedgerError:
                raise
            except SottovoceError:
                continue  # a version before could read it, or a package that is not allowed any more
            mine = [answer for answer in answers if answer.question == kept.question]
            since = self._store.since(kept.question) or moment
            turns = _turns(self._store, tracking, mine, since)
            found += [Due(tracking, kept.collector, period) for period in turns.due(moment)]
        return found

    def _tracking(self, kept: JoinedSurvey) -> Tracking:
        if kept.question not in self._read:
            survey = read_survey(kept.statement, dict(kept.attachments), self._mechanisms)
            if not isinstance(survey, Tracking) or survey.id != kept.question:
                raise LedgerError("the device's store holds a joined survey that is not what it joined; leave it")
            self._read[kept.question] = survey
        return self._read[kept.question]
