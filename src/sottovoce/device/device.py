"""A person's device: answers a survey once, within its owner's budget, and records that before it sends.

Nothing depends on the private value until the report is drawn, so whether, when and to whom a device sends reveals
nothing.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Final, Self, final

from sottovoce.core.errors import (
    LedgerError,
    MechanismError,
    MismatchError,
    ServiceError,
    SignatureError,
    SottovoceError,
    SurveyError,
    ValueOutsideDomainError,
)
from sottovoce.core.limits import (
    DEFAULT_BUDGET,
    DEFAULT_CAP,
    DEFAULT_DELTA_BUDGET,
    DEFAULT_DELTA_CAP,
    DEFAULT_MAX_ANSWERS,
)
from sottovoce.core.signing import PUBLIC_KEY_BYTES, check_public_key, from_base64url
from sottovoce.core.words import plural
from sottovoce.device.allowance import Allowance
from sottovoce.device.belonging import check_address, check_key, must_fetch_again
from sottovoce.device.deadline import within
from sottovoce.device.effort import DEVICE, Effort
from sottovoce.device.fetch import CollectorClient, Published, check_survey_id
from sottovoce.device.http import BAD_ANSWER, Http
from sottovoce.device.ledger import Entry, Ledger
from sottovoce.device.membership import has, prepare, why_not
from sottovoce.device.patience import Patience, is_transient
from sottovoce.device.receipt import Receipt
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.device.store import DeviceStore, RecordedAnswer
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.randomness import os_source
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

__all__ = ["REFUSE", "Device"]


@final
class _Refuse:
    def __repr__(self) -> str:
        return "REFUSE"


REFUSE: Final = _Refuse()
"""Default of `otherwise`: a value outside the domain is refused on the device."""


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
    max_answers
        Most surveys that it answers in all, whatever they cost: every answer reveals that this person took part.
    insecure
        Allow plain http to other machines; see `collector_url`.
    timeout, ca_file, proxy
        Settings of connections; see `Http`.
    patience
        How requests are retried within one call.
    seconds
        Time limit of one call, with all attempts and waits.
    effort
        Limits on what it reads, unpacks, computes and sends for one survey.
    allow_mechanisms
        Names of mechanisms from other packages that may run here; each must pass the conformance checks first.
    connect
        Makes a `CollectorClient` for an address, in place of `insecure`, `timeout`, `ca_file`, `proxy` and
        `patience`; for many simulated devices that share one.

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
        max_answers: int = DEFAULT_MAX_ANSWERS,
        insecure: bool = False,
        timeout: float = 10.0,
        ca_file: str | None = None,
        proxy: str | None = None,
        patience: Patience | None = None,
        seconds: float = 300.0,
        effort: Effort = DEVICE,
        allow_mechanisms: Sequence[str] = (),
        connect: Callable[[str], CollectorClient] | None = None,
    ) -> None:
        self._allowance = Allowance(cap, budget, delta_cap, delta_budget, max_answers)
        self._key = None if key is None else _public_key(key)
        self._seconds = seconds
        self._effort = effort
        if isinstance(allow_mechanisms, str):
            raise MechanismError("allow_mechanisms must be a list of names, for example ['lazy_response']")
        self._allow_mechanisms = frozenset(allow_mechanisms)
        self._collectors: dict[str, CollectorClient] = {}

        def reach(url: str) -> CollectorClient:
            http = Http(url, timeout=timeout, ca_file=ca_file, proxy=proxy, insecure=insecure, keep_alive=False)
            return CollectorClient(http, patience, effort)

        self._connect = reach if connect is None else connect
        self._store = store if isinstance(store, DeviceStore) else SqliteDeviceStore(store)

    def __repr__(self) -> str:
        ledger = self.ledger
        return f"<Device: {plural(len(ledger), 'answer')}, epsilon {ledger.left:.4g} of {ledger.budget:.4g} left>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections. The store needs no closing: its content is on disk."""
        while self._collectors:
            self._collectors.popitem()[1].close()

    @property
    def ledger(self) -> Ledger:
        """All answers, and the budget that is left."""
        entries = tuple(Entry.of(answer) for answer in self._store.answers())
        limits = self._allowance
        return Ledger(entries, limits.budget, limits.delta_budget, limits.max_answers)

    def collector(self, url: str) -> CollectorClient:
        """The collector at an address."""
        if url not in self._collectors:
            self._collectors[url] = self._connect(url)
        return self._collectors[url]

    def survey(self, url: str, survey_id: str) -> Survey | Panel:
        """Fetch and verify a survey as `answer` does; nothing is drawn."""
        with within(self._seconds):
            return self._fetch(self.collector(url), check_survey_id(survey_id)).survey

    # --- answering --------------------------------------------------------------------------

    def answer(
        self, url: str, survey_id: str, value: object, *, otherwise: object = REFUSE, send: bool = True
    ) -> Receipt:
        """Answer a survey, once. Asked again, it sends the same bytes until they have arrived, and then nothing.

        The first value stands: a second report because the value has changed would reveal that it has.

        Parameters
        ----------
        url, survey_id
            The collector's address and the survey's id. For a panel the device draws its round the first time, and
            the receipt says "waiting" until that round is open; call again later.
        value
            The person's value or record. It is randomized here, and neither stored nor shown.
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
        BudgetError
            If it exceeds the owner's limits on epsilon, delta, the number of answers or effort.
        ValueOutsideDomainError
            If the value, or `otherwise`, is not in the domain.
        LedgerError
            If the store cannot be used. Nothing is ever sent that is not in the ledger.
        ServiceError
            If the survey cannot be fetched. Once the report is drawn, an unreachable collector raises nothing: the
            receipt says "unsent", and why.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        report_id = secrets.token_bytes(REPORT_ID_BYTES)
        with within(self._seconds):
            kept = self._store.answer(question)
            check_address(kept, collector)
            fetch = kept is None or must_fetch_again(kept)
            if fetch:
                asked = self._question(collector, question, kept)
                if asked is not None:
                    kept = self._record(collector, question, asked, value, otherwise, report_id)
            if kept is None:
                return Receipt(question, collector.url, "waiting")
            receipt = self._send(collector, kept, verified=fetch) if send else Receipt.of(kept)
            return replace(receipt, drawn=kept.report_id == report_id)

    def flush(self) -> list[Receipt]:
        """Send all unsent reports, with the same bytes, in random order, each on connections of its own.

        The order of the ledger, or a shared connection, would show the collector which reports are one person's. A
        report that cannot be sent stays unsent, and its receipt says why. Receipts come in the ledger's order.
        """
        unsent = [answer for answer in self._store.answers() if answer.state == "unsent"]
        order = list(range(len(unsent)))
        secrets.SystemRandom().shuffle(order)
        receipts = {place: self._resend(unsent[place]) for place in order}
        return [receipts[place] for place in range(len(unsent))]

    def move(self, survey_id: str, url: str) -> Receipt:
        """Send an unsent answer to another address from now on, because its collector has moved there.

        This never happens automatically, since anybody can republish a survey at an address of their own. The survey
        must be there, signed with the same key; nothing is drawn, and nothing sent before the next `flush` or `answer`.

        Raises
        ------
        MismatchError
            If there is no such answer, it is not "unsent", or the survey there is signed with another key.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        kept = self._store.answer(question)
        if kept is None or kept.state != "unsent":
            raise MismatchError("there is no unsent answer to this survey, so none can be moved")
        with within(self._seconds):
            found = self._fetch(collector, question)
        check_key(kept, found.key)
        self._store.move(question, collector.url)
        return Receipt.of(self._store.answer(question) or kept)

    # --- what is asked ----------------------------------------------------------------------

    def _fetch(self, collector: CollectorClient, question: str) -> Published:
        """The survey, verified with the trusted key; the first key seen is pinned if there is none."""
        trusted = self._key if self._key is not None else self._store.pinned(collector.url)
        found = collector.survey(question, trusted, self._allow_mechanisms)
        if trusted is None and self._store.pin(collector.url, found.key) != found.key:
            raise SignatureError("the collector sent two different keys; nothing was answered")
        return found

    def _question(self, collector: CollectorClient, question: str, kept: RecordedAnswer | None) -> Published | None:
        """The survey to answer; for a panel this device's round, or None while it is not open."""
        found = self._fetch(collector, question)
        if kept is None:
            self._check(found)
        else:
            check_key(kept, found.key)
        if isinstance(found.survey, Survey):
            if found.survey.seat is not None:
                raise SurveyError(
                    f"this is one round of the panel {found.survey.seat.panel.id}; answer the panel: a device answers "
                    "only the round it has drawn"
                )
            return found
        rounds = found.survey.rounds
        seat = self._store.seat(question, lambda: 1 + os_source().below(rounds))
        asked = collector.round(found.survey, seat, found.key, self._allow_mechanisms)
        if asked is not None and kept is None:
            self._check(asked)
        return asked

    def _check(self, found: Published) -> None:
        """Raise unless the survey is open and within the owner's limits."""
        if found.state != "open":
            raise ServiceError(
                f"survey {found.survey.id[:12]} accepts no more reports; nothing was answered", "survey_sealed", 409
            )
        self._effort.check_survey(found.survey)
        self._allowance.check(found.survey, self._store.answers())

    # --- drawing, once ----------------------------------------------------------------------

    def _record(
        self,
        collector: CollectorClient,
        question: str,
        asked: Published,
        value: object,
        otherwise: object,
        report_id: bytes,
    ) -> RecordedAnswer:
        """The recorded answer, drawn now if there is none."""
        survey = asked.survey
        assert isinstance(survey, Survey)
        kept = self._store.answer(question)
        if kept is None:
            prepare(survey)
            kept = self._draw(collector, question, asked, _chosen(survey, value, otherwise), report_id)
        if kept.survey != survey.id:
            raise MismatchError("this device has answered another question in this round; it answers one question only")
        check_address(kept, collector)
        check_key(kept, asked.key)
        return kept

    def _draw(
        self, collector: CollectorClient, question: str, asked: Published, chosen: object, report_id: bytes
    ) -> RecordedAnswer:
        """Draw a report and record it, unless another thread or process was faster; returns the recorded answer.

        Drawing precedes the transaction, so that a slow draw does not block others. Of two that race, the report of
        one is discarded unseen: one draw leaves the device. Which one depends on how long the draws took, and that does
        not depend on the value; the collector sees the time of a report anyway.
        """
        survey = asked.survey
        assert isinstance(survey, Survey)
        report = survey.randomize(chosen)

        def pay(answers: Sequence[RecordedAnswer]) -> RecordedAnswer:
            epsilon, delta = self._allowance.check(survey, answers)
            title = _title(survey)
            return RecordedAnswer(
                question, survey.id, collector.url, asked.key, title, epsilon, delta, _today(), report_id, report
            )

        return self._store.record(question, pay)

    # --- sending, the same bytes ------------------------------------------------------------

    def _resend(self, kept: RecordedAnswer) -> Receipt:
        try:
            with within(self._seconds):
                return self._send(self.collector(kept.collector), kept, verified=False)
        except LedgerError:
            raise
        except SottovoceError as error:
            return Receipt.of(kept, str(error))

    def _send(self, collector: CollectorClient, kept: RecordedAnswer, *, verified: bool) -> Receipt:
        """Send a recorded answer to its key; `verified` says that this call has verified the key there."""
        if kept.state == "sent":
            return Receipt.of(kept)
        if not verified:
            check_key(kept, kept.key if self._key is None else self._key)
            try:
                collector.check_key(kept.question, kept.key)
            except ServiceError as error:
                return Receipt.of(kept, str(error))  # no refusal is final before the key is verified
        try:
            collector.send(kept.survey, kept.report_id, kept.report)
        except ServiceError as error:
            is_final = 400 <= error.status < 500 and not is_transient(error) and error.code != BAD_ANSWER
            state = "refused" if is_final else kept.state
            if state != kept.state:
                self._store.mark(kept.question, state)
            return Receipt.of(replace(kept, state=state), str(error))
        self._store.mark(kept.question, "sent")
        return Receipt.of(replace(kept, state="sent"))


def _chosen(survey: Survey, value: object, otherwise: object) -> object:
    """The value or its replacement; the public replacement is checked first, whatever the value is."""
    if isinstance(otherwise, _Refuse):
        if not has(survey, value):
            raise ValueOutsideDomainError(
                f"{why_not(survey, value)}. Nothing was sent, which also reveals something: give `otherwise` "
                "(--otherwise), a value of the domain that replaces all others"
            )
        return value
    if not has(survey, otherwise):
        problem = why_not(survey, otherwise)
        raise ValueOutsideDomainError(f"`otherwise`, which replaces every other value: {problem}")
    return (otherwise, value)[has(survey, value)]


def _title(survey: Survey) -> str:
    if survey.seat is None:
        return survey.title
    return f"{survey.title or survey.seat.panel.title or '(no title)'}, round {survey.seat.round}"


def _today() -> str:
    """The day in UTC; empty if the clock is out of range."""
    with contextlib.suppress(OverflowError, OSError, ValueError):
        return time.strftime("%Y-%m-%d", time.gmtime())
    return ""


def _public_key(key: bytes | str) -> bytes:
    return check_public_key(from_base64url(key, PUBLIC_KEY_BYTES) if isinstance(key, str) else key)
