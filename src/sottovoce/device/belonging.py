"""The recipient of a recorded answer: one address, one key, and in a panel one question."""

from __future__ import annotations

from sottovoce.core.errors import MismatchError
from sottovoce.core.signing import fingerprint
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.store import RecordedAnswer

__all__ = ["check_address", "check_key", "check_question", "must_fetch_again"]


def check_address(stands: str | None, collector: CollectorClient) -> None:
    """Raise unless answers go to this address: anybody can republish a survey at an address of their own."""
    if stands is not None and stands != collector.url:
        raise MismatchError(
            f"this device answers this survey to another collector, at {stands}; an answer goes to one collector only. "
            "If it has moved here and an answer is unsent or due later, call device.move(survey_id, url)"
        )


def check_key(stands: bytes, key: bytes) -> None:
    """Raise unless answers go to this key: another key is another collector, whatever its address."""
    if key != stands:
        raise MismatchError(
            f"this device answers the collector with key {fingerprint(stands)[:16]}, and this one has key "
            f"{fingerprint(key)[:16]}; an answer goes to one collector only. Nothing was sent or moved"
        )


def check_question(kept: RecordedAnswer, survey_id: str) -> None:
    """Raise unless an answer belongs to this survey: a round asks one question."""
    if kept.survey != survey_id:
        raise MismatchError("this device has answered another question in this round; it answers one question only")


def must_fetch_again(kept: RecordedAnswer) -> bool:
    """Whether the question must be fetched again before sending: for an unsent answer to a round.

    The collector chooses a round's question; a period's follows from the survey that was signed before.
    """
    return kept.survey != kept.question and not kept.closes and kept.state != "sent"
