"""A backup holds everything, goes into either database, and is refused when a single byte of it is wrong."""

import hashlib
import os
import secrets
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from collector.places import Place
from collector.records import arrival, segment, survey_record
from sottovoce.collector.running.backup import Contents, backup, restore, verify
from sottovoce.collector.store import Store
from sottovoce.collector.store.migrations import COLUMNS, latest
from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.collector.store.records import Checkpoint, ObjectRecord, SurveyRecord, TokenRecord
from sottovoce.collector.store.sql import PART_BYTES, SqlStore
from sottovoce.core.errors import StoreError

CONTENTS = Contents(surveys=4, counted=5, waiting=3, tokens=2, objects=1)
OBJECTS = "memory://backup"
OBJECT = b"two reports of a round"


def fill(store: Store) -> list[SurveyRecord]:
    """Something in every table, deleted surveys and gaps in the numbers included."""
    parent = store.publish(survey_record("adaptive ' \0", title="' \0 ü"), {"aa": b"\0one", "bb": b""})
    first = store.publish(survey_record("round", parent=parent.id, round=1, labels=("x",)), {"aa": b"\0one"})
    plain, gone = (store.publish(survey_record(name), {}) for name in ("plain", "gone"))
    store.append([arrival(gone, 1), arrival(first, 1, 2), arrival(plain, 3, 4, 5)])
    store.delete(gone.id)
    for record, numbers in ((first, (1, 2)), (plain, (3, 4, 5))):
        lease = store.lease("w", 3600)
        assert lease is not None
        assert lease.survey == record.id
        counts = Checkpoint(len(numbers), secrets.token_bytes(PART_BYTES + 8))
        assert store.settle(lease, store.take(lease, 10), [segment(*numbers)], counts)
    store.append([arrival(plain, 5, 6), arrival(plain, 7, epoch=8)])
    store.seal(first.id)
    noted = ObjectRecord(first.id, "round/object", hashlib.sha256(OBJECT).hexdigest(), len(OBJECT))
    assert store.note_object(noted, 60)
    assert store.move("round/object", [info.number for info in store.segments(first.id)])
    storage().put("round/object", OBJECT)
    store.add_token(TokenRecord("00000001", bytes(range(32)), frozenset({"read", "ask"}), "' \0", 3))
    store.add_token(TokenRecord("00000000", bytes(32), frozenset({"admin"}), "", 3))
    store.revoke_token("00000001")
    return [parent, first, plain, gone]


def storage() -> ObjectStorage:
    """Where the object of the round lies."""
    return ObjectStorage(OBJECTS)


SIGNER = bytes(range(32))


def everything(place: Place) -> dict[str, list[tuple[object, ...]]]:
    store = place.open()
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        tables = {
            table: sorted(transaction.rows(f"SELECT {', '.join(columns)} FROM {table}"), key=repr)
            for table, columns in COLUMNS.items()
        }
    store.close()
    return tables


@pytest.fixture
def source(place: Place) -> Place:
    store = place.open()
    fill(store)
    store.set_signer(SIGNER)
    store.close()
    return place


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place("", tmp_path / "target")
    make: Callable[[], str] = request.getfixturevalue("new_postgresql")
    return Place(make(), tmp_path / "target")


def test_everything_comes_back_in_either_database(source: Place, target: Place, tmp_path: Path) -> None:
    archive = tmp_path / "backup"
    assert backup(source.database, source.data, archive) == CONTENTS
    assert verify(archive) == CONTENTS
    assert restore(archive, target.database, target.data, OBJECTS) == CONTENTS
    expected = everything(source)
    assert expected["signer"] == [(1, SIGNER)]
    assert all(expected.values())
    # Nobody holds a lease any more, but tokens go on growing.
    expected["leases"] = [(survey, "", token, 0.0) for survey, _, token, _ in expected["leases"]]
    assert everything(target) == expected


def test_a_restored_store_goes_on_working(source: Place, target: Place, tmp_path: Path) -> None:
    backup(source.database, source.data, tmp_path / "backup")
    restore(tmp_path / "backup", target.database, target.data, OBJECTS)
    store = target.open()
    plain, gone = survey_record("plain"), survey_record("gone")
    assert store.append([arrival(plain, 8), arrival(gone, 9)]) == [None, "deleted"]
    lease = store.lease("v", 30)
    assert lease is not None
    assert (lease.survey, lease.token) == (plain.id, 2)
    assert store.settle(lease, store.take(lease, 10), [segment(6, 7, 8)])
    assert [info.n for info in store.segments(plain.id)] == [3, 3]
    fresh = store.publish(survey_record("fresh"), {})
    store.add_token(TokenRecord("00000002", bytes(32), frozenset({"read"}), "", 3))
    assert [record.id for record in store.surveys()][-1] == fresh.id
    store.close()


