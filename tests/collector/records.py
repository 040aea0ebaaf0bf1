"""Small records for the tests of the stores."""

import hashlib
from typing import Any

from sottovoce.collector.store.records import NewSegment, SurveyRecord
from sottovoce.service.storage.committer import Arrival

PAYLOAD_BYTES = 3


def survey_record(name: str = "a", **fields: Any) -> SurveyRecord:
    """A survey whose id is drawn from its name."""
    canonical = name.encode()
    record_id = hashlib.sha256(canonical).hexdigest()
    plain: dict[str, Any] = {
        "id": record_id,
        "canonical": canonical,
        "signature": bytes(64),
        "title": name,
        "kind": "shares",
        "epsilon": 1.1,
        "minimum_reports": 100,
        "epoch": 5,
    }
    return SurveyRecord(**{**plain, **fields})


def report(number: int) -> bytes:
    """The row of one report, of its own id."""
    return number.to_bytes(16, "big") + (number % 2**24).to_bytes(PAYLOAD_BYTES, "big")


def arrival(survey: SurveyRecord, *numbers: int, epoch: int = 7) -> Arrival:
    return Arrival(survey.id, epoch, len(numbers), b"".join(map(report, numbers)))


def segment(*numbers: int, epoch: int = 7) -> NewSegment:
    rows = [report(number) for number in sorted(numbers)]
    return NewSegment(epoch, len(rows), b"".join(r[:16] for r in rows), b"".join(r[16:] for r in rows))


def numbers_in(ids: bytes) -> list[int]:
    """The reports that a run of ids or rows of width 16 names."""
    return [int.from_bytes(ids[start : start + 16], "big") for start in range(0, len(ids), 16)]


def numbers_waiting(rows: bytes) -> list[int]:
    width = 16 + PAYLOAD_BYTES
    return [int.from_bytes(rows[start : start + 16], "big") for start in range(0, len(rows), width)]
