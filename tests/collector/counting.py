"""Reports for tests of counting: each with an id and a cell that its number says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sottovoce as sv
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.survey import Survey

SURVEY = Survey(sv.shares(100), epsilon=5.0, mechanism="randomized_response")


def publish(store: Store, survey: Any = SURVEY, **changes: Any) -> SurveyRecord:
    record = SurveyRecord(survey.id, survey.canonical, bytes(64), survey.title, survey.kind, survey.epsilon, 1, 0)
    return store.publish(replace(record, **changes), {})


def report(number: int, survey: Survey = SURVEY) -> bytes:
    """A row whose id and payload are this number."""
    payload = survey.mechanism.encode(number % 100)
    return number.to_bytes(16, "big") + payload


def send(store: Store, numbers: list[int], epoch: int = 1, survey: Survey = SURVEY) -> None:
    rows = b"".join(report(number, survey) for number in numbers)
    assert store.append([Arrival(survey.id, epoch, len(numbers), rows)]) == [None]
