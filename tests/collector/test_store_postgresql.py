"""What only a server can suffer: connections that die, a server that goes and returns, a disk of its own."""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from collector.places import OwnServer
from collector.records import arrival, survey_record
from sottovoce.collector.store import ballast, open_store
from sottovoce.collector.store import postgres as module
from sottovoce.collector.store.postgres import PostgresStore
from sottovoce.core.errors import SettingsError, StoreError, StoreFullError, StoreUnavailableError

END_OTHERS = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)

SOMEBODY_WAITS = (
    "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE NOT l.granted AND a.datname = current_database()"
)


@pytest.fixture
def url(new_postgresql: Callable[[], str]) -> str:
    return new_postgresql()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding_is_refused_and_left_empty(
    new_postgresql: Callable[[str], str], encoding: str
) -> None:
    url = new_postgresql(f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(SettingsError, match=f"the encoding {encoding}, and must have UTF8; nothing was written"):
        PostgresStore(url)
    with psycopg.connect(url) as admin:
        assert admin.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'sottovoce'").fetchall() == []


def test_a_connection_that_died_while_idle_is_replaced_unnoticed(url: str) -> None:
    store = PostgresStore(url)
    record = store.publish(survey_record(), {})
    with psycopg.connect(url) as admin:
        assert admin.execute(END_OTHERS).fetchall() == [(True,)]
    assert store.append([arrival(record, 1)]) == [None]
    store.close()


def test_a_connection_lost_in_a_transaction_keeps_nothing_and_the_next_call_works(url: str) -> None:
    store = PostgresStore(url)
    record = store.publish(survey_record(), {})

    def lose() -> None:
        with store.write() as transaction, psycopg.connect(url) as admin:
            transaction.run("INSERT INTO waiting (survey, epoch, n, content) VALUES (1, 1, 1, ?)", (b"x",))
            admin.execute(END_OTHERS)

    with pytest.raises(StoreUnavailableError, match="try again"):
        lose()
    assert store.waiting(record.id) == 0
    store.close()


def test_a_server_that_goes_and_returns(own_postgresql: OwnServer) -> None:
    store = PostgresStore(own_postgresql.url)
    record = store.publish(survey_record(), {})
    assert store.append([arrival(record, 1)]) == [None]
    own_postgresql.stop()
    for ask in (lambda: store.append([arrival(record, 2)]), store.check, store.surveys):
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            ask()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        PostgresStore(own_postgresql.url)
    own_postgresql.start()
    store.check()
    assert store.append([arrival(record, 3)]) == [None]
    assert store.waiting(record.id) == 2
    store.close()


@pytest.mark.parametrize("default", ["read committed", "repeatable read", "serializable"])
def test_an_append_that_waited_for_a_seal_keeps_nothing(url: str, default: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_isolation = '{default}'")
        store = PostgresStore(url)
        record = store.publish(survey_record(), {})
        verdicts: list[object] = []
        appending = threading.Thread(target=lambda: verdicts.extend(store.append([arrival(record, 1)])))
        # The survey is open when the append begins, and sealed when its lock is granted.
        with store.write() as transaction:
            transaction.rows("SELECT number FROM surveys WHERE id = ? FOR UPDATE", (record.id,))
            transaction.run("UPDATE surveys SET state = 'sealed' WHERE id = ?", (record.id,))
            appending.start()
            while not admin.execute(SOMEBODY_WAITS).fetchall():
                pass
        appending.join()
        assert verdicts == ["sealed"]
        assert store.waiting(record.id) == 0
        store.close()


@pytest.mark.parametrize("default", ["read committed", "repeatable read", "serializable"])
def test_a_deletion_leaves_nothing_whatever_the_servers_default_isolation(url: str, default: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_isolation = '{default}'")
        store = PostgresStore(url)
        record = store.publish(survey_record(), {})
        deleting = threading.Thread(target=store.delete, args=(record.id,))
        # An append is in its transaction when the deletion begins, and commits while that waits for it.
        with store.write() as transaction:
            transaction.rows("SELECT number FROM surveys WHERE id = ? FOR SHARE", (record.id,))
            transaction.run("INSERT INTO waiting (survey, epoch, n, content) VALUES (1, 1, 1, ?)", (b"x",))
            deleting.start()
            while not admin.execute(SOMEBODY_WAITS).fetchall():
                pass
        deleting.join()
        assert store.waiting(record.id) == 0
        found = store.survey(record.id)
        assert found is not None
        assert found.state == "deleted"
        store.close()


def test_a_full_disk_keeps_nothing_and_is_used_again_when_freed(url: str) -> None:
    store = PostgresStore(url)
    a, b = (store.publish(survey_record(name), {}) for name in "ab")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        # Only the second survey's row meets the full disk: the first must go with it.
        admin.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON sottovoce.waiting FOR EACH ROW WHEN (NEW.survey = 2) "
            "EXECUTE FUNCTION full_disk()"
        )
        with pytest.raises(StoreFullError, match="full"):
            store.append([arrival(a, 1), arrival(b, 2)])
        assert store.waiting(a.id) == 0
        admin.execute("DROP TRIGGER full_disk ON sottovoce.waiting")
    assert store.append([arrival(a, 1), arrival(b, 2)]) == [None, None]
    store.close()


def ballast_bytes(url: str) -> int:
    with psycopg.connect(url) as admin:
        ((size,),) = admin.execute("SELECT pg_relation_size('sottovoce.ballast')").fetchall()
    return int(size)


def test_the_reserve_is_given_up_for_all_services_and_held_again_after_a_deletion(url: str) -> None:
    one, two = (PostgresStore(url, reserve_bytes=2**25) for _ in range(2))
    a, b = (one.publish(survey_record(name), {}) for name in "ab")
    one.append([arrival(a, 1)])
    assert one.forget()
    assert ballast_bytes(url) >= 2**25
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        admin.execute("CREATE TRIGGER full_disk BEFORE INSERT ON sottovoce.waiting EXECUTE FUNCTION full_disk()")
        with pytest.raises(StoreFullError, match="delete a survey or make room"):
            one.append([arrival(a, 2)])
        admin.execute("DROP FUNCTION full_disk CASCADE")
    assert ballast_bytes(url) == 0
    publish = lambda: two.publish(survey_record("c"), {})  # noqa: E731
    for refused in (lambda: two.append([arrival(b, 1)]), publish, two.check):
        with pytest.raises(StoreFullError):
            refused()
    two.seal(b.id)
    two.delete(a.id)
    assert two.forget()
    assert ballast_bytes(url) >= 2**25
    assert one.publish(survey_record("c"), {}).state == "open"
    one.check()
    for store in (one, two):
        store.close()


@pytest.mark.parametrize("moment", ["before it is noted", "after"])
def test_a_reserve_that_is_given_up_while_it_is_being_filled_stays_given_up(
    url: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else reports would be taken with no room held, and nothing would be left to give up."""
    store = PostgresStore(url, reserve_bytes=2**25)
    record = store.publish(survey_record(), {})
    guard, grow = ballast._guard, ballast._grow

    def give_up() -> None:
        with psycopg.connect(url, autocommit=True, options="-c search_path=sottovoce") as other:
            ballast.give_up(other)

    def grown(connection: Any, table: str, size: int, end: float) -> bool:
        done = grow(connection, table, size, end)
        if table == "ballast":
            give_up()
        return done

    def guarded(connection: Any, *, on: bool) -> None:
        if not on:
            monkeypatch.undo()
            give_up()
        guard(connection, on=on)

    if moment == "after":
        monkeypatch.setattr(ballast, "_guard", guarded)
    else:
        monkeypatch.setattr(ballast, "_grow", grown)
    store.forget()
    monkeypatch.undo()
    assert ballast_bytes(url) == 0
    with pytest.raises(StoreFullError):
        store.append([arrival(record, 1)])
    store._next_fill = 0.0
    assert store.forget()
    assert ballast_bytes(url) >= 2**25
    assert store.append([arrival(record, 1)]) == [None]
    store.close()


def test_a_server_that_crashed_comes_back_without_its_ballast_and_takes_no_reports(own_postgresql: OwnServer) -> None:
    store = PostgresStore(own_postgresql.url, reserve_bytes=2**25)
    record = store.publish(survey_record(), {})
    assert store.forget()
    own_postgresql.crash()
    assert ballast_bytes(own_postgresql.url) == 0
    with pytest.raises(StoreFullError):
        store.append([arrival(record, 1)])
    store.seal(record.id)
    with contextlib.closing(PostgresStore(own_postgresql.url, reserve_bytes=2**25)) as other:
        assert other.forget()
    assert ballast_bytes(own_postgresql.url) >= 2**25
    store.check()
    store.close()


@pytest.mark.parametrize(("default", "used"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
def test_a_commit_waits_for_the_disk_whatever_the_servers_default(url: str, default: str, used: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        name = admin.info.dbname
        admin.execute(f"ALTER DATABASE {name} SET synchronous_commit = '{default}'")
    store = PostgresStore(url)
    with store.write() as transaction:
        assert transaction.rows("SELECT current_setting('synchronous_commit')") == [(used,)]
    store.close()


def test_a_row_that_stays_locked_is_unavailable(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SESSION", module._SESSION.replace("10s", "50ms"))
    store = PostgresStore(url)
    record = store.publish(survey_record(), {})
    with psycopg.connect(url) as other:
        other.execute("SELECT 1 FROM sottovoce.surveys FOR UPDATE")
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            store.append([arrival(record, 1)])
    assert store.append([arrival(record, 1)]) == [None]
    store.close()


def test_a_database_that_cannot_be_written_to_fails_the_check(url: str) -> None:
    PostgresStore(url).close()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_read_only = on")
    store = PostgresStore(url)
    with pytest.raises(StoreError, match="read-only"):
        store.check()
    store.close()


def test_more_threads_than_connections_wait_their_turn(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CONNECTIONS", 1)
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    store = PostgresStore(url)
    with store.read(), pytest.raises(StoreUnavailableError, match="busy"):
        store.surveys()
    assert store.surveys() == []
    store.close()


@pytest.mark.parametrize(
    "database",
    [
        "mysql://root:hunter2@localhost/x",
        "postgresql://root:hunter2@localhost:port/x?hunter2=1",
        "postgresql://root:hun@ter2@localhost/x",
        "collector.db:hunter2",
    ],
)
def test_a_wrong_address_is_refused_without_repeating_it(database: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        open_store(database, tmp_path)
    assert "hunter2" not in str(refused.value)
    assert "ter2" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_is_unavailable_and_no_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError) as refused:
        open_store(f"postgresql://root:hunter2@/x?host={tmp_path}", tmp_path)
    assert "hunter2" not in str(refused.value)
