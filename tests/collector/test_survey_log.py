"""The log of publications: one entry each, in one order for everybody, and never two lists that were both signed."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, running
from collector.places import Place
from collector.records import survey_record
from collector.service import running as started
from collector.service import until
from sottovoce.collector.running.backup import backup, restore
from sottovoce.collector.store import Store
from sottovoce.collector.store import migrations as module
from sottovoce.collector.store.migrations import Dialect, Migration, migrations
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.surveys.log import CHECKPOINT_FILE, SurveyLog, forget_checkpoint
from sottovoce.core.errors import MismatchError, StoreUnavailableError
from sottovoce.core.signing import SigningKey, from_base64url
from sottovoce.protocol.log import LogEntry, LogProof
from sottovoce.service.refusal import Refusal
from sottovoce.transparency.evidence import check_log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash, proves_consistency
from sottovoce.transparency.tree_head import TreeHead, read_checkpoint

KEY = SigningKey(bytes(32))


def survey_id(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def publish(store: Store, *names: str) -> None:
    for name in names:
        store.publish(survey_record(name), {})


def published(store: Store) -> list[str]:
    return [entry.survey for entry in store.log_entries()]


def log_of(place: Place, store: Store) -> SurveyLog:
    place.data.mkdir(exist_ok=True)
    return SurveyLog(place.data, KEY, store)


# --- the store ------------------------------------------------------------------------------


def test_each_publication_has_one_entry_in_order(store: Store) -> None:
    publish(store, "a", "b", "a", "c")
    assert published(store) == [survey_id(name) for name in "abc"]
    assert (store.log_size(), store.log_entries(2), store.log_entries(1, 1)) == (
        3,
        [LogEntry("published", survey_id("c"))],
        [LogEntry("published", survey_id("b"))],
    )


def test_deleting_a_survey_keeps_its_entry(store: Store) -> None:
    publish(store, "a", "b")
    store.seal(survey_id("a"))
    store.delete(survey_id("a"))
    assert store.forget()
    assert published(store) == [survey_id("a"), survey_id("b")]


def test_rounds_have_entries_and_periods_have_none(store: Store) -> None:
    store.publish(survey_record("panel"), {})
    store.publish(survey_record("round", parent=survey_id("panel"), round=1), {})
    store.publish(survey_record("tracking", kind="tracking"), {})
    store.publish(survey_record("period", parent=survey_id("tracking"), round=1, is_derived=True), {})
    assert published(store) == [survey_id(name) for name in ("panel", "round", "tracking")]


def test_what_is_not_published_has_no_entry(store: Store) -> None:
    with pytest.raises(MismatchError):
        store.publish(survey_record("round", parent=survey_id("nowhere"), round=1), {})
    assert store.log_size() == 0


def test_many_who_publish_at_once_make_one_list(place: Place) -> None:
    """Each with a store of its own, as services on one database have."""
    stores = [place.open() for _ in range(4)]
    started, failures = threading.Barrier(len(stores)), list[BaseException]()

    def work(number: int) -> None:
        started.wait()
        for each in range(12):
            while True:
                try:
                    publish(stores[number], f"{number}-{each}", f"shared-{each}")
                    break
                except StoreUnavailableError:  # SQLite may be busy
                    continue
                except BaseException as error:
                    failures.append(error)
                    raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    lists = [published(store) for store in stores]
    assert lists[0] == lists[1] == lists[2] == lists[3]
    assert len(lists[0]) == len(set(lists[0])) == 4 * 12 + 12
    checkpoints = {log_of(place, store).checkpoint() for store in stores}
    assert len(checkpoints) == 1, "every service signs the same head"
    for store in stores:
        store.close()


def test_a_database_of_an_earlier_version_is_given_its_log(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def earlier(dialect: Dialect) -> tuple[Migration, ...]:
        return tuple(change for change in migrations(dialect) if change.number < 5)

    columns = "id, canonical, signature, title, kind, epsilon, minimum_reports, epoch, parent, round, labels, state"
    with monkeypatch.context() as patched:
        patched.setattr(module, "migrations", earlier)
        store = place.open()
        assert isinstance(store, SqlStore)
        with store.write() as transaction:
            for name, about, parent, number, state in (
                ("z", "shares", None, None, "open"),
                ("t", "tracking", None, None, "open"),
                ("t1", "shares", survey_id("t"), 1, "sealed"),
                ("a", "panel", None, None, "deleted"),
                ("a1", "shares", survey_id("a"), 1, "deleted"),
                ("t2", "shares", survey_id("t"), 2, "open"),
                ("m", "shares", None, None, "sealed"),
            ):
                transaction.run(
                    f"INSERT INTO surveys ({columns}) VALUES (?, ?, ?, '\"\"', ?, 1.0, 1, 0, ?, ?, '[]', ?)",
                    (survey_id(name), b"{}", bytes(64), about, parent, number, state),
                )
        store.close()
    store = place.open()
    assert published(store) == [survey_id(name) for name in ("z", "t", "a", "a1", "m")]
    publish(store, "new")
    assert published(store)[-1] == survey_id("new")
    store.close()


def test_a_backup_keeps_the_log(place: Place, tmp_path: Path, new_postgresql: Any) -> None:
    with contextlib.closing(place.open()) as store:
        publish(store, "a", "b", "c")
        store.delete(survey_id("b"))
        before = log_of(place, store).checkpoint()
    backup(place.database, place.data, tmp_path / "b.zip")
    for target in (Place("", tmp_path / "one"), Place(new_postgresql(), tmp_path / "two")):
        restore(tmp_path / "b.zip", target.database, target.data)
        with contextlib.closing(target.open()) as store:
            assert log_of(target, store).checkpoint() == before
            publish(store, "d")
            assert published(store) == [survey_id(name) for name in "abcd"]


# --- what is signed -------------------------------------------------------------------------


@pytest.fixture
def sqlite(tmp_path: Path) -> Place:
    return Place("", tmp_path / "data")


def test_heads_continue_each_other_over_restarts(sqlite: Place) -> None:
    store = sqlite.open()
    heads = []
    for name in "abcdefg":
        publish(store, name)
        heads.append(read_checkpoint(log_of(sqlite, store).checkpoint()[0], KEY.public))
    log = log_of(sqlite, store)
    for old in heads:
        proof = log.consistency(old.size, 7)
        assert proves_consistency(old.size, 7, old.root, heads[-1].root, proof)
    file = sqlite.data / CHECKPOINT_FILE
    assert (file.read_text(), file.stat().st_mtime, file.stat().st_mode & 0o077) == (log.checkpoint()[0], 0, 0)
    store.close()


def rolled_back(place: Place, tmp_path: Path) -> Store:
    """A database that was put back to before the third survey, of which a head was signed."""
    store = place.open()
    publish(store, "a", "b")
    backup(place.database, place.data, tmp_path / "early.zip")
    publish(store, "c")
    log_of(place, store).checkpoint()
    store.close()
    for file in place.data.glob("collector.db*"):
        file.unlink()
    restore(tmp_path / "early.zip", "", place.data)
    return place.open()


def test_a_database_that_was_put_back_signs_no_second_list(
    sqlite: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = rolled_back(sqlite, tmp_path)
    before = (sqlite.data / CHECKPOINT_FILE).read_text()
    log = log_of(sqlite, store)
    for ask in (log.check, log.checkpoint, lambda: log.proof(survey_id("a"), 0), lambda: log.entries(0, 9)):
        with pytest.raises(Refusal) as caught:
            ask()  # type: ignore[operator]
        assert (caught.value.status, caught.value.code) == (503, "log_behind")
    assert "a checkpoint of 3 entries was signed, and it has 2" in caplog.text
    # Nor when it has grown as long again, with others.
    publish(store, "x", "y")
    with pytest.raises(Refusal):
        log_of(sqlite, store).checkpoint()
    assert (sqlite.data / CHECKPOINT_FILE).read_text() == before
    forget_checkpoint(sqlite.data)
    assert read_checkpoint(log_of(sqlite, store).checkpoint()[0], KEY.public).size == 4
    store.close()


def test_a_database_that_is_put_back_while_the_service_runs(sqlite: Place) -> None:
    store = sqlite.open()
    assert isinstance(store, SqlStore)
    publish(store, "a", "b")
    log = log_of(sqlite, store)
    log.checkpoint()
    with store.write() as transaction:
        transaction.run("DELETE FROM log_entries WHERE position = 1")
    with pytest.raises(Refusal):
        log.checkpoint()
    store.close()


@pytest.mark.parametrize("asked", ["check", "checkpoint", "advice"])
def test_what_another_process_signs_meanwhile_is_no_loss(sqlite: Place, asked: str) -> None:
    """Publishing and the log's own addresses are in two processes of a service, with one folder."""
    store = sqlite.open()
    publish(store, "a")
    other = log_of(sqlite, store)

    class Overtaken:
        """A store in which somebody publishes, and signs, just after it was asked for the first time."""

        is_overtaken = False

        def log_entries(self, start: int = 0, most: int | None = None) -> list[LogEntry]:
            return store.log_entries(start, 1 if start == 0 else most)

        def log_size(self) -> int:
            size = store.log_size()
            if not self.is_overtaken:
                self.is_overtaken = True
                publish(store, "b")
                assert other.checkpoint()[1] == 2
            return size

    log = SurveyLog(sqlite.data, KEY, Overtaken())
    said = getattr(log, asked)()
    assert not said or (asked == "checkpoint" and said == other.checkpoint())
    store.close()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 2000])
