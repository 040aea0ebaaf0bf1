"""What only a file can suffer: damage, strangers, locks, a quota, a disk that refuses, a process that is killed."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from collector.records import arrival, segment, survey_record
from sottovoce.collector.store import DATABASE_FILE, Store, open_store
from sottovoce.collector.store.sqlite import APPLICATION_ID, SqliteStore
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage import sqlite_database as module
from sottovoce.service.storage.committer import Arrival

TESTS = Path(__file__).parents[1]


def file_of(folder: Path) -> Path:
    return folder / DATABASE_FILE


def filled(folder: Path) -> Path:
    """A closed store of a few hundred pages."""
    store = open_store("", folder)
    record = store.publish(survey_record(), {})
    for start in range(0, 40_000, 1000):
        store.append([arrival(record, *range(start, start + 1000))])
    store.close()
    return file_of(folder)


def test_a_commit_is_durable_by_every_setting(tmp_path: Path) -> None:
    store = SqliteStore(file_of(tmp_path))
    store.publish(survey_record(), {})
    with store.write() as transaction:
        settings = {
            name: transaction.rows(f"PRAGMA {name}")[0][0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "application_id")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "application_id": APPLICATION_ID,
    }
    store.close()


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    store = open_store("", folder)
    store.publish(survey_record(), {})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    store.close()


@pytest.mark.parametrize("content", [b"Dear diary,\n" * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file_of(tmp_path).write_bytes(content)
    with pytest.raises(StoreError, match="damaged or no SQLite database; it was left as it is"):
        open_store("", tmp_path)
    assert file_of(tmp_path).read_bytes() == content
    assert list(tmp_path.iterdir()) == [file_of(tmp_path)]


@pytest.mark.parametrize("application", [0, 77])
def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, application: int) -> None:
    other = sqlite3.connect(file_of(tmp_path))
    other.executescript(
        f"PRAGMA application_id = {application}; CREATE TABLE surveys (x); INSERT INTO surveys VALUES (1)"
    )
    other.close()
    before = file_of(tmp_path).read_bytes()
    with pytest.raises(StoreError, match="another program; it was left as it is"):
        open_store("", tmp_path)
    assert file_of(tmp_path).read_bytes() == before
    assert list(tmp_path.iterdir()) == [file_of(tmp_path)]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file_of(tmp_path).touch()
    store = open_store("", tmp_path)
    store.check()
    store.close()


@pytest.mark.parametrize("damage", ["garbage", "cut"])
def test_a_damaged_file_is_refused_and_left_alone(tmp_path: Path, damage: str) -> None:
    file = filled(tmp_path)
    content = bytearray(file.read_bytes())
    if damage == "garbage":
        content[8 * 4096 : 60 * 4096] = b"\xa5" * (52 * 4096)
    else:
        del content[len(content) // 2 :]
    file.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        open_store("", tmp_path)
    assert file.read_bytes() == content


def test_damage_that_is_met_later_is_reported_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = filled(tmp_path)
    with closing(sqlite3.connect(file)) as connection:
        roots = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('waiting', 'leases') AND rootpage > 0"
        ).fetchall()
    content = bytearray(file.read_bytes())
    for (page,) in roots:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    file.write_bytes(content)
    # As if the file were too long to be looked through at the start.
    monkeypatch.setattr(module, "_CHECKED_BYTES", 0)
    store = open_store("", tmp_path)
    for ask in (lambda: store.waiting(survey_record().id), lambda: store.lease("w", 30)):
        with pytest.raises(StoreError, match="damaged"):
            ask()
    store.close()


def test_a_locked_database_is_unavailable_until_it_is_free(tmp_path: Path) -> None:
    store = SqliteStore(file_of(tmp_path), busy_seconds=0.05)
    record = store.publish(survey_record(), {})
    other = sqlite3.connect(file_of(tmp_path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for ask in (lambda: store.append([arrival(record, 1)]), store.check, lambda: store.seal(record.id)):
        with pytest.raises(StoreUnavailableError, match="locked by another process"):
            ask()
    assert store.surveys() == [record]
    other.execute("ROLLBACK")
    assert store.append([arrival(record, 1)]) == [None]
    assert store.waiting(record.id) == 1
    store.close()
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("UPDATE surveys SET title = title")
    with pytest.raises(StoreUnavailableError, match="locked by another process"):
        SqliteStore(file_of(tmp_path), busy_seconds=0.05)
    other.close()


def test_a_write_that_waits_too_long_for_another_thread_is_unavailable(tmp_path: Path) -> None:
    store = SqliteStore(file_of(tmp_path), busy_seconds=0.05)
    with store.write(), pytest.raises(StoreUnavailableError, match="busy"):
        store.publish(survey_record(), {})
    assert store.publish(survey_record(), {}) == survey_record()
    store.close()


def test_nothing_is_acknowledged_into_a_file_that_was_moved_away(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    file = file_of(tmp_path)
    file.rename(tmp_path / "moved")
    for ask in (lambda: store.append([arrival(record, 1)]), store.check, store.surveys):
        with pytest.raises(StoreUnavailableError, match="gone"):
            ask()
    assert not file.exists()
    file.write_bytes(b"")
    with pytest.raises(StoreUnavailableError, match="moved or replaced"):
        store.append([arrival(record, 1)])
    (tmp_path / "moved").replace(file)
    assert store.append([arrival(record, 1)]) == [None]
    store.close()


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_a_log_without_its_database_is_left_alone(tmp_path: Path, left: str) -> None:
    store = open_store("", tmp_path / "running")
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1, 2)])
    # What a killed process leaves; then the database alone is moved away.
    data = tmp_path / "data"
    shutil.copytree(tmp_path / "running", data)
    store.close()
    file_of(data).rename(tmp_path / "moved")
    if left == "an empty file":
        file_of(data).touch()
    before = {file.name: file.read_bytes() for file in data.iterdir()}
    assert before[f"{DATABASE_FILE}-wal"]
    with pytest.raises(StoreError, match=r"put collector\.db back, or move all three files away"):
        open_store("", data)
    assert {file.name: file.read_bytes() for file in data.iterdir()} == before
    (tmp_path / "moved").replace(file_of(data))
    found = open_store("", data)
    assert found.waiting(record.id) == 2
    found.close()


def test_an_empty_log_beside_no_database_is_nothing_to_keep(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE_FILE}-wal").touch()
    open_store("", tmp_path).close()


def test_forgetting_empties_the_log_unless_somebody_reads(tmp_path: Path) -> None:
    store = SqliteStore(file_of(tmp_path))
    record = store.publish(survey_record(), {})
    log = tmp_path / f"{DATABASE_FILE}-wal"
    with store.read() as transaction:
        transaction.rows("SELECT 1 FROM surveys")
        store.append([arrival(record, 1)])
        assert not store.forget()
        assert log.stat().st_size
    assert store.forget()
    assert log.stat().st_size == 0
    assert store.waiting(record.id) == 1
    store.close()


def appends_until_full(store: Store, block: Arrival) -> int:
    for kept in range(1000):
        try:
            store.append([block])
        except StoreFullError:
            return kept
    raise AssertionError("never full")


def test_a_full_store_refuses_reports_still_counts_and_takes_them_again_when_freed(tmp_path: Path) -> None:
    store = open_store("", tmp_path, max_bytes=1024 * 1024)
    record, other = (store.publish(survey_record(name), {}) for name in "ab")
    block = Arrival(record.id, 7, 1000, os.urandom(19_000))
    kept = appends_until_full(store, block)
    assert 30 <= kept < 60
    assert store.waiting(record.id) == kept * 1000
    with pytest.raises(StoreFullError):
        store.append([block])
    assert store.append([arrival(survey_record("unknown"), 1)]) == ["unknown"]
    lease = store.lease("w", 30)
    assert lease is not None
    taken = store.take(lease, 1000 * kept)
    rows = b"".join(each.rows for each in taken)
    whole = segment(*range(1000 * kept))
    assert len(rows) == len(whole.ids) + len(whole.payloads)
    assert store.settle(lease, taken, [whole])
    store.delete(record.id)
    store.check()
    assert store.append([arrival(other, *range(1000))]) == [None]
    assert file_of(tmp_path).stat().st_size <= 1.25 * 1024 * 1024
    store.close()


def test_a_check_says_that_the_quota_is_reached(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    store.append([arrival(record, *range(10_000))])
    store.close()
    store = open_store("", tmp_path, max_bytes=64 * 1024)
    with pytest.raises(StoreFullError, match="max_database_bytes"):
        store.check()
    assert store.waiting(record.id) == 10_000
    store.close()


DISK_REFUSES = """
import resource, signal, sys
from pathlib import Path
from collector.records import arrival, survey_record
from sottovoce.collector.store import open_store
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store("", Path(sys.argv[1]))
record = store.publish(survey_record(), {})
store.append([arrival(record, 1)])
# No file of this process may grow any further: as a write error, real as far as SQLite can tell.
longest = max(file.stat().st_size for file in Path(sys.argv[1]).iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))
kept = 0
try:
    for number in range(1000):
        store.append([arrival(record, *range(1000))])
        kept += 1000
