"""Counting on a disk without room, and tidying that fails: nothing is lost, and the survey is free for others."""

from __future__ import annotations

import errno
import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest

from collector.counting import SURVEY, publish, send
from sottovoce.collector.counting.aggregator import Aggregator, check
from sottovoce.collector.store import open_store
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError


def failing(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
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


def test_ids_that_find_no_room_on_disk_cost_no_report(tmp_path: Path) -> None:
    """The step that settled them is the caller's to try again; what it counted is read again, and counted once."""
    store = open_store("", tmp_path)
    publish(store)
    aggregator = Aggregator(store, "a", ids_in_memory=10, folder=tmp_path / "later")
    send(store, list(range(39)))
    assert aggregator.step() == 39
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.TemporaryFile", failing(full))
        for numbers in ([39], [40]):
            send(store, numbers)
            with pytest.raises(StoreFullError, match="takes no temporary file"):
                aggregator.step()
    assert store.waiting(SURVEY.id) == 1  # nothing more was taken while the disk was full
    (tmp_path / "later").mkdir()
    send(store, list(range(50)))
    assert aggregator.step() == 51
    (state,) = aggregator._counted.values()
    assert (len(state.seen), state.seen.files) == (50, 2)
    assert check(store, SURVEY).n_reports == 50
    store.close()


def test_ids_that_cannot_be_read_back_are_read_from_the_segments(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store("", tmp_path)
    publish(store)
    aggregator = Aggregator(store, "a", ids_in_memory=10, lease_seconds=0.01)
    send(store, list(range(20)))
    assert aggregator.step() == 20
    (state,) = aggregator._counted.values()
    os.ftruncate(state.seen._runs[0].ids._file.fileno(), 0)
    send(store, list(range(25)))
    with caplog.at_level(logging.ERROR):
        assert aggregator.step() == 0
    assert "cannot be read back" in caplog.text
    while not aggregator.step():
        time.sleep(0.01)  # until the lease that is held back has run out
    assert check(store, SURVEY).n_reports == 25
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
