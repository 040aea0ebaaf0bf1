"""Segments of epochs that are over move to object storage; nothing is lost or counted twice, whatever fails."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.counting import SURVEY, publish, send
from collector.places import Place
from collector.shaky_objects import ShakyFiles, behave, held, shaky_storage
from sottovoce import engines
from sottovoce.collector.counting.aggregator import Aggregator, check, live_aggregate
from sottovoce.collector.counting.live import as_checkpoint
from sottovoce.collector.counting.moving import SegmentMover, moving
from sottovoce.collector.counting.worker import run_worker
from sottovoce.collector.settings import Settings
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.errors import ObjectStorageError, StoreError, StoreFullError, StoreUnavailableError
from sottovoce.surveys.survey import Survey

OTHER = Survey(sv.shares(100), epsilon=4.0, mechanism="randomized_response")
NOW = 5
"""The present epoch."""


def count(store: Store, numbers: list[int], epoch: int = 1, *, survey: Survey = SURVEY) -> None:
    """Send these and count them, into one segment an epoch."""
    send(store, numbers, epoch, survey)
    aggregator = Aggregator(store, "a", crowd=1, fan_in=1000)
    while aggregator.step():
        pass


def mover(store: Store, **parts: Any) -> SegmentMover:
    storage = store.objects
    assert storage is not None
    return SegmentMover(store, storage, "m", lambda: NOW, **{"crowd": 2, **parts})


def move_all(store: Store, **parts: Any) -> None:
    one = mover(store, **parts)
    while one.step():
        pass


def rows_of_parts(store: Store) -> int:
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        ((rows,),) = transaction.rows("SELECT COUNT(*) FROM segment_parts")
    return int(rows)


def noted(store: Store) -> int:
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        ((rows,),) = transaction.rows("SELECT COUNT(*) FROM objects")
    return int(rows)


@pytest.fixture
def full(store: Store, tmp_path: Path) -> Store:
    """Five reports of an epoch that is over, two of one that is not, and a folder for objects."""
    publish(store)
    store.objects = ObjectStorage(str(tmp_path / "objects"))
    count(store, [1, 2, 3, 4, 5])
    count(store, [6, 7], NOW)
    return store


def test_an_epoch_that_is_over_moves_and_the_present_one_stays(full: Store) -> None:
    before = live_aggregate(full, SURVEY)
    move_all(full)
    assert [(info.epoch, info.n, info.object is not None) for info in full.segments(SURVEY.id)] == [
        (NOW, 2, False),
        (1, 5, True),
    ]
    assert rows_of_parts(full) == 2, "ids and payloads of the present epoch"
    assert check(full, SURVEY) == before
    ((name, _),) = full.object_lengths()
    assert name.startswith(f"{SURVEY.id}/1-")


def test_an_estimate_reads_no_object(full: Store) -> None:
    before = live_aggregate(full, SURVEY)
    move_all(full)
    full.objects = None
    assert live_aggregate(full, SURVEY) == before
    assert all(info.checkpointed for info in full.segments(SURVEY.id))


def test_a_report_that_comes_again_is_known_from_its_object(full: Store) -> None:
    move_all(full)
    count(full, [1, 5, 7, 8], NOW)
    assert check(full, SURVEY).n_reports == 8


def test_a_counting_process_knows_what_others_have_moved(full: Store) -> None:
    aggregator = Aggregator(full, "steady", crowd=1)
    send(full, [8], NOW)
    assert aggregator.step() == 1
    move_all(full)
    send(full, [1, 8, 9], NOW)
    assert aggregator.step() == 3
    assert check(full, SURVEY).n_reports == 9


def test_an_epoch_waits_for_its_last_reports_and_for_a_crowd(full: Store) -> None:
    send(full, [10], 1)
    assert full.ended(NOW, 2) == []
    count(full, [])
    assert sorted(info.n for info in full.segments(SURVEY.id)) == [1, 2, 5]
    assert full.ended(NOW, 2) == [], "a single report would be an object of its own"
    assert Aggregator(full, "tidy", crowd=2, epoch=lambda: NOW).tidy()
    move_all(full)
    assert sorted((info.n, info.object is not None) for info in full.segments(SURVEY.id)) == [(2, False), (6, True)]


def test_a_latecomer_joins_the_object_of_its_epoch(full: Store) -> None:
    move_all(full)
    ((first, _),) = full.object_lengths()
    count(full, [10], 1)
    assert Aggregator(full, "tidy", crowd=2, epoch=lambda: NOW).tidy()
    move_all(full)
    ((second, length),) = full.object_lengths()
    assert second != first
    assert full.objects is not None
    assert full.objects.length(first) is None
    assert full.objects.length(second) == length
    assert noted(full) == 1
    assert check(full, SURVEY).n_reports == 8


def test_a_long_epoch_makes_several_objects_and_keeps_no_order_of_arrival(full: Store) -> None:
    for number in range(20, 40, 2):
        count(full, [number, number + 1], 2)
    before = live_aggregate(full, SURVEY)
    move_all(full, largest_bytes=5 * 17)
    sizes = [info.n for info in full.segments(SURVEY.id) if info.epoch == 2]
    assert sizes == [4, 4, 4, 4, 4]
    assert check(full, SURVEY) == before
    for segment in full.read_segments(SURVEY.id):
        ids = [segment.ids[at : at + 16] for at in range(0, len(segment.ids), 16)]
        assert ids == sorted(ids)


def test_a_sealed_survey_moves_whole(full: Store) -> None:
    full.seal(SURVEY.id)
    move_all(full)
    assert rows_of_parts(full) == 0
    assert check(full, SURVEY).n_reports == 7


def test_engines_count_the_objects_of_a_survey_that_is_only_gathered(full: Store, tmp_path: Path) -> None:
    before = live_aggregate(full, SURVEY)
    full.seal(SURVEY.id)
    move_all(full, max_counters=0)
    assert not any(info.checkpointed for info in full.segments(SURVEY.id))
    (tmp_path / "objects" / "foreign.parquet").write_bytes(b"not ours")
    counted = engines.local().aggregate(SURVEY, tmp_path / "objects" / SURVEY.id)
    assert counted == before
    assert full.hand_in(SURVEY.id, as_checkpoint(counted))
    assert check(full, SURVEY) == before


# --- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("fails_at", [0, 1, 2])
def test_storage_may_fail_at_any_operation(full: Store, fails_at: int) -> None:
    full.objects = shaky_storage()
    before = check(full, SURVEY)
    behave(fails_at, tears=True)
    if fails_at < 2:
        with pytest.raises(ObjectStorageError, match="setting objects"):
            mover(full).step()
        assert [info.object for info in full.segments(SURVEY.id)] == [None, None]
    behave()
    move_all(full)
    assert held() == [name for name, _ in full.object_lengths()], "nothing is left over"
    assert noted(full) == 1
    assert check(full, SURVEY) == before


def test_a_note_whose_writer_failed_to_drop_it_expires(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store)
    store.objects = shaky_storage()
    count(store, [1, 2, 3])
    monkeypatch.setattr(store, "move", lambda *_: (_ for _ in ()).throw(StoreUnavailableError("away")))
    monkeypatch.setattr(store, "drop_object", lambda *_: (_ for _ in ()).throw(StoreUnavailableError("away")))
    with pytest.raises(StoreUnavailableError):
        mover(store).step()
    monkeypatch.undo()
    (left,) = held()
    assert not mover(store).step(), "somebody may still be writing it"
    assert held() == [left]
    expire(store)
    move_all(store)
    assert left not in held()
    assert held() == [name for name, _ in store.object_lengths()]
    assert check(store, SURVEY).n_reports == 3


def expire(store: Store) -> None:
    """Let the time of everybody who writes be over."""
    assert isinstance(store, SqlStore)
    with store.write() as transaction:
        transaction.run("UPDATE objects SET expires = 0")


def test_who_was_taken_for_dead_cannot_put_a_removed_object_to_use(full: Store) -> None:
    storage = full.objects = shaky_storage()
    real = storage.put

    def slow_put(name: str, content: bytes) -> None:
        expire(full)
        assert full.objects_due(10) == [name], "another has marked it, and is about to remove it"
        real(name, content)

    object.__setattr__(storage, "put", slow_put)
    assert not mover(full).step()
    assert [info.object for info in full.segments(SURVEY.id)] == [None, None]
    assert held() == []
    assert noted(full) == 0


def test_segments_that_changed_while_their_object_was_written_stay(full: Store) -> None:
    storage = full.objects = shaky_storage()
    real = storage.put

    def put(name: str, content: bytes) -> None:
        real(name, content)
        count(full, [30, 31, 32], 1)
        aggregator = Aggregator(full, "tidy", crowd=100, epoch=lambda: NOW)
        while aggregator.tidy():
            pass

    object.__setattr__(storage, "put", put)
    assert not mover(full).step()
    assert held() == []
    object.__setattr__(storage, "put", real)
    move_all(full)
    assert check(full, SURVEY).n_reports == 10


def test_two_movers_do_not_move_the_same_survey_at_once(full: Store) -> None:
    storage = full.objects = shaky_storage()
    real = storage.put

    def put(name: str, content: bytes) -> None:
        assert full.ended(NOW, 2) == []
        assert not mover(full).step()
        real(name, content)

    object.__setattr__(storage, "put", put)
    assert mover(full).step()
    assert ShakyFiles.done.count("put") == 1


def test_deleting_a_survey_removes_its_objects_and_goes_on_after_a_failure(full: Store, tmp_path: Path) -> None:
    full.objects = shaky_storage()
    publish(full, OTHER)
    count(full, [1, 2, 3], survey=OTHER)
    count(full, [20, 21], 2)
    move_all(full)
    assert len(held()) == 3
    full.delete(SURVEY.id)
    behave(1)
    with pytest.raises(ObjectStorageError, match="cannot be removed"):
        mover(full).step()
    assert len(held()) == 2, "one is gone, one is noted"
    assert noted(full) == 2
    behave()
    mover(full).step()
    assert held() == [name for name, _ in full.object_lengths()]
    assert held()[0].startswith(OTHER.id)
    assert noted(full) == 1


def test_a_deletion_does_not_wait_for_storage_that_takes_nothing(full: Store) -> None:
    full.objects = shaky_storage()
    publish(full, OTHER)
    move_all(full)
    full.delete(SURVEY.id)
    count(full, [1, 2, 3], survey=OTHER)
    behave(0, PermissionError())
    with pytest.raises(ObjectStorageError, match="does not permit"):
        mover(full).step()
    mover(full).step()
    assert [name.split("/")[0] for name in held()] == [OTHER.id]


def test_a_survey_deleted_while_its_object_is_written_leaves_none(full: Store) -> None:
    storage = full.objects = shaky_storage()
    real = storage.put

    def put(name: str, content: bytes) -> None:
        full.delete(SURVEY.id)
        real(name, content)

    object.__setattr__(storage, "put", put)
    assert not mover(full).step()
    assert held() == []
    assert noted(full) == 0


def test_a_missing_object_stops_its_survey_and_no_other(full: Store, caplog: pytest.LogCaptureFixture) -> None:
    full.objects = shaky_storage()
    publish(full, OTHER)
    move_all(full)
    kept = dict(ShakyFiles.store)
    ShakyFiles.store.clear()
    send(full, [1, 9], NOW)
    send(full, [1, 2], NOW, OTHER)
    aggregator = Aggregator(full, "a")
    caplog.set_level(logging.ERROR)
    assert aggregator.step() == 2
    assert full.waiting(OTHER.id) == 0
    assert "setting objects) has no object" in caplog.text
    assert full.waiting(SURVEY.id) == 2
    assert live_aggregate(full, SURVEY).n_reports == 7, "the sums are in the database"
    with pytest.raises(ObjectStorageError, match="has no object"):
        check(full, SURVEY)
    ShakyFiles.store.update(kept)
    aggregator.close()
    assert aggregator.step() == 2
    assert check(full, SURVEY).n_reports == 8


def test_without_the_setting_objects_are_refused_by_name(full: Store) -> None:
    move_all(full)
    full.objects = None
    with pytest.raises(ObjectStorageError, match="the setting objects names none; set it to where the objects are"):
        check(full, SURVEY)


def test_a_reader_of_an_object_that_was_replaced_is_told_to_try_again(full: Store) -> None:
    count(full, [20, 21], 2)
    move_all(full)
    reader = full.read_segments(SURVEY.id)
    next(reader)
    next(reader)
    full.delete(SURVEY.id)
    mover(full).step()
    with pytest.raises(StoreUnavailableError, match="while they were read; try again"):
        next(reader)


def test_a_damaged_survey_is_told_once_and_others_move(full: Store, caplog: pytest.LogCaptureFixture) -> None:
    publish(full, OTHER)
    count(full, [1, 2, 3], 1, survey=OTHER)
    assert isinstance(full, SqlStore)
    with full.write() as transaction:
        transaction.run(
            "UPDATE segment_parts SET content = ? WHERE field = 'payloads' AND segment IN (SELECT g.number FROM "
            "segments g JOIN surveys s ON s.number = g.survey WHERE s.id = ?)",
            (b"\xff", SURVEY.id),
        )
    one = mover(full)
    while one.step():
        pass
    one.step()
    told = [line.getMessage() for line in caplog.records if line.levelno == logging.ERROR]
    assert len(told) == 1
    assert "the database is damaged: restore a backup" in told[0]
    assert [name.split("/")[0] for name, _ in full.object_lengths()] == [OTHER.id]


def test_a_survey_that_is_being_counted_is_summed_later(full: Store) -> None:
    send(full, [9], NOW)
    lease = full.lease("other", 60)
    assert lease is not None
    assert not mover(full).step()
    full.release(lease)
    assert mover(full).step()


# --- a thread and a process of its own ------------------------------------------------------------


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_trouble_is_told_once_and_so_is_its_end(full: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    storage = full.objects = shaky_storage()
    real, tries = storage.put, []

    def put(name: str, content: bytes) -> None:
        tries.append(name)
        if len(tries) < 4:
            raise ObjectStorageError("the object storage (setting objects) fails")
        real(name, content)

    object.__setattr__(storage, "put", put)
    with moving(mover(full), pause=0.001):
        until(lambda: "works again" in caplog.text)
    lines = [line.getMessage() for line in caplog.records if line.name == "sottovoce.collector.counting.moving"]
    assert [line for line in lines if "setting objects" in line] == [
        "segments wait for object storage: the object storage (setting objects) fails"
    ]
    assert [info.object is None for info in full.segments(SURVEY.id)] == [True, False]


def stuck_worker(settings: Settings, stage: str, ready: Any) -> None:
    """A worker that says when it has reached a stage of moving, and stays there."""
    put = ObjectStorage.put

    def stuck(self: ObjectStorage, name: str, content: bytes) -> None:
        if stage == "written":
            put(self, name, content)
        ready.send(name)
        time.sleep(600)

    ObjectStorage.put = stuck  # type: ignore[method-assign]
    run_worker(settings)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["noted", "written"])
def test_killed_while_it_moves_a_worker_loses_nothing(place: Place, tmp_path: Path, stage: str) -> None:
    store = place.open()
    publish(store)
    count(store, [1, 2, 3])
    settings = Settings(database=place.database, data=place.data, objects=str(tmp_path / "objects"))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=stuck_worker, args=(settings, stage, there), daemon=True)
    process.start()
    there.close()
    name = here.recv()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    store.objects = ObjectStorage(settings.objects)
    assert (store.objects.length(name) is not None) == (stage == "written")
    assert [info.object for info in store.segments(SURVEY.id)] == [None]
    assert noted(store) == 1
    expire(store)
    move_all(store)
    assert store.objects.length(name) is None
    assert noted(store) == 1
    assert check(store, SURVEY).n_reports == 3
    store.close()


def test_a_full_database_still_moves(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "collector.db", max_bytes=2**20)
    publish(store)
    store.objects = ObjectStorage(str(tmp_path / "objects"))
    batches = ([*range(start, start + 2000)] for start in range(0, 10**6, 2000))
    batch = next(batches)
    with suppress(StoreFullError):
        while batch:
            count(store, batch)
            batch = next(batches)
    with pytest.raises(StoreFullError):
        count(store, batch)
    move_all(store)
    count(store, batch)
    assert check(store, SURVEY).n_reports == batch[-1] + 1
    store.close()


def test_an_unusable_store_is_no_reason_to_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = SqliteStore(tmp_path / "collector.db")
    store.objects = ObjectStorage(str(tmp_path / "objects"))
    one = mover(store)
    store.close()
    with moving(one, pause=0.001):
        until(lambda: "the store has been closed" in caplog.text)
    with pytest.raises(StoreError):
        one.step()
