"""A person's device: it answers a survey once, within its owner's budget, and writes that down before it sends.

Until the report is drawn nothing looks at the private value: whether, when and to whom a device sends tells nothing.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Final, Self, final

from sottovoce.client.allowance import Allowance
from sottovoce.client.belonging import check_address, check_key, needs_another_look
from sottovoce.client.deadline import within
from sottovoce.client.effort import DEVICE, Effort
from sottovoce.client.fetch import Collector, Published, check_survey_id
from sottovoce.client.http import BAD_ANSWER, Http
from sottovoce.client.ledger import Entry, Ledger
from sottovoce.client.membership import has, prepare, why_not
from sottovoce.client.patience import Patience, is_passing
from sottovoce.client.receipt import Receipt
from sottovoce.client.sqlite_store import SqliteStore
from sottovoce.client.store import Answer, DeviceStore
from sottovoce.errors import (
    LedgerError,
    MismatchError,
    ServiceError,
    SignatureError,
    SottovoceError,
    SurveyError,
    ValueOutsideDomainError,
)
from sottovoce.limits import DEFAULT_BUDGET, DEFAULT_CAP, DEFAULT_DELTA_BUDGET, DEFAULT_DELTA_CAP
from sottovoce.plural import counted
from sottovoce.randomness import os_source
from sottovoce.signing import PUBLIC_KEY_BYTES, check_public_key, from_base64url
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey
from sottovoce.wire import REPORT_ID_BYTES

__all__ = ["REFUSE", "Device"]


@final
class _Refuse:
    def __repr__(self) -> str:
        return "REFUSE"


REFUSE: Final = _Refuse()
"""What `otherwise` is unless it is given: a value outside the domain is refused here, on the device."""


@final
class Device:
    """One person's device. Safe to use from several threads; several processes may share its store.

    Parameters
    ----------
    store
        The file that keeps its ledger, or any `DeviceStore`. Where there is no file, this is a new device.
    key
        The collectors' public key, 32 bytes or base64url, as the application was shipped with it. Without one, the
        first key that a collector shows is trusted and kept: somebody in between could show another that one time.
    cap, delta_cap
        Largest epsilon and delta of one survey.
    budget, delta_budget
        Largest sums of them over the device's life.
    insecure
        Allow plain http to other machines; see `collector_url`.
    timeout, ca_file, proxy
        Of every connection; see `Http`.
    patience
        How often it tries again within one call.
    seconds
        Longest time that one call spends with a collector, all attempts and waits together.
    effort
        Most that it reads, unpacks, computes and sends for one survey.
    connect
        Makes a `Collector` of an address, in place of `insecure`, `timeout`, `ca_file`, `proxy` and `patience`; for
        many simulated devices that share one.

    Examples
    --------
    >>> from sottovoce.client import MemoryStore
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
        insecure: bool = False,
        timeout: float = 10.0,
        ca_file: str | None = None,
        proxy: str | None = None,
        patience: Patience | None = None,
        seconds: float = 300.0,
        effort: Effort = DEVICE,
        connect: Callable[[str], Collector] | None = None,
    ) -> None:
        self._allowance = Allowance(cap, budget, delta_cap, delta_budget)
        self._key = None if key is None else _public_key(key)
        self._seconds = seconds
        self._effort = effort
        self._collectors: dict[str, Collector] = {}

        def reach(url: str) -> Collector:
            http = Http(url, timeout=timeout, ca_file=ca_file, proxy=proxy, insecure=insecure)
            return Collector(http, patience, effort)

        self._connect = reach if connect is None else connect
        self._store = store if isinstance(store, DeviceStore) else SqliteStore(store)

    def __repr__(self) -> str:
        ledger = self.ledger
        return f"<Device: {counted(len(ledger), 'answer')}, epsilon {ledger.left:.4g} of {ledger.budget:.4g} left>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back connections. The store needs no closing: all that stands in it is on disk."""
        while self._collectors:
            self._collectors.popitem()[1].close()

    @property
    def ledger(self) -> Ledger:
        """Everything ever answered, and what the budget has left."""
        entries = tuple(Entry.of(answer) for answer in self._store.answers())
        return Ledger(entries, self._allowance.budget, self._allowance.delta_budget)

    def collector(self, url: str) -> Collector:
        """The collector at an address."""
        if url not in self._collectors:
            self._collectors[url] = self._connect(url)
        return self._collectors[url]

    def survey(self, url: str, survey_id: str) -> Survey | Panel:
        """A survey, checked as for `answer`; nothing is drawn."""
        with within(self._seconds):
            return self._fetch(self.collector(url), check_survey_id(survey_id)).survey

    # --- answering --------------------------------------------------------------------------

    def answer(
        self, url: str, survey_id: str, value: object, *, otherwise: object = REFUSE, send: bool = True
    ) -> Receipt:
        """Answer a survey, once. Asked again, the same bytes go out again until they have arrived, then nothing.

        The first value stands: an answer drawn anew because the value has changed would tell that it has.

        Parameters
        ----------
        url, survey_id
            Where the survey is, and its id. That of a panel: the device draws its round the first time,
            and the receipt says "waiting" until that round is open; ask again later.
        value
            The person's value or record. Randomized here; neither kept nor shown anywhere.
        otherwise
            A value of the domain, the same for everybody, that stands for whatever is outside of it. Without one such
            a value is refused, and a device that stays silent because of its value gives that away.
        send
            False: only draw and record; `flush` sends it.

        Raises
        ------
        SignatureError, SurveyError, MismatchError
            If the survey is not the collector's, cannot be answered, was answered to another address (see `move`) or
            another key, or another question is asked in the same round.
        BudgetError
            If it asks for more than the owner allows: epsilon, delta, or effort.
        ValueOutsideDomainError
            If the value, or `otherwise`, is not in the domain.
        LedgerError
            If the store cannot be used. Whatever is raised, nothing was sent that is not in the ledger.
        ServiceError
            If the survey cannot be had. Once the answer is drawn, a collector that cannot be reached raises nothing:
            the receipt says that it is "unsent", and why.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        report_id = secrets.token_bytes(REPORT_ID_BYTES)
        with within(self._seconds):
            kept = self._store.answer(question)
            check_address(kept, collector)
            look = kept is None or needs_another_look(kept)
            if look:
                asked = self._asked(collector, question, kept)
                if asked is not None:
                    kept = self._record(collector, question, asked, value, otherwise, report_id)
            if kept is None:
                return Receipt(question, collector.url, "waiting")
            receipt = self._send(collector, kept, looked=look) if send else Receipt.of(kept)
            return replace(receipt, drawn=kept.report_id == report_id)

    def flush(self) -> list[Receipt]:
        """Send again everything that was not sent yet; the same bytes as ever.

        What cannot be sent stays as it is, and its receipt says why: also where another key is shown now.
        """
        return [self._resend(answer) for answer in self._store.answers() if answer.state == "unsent"]

    def move(self, survey_id: str, url: str) -> Receipt:
        """Send an answer that has not arrived yet to another address from now on: its collector has moved there.

        Only the owner can know that. Anybody can show the survey, which is public, at an address of their own; so this
        is never done by itself. The survey must be there, signed with the same key as when it was answered; nothing is
        drawn, and nothing sent before the next `flush` or `answer`.

        Raises
        ------
        MismatchError
            If there is no such answer, it is not "unsent" any more, or the survey there bears another key.
        """
        question, collector = check_survey_id(survey_id), self.collector(url)
        kept = self._store.answer(question)
        if kept is None or kept.state != "unsent":
            raise MismatchError("there is no answer to this survey that is still to be sent, so none can be moved")
        with within(self._seconds):
            found = self._fetch(collector, question)
        check_key(kept, found.key)
        self._store.move(question, collector.url)
        return Receipt.of(self._store.answer(question) or kept)

    # --- what is asked ----------------------------------------------------------------------

    def _fetch(self, collector: Collector, question: str) -> Published:
        """The survey under the trusted key; where none is, under the first that it shows, trusted from now on."""
        trusted = self._key if self._key is not None else self._store.pinned(collector.url)
        found = collector.survey(question, trusted)
        if trusted is None and self._store.pin(collector.url, found.key) != found.key:
            raise SignatureError("the collector showed two keys at once; nothing was answered")
        return found

    def _asked(self, collector: Collector, question: str, kept: Answer | None) -> Published | None:
        """The survey to answer; for a panel this device's round, or None while that is not open."""
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
        asked = collector.round(found.survey, seat, found.key)
        if asked is not None and kept is None:
            self._check(asked)
        return asked

    def _check(self, found: Published) -> None:
        """Raise unless the survey is open and asks for no more than the owner allows."""
        if found.state != "open":
            raise ServiceError(
                f"survey {found.survey.id[:12]} takes no more reports; nothing was answered", "survey_sealed", 409
            )
        self._effort.check_survey(found.survey)
        self._allowance.check(found.survey, self._store.answers())

    # --- drawing, once ----------------------------------------------------------------------

    def _record(
        self,
        collector: Collector,
        question: str,
        asked: Published,
        value: object,
        otherwise: object,
        report_id: bytes,
    ) -> Answer:
        """The answer that stands, drawn now if there was none."""
        survey = asked.survey
        assert isinstance(survey, Survey)
        kept = self._store.answer(question)
        if kept is None:
            prepare(survey)
            kept = self._draw(collector, question, asked, _chosen(survey, value, otherwise), report_id)
        if kept.survey != survey.id:
            raise MismatchError("this device has answered another question in this round; it answers one, once")
        check_address(kept, collector)
        check_key(kept, asked.key)
        return kept

    def _draw(self, collector: Collector, question: str, asked: Published, chosen: object, report_id: bytes) -> Answer:
        """Draw, and keep that unless another thread or process has been faster; what is kept is what stands.

        Drawing comes before the transaction, so that a slow draw keeps nobody waiting. Two that race both draw, and
        the report of one is forgotten before anybody but this function has seen it: what leaves the device is one
        draw. Which one that is depends on how long the draws took, and that does not depend on the value, as it must
        not anyhow: the collector sees when a report arrives.
        """
        survey = asked.survey
        assert isinstance(survey, Survey)
        report = survey.randomize(chosen)

        def pay(answers: Sequence[Answer]) -> Answer:
            epsilon, delta = self._allowance.check(survey, answers)
            title = _title(survey)
            return Answer(
                question, survey.id, collector.url, asked.key, title, epsilon, delta, _today(), report_id, report
            )

        return self._store.record(question, pay)

    # --- sending, the same bytes ------------------------------------------------------------

    def _resend(self, kept: Answer) -> Receipt:
        try:
            with within(self._seconds):
                return self._send(self.collector(kept.collector), kept, looked=False)
        except LedgerError:
            raise
        except SottovoceError as error:
            return Receipt.of(kept, str(error))

    def _send(self, collector: Collector, kept: Answer, *, looked: bool) -> Receipt:
        """Send what stands to the key that it is for; `looked` says that this call has seen that key there."""
        if kept.state == "sent":
            return Receipt.of(kept)
        if not looked:
            check_key(kept, kept.key if self._key is None else self._key)
            try:
                collector.check_key(kept.question, kept.key)
            except ServiceError as error:
                return Receipt.of(kept, str(error))  # no refusal is final before the key was seen
        try:
            collector.send(kept.survey, kept.report_id, kept.report)
        except ServiceError as error:
            final_word = 400 <= error.status < 500 and not is_passing(error) and error.code != BAD_ANSWER
            state = "refused" if final_word else kept.state
            if state != kept.state:
                self._store.mark(kept.question, state)
            return Receipt.of(replace(kept, state=state), str(error))
        self._store.mark(kept.question, "sent")
        return Receipt.of(replace(kept, state="sent"))


def _chosen(survey: Survey, value: object, otherwise: object) -> object:
    """The value, or what stands for it; the public default is looked at first, whatever the value is."""
    if isinstance(otherwise, _Refuse):
        if not has(survey, value):
            raise ValueOutsideDomainError(
                f"{why_not(survey, value)}. Nothing was sent, and silence is an answer too: give `otherwise` "
                "(--otherwise), a value of the domain that stands for all others"
            )
        return value
    if not has(survey, otherwise):
        problem = why_not(survey, otherwise)
        raise ValueOutsideDomainError(f"`otherwise`, which stands for every other value: {problem}")
    return (otherwise, value)[has(survey, value)]


def _title(survey: Survey) -> str:
    if survey.seat is None:
        return survey.title
    return f"{survey.title or survey.seat.panel.title or '(no title)'}, round {survey.seat.round}"


def _today() -> str:
    """The day in UTC; empty where the clock is so wrong that there is none."""
    with contextlib.suppress(OverflowError, OSError, ValueError):
        return time.strftime("%Y-%m-%d", time.gmtime())
    return ""


def _public_key(key: bytes | str) -> bytes:
    return check_public_key(from_base64url(key, PUBLIC_KEY_BYTES) if isinstance(key, str) else key)
