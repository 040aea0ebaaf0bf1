"""The recipient of a recorded answer: one address, one key, and in a panel one question."""

from __future__ import annotations

from sottovoce.core.errors import MismatchError
from sottovoce.core.signing import fingerprint
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.store import RecordedAnswer

__all__ = ["check_address", "check_key", "must_fetch_again"]


def check_address(kept: RecordedAnswer | None, collector: CollectorClient) -> None:
    """Raise unless an answer is for this address: anybody can republish a survey at an address of their own."""
    if kept is not None and kept.collector != collector.url:
        raise MismatchError(
            f"this device has answered this survey to another collector, at {kept.collector}; an answer goes to one "
            "collector only. If it has moved here and the answer is unsent, call device.move(survey_id, url)"
        )


def check_key(kept: RecordedAnswer, key: bytes) -> None:
    """Raise unless an answer is for this key: another key is another collector, whatever its address."""
    if key != kept.key:
        raise MismatchError(
            f"this device has answered the collector with key {fingerprint(kept.key)[:16]}, and this one has key "
            f"{fingerprint(key)[:16]}; an answer goes to one collector only. Nothing was sent or moved"
        )


def must_fetch_again(kept: RecordedAnswer) -> bool:
    """Whether the question must be fetched again before sending: for an unsent answer to a round."""
    return kept.survey != kept.question and kept.state != "sent"
