"""How tables come to be: numbered changes, each whole or not at all, and never backwards."""

from dataclasses import replace

import pytest

from collector.places import Place
from collector.records import survey_record
from sottovoce.collector.store import migrations as module
from sottovoce.collector.store.migrations import COLUMNS, NOT_IN_BACKUPS, Migration, latest, migrations
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import StoreError
from sottovoce.service.storage.sql import Transaction

TABLES = {
    "sqlite": "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c "
    "WHERE s.type = 'table' AND s.name <> 'sqlite_sequence' ORDER BY s.name, c.cid",
    "postgresql": "SELECT table_name::text, column_name::text FROM information_schema.columns "
    "WHERE table_schema = 'sottovoce' ORDER BY table_name, ordinal_position",
}


def opened(place: Place) -> SqlStore:
    store = place.open()
    assert isinstance(store, SqlStore)
    return store


def columns(store: SqlStore) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    with store.read() as transaction:
        # No LIKE: a percent sign is a mark for values in one of the two.
        for table, column in transaction.rows(
            TABLES[store.dialect].replace("NOT LIKE 'sqlite_%'", "<> 'sqlite_sequence'")
        ):
            found[table] = (*found.get(table, ()), column)
    return found


def applied(transaction: Transaction) -> list[int]:
    return [number for (number,) in transaction.rows("SELECT number FROM migrations ORDER BY number")]


def test_both_databases_are_changed_in_the_same_steps() -> None:
    steps = [[(change.number, change.name) for change in migrations(kind)] for kind in ("sqlite", "postgresql")]
    assert steps[0] == steps[1]
    assert [number for number, _ in steps[0]] == list(range(1, len(steps[0]) + 1))


def test_the_tables_are_those_a_backup_holds(place: Place) -> None:
    store = opened(place)
    assert columns(store) == {**COLUMNS, **NOT_IN_BACKUPS[store.dialect], "migrations": ("number", "name")}
    store.close()


def test_opening_again_changes_nothing(place: Place) -> None:
    store = opened(place)
    record = store.publish(survey_record(), {})
    store.close()
    store = opened(place)
    with store.read() as transaction:
        assert applied(transaction) == list(range(1, latest(store.dialect) + 1))
    assert store.surveys() == [record]
    store.close()


def test_a_newer_schema_is_refused_and_left_alone(place: Place) -> None:
    store = opened(place)
    newer = latest(store.dialect) + 1
    with store.write() as transaction:
        transaction.run("INSERT INTO migrations (number, name) VALUES (?, 'tomorrow')", (newer,))
    before = columns(store)
    with pytest.raises(StoreError, match=f"schema {newer}, .* knows schema {newer - 1}"):
        place.open()
    with store.read() as transaction:
        assert applied(transaction)[-1] == newer
    assert columns(store) == before
    store.close()


def test_a_change_that_fails_leaves_no_trace_and_can_be_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(place)
    record = store.publish(survey_record(), {})
    before = columns(store)
    second = latest(store.dialect) + 1
    known = migrations(store.dialect)
    good = "CREATE TABLE extra (number integer);"
    for script in (f"{good} CREATE TABLE surveys (number integer);", good):
        monkeypatch.setattr(module, "migrations", lambda _, s=script: (*known, Migration(second, "second", s)))
        if script != good:
            with pytest.raises(StoreError):
                place.open()
            assert columns(store) == before
    place.open().close()
    assert columns(store) == {**before, "extra": ("number",)}
    assert store.surveys() == [record]
    store.close()


def test_panels_of_the_version_before_are_called_panels(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {dialect: migrations(dialect)[:5] for dialect in ("sqlite", "postgresql")}
    monkeypatch.setattr(module, "migrations", known.__getitem__)
    store = opened(place)
    old = store.publish(survey_record(kind="adaptive"), {})
    store.close()
    monkeypatch.undo()
    store = opened(place)
    assert store.surveys() == [replace(old, kind="panel")]
    store.close()
