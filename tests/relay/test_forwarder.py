"""Forwarding: whatever the collector answers, a message stays until it is acknowledged, and goes only once it is."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sottovoce.core.errors import ServiceError
from sottovoce.protocol.errors import RefusedReport
from sottovoce.relay.forwarder import Forwarder
from sottovoce.relay.metrics import RelayMetrics
from sottovoce.relay.settings import RelaySettings
from sottovoce.relay.store import RELAY_FILE, RelayStore, frame
from sottovoce.service.storage.committer import Arrival

SURVEY = "ab" * 32
Answer = Callable[[list[bytes]], list[RefusedReport]]


class Collector:
    """Answers parts as it is told, and remembers those it has acknowledged."""

    def __init__(self) -> None:
        self.offered: list[list[bytes]] = []
        self.taken: list[bytes] = []
        self.answer: Answer = lambda messages: []

    def send(self, messages: list[bytes]) -> list[RefusedReport]:
        self.offered.append(messages)
        refused = self.answer(messages)
        self.taken += messages
        return refused


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RelayStore]:
    opened = RelayStore(tmp_path / RELAY_FILE)
    opened.learn(SURVEY, 10)
    yield opened
    opened.close()


def fill(store: RelayStore, n: int = 10, epoch: int = 0) -> list[bytes]:
    messages = [bytes([1]) + secrets.token_bytes(511) for _ in range(n)]
    store.append([Arrival(SURVEY, epoch, n, b"".join(map(frame, messages)))])
    return messages


def forwarder(
    store: RelayStore, collector: Collector, now: float = 0.0, doubt: Callable[[], str] = str, **settings: object
) -> Forwarder:
    told = RelaySettings(**{"to": "http://127.0.0.1:1", "part": 4, **settings})  # type: ignore[arg-type]
    return Forwarder(told, store, collector, RelayMetrics(), doubt, clock=lambda: now)


def refusing(status: int, code: str = "refused", retry_after: float | None = None) -> Answer:
    def answer(messages: list[bytes]) -> list[RefusedReport]:
        raise ServiceError("no", code, status, retry_after)

    return answer


def test_a_batch_is_shuffled_sent_in_parts_and_forgotten(store: RelayStore) -> None:
    sent, collector = fill(store), Collector()
    forward = forwarder(store, collector)
    while not forward.step():
        pass
    assert [len(part) for part in collector.offered] == [4, 4, 2]
    assert sorted(collector.taken) == sorted(sent)
    assert (store.n_messages, store.batch()) == (0, None)


@pytest.mark.parametrize("status", [0, 429, 500, 503, 507])
def test_what_is_not_acknowledged_is_sent_again_unchanged(store: RelayStore, status: int) -> None:
    sent, collector = fill(store), Collector()
    forward = forwarder(store, collector)
    forward.step()
    collector.answer = refusing(status)
    pauses = [forward.step() for _ in range(8)]
    assert 0 < pauses[0] < pauses[-1] <= 60
    assert len({tuple(part) for part in collector.offered}) == 1
    assert (store.n_messages, forward.trouble) == (10, "")
    collector.answer = lambda messages: []
    again = forwarder(store, collector)  # as after a restart
    while not again.step():
        pass
    assert collector.offered[8] == collector.offered[0]
    assert sorted(collector.taken) == sorted(sent)


@pytest.mark.parametrize("status", [200, 400, 401, 404, 415, 422])
def test_a_part_that_is_refused_as_a_whole_is_kept_and_told(store: RelayStore, status: int) -> None:
    fill(store)
    collector = Collector()
    forward = forwarder(store, collector)
    forward.step()
    collector.answer = refusing(status)
    assert forward.step() > 0
    assert str(status) in forward.trouble
    assert store.n_messages == 10
    collector.answer = lambda messages: []
    forward.step()
    assert (forward.trouble, store.n_messages) == ("", 6)


def test_parts_become_smaller_for_a_collector_that_takes_less(store: RelayStore) -> None:
    sent, collector = fill(store), Collector()
    forward = forwarder(store, collector)
    forward.step()
    collector.answer = lambda messages: refusing(413)(messages) if len(messages) > 1 else []
    while not forward.step():
        pass
    assert sorted(collector.taken) == sorted(sent)


def test_large_messages_that_are_too_much_at_once_make_no_small_parts_of_small_ones(store: RelayStore) -> None:
    large = [bytes([1]) + secrets.token_bytes(2**16 - 1) for _ in range(10)]
    store.append([Arrival(SURVEY, 0, 10, b"".join(map(frame, large)))])
    collector = Collector()
    collector.answer = lambda messages: refusing(413)(messages) if len(b"".join(messages)) > 2**17 else []
    forward = forwarder(store, collector, part=100)
    while not forward.step():
        pass
    fill(store, 100)
    while not forward.step():
        pass
    assert [len(part) for part in collector.offered if len(part[0]) == 512] == [100]


def test_a_collector_that_asks_for_time_is_given_it(store: RelayStore) -> None:
    fill(store)
    collector = Collector()
    collector.answer = refusing(503, retry_after=17)
    forward = forwarder(store, collector)
    forward.step()
    assert forward.step() == 17


def test_single_refusals_are_final_and_counted(store: RelayStore) -> None:
    fill(store)
    collector = Collector()
    collector.answer = lambda messages: [RefusedReport(0, "survey_sealed", "x"), RefusedReport(1, "<script>", "x")]
    forward = forwarder(store, collector)
    forward.step()
    forward.step()
    told = forward._metrics.text(0, 0).decode()
    assert 'sottovoce_relay_dropped_total{code="survey_sealed"} 1.0' in told
    assert 'sottovoce_relay_dropped_total{code="other"} 1.0' in told
    assert "sottovoce_relay_forwarded_total 2.0" in told
    assert store.n_messages == 6


@pytest.mark.parametrize("code", ["unknown_key", "cannot_open"])
def test_nothing_is_dropped_for_want_of_a_key_that_may_come_back(store: RelayStore, code: str) -> None:
    fill(store)
    collector, doubts = Collector(), ["another key under number 1"]
    collector.answer = lambda messages: [RefusedReport(0, code, "x")]
    forward = forwarder(store, collector, doubt=lambda: doubts[0])
    forward.step()
    assert forward.step() > 0
    assert (store.n_messages, bool(forward.trouble)) == (10, True)
    doubts[0] = ""
    assert forward.step() == 0
    assert (store.n_messages, forward.trouble) == (6, "")
    assert collector.offered[0] == collector.offered[1]


def test_a_message_waits_from_the_end_of_its_span(store: RelayStore) -> None:
    fill(store, epoch=1200)
    settings = {"hold": 20, "wait": "1h", "time_precision": 600}
    collector = Collector()
    assert forwarder(store, collector, now=1200 + 600 + 3600 - 1, **settings).step() > 0
    assert store.batch() is None
    assert forwarder(store, collector, now=1200 + 600 + 3600, **settings).step() == 0
    assert store.batch() is not None
