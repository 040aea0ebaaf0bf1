"""Sending a recorded answer: the same bytes, to the key it was drawn for, until they have arrived or are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Self, TypeAlias, final

from sottovoce.core.errors import ServiceError, SignatureError
from sottovoce.core.text import one_line
from sottovoce.device.clients import RelayClient
from sottovoce.device.drawing import check_key
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import BAD_ANSWER, is_transient
from sottovoce.device.store import DeviceStore, RecordedAnswer
from sottovoce.device.turns import Clock, read_clock
from sottovoce.surveys.calendar import Period

__all__ = ["Receipt", "ReceiptState", "send_recorded", "send_relayed"]


ReceiptState: TypeAlias = Literal["waiting", "due", "unsent", "sent", "refused", "missed", "declined"]

_WORDS: Final[dict[str, str]] = {
    "waiting": "waiting: this device's round is not open yet; nothing was drawn, try again later",
    "unsent": "drawn and recorded, not sent yet; the same bytes will be sent later",
    "sent": "sent",
    "refused": "drawn and recorded, refused by the collector",
}

_PERIOD_WORDS: Final[dict[str, str]] = {
    "waiting": "waiting: come back {when}; nothing was drawn",
    "due": "it is this device's turn: answer by {closes}; nothing was drawn",
    "missed": "missed: this device's turn was {when}; nothing was drawn, and nothing will be for it",
    "declined": "declined: this device's owner refuses renewals; nothing was drawn",
}


@final
@dataclass(frozen=True)
class Receipt:
    """Contains nothing that depends on the person's value, so an application may log it."""

    survey: str
    collector: str
    state: ReceiptState
    title: str = ""
    epsilon: float = 0.0
    """Charged for this answer, once; 0 if nothing was drawn."""
    delta: float = 0.0
    problem: str = ""
    """Why it was not sent."""
    drawn: bool = False
    """Whether this call drew the recorded report; False if an earlier call or another process did."""
    period: Period | None = None
    """This device's period of a tracking survey."""
    after: Period | None = None
    """Its period in the next window, if the survey renews."""
    relay: str = ""
    """Address of the relay that the answer goes through; empty if it goes to the collector directly."""

    @classmethod
    def of(cls, answer: RecordedAnswer, problem: str = "") -> Self:
        """The receipt of a recorded answer."""
        title = one_line(answer.title)
        cost = answer.epsilon, answer.delta
        return cls(answer.question, answer.collector, answer.state, title, *cost, problem, relay=answer.relay)

    def __str__(self) -> str:
        words = _WORDS.get(self.state, "")
        if self.state == "sent" and self.relay:
            words = f"sent: kept by the relay at {one_line(self.relay)}, which forwards it shuffled with others"
        if self.period is not None and self.state in _PERIOD_WORDS:
            closes = f"{self.period.closes:%Y-%m-%d %H:%M} UTC"
            words = _PERIOD_WORDS[self.state].format(when=_when(self.period), closes=closes)
        if self.after is not None and self.state in ("sent", "missed"):
            words += f"; its next turn is {_when(self.after)}"
        return words + (f" ({self.problem})" if self.problem else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = dict(vars(self))
        for name in ("period", "after"):
            plain[name] = None if plain[name] is None else _describe_period(plain[name])
        return plain


def _describe_period(period: Period) -> dict[str, Any]:
    """Number, dates and label of a period, as plain values."""
    moments = {"starts": period.start, "ends": period.end, "closes": period.closes}
    plain = {name: f"{moment:%Y-%m-%dT%H:%M:%SZ}" for name, moment in moments.items()}
    return {"number": period.number, **plain, "label": period.label}


def _when(period: Period) -> str:
    """The time of the period, with its preposition."""
    match period.calendar.every:
        case "day":
            return f"on {period.label}"
        case "month" | "year" if not period.label.startswith(("month", "year")):
            return f"in {period.label}"
    return f"in the {period.label}"


def send_recorded(
    store: DeviceStore,
    collector: CollectorClient,
    kept: RecordedAnswer,
    trusted: bytes | None,
    clock: Clock,
    *,
    verified: bool,
) -> Receipt:
    """Send an answer unless it was sent; `verified` says that this call has verified the key there."""
    if kept.state == "sent":
        return Receipt.of(kept)
    if _has_closed(kept, clock):
        return _refuse(store, kept)
    if not verified:
        check_key(kept.key, kept.key if trusted is None else trusted)
        try:
            collector.check_key(kept.question, kept.key)
        except ServiceError as error:
            return Receipt.of(kept, str(error))  # no refusal is final before the key is verified
    try:
        collector.send(kept.survey, kept.report_id, kept.report)
    except ServiceError as error:
        state = "refused" if _is_final(error, kept) else kept.state
        if state != kept.state:
            store.mark(kept.question, kept.window, state)
        return Receipt.of(replace(kept, state=state), str(error))
    store.mark(kept.question, kept.window, "sent")
    return Receipt.of(replace(kept, state="sent"))


def send_relayed(
    store: DeviceStore, relay: RelayClient, kept: RecordedAnswer, trusted: bytes | None, clock: Clock
) -> Receipt:
    """Hand an answer to the relay that its survey states, unless it was sent; it is sent in no other way.

    The key it is sealed to must be signed by the survey's key. No refusal is final, since nobody has signed it.
    """
    if kept.state == "sent":
        return Receipt.of(kept)
    if _has_closed(kept, clock):
        return _refuse(store, kept)
    check_key(kept.key, kept.key if trusted is None else trusted)
    try:
        relay.send(kept, store.secret())
    except (ServiceError, SignatureError) as error:
        return Receipt.of(kept, str(error))
    store.mark(kept.question, kept.window, "sent")
    return Receipt.of(replace(kept, state="sent"))


def _has_closed(kept: RecordedAnswer, clock: Clock) -> bool:
    """Whether an answer's period has closed by the device's clock; `ClockError` if that is out of range.

    Nothing is sent then: a collector that takes nothing for years, and then everything, would get the reports of all
    windows at once.
    """
    return bool(kept.closes) and read_clock(clock) >= datetime.fromisoformat(kept.closes)


def _refuse(store: DeviceStore, kept: RecordedAnswer) -> Receipt:
    """The receipt of an answer whose period has closed; it is never sent."""
    store.mark(kept.question, kept.window, "refused")
    return Receipt.of(replace(kept, state="refused"), "its period has closed; it was not sent, and will not be")


def _is_final(error: ServiceError, kept: RecordedAnswer) -> bool:
    if error.status == 404 and kept.closes:
        return False  # the collector opens a period a little after it has begun
    return 400 <= error.status < 500 and not is_transient(error) and error.code != BAD_ANSWER