except (StoreFullError, StoreUnavailableError) as error:
    print(type(error).__name__)
assert store.waiting(record.id) == 1 + kept, (store.waiting(record.id), kept)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert store.append([arrival(record, 2)]) == [None]
assert store.waiting(record.id) == 2 + kept
store.close()
"""


def python(script: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_a_disk_that_refuses_keeps_nothing_of_the_append_and_is_used_again_later(tmp_path: Path) -> None:
    with python(DISK_REFUSES, str(tmp_path)) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert output.strip() in ("StoreFullError", "StoreUnavailableError")


APPEND_FOREVER = """
import sys
from pathlib import Path
from collector.records import arrival, survey_record
from sottovoce.collector.store import open_store

store = open_store("", Path(sys.argv[1]))
record = store.publish(survey_record(), {})
for number in range(10**9):
    store.append([arrival(record, number)])
    print(number, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    with python(APPEND_FOREVER, str(tmp_path)) as process:
        assert process.stdout is not None
        for _ in range(50):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        acknowledged = 50 + len(process.stdout.readlines())
    store = open_store("", tmp_path)
    # One more may have been committed before the word got out.
    assert store.waiting(survey_record().id) in (acknowledged, acknowledged + 1)
    store.close()


@pytest.mark.parametrize("end", ["deleted", "settled"])
def test_what_is_removed_is_not_left_in_the_file(tmp_path: Path, end: str) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    marker = b"\xc3\x5a\xa5\x3c" * 4
    store.append([Arrival(record.id, 7, 1000, (marker + b"abc") * 1000)])
    if end == "deleted":
        store.delete(record.id)
    else:
        # Sorted by id, the segment does not show who came before whom; nor may what it was made from.
        lease = store.lease("w", 30)
        assert lease is not None
        assert store.settle(lease, store.take(lease, 1000), [segment(*range(1000))])
    store.close()
    assert not list(tmp_path.glob("*-wal"))
    assert marker not in file_of(tmp_path).read_bytes()
