"""A survey's counts as the store has them, damaged ones and busy ones too."""

from __future__ import annotations

from typing import Any

import pytest

from collector.counting import SURVEY, publish, report, send
from sottovoce.collector.counting.aggregator import Aggregator
from sottovoce.collector.counting.live import check, live_aggregate, rebuild
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import Checkpoint, NewSegment
from sottovoce.core.errors import StoreError, StoreUnavailableError


def _lease(store: Store) -> Any:
    return store.lease("test", 1000)


def _taken(store: Store) -> Any:
    return store.take(_lease(store), 1000)


def _segment(numbers: list[int], payload: bytes | None = None) -> Any:
    rows = [report(number) for number in numbers]
    payloads = b"".join(row[16:] for row in rows) if payload is None else payload
    return NewSegment(1, len(rows), b"".join(row[:16] for row in rows), payloads)


@pytest.mark.parametrize(
    ("payload", "words"),
    [(b"\xff", "segment .* holds bytes that are not a report"), (b"ab", "has 2 bytes for 1 reports")],
)
def test_damaged_segments_are_said(store: Store, payload: bytes, words: str) -> None:
    publish(store)
    send(store, [1])
    assert store.settle(_lease(store), _taken(store), [_segment([1], payload)])
    for read in (live_aggregate, rebuild):
        with pytest.raises(StoreError, match=words):
            read(store, SURVEY)


def test_a_damaged_checkpoint_is_said(store: Store) -> None:
    publish(store)
    send(store, [1])
    assert store.settle(_lease(store), _taken(store), [_segment([1])], Checkpoint(1, bytes(8)))
    with pytest.raises(StoreError, match="the checkpoint of survey"):
        live_aggregate(store, SURVEY)
    assert rebuild(store, SURVEY).n_reports == 1


def test_check_finds_a_wrong_checkpoint(store: Store) -> None:
    publish(store)
    send(store, [1])
    assert store.settle(_lease(store), _taken(store), [_segment([1])], Checkpoint(1, bytes(800)))
    with pytest.raises(StoreError, match="the live counts"):
        check(store, SURVEY)


def test_views_are_taken_again_when_segments_are_put_together_meanwhile(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", fan_in=4)
    for number in range(3):
        send(store, [number])
        aggregator.step()
    send(store, [3])
    real = store.read_segments
    disturbed = []

    def read_segments(*arguments: Any) -> Any:
        if not disturbed:
            disturbed.append(True)
            aggregator.step()
        return real(*arguments)

    for view in (rebuild, check):
        disturbed.clear()
        store.read_segments = read_segments  # type: ignore[method-assign]
        found = view(store, SURVEY)
        assert found.counts.sum() == found.n_reports
        assert found.n_reports == 4


def test_a_survey_that_never_stands_still_is_given_up(store: Store) -> None:
    publish(store)
    send(store, [1])
    Aggregator(store, "a").step()
    store.read_segments = lambda *_: iter(())  # type: ignore[method-assign]
    for view in (rebuild, check):
        with pytest.raises(StoreUnavailableError, match="too busily"):
            view(store, SURVEY)
