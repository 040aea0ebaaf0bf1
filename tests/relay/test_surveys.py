"""When a survey's messages must leave: before the period that they answer closes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.relay.settings import RelaySettings
from sottovoce.relay.store import RELAY_FILE, RelayStore
from sottovoce.relay.surveys import RelayedSurveys
from sottovoce.relay.upstream import Upstream
from sottovoce.service.http.slow_work import SlowWork
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

RELAY = Relay("http://127.0.0.1:8471", 10)
ONCE = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, relay=RELAY)
TRACKING = sv.Tracking(ONCE.question, epsilon=1.0, every="week", starts="2027-01-04", periods=3, grace=2, relay=RELAY)
PERIOD = TRACKING.period(1)
CLOSES = datetime(2027, 1, 13, tzinfo=UTC).timestamp()
"""A week later, and two days."""


@pytest.fixture
def surveys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RelayedSurveys]:
    upstream = Upstream(RelaySettings(to="http://127.0.0.1:1"))
    published = {one.id: one for one in (ONCE, PERIOD)}

    def answer(path: str, kind: type) -> object:
        survey = published[path.rpartition("/")[2]]
        signed = {"signature": "", "key": "", "attachments": []}  # which the relay does not read
        return kind(id=survey.id, statement=survey.to_json(), state="open", **signed)

    monkeypatch.setattr(upstream._http, "get", answer)
    store = RelayStore(tmp_path / RELAY_FILE)
    asking = SlowWork("ask", 1, 1)
    yield RelayedSurveys(store, upstream.survey, asking)
    asking.close()
    store.close()


def test_a_period_closes_soon_from_an_hour_before(surveys: RelayedSurveys) -> None:
    assert not surveys.takes_no_more(ONCE.id)
    assert not surveys.takes_no_more(PERIOD.id)
    assert surveys.closing(CLOSES - 3601) == frozenset()
    assert surveys.closing(CLOSES - 3600) == {PERIOD.id}