def test_a_damaged_file_signs_nothing(sqlite: Place, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store = sqlite.open()
    publish(store, "a")
    log = log_of(sqlite, store)
    (sqlite.data / CHECKPOINT_FILE).write_bytes(content)
    with pytest.raises(Refusal):
        log.checkpoint()
    assert "is damaged, or of another signing key" in caplog.text
    assert (sqlite.data / CHECKPOINT_FILE).read_bytes() == content
    store.close()


def test_no_head_is_shown_that_could_not_be_noted(sqlite: Place) -> None:
    store = sqlite.open()
    publish(store, "a")
    (sqlite.data / CHECKPOINT_FILE).mkdir(parents=True)
    with pytest.raises(StoreUnavailableError):
        log_of(sqlite, store).checkpoint()
    store.close()


# --- over HTTP ------------------------------------------------------------------------------


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as one:
        yield one


def test_the_routes(api: Api) -> None:
    api.publish(DRINKS)
    first = read_checkpoint(api.ask("GET", "/v1/log/checkpoint", token="").text, api.key.public)
    api.publish(AGES)
    asked = sv.adaptive.round_of(AGES, 1, "age < 30")
    assert api.open_round(asked).status_code == 201
    response = api.ask("GET", "/v1/log/checkpoint", token="")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    head = read_checkpoint(response.text, api.key.public)
    response = api.ask("GET", "/v1/log/entries", token="")
    assert response.headers["cache-control"] == "no-store", "an empty page would hide what was published since"
    listed = response.json()
    assert listed["entries"] == [{"event": "published", "survey": one.id} for one in (DRINKS, AGES, asked)]
    assert (listed["start"], listed["size"]) == (0, head.size) == (0, 3)
    tree = GrowingTree()
    for entry in msgspec.convert(listed["entries"], list[LogEntry]):
        tree.append(leaf_hash(entry.leaf))
    assert tree.root(3) == head.root
    response = api.ask("GET", "/v1/log/consistency?old=1&new=3", token="")
    assert response.headers["cache-control"] == "no-store"
    hashes = [from_base64url(one) for one in response.json()["proof"]]
    assert proves_consistency(1, 3, first.root, head.root, hashes)
    for one in (DRINKS, AGES, asked):
        told = api.ask("GET", f"/v1/log/proofs/{one.id}?block=0", token="")
        assert told.headers["cache-control"] == "no-store"
        assert check_log_proof(msgspec.convert(told.json(), LogProof), api.key.public, one.id, first) == head
    assert api.ask("GET", "/v1/log/entries?start=3", token="").json()["entries"] == []


def test_what_the_log_does_not_have(api: Api) -> None:
    api.publish(DRINKS)
    empty = api.ask("GET", f"/v1/log/proofs/{'0' * 64}", token="")
    assert (empty.status_code, empty.json()["error"]["code"]) == (404, "not_in_log")
    for old, new in ((0, 2), (1, 0), (5, 5)):
        beyond = api.ask("GET", f"/v1/log/consistency?old={old}&new={new}", token="")
        assert (beyond.status_code, beyond.json()["error"]["code"]) == (404, "no_such_size")
    far = api.ask("GET", f"/v1/log/proofs/{DRINKS.id}?block=7", token="").json()
    assert (far["start"], far["before"], far["block"]) == (7 * 256, [], [])


def test_statements_are_for_everybody_and_for_ever(api: Api) -> None:
    api.publish(DRINKS)
    api.publish(AGES)
    asked = sv.adaptive.round_of(AGES, 1, "age < 30")
    assert api.open_round(asked).status_code == 201
    for _ in range(2):
        for one in (DRINKS, AGES, asked):
            told = api.ask("GET", f"/v1/log/statements/{one.id}", token="")
            assert (told.status_code, told.content) == (200, one.canonical)
            assert hashlib.sha256(told.content).hexdigest() == one.id
            assert told.headers["content-type"] == "application/json"
            assert told.headers["cache-control"] == "public, max-age=31536000, immutable"
            withal = api.ask("GET", f"/v1/log/statements/{one.id}")
            assert (withal.content, dict(withal.headers)) == (told.content, dict(told.headers)), "with a token too"
        for one in (DRINKS, AGES):
            api.ask("DELETE", f"/v1/surveys/{one.id}")
    for odd in ("ab" * 32, DRINKS.id.upper(), "x", DRINKS.id[:12]):
        none = api.ask("GET", f"/v1/log/statements/{odd}", token="")
        assert (none.status_code, none.json()["error"]["code"]) == (404, "not_in_log")
    assert isinstance(api.store, SqlStore)
    with api.store.write() as transaction:  # as an earlier version left what it deleted
        transaction.run("UPDATE surveys SET canonical = ? WHERE id = ?", (b"", DRINKS.id))
    gone = api.ask("GET", f"/v1/log/statements/{DRINKS.id}", token="")
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "statement_gone")


