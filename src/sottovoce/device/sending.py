"""Sending a recorded answer: the same bytes, to the key it was drawn for, until they have arrived or are refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sottovoce.core.errors import ClockError, ServiceError, SignatureError
from sottovoce.device.belonging import check_key
from sottovoce.device.clock import Clock, read_clock
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import BAD_ANSWER
from sottovoce.device.patience import is_transient
from sottovoce.device.receipt import Receipt
from sottovoce.device.relay_client import RelayClient
from sottovoce.device.store import DeviceStore, RecordedAnswer

__all__ = ["send_recorded", "send_relayed"]


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
    if not verified:
        check_key(kept.key, kept.key if trusted is None else trusted)
        try:
            collector.check_key(kept.question, kept.key)
        except ServiceError as error:
            return Receipt.of(kept, str(error))  # no refusal is final before the key is verified
    try:
        collector.send(kept.survey, kept.report_id, kept.report)
    except ServiceError as error:
        state = "refused" if _is_final(error, kept, clock) else kept.state
        if state != kept.state:
            store.mark(kept.question, kept.window, state)
        return Receipt.of(replace(kept, state=state), str(error))
    store.mark(kept.question, kept.window, "sent")
    return Receipt.of(replace(kept, state="sent"))


def send_relayed(store: DeviceStore, relay: RelayClient, kept: RecordedAnswer, trusted: bytes | None) -> Receipt:
    """Hand an answer to the relay that its survey states, unless it was sent; there is no other way for it.

    What it is sealed to must be signed by the survey's key. No refusal is final, since nobody has signed it.
    """
    if kept.state == "sent":
        return Receipt.of(kept)
    check_key(kept.key, kept.key if trusted is None else trusted)
    try:
        relay.send(kept, store.secret())
    except (ServiceError, SignatureError) as error:
        return Receipt.of(kept, str(error))
    store.mark(kept.question, kept.window, "sent")
    return Receipt.of(replace(kept, state="sent"))


def _is_final(error: ServiceError, kept: RecordedAnswer, clock: Clock) -> bool:
    if error.status == 404 and _may_open(kept, clock):
        return False
    return 400 <= error.status < 500 and not is_transient(error) and error.code != BAD_ANSWER


def _may_open(kept: RecordedAnswer, clock: Clock) -> bool:
    """Whether the collector may still open the answer's period: it does so a little after the period has begun."""
    if not kept.closes:
        return False
    try:
        return read_clock(clock) < datetime.fromisoformat(kept.closes)
    except ClockError:
        return True
