"""Deletions in small steps, which nobody sees half done, and the room that is kept for them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from collector.places import Place
from collector.records import arrival, segment, survey_record
from sottovoce.collector.running.backup import backup, restore
from sottovoce.collector.store import Store, open_store
from sottovoce.collector.store.records import Checkpoint, ObjectRecord
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.store.surveys import DeletionTables
from sottovoce.core.errors import StoreError, StoreFullError
from sottovoce.service.storage.committer import Arrival
from sottovoce.service.storage.reserve import RESERVE_FILE, DiskReserve

TABLES = ("waiting", "segments", "segment_parts", "checkpoints", "checkpoint_parts", "erasures")


def rows(store: Store) -> int:
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        return sum(transaction.rows(f"SELECT COUNT(*) FROM {table}")[0][0] for table in TABLES)


def filled(store: Store) -> str:
    """The id of a survey with something in every table."""
    record = store.publish(survey_record(), {"ab": b"x" * 1000})
    store.append([arrival(record, *range(100))])
    lease = store.lease("w", 30)
    assert lease is not None
    assert store.settle(lease, store.take(lease, 100), [segment(*range(100))], Checkpoint(100, bytes(800)))
    store.append([arrival(record, *range(100, 200))])
    return record.id


class KilledError(Exception):
    """Ends a deletion on its way."""


def cut_off(store: Store, survey_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete it, one byte a step, and be killed after the first."""
    assert isinstance(store, DeletionTables)

    def kill() -> bool:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(store, "piece_bytes", 1)
        patch.setattr(store, "_piece_erased", kill)
        with pytest.raises(KilledError):
            store.delete(survey_id)


def test_a_deletion_that_is_cut_off_is_one_for_everybody_and_goes_on_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    survey_id = filled(store)
    cut_off(store, survey_id, monkeypatch)
    assert rows(store) > 1
    found = store.survey(survey_id)
    assert found is not None
    assert found.state == "deleted"
    assert store.publish(survey_record(), {}).state == "deleted"
    assert store.append([arrival(survey_record(), 1)]) == ["deleted"]
    assert (store.waiting(survey_id), store.segments(survey_id)) == (0, [])
    assert list(store.read_segments(survey_id)) == []
    assert store.snapshot(survey_id).checkpoint is None
    assert store.lease("w", 30) is None
    assert store.lease_untidy("w", 30, 10**6, 10**6) is None
    store.close()
    again = place.open()
    assert again.forget()
    assert rows(again) == 0
    again.close()