def test_a_backup_of_a_store_in_use_is_of_one_moment(place: Place, tmp_path: Path) -> None:
    store = place.open()
    plain = fill(store)[2]
    assert isinstance(store, SqlStore)
    with store.write() as transaction:
        transaction.run("DELETE FROM tokens")
        assert backup(place.database, place.data, tmp_path / "backup") == CONTENTS
    assert store.append([arrival(plain, 9)]) == [None]
    store.close()


def test_a_backup_never_overwrites_and_only_its_owner_may_read_it(source: Place, tmp_path: Path) -> None:
    archive = tmp_path / "backup"
    archive.write_bytes(b"dear")
    with pytest.raises(StoreError, match="never overwrites"):
        backup(source.database, source.data, archive)
    assert archive.read_bytes() == b"dear"
    archive.unlink()
    backup(source.database, source.data, archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_there_must_be_a_store_to_back_up_and_a_place_to_write(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        backup("", tmp_path / "nowhere", tmp_path / "backup")
    assert list(tmp_path.iterdir()) == []
    Place("", tmp_path / "data").open().close()
    with pytest.raises(StoreError, match="cannot be made"):
        backup("", tmp_path / "data", tmp_path / "missing" / "backup")


def test_a_backup_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "collector.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="damaged"):
        backup("", tmp_path, tmp_path / "backup")
    assert [file.name for file in tmp_path.iterdir()] == ["collector.db"]


def test_a_store_with_anything_in_it_is_not_restored_into(source: Place, tmp_path: Path) -> None:
    backup(source.database, source.data, tmp_path / "backup")
    before = everything(source)
    with pytest.raises(StoreError, match="already holds"):
        restore(tmp_path / "backup", source.database, source.data)
    assert everything(source) == before


def test_a_log_without_its_database_is_not_restored_over(source: Place, tmp_path: Path) -> None:
    backup(source.database, source.data, tmp_path / "backup")
    data = tmp_path / "other"
    data.mkdir()
    (data / "collector.db-wal").write_bytes(b"acknowledged")
    with pytest.raises(StoreError, match="move all three files away"):
        restore(tmp_path / "backup", "", data)
    assert [(file.name, file.read_bytes()) for file in data.iterdir()] == [("collector.db-wal", b"acknowledged")]


@pytest.fixture
def small(tmp_path: Path) -> bytes:
    """A backup of a few kilobytes."""
    place = Place("", tmp_path / "small")
    store = place.open()
    record = store.publish(survey_record(), {"aa": b"one"})
    store.append([arrival(record, 1, 2)])
    store.close()
    backup("", place.data, tmp_path / "small.backup")
    return (tmp_path / "small.backup").read_bytes()


def test_a_wrong_byte_anywhere_is_found_or_means_nothing(small: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "wrong"
    whole = zipfile.ZipFile(tmp_path / "small.backup")
    content = {name: whole.read(name) for name in whole.namelist()}
    whole.close()
    harmless = 0
    places = range(0, len(small), 3)
    for place in places:
        archive.write_bytes(small[:place] + bytes([small[place] ^ 0x41]) + small[place + 1 :])
        try:
            verify(archive)
        except StoreError:
            continue
        harmless += 1
        # A date or an attribute of the ZIP, which nobody reads: the content is the same.
        with zipfile.ZipFile(archive) as read:
            assert {name: read.read(name) for name in read.namelist()} == content
    assert harmless < len(places) // 2


def test_a_cut_backup_is_refused(small: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "cut"
    for length in (*range(0, len(small), 50), len(small) - 1):
        archive.write_bytes(small[:length])
        with pytest.raises(StoreError, match="damaged"):
            verify(archive)


@pytest.mark.parametrize("forgery", ["other digest", "extra member", "missing member", "compressed", "no manifest"])
def test_a_damaged_backup_is_refused_before_anything_is_written(small: bytes, tmp_path: Path, forgery: str) -> None:
    with zipfile.ZipFile(tmp_path / "small.backup") as read:
        members = {name: read.read(name) for name in read.namelist()}
    if forgery == "other digest":
        members["waiting"] = members["waiting"][:-1] + bytes([members["waiting"][-1] ^ 1])
    elif forgery == "extra member":
        members["../extra"] = b""
    elif forgery == "missing member":
        del members["tokens"]
    elif forgery == "no manifest":
        members["manifest.json"] = b"{}"
    kind = zipfile.ZIP_DEFLATED if forgery == "compressed" else zipfile.ZIP_STORED
    with zipfile.ZipFile(tmp_path / "forged", "w", kind) as write:
        for name, content in members.items():
            write.writestr(name, content)
    with pytest.raises(StoreError, match="damaged"):
        restore(tmp_path / "forged", "", tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_backup_of_another_schema_is_refused(small: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "small.backup") as read:
        members = {name: read.read(name) for name in read.namelist()}
    members["manifest.json"] = members["manifest.json"].replace(
        f'"schema": {latest("sqlite")}'.encode(), b'"schema": 99'
    )
    with zipfile.ZipFile(tmp_path / "newer", "w") as write:
        for name, content in members.items():
            write.writestr(name, content)
    with pytest.raises(StoreError, match=rf"schema 99, .* writes schema {latest('sqlite')}"):
        restore(tmp_path / "newer", "", tmp_path / "target")


@pytest.mark.parametrize("content", [b"", b"PK", b"no backup at all" * 100])
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(StoreError, match="not a backup of Sottovoce"):
        restore(tmp_path / "file", "", tmp_path / "target")
    with pytest.raises(StoreError, match="does not exist"):
        restore(tmp_path / "nothing", "", tmp_path / "target")
    with pytest.raises(StoreError, match="cannot be read"):
        restore(tmp_path, "", tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_restore_that_fails_in_the_middle_leaves_an_empty_store(small: bytes, tmp_path: Path) -> None:
    place = Place("", tmp_path / "target")
    store = place.open()
    assert isinstance(store, SqlStore)
    with store.write() as transaction:
        transaction.run("CREATE TRIGGER no BEFORE INSERT ON waiting BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(StoreError):
        restore(tmp_path / "small.backup", "", place.data)
    assert not any(everything(place).values())
    with store.write() as transaction:
        transaction.run("DROP TRIGGER no")
    store.close()
    assert restore(tmp_path / "small.backup", "", place.data).waiting == 2


def test_memory_does_not_grow_with_the_store(tmp_path: Path) -> None:
    place = Place("", tmp_path / "data")
    store = place.open()
    record = store.publish(survey_record(), {})
    rows = os.urandom(19 * 100_000)
    block = replace(arrival(record, 1), n=100_000, rows=rows)
    for _ in range(30):
        store.append([block])
    store.close()
    tracemalloc.start()
    backup("", place.data, tmp_path / "backup")
    restore(tmp_path / "backup", "", tmp_path / "target")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 57 MB of reports; a few chunks of at most 4 MiB and rows of at most 8 MiB may be held at a time.
    assert peak < 30_000_000


def test_objects_that_a_backup_names_must_be_there(source: Place, target: Place, tmp_path: Path) -> None:
    backup(source.database, source.data, tmp_path / "backup")
    with pytest.raises(StoreError, match=r"names 1 object .* no object storage is given; nothing was written: set obj"):
        restore(tmp_path / "backup", target.database, target.data)
    storage().remove("round/object")
    with pytest.raises(StoreError, match=r"names 1 object .*; missing or .*: 1, round/object the first; nothing was"):
        restore(tmp_path / "backup", target.database, target.data, OBJECTS)
    storage().put("round/object", OBJECT[:-1])
    with pytest.raises(StoreError, match="or of another length"):
        restore(tmp_path / "backup", target.database, target.data, OBJECTS)
    storage().remove("round/object")
    storage().put("round/object", OBJECT)
    assert restore(tmp_path / "backup", target.database, target.data, OBJECTS) == CONTENTS


def test_surveys_whose_objects_are_gone_can_be_left_out(source: Place, target: Place, tmp_path: Path) -> None:
    """They were deleted after the backup was made: nobody should have to bring their reports back for the others."""
    backup(source.database, source.data, tmp_path / "backup")
    storage().remove("round/object")
    try:
        found = restore(tmp_path / "backup", target.database, target.data, OBJECTS, leave_out_missing=True)
    finally:
        storage().put("round/object", OBJECT)
    assert (found.surveys, found.objects) == (CONTENTS.surveys, 0)
    with closing(source.open()) as before, closing(target.open()) as after:
        left = {record.id for record in before.surveys()} - {record.id for record in after.surveys()}
        (gone,) = left
        stone = after.survey(gone)
        assert stone is not None
        assert (stone.state, stone.canonical, stone.title) == ("deleted", before.statement(gone), "")
        assert after.tokens() == before.tokens()
        assert found.counted == after.totals().counted < before.totals().counted