def test_an_empty_log_is_signed_too(api: Api) -> None:
    head = read_checkpoint(api.ask("GET", "/v1/log/checkpoint", token="").text, api.key.public)
    assert head == TreeHead(0, hashlib.sha256(b"").digest())


def test_nothing_is_published_on_a_database_that_was_put_back(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        assert isinstance(api.store, SqlStore)
        api.publish(DRINKS)
        api.ask("GET", "/v1/log/checkpoint")
        with api.store.write() as transaction:
            transaction.run("UPDATE log_entries SET survey = ?, event = event", (DRINKS.id,))
            transaction.run("DELETE FROM log_entries")
        said = {"statement": AGES.to_json(), "minimum_reports": 1}
        refused = api.ask("POST", "/v1/surveys", json=said)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "log_behind")
        assert api.store.survey(AGES.id) is None


def test_a_service_that_nobody_asks_notes_every_head(tmp_path: Path) -> None:
    """Of two services on one database the one that is not asked would else go another way after a loss."""
    with started(tmp_path, "--workers", "0") as service:
        service.publish(DRINKS)
        key = SigningKey.load_or_create(tmp_path / "signing.key")

        def noted() -> bool:
            return read_checkpoint((tmp_path / CHECKPOINT_FILE).read_text("utf-8"), key.public).size == 1

        until(noted, "the head is noted")