def test_a_backup_holds_nothing_of_a_survey_that_is_being_erased(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    survey_id = filled(store)
    cut_off(store, survey_id, monkeypatch)
    store.close()
    told = backup(place.database, place.data, tmp_path / "file")
    assert (told.counted, told.waiting) == (0, 0)
    restore(tmp_path / "file", "", tmp_path / "new")
    restored = open_store("", tmp_path / "new")
    assert rows(restored) == 0
    found = restored.survey(survey_id)
    assert found is not None
    assert found.state == "deleted"
    restored.close()


def test_a_deletion_keeps_the_log_short(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    for _ in range(16):
        store.append([Arrival(record.id, 7, 50_000, os.urandom(950_000))])
    assert store.forget()
    longest = 0

    class Watching(type(store)):  # type: ignore[misc]
        def _piece_erased(self) -> bool:
            nonlocal longest
            longest = max(longest, (tmp_path / "collector.db-wal").stat().st_size)
            return bool(super()._piece_erased())

    store.__class__ = Watching
    store.delete(record.id)
    assert 0 < longest < 4 * 2**20
    assert rows(store) == 0
    store.close()


def test_a_deletion_of_short_rows_among_others_keeps_the_log_short(tmp_path: Path) -> None:
    """Each on a page of its own, which is written whole."""
    store = open_store("", tmp_path, reserve_bytes=2**23)
    gone, kept = store.publish(survey_record("gone"), {}), store.publish(survey_record("kept"), {})
    for _ in range(2000):
        store.append([Arrival(gone.id, 7, 1, os.urandom(19)), Arrival(kept.id, 7, 200, os.urandom(3800))])
    assert store.forget()
    longest = 0

    class Watching(type(store)):  # type: ignore[misc]
        def _piece_erased(self) -> bool:
            nonlocal longest
            longest = max(longest, (tmp_path / "collector.db-wal").stat().st_size)
            return bool(super()._piece_erased())

    store.__class__ = Watching
    store.delete(gone.id)
    assert 0 < longest < 2**22, "what the reserve holds"
    assert store.waiting(kept.id) == 2000 * 200
    store.close()


def test_nothing_of_deleted_rows_is_left_between_the_rows_of_others(tmp_path: Path) -> None:
    """SQLite moves rows from page to page while some are removed, and leaves copies of them in between."""
    drawn = np.random.default_rng(3)
    store = open_store("", tmp_path)
    surveys = [(store.publish(survey_record(name), {}), name.encode() * 4) for name in ("kept", "gone")]
    for number in range(4000):
        record, mark = surveys[drawn.integers(2)]
        n = int(drawn.choice([1, 1, 1, 2, 5, 20, 100, 150, 300]))
        store.append([Arrival(record.id, 7, n, (mark + number.to_bytes(3, "big")) * n)])
    assert store.forget()
    content = (tmp_path / "collector.db").read_bytes()
    assert b"gone" * 4 in content
    store.delete(surveys[1][0].id)
    assert store.forget()
    content = (tmp_path / "collector.db").read_bytes() + (tmp_path / "collector.db-wal").read_bytes()
    assert b"gone" * 4 not in content
    assert b"kept" * 4 in content
    store.close()


def test_a_deletion_whose_rows_cannot_be_erased_yet_is_one_all_the_same(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    survey_id = filled(store)

    def full() -> bool:
        raise StoreFullError("no room for the next piece")

    with monkeypatch.context() as patch:
        patch.setattr(store, "piece_bytes", 1)
        patch.setattr(store, "_piece_erased", full)
        store.delete(survey_id)
        found = store.survey(survey_id)
        assert found is not None
        assert found.state == "deleted"
        assert rows(store) > 0
    assert store.forget()
    assert rows(store) == 0
    store.close()


def test_objects_are_removed_while_the_reserve_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may lie on the disk that is full."""
    store = open_store("", tmp_path, reserve_bytes=2**25)
    record = store.publish(survey_record(), {})
    assert store.note_object(ObjectRecord(record.id, "name", "ab", 1), 0.0)
    assert store.give_up_reserve()  # type: ignore[attr-defined]
    disk(monkeypatch, 2**40, 2**20)
    assert store.objects_due(10) == ["name"]
    store.forget_object("name")
    assert store.objects_due(10) == []
    monkeypatch.undo()
    store.close()


def disk(monkeypatch: pytest.MonkeyPatch, total: int, free: int) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_blocks=total, f_bavail=free, f_frsize=1))


@pytest.mark.parametrize(("total", "held"), [(2**40, 2**27), (2**30, 2**25), (2**20, 2**22)])
def test_the_reserve_is_a_part_of_a_small_disk(
    total: int, held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk(monkeypatch, total, total)
    assert DiskReserve(tmp_path / "reserve", 2**28).held == held


def test_what_grows_stops_first_then_counting_and_nothing_stops_what_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("", tmp_path, reserve_bytes=2**25)
    record, other = (store.publish(survey_record(name), {}) for name in "ab")
    store.append([arrival(record, 1)])
    file = tmp_path / RESERVE_FILE
    assert file.stat().st_size == 2**24
    assert file.stat().st_blocks * 512 >= 2**24
    disk(monkeypatch, 2**40, 2**24 - 1)
    for grows in (
        lambda: store.append([arrival(record, 2)]),
        lambda: store.publish(survey_record("c"), {}),
        store.check,
    ):
        with pytest.raises(StoreFullError, match="delete a survey or make room"):
            grows()
    assert not store.append_at_once(arrival(record, 2))
    assert store.lease("w", 30) is not None
    disk(monkeypatch, 2**40, 0)
    with pytest.raises(StoreFullError):
        store.lease("w", 30)
    store.seal(other.id)
    store.delete(record.id)
    assert file.stat().st_size == 2**24
    monkeypatch.undo()
    assert store.append([arrival(record, 2)]) == ["deleted"]
    store.close()


def test_while_the_reserve_is_given_up_only_what_makes_room_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("", tmp_path, reserve_bytes=2**25)
    assert isinstance(store, SqlStore)
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    assert store.give_up_reserve()
    assert not store.give_up_reserve()
    disk(monkeypatch, 2**40, 2**24)
    for refused in (lambda: store.append([arrival(record, 2)]), lambda: store.lease("w", 30)):
        with pytest.raises(StoreFullError):
            refused()
    store.seal(record.id)
    monkeypatch.undo()
    assert store.lease("w", 30) is not None
    assert (tmp_path / RESERVE_FILE).stat().st_size == 2**24
    store.close()


def test_a_reserve_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / RESERVE_FILE).mkdir()
    with pytest.raises(StoreError, match="remove it"):
        DiskReserve(tmp_path / RESERVE_FILE, 2**25).fill()
