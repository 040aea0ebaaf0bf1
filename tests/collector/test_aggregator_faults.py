"""Counting on a disk without room, and tidying that fails: nothing is lost, and the survey is free for others."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from collector.counting import SURVEY, publish, send
from sottovoce.collector.aggregator import Aggregator, check
from sottovoce.collector.store import open_store
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError


def failing(error: StoreError) -> Any:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_disk_without_any_room_is_the_callers_business(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    publish(store)
    send(store, list(range(5)))
    first, second = Aggregator(store, "a"), Aggregator(store, "b")
    honest, store.settle = store.settle, failing(StoreFullError("full"))  # type: ignore[method-assign]
    with pytest.raises(StoreFullError):
        first.step()
    store.settle = honest  # type: ignore[method-assign]
    assert second.step() == 5  # the lease was given back, so that nobody waits until it runs out
    assert check(store, SURVEY).n_reports == 5
    store.close()


@pytest.mark.parametrize("error", [StoreFullError("full"), StoreUnavailableError("away"), StoreError("odd")], ids=repr)
def test_tidying_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, error: StoreError, caplog: pytest.LogCaptureFixture
) -> None:
    """What passes is raised, for the caller to wait; anything else is noted, so that the counting goes on."""
    store = open_store("", tmp_path)
    publish(store)
    now = [1]
    aggregator = Aggregator(store, "a", crowd=8, epoch=lambda: now[0])
    for numbers in (range(10), range(10, 13)):
        send(store, list(numbers))
        aggregator.step()
    now[0] += 1
    before = store.segments(SURVEY.id)
    honest, store.compact = store.compact, failing(error)  # type: ignore[method-assign]
    if type(error) is StoreError:
        with caplog.at_level(logging.ERROR):
            assert not aggregator.tidy()
        assert "cannot be put together: odd" in caplog.text
    else:
        with pytest.raises(type(error)):
            aggregator.tidy()
    assert store.segments(SURVEY.id) == before
    store.compact = honest  # type: ignore[method-assign]
    assert aggregator.tidy()
    assert [info.n for info in store.segments(SURVEY.id)] == [13]
    store.close()