_SIGN = """
import sys, time
from pathlib import Path
from sottovoce.collector.store import open_store
from sottovoce.collector.surveys import log
from sottovoce.core.signing import SigningKey

folder = Path(sys.argv[1])
survey_log = log.SurveyLog(folder, SigningKey(bytes(32)), open_store("", folder))
write = log.replace_file

def write_slowly(*given):
    print("writes", flush=True)
    sys.stdin.readline()
    write(*given)

log.replace_file = write_slowly
print(survey_log.checkpoint()[1], flush=True)
"""


def test_two_processes_with_one_folder_never_move_the_checkpoint_backwards(sqlite: Place) -> None:
    """One is stopped between its comparison and its writing, while the other signs a longer log."""
    store = sqlite.open()
    publish(store, "a")
    command = [sys.executable, "-c", _SIGN, str(sqlite.data)]
    slow = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert slow.stdin is not None
    assert slow.stdout is not None
    with slow, contextlib.closing(store):
        assert slow.stdout.readline() == "writes\n"
        publish(store, "b")
        log, signed = log_of(sqlite, store), list[int]()
        quick = threading.Thread(target=lambda: signed.append(log.checkpoint()[1]))
        quick.start()
        quick.join(0.5)  # without a lock it has written by now
        slow.stdin.write("\n")
        slow.stdin.flush()
        assert slow.stdout.readline() == "1\n"
        quick.join()
        assert signed == [2]
        assert read_checkpoint((sqlite.data / CHECKPOINT_FILE).read_text(), KEY.public).size == 2
