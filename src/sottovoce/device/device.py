"""A person's device: answers a survey once, within its owner's budget, and records that before it sends.

Nothing depends on the private value until the report is drawn, so whether, when and to whom a device sends reveals
nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from os import PathLike
from typing import Self, final

from sottovoce.core.errors import (
    LedgerError,
    MechanismError,
    MismatchError,
    ServiceError,
    SignatureError,
    SottovoceError,
)
from sottovoce.core.limits import (
    DEFAULT_BUDGET,
    DEFAULT_CAP,
    DEFAULT_DELTA_BUDGET,
    DEFAULT_DELTA_CAP,
    DEFAULT_MAX_ANSWERS,
    DEFAULT_WINDOW_DAYS,
)
from sottovoce.core.text import one_line
from sottovoce.core.words import plural
from sottovoce.device.allowance import Allowance
from sottovoce.device.clients import Clients, Connect, Network
from sottovoce.device.connections import left, within
from sottovoce.device.drawing import REFUSE, Asked, check_key, check_otherwise, draw_once
from sottovoce.device.effort import DEVICE, Effort
from sottovoce.device.fetch import CollectorClient, check_survey_id, find_listed
from sottovoce.device.http import Patience
from sottovoce.device.ledger import Entry, Ledger
from sottovoce.device.preparing import Due, Joined, Preparation, Resending
from sottovoce.device.sending import Receipt, send_recorded, send_relayed
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.device.store import DeviceStore, RecordedAnswer
from sottovoce.device.trust import LogCheck, RelayPolicy, Trust
from sottovoce.device.turns import Clock, day_of, phase, read_clock, system_clock
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.groups import GroupName
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import is_beginning, is_digest
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["Device"]


@final
class Device:
    """One person's device. Safe to use from several threads; several processes may share its store.

    Parameters
    ----------
    store
        The file of its ledger, or any `DeviceStore`. If the file does not exist, this is a new device.
    key
        The collectors' public key, 32 bytes or base64url, shipped with the application. Without one, the first key
        that a collector sends is trusted and pinned; a man in the middle could replace it that one time.
    cap, delta_cap
        Largest epsilon and delta of one survey.
    budget, delta_budget
        Largest sums over all surveys.
    window_budget, window_days
        Largest sum of epsilons within any `window_days` days, by the dates in the ledger; by default the whole budget.
    max_answers
        Most surveys that it answers in all, whatever they cost: every answer reveals that this person took part.
    insecure
        Allow plain http to other machines; see `collector_url`.
    timeout, ca_file, proxy
        Settings of connections; see `Http`.
    relay
        Address of a relay that everything is fetched through; the collector then never sees this device's address.
        Reports go to the relay that a survey states, whichever this is; those of a survey that states none are passed
        on at once.
    insist_on_relay
        Refuse surveys that state no relay, and connect to no collector; needs `relay`.
    relays
        Addresses of the relays that surveys may state; by default any, or only `relay` if the owner insists.
    patience
        The policy by which requests are retried within one call.
    seconds
        Time limit of one call, with all attempts and waits.
    effort
        Limits on what it reads, unpacks, computes and sends for one survey.
    allow_mechanisms
        Names of mechanisms, strategies and questions from other packages that may run here. A mechanism must pass the
        conformance checks first; a question's code is given the value itself.
    require_log
        Answer no collector without a log of its surveys. One that has shown a log needs it from then on in any case.
    connect
        Makes a `CollectorClient` for an address, in place of `insecure`, `timeout`, `ca_file`, `proxy`, `patience`
        and `relay`; for many simulated devices that share one.
    clock
        Gives the time; for simulations.

    Examples
    --------
    >>> from sottovoce.device import MemoryStore
    >>> Device(MemoryStore(), budget=4.0)
    <Device: 0 answers, epsilon 4 of 4 left>
    """

    def __init__(
        self,
        store: str | PathLike[str] | DeviceStore = "device.db",
        *,
        key: bytes | str | None = None,
        cap: float = DEFAULT_CAP,
        budget: float = DEFAULT_BUDGET,
        delta_cap: float = DEFAULT_DELTA_CAP,
        delta_budget: float = DEFAULT_DELTA_BUDGET,
        window_budget: float | None = None,
        window_days: int = DEFAULT_WINDOW_DAYS,
        max_answers: int = DEFAULT_MAX_ANSWERS,
        insecure: bool = False,
        timeout: float = 10.0,
        ca_file: str | None = None,
        proxy: str | None = None,
        relay: str | None = None,
        insist_on_relay: bool = False,
        relays: Collection[str] | None = None,
        patience: Patience | None = None,
        seconds: float = 300.0,
        effort: Effort = DEVICE,
        allow_mechanisms: Sequence[str] = (),
        require_log: bool = False,
        connect: Connect | None = None,
        clock: Clock = system_clock,
    ) -> None:
        within_days = budget if window_budget is None else window_budget
        self._allowance = Allowance(cap, budget, delta_cap, delta_budget, max_answers, within_days, window_days)
        self._seconds = seconds
        self._clock = clock
        if isinstance(allow_mechanisms, str):
            raise MechanismError("allow_mechanisms must be a list of names, for example ['lazy_response']").at(
                "allow_mechanisms"
            )
        mechanisms = frozenset(allow_mechanisms)
        if relay is not None and connect is not None:
            raise ServiceError("give either relay or connect, which makes its own clients", "bad_address")
        self._relay_policy = RelayPolicy.of(relay, insist_on_relay, relays)
        self._store = store if isinstance(store, DeviceStore) else SqliteDeviceStore(store)
        self._trust = Trust(self._store, key, mechanisms)
        network = Network(timeout, ca_file, proxy, insecure)
        self._clients = Clients(network, self._trust, patience, effort, relay, connect)
        self._joined = Joined(self._store, mechanisms)
        log = LogCheck(self._store, clock, require_log, self._clients.stranger)
        self._preparation = Preparation(
            self._store, self._trust, self._allowance, effort, clock, self._relay_policy, log
        )

    def __repr__(self) -> str:
        ledger = self.ledger
        return f"<Device: {plural(len(ledger), 'answer')}, epsilon {ledger.left:.4g} of {ledger.budget:.4g} left>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections. The store needs no closing: its content is on disk."""
        self._clients.close()

    @property
    def ledger(self) -> Ledger:
        """All answers, and the budget that is left."""
        entries = tuple(Entry.of(answer) for answer in self._store.answers())
        limits = self._allowance
        budgets = limits.budget, limits.delta_budget, limits.max_answers, limits.window_budget, limits.window_days
        return Ledger(entries, *budgets, day_of(self._clock), tuple(self._store.conflicts()))

    def collector(self, url: str) -> CollectorClient:
        """The collector at an address."""
        return self._clients.collector(url)

    def survey(self, url: str, survey_id: str) -> Survey | Panel | Tracking:
        """Fetch and verify a survey as `answer` does; nothing is drawn."""
        with within(self._seconds):
            return self._trust.fetch(self.collector(url), check_survey_id(survey_id)).survey

    # --- answering --------------------------------------------------------------------------

    def find(self, url: str, survey: str) -> str:
        """The id of a survey that is named by its id, by eight or more first digits of it, or by its title.

        A collector's list of surveys is unsigned, so the survey that it leads to is verified and must bear that name
        itself; one that was answered already is not fetched again.
        """
        if not isinstance(survey, str) or is_digest(survey):
            return check_survey_id(survey)
        with within(self._seconds):
            survey_id = find_listed(self.collector(url), survey)
        by_title = not is_beginning(survey, survey_id)
        if by_title and not self.is_answered(survey_id) and self.survey(url, survey_id).title != survey:
            raise SignatureError("the collector lists this survey under another title than the signed one")
        return survey_id

    def is_answered(self, survey_id: str) -> bool:
        """Whether a survey is answered for good: there is nothing more to draw for it."""
        return any(entry.survey == survey_id and not entry.renews for entry in self.ledger)

    def answer(
        self,
        url: str,
        survey: str,
        value: object,
        *,
        group: GroupName | None = None,
        otherwise: object = REFUSE,
        send: bool = True,
    ) -> Receipt:
        """Answer a survey, once. Asked again, it sends the same bytes until they have arrived, and then nothing.

        The first value stands: a second report because the value has changed would reveal that it has. A tracking
        survey that renews is answered once in every window, and charged each time.

        Parameters
        ----------
        url, survey
            The collector's address, and the survey's id or title; see `find`. For a panel the device draws its round
            the first time, and the receipt says "waiting" until that round is open; call again later. Of a tracking
            survey it answers its own period, in that period alone: before it the receipt says "waiting", after it
            "missed".
        value
            The person's value or record. It is randomized here, and neither stored nor shown. A function is called
            with the period (None if the survey has none) when the value is needed: after every check, and only if a
            report is to be drawn. Whatever it raises is passed on; then nothing was drawn.
        group
            The group that the report is sent for, in the open, if the survey states groups: a value such as "B", or a
            mapping such as ``{"arm": "B"}``. The first one stands, as the first value does: there is one report over
            all groups.
        otherwise
            A value of the domain, the same for everybody, that replaces any value outside the domain. Without it such
            a value is refused, and a device that sends nothing reveals that.
        send
            If False, only draw and record; `flush` sends it later.

        Raises
        ------
        SignatureError, SurveyError, MismatchError
            If the survey is not signed by the collector, is invalid, was answered to another address (see `move`) or
            another key, or another question is asked in the same round.
        TransparencyError
            If the collector's log lacks the survey or contradicts what was seen of it; see `docs/log.md`.
        BudgetError
            If it exceeds the owner's limits on epsilon, delta, the number of answers or effort.
        ClockError
            If a tracking survey is answered while this device's clock is more than a day off the collector's.
        ValueOutsideDomainError
            If the value, or `otherwise`, is not in the domain.
        LedgerError
            If the store cannot be used. Nothing is ever sent that is not in the ledger.
        ServiceError
            If the survey cannot be fetched. Once the report is drawn, an unreachable collector raises nothing: the
            receipt says "unsent", and why.
        """
        question, collector = self.find(url, survey), self.collector(url)
        with within(self._seconds):
            prepared = self._preparation.to_answer(collector, question, group)
            remaining = left()
        if isinstance(prepared, Receipt):
            return prepared
        if isinstance(prepared, Resending):
            kept, turn = prepared.kept, prepared.turn
            with within(remaining):
                receipt = self._send(collector, kept, verified=prepared.verified) if send else Receipt.of(kept)
            return receipt if turn is None else replace(receipt, period=turn.period, after=turn.after)
        check_otherwise(prepared.survey, otherwise)
        held = value(prepared.period) if callable(value) else value  # a person may take longer than the deadline
        with within(remaining):
            return self._draw(prepared, held, otherwise, send=send)

    def flush(self) -> list[Receipt]:
        """Send all unsent reports, with the same bytes, in random order, each on connections of its own.

        The order of the ledger, or a shared connection, would show the collector which reports are one person's. A
        report that cannot be sent stays unsent, and its receipt says why. Receipts come in the ledger's order.
        """
        unsent = [answer for answer in self._store.answers() if answer.state == "unsent"]
        order = list(range(len(unsent)))
        secrets.SystemRandom().shuffle(order)
        receipts = {index: self._resend(unsent[index]) for index in order}
        return [receipts[index] for index in range(len(unsent))]

    def move(self, survey_id: str, url: str) -> Receipt:
        """Send unsent answers, and those of later windows, to another address, because the collector has moved there.

        This never happens automatically, since anybody can republish a survey at an address of their own. The survey
        must be there, signed with the same key; nothing is drawn, and nothing sent before the next `flush` or `answer`.

        Raises
        ------
        MismatchError
            If there is nothing to move, or the survey there is signed with another key.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        joined = [survey for survey in self._store.joined() if survey.question == question]
        mine = [
            answer for answer in self._preparation.answers_to(question) if answer.state == "unsent" or answer.renews
        ]
        if not mine and not joined:
            raise MismatchError(
                "this device has no unsent answer to this survey, and none will follow: nothing can be moved"
            ).at("survey_id")
        with within(self._seconds):
            published = self._trust.fetch(collector, question)
        for key in {kept.key for kept in mine} | {kept.key for kept in joined}:
            check_key(key, published.key)
        if isinstance(published.survey, Tracking):
            self._store.join(self._preparation.joining(collector, published, published.survey))
        self._store.move(question, collector.url)
        unsent = next((answer for answer in self._preparation.answers_to(question) if answer.state == "unsent"), None)
        if unsent is not None:
            return Receipt.of(unsent)
        return Receipt(question, collector.url, "waiting", one_line(published.survey.title))

    # --- tracking surveys -------------------------------------------------------------------

    def join(self, url: str, survey_id: str) -> Receipt:
        """Take part in a tracking survey: verify and keep it, so that `due` lists its periods when they have come.

        Nothing is drawn. The receipt says "waiting" with the device's period, or "due" if that can be answered now.
        Raises as `answer` does; only a survey with a calendar can be joined.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        with within(self._seconds):
            survey, receipt = self._preparation.to_join(collector, question)
        self._store.join(survey)
        return receipt

    def leave(self, survey_id: str) -> None:
        """Forget a joined survey: `due` lists it no more. What was answered stays in the ledger."""
        self._store.leave(check_survey_id(survey_id))

    def due(self) -> list[Due]:
        """The periods of joined surveys that can be answered now, by this device's clock; needs no network."""
        return self._joined.due(self._clock)

    def answer_due(
        self,
        ask: Callable[[Due], object],
        *,
        group: Callable[[Due], GroupName | None] = lambda _: None,
        otherwise: object = REFUSE,
    ) -> list[Receipt]:
        """Answer every period that is due; `ask` gives the person's value for one, `group` the group it is sent for.

        It is called as the function `value` of `answer` is. What it raises is passed on, unless it is an error of this
        package: like a collector that cannot be reached, that becomes the receipt's problem, and the period stays due.
        """
        receipts: list[Receipt] = []
        failed: set[str] = set()
        for due in self.due():
            question = due.survey.id
            if question in failed:
                continue  # it would be asked for the same period again
            try:
                value = _asking(ask, due)
                receipts.append(self.answer(due.collector, question, value, group=group(due), otherwise=otherwise))
            except LedgerError:
                raise
            except SottovoceError as error:
                failed.add(question)
                title = one_line(due.survey.title)
                receipts.append(Receipt(question, due.collector, "due", title, problem=str(error), period=due.period))
        return receipts

    def refuse_renewals(self, survey_id: str) -> None:
        """Answer this survey in one window at most; in all others the receipt says "declined"."""
        self._store.set_renewals(check_survey_id(survey_id), refused=True)

    def allow_renewals(self, survey_id: str) -> None:
        """Answer this survey in every window, as devices do by default."""
        self._store.set_renewals(check_survey_id(survey_id), refused=False)

    # --- drawing and sending ----------------------------------------------------------------

    def _draw(self, asked: Asked, value: object, otherwise: object, *, send: bool) -> Receipt:
        """Draw, record and send, unless the period has closed while the value was asked for."""
        period = asked.period
        if period is not None and (state := phase(period, read_clock(self._clock))) != "due":
            url, title = asked.collector.url, one_line(asked.title)
            return Receipt(asked.question, url, state, title, period=period, after=asked.after)
        report_id = secrets.token_bytes(REPORT_ID_BYTES)
        day = day_of(self._clock)
        kept = draw_once(self._store, self._allowance, asked, value, otherwise, report_id, day)
        receipt = self._send(asked.collector, kept, verified=True) if send else Receipt.of(kept)
        return replace(receipt, drawn=kept.report_id == report_id, period=period, after=asked.after)

    def _resend(self, kept: RecordedAnswer) -> Receipt:
        try:
            with within(self._seconds):
                return self._send(self.collector(kept.collector), kept, verified=False)
        except LedgerError:
            raise
        except SottovoceError as error:
            return Receipt.of(kept, str(error))

    def _send(self, collector: CollectorClient, kept: RecordedAnswer, *, verified: bool) -> Receipt:
        objection = self._relay_policy.objection(kept.relay, kept.collector) if kept.state != "sent" else ""
        if objection:  # recorded under other settings
            return Receipt.of(kept, f"{objection}; nothing was sent")
        if kept.relay:
            return send_relayed(self._store, self._clients.relay(kept.relay), kept, self._trust.key, self._clock)
        return send_recorded(self._store, collector, kept, self._trust.key, self._clock, verified=verified)


def _asking(ask: Callable[[Due], object], due: Due) -> Callable[[Period], object]:
    return lambda period: ask(replace(due, period=period))
