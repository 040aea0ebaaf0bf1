"""Whom an answer that stands is for: one address and one key, and in a panel one question."""

from __future__ import annotations

from sottovoce.client.fetch import Collector
from sottovoce.client.store import Answer
from sottovoce.errors import MismatchError
from sottovoce.signing import fingerprint

__all__ = ["check_address", "check_key", "needs_another_look"]


def check_address(kept: Answer | None, collector: Collector) -> None:
    """Raise unless an answer is for this address: a survey is public, and anybody can show it at one of their own."""
    if kept is not None and kept.collector != collector.url:
        raise MismatchError(
            f"this device has answered this survey to another collector, at {kept.collector}; it gives its answer to "
            "one. If that one has moved here, and the answer was not sent yet, say so: device.move(survey_id, url)"
        )


def check_key(kept: Answer, key: bytes) -> None:
    """Raise unless an answer is for this key: another one is another collector, whatever its address."""
    if key != kept.key:
        raise MismatchError(
            f"this device has given its answer to the key {fingerprint(kept.key)[:16]}, and here it is another key, "
            f"{fingerprint(key)[:16]}; it gives its answer to one. Nothing was sent or moved"
        )


def needs_another_look(kept: Answer) -> bool:
    """Whether an answer may only be sent after asking again what it is for: in a round not yet over."""
    return kept.survey != kept.question and kept.state != "sent"
