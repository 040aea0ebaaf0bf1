"""Surveys, rounds, attachments and tokens, on both databases."""

from dataclasses import replace

import pytest

from collector.places import Place
from collector.records import arrival, segment, survey_record
from sottovoce.collector.store import Store
from sottovoce.collector.store.records import Checkpoint, SurveyRecord, TokenRecord
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import MismatchError, StoreError

TRICKS = [
    "'; DROP TABLE surveys; --",
    'a "quoted" title',
    "%s ? %(x)s {} \\",
    "NUL \0 inside",
    "half a pair \ud800",
    "Grüße, 世界 \U0001f600",
    "",
    "../../etc/passwd\r\n\t",
]


def round_of(parent: SurveyRecord, number: int, name: str = "") -> SurveyRecord:
    return survey_record(f"{parent.title} round {number} {name}", parent=parent.id, round=number, labels=("x", "y"))


def test_a_survey_is_kept_byte_for_byte_and_the_first_stands(place: Place) -> None:
    record = survey_record("a", canonical=bytes(range(256)), epsilon=0.1 + 0.2)
    store = place.open()
    assert store.survey(record.id) is None
    assert store.publish(record, {}) == record
    assert store.publish(replace(record, title="another"), {}) == record
    store.close()
    store = place.open()
    assert store.survey(record.id) == record
    assert store.surveys() == [record]
    store.close()


def test_a_survey_begins_open_whatever_is_asked(store: Store) -> None:
    record = survey_record("a", state="sealed")
    assert store.publish(record, {}).state == "open"
    assert store.append([arrival(record, 1)]) == [None]


def test_surveys_are_listed_oldest_first_without_rounds_and_deleted_ones(store: Store) -> None:
    records = [survey_record(name) for name in "dcbae"]
    for record in records:
        store.publish(record, {})
    store.publish(round_of(records[0], 1), {})
    store.delete(records[3].id)
    assert [record.title for record in store.surveys()] == ["d", "c", "b", "e"]


def test_text_is_kept_exactly(store: Store) -> None:
    for place, trick in enumerate(TRICKS):
        record = survey_record(f"survey {place}", title=trick, labels=(trick, "plain"))
        store.publish(record, {})
        assert store.survey(record.id) == record
        token = TokenRecord(f"{place:08x}", bytes(32), frozenset({"read", trick}), trick, 3)
        store.add_token(token)
        assert store.token(token.id) == token
    assert [record.title for record in store.surveys()] == TRICKS
    assert [token.note for token in store.tokens()] == TRICKS


def test_unknown_ids_of_any_form_are_unknown(store: Store) -> None:
    known = store.publish(survey_record(), {})
    for trick in TRICKS:
        assert store.survey(trick) is None
        assert store.rounds(trick) == []
        assert store.attachment(trick) is None
        assert store.token(trick) is None
        assert not store.revoke_token(trick)
        assert store.waiting(trick) == 0
        assert store.segments(trick) == []
        assert list(store.read_segments(trick)) == []
        assert store.snapshot(trick).checkpoint is None
        assert store.append([replace(arrival(known, 1), survey=trick)]) == ["unknown"]
        store.seal(trick)
        store.delete(trick)
    assert store.surveys() == [known]


def test_attachments_are_shared_and_stay_with_the_statements_that_name_them(store: Store) -> None:
    first, second = survey_record("a"), survey_record("b")
    store.publish(first, {"aa": b"one", "bb": b"\0two"})
    store.publish(second, {"aa": b"one"})
    assert (store.attachment("aa"), store.attachment("bb"), store.attachment("cc")) == (b"one", b"\0two", None)
    store.delete(first.id)
    store.delete(second.id)
    assert store.forget()
    assert (store.attachment("aa"), store.attachment("bb")) == (b"one", b"\0two")


def test_statements_of_the_log_outlive_their_surveys(store: Store) -> None:
    panel, asked = survey_record("panel"), survey_record("round", parent=survey_record("panel").id, round=1)
    tracking = survey_record("tracking", kind="tracking")
    period = survey_record("period", parent=tracking.id, round=1, is_derived=True)
    for record in (panel, asked, tracking, period):
        store.publish(record, {})
    for _ in range(2):
        for record in (panel, asked, tracking):
            assert store.statement(record.id) == record.canonical
        assert store.statement(period.id) is None, "it has no entry: it follows from its survey"
        assert store.statement("ab" * 32) is None
        for record in (panel, tracking):
            store.delete(record.id)
        assert store.forget()
    gone = store.survey(period.id)
    assert gone is not None
    assert gone.canonical == b""


def test_a_statement_that_an_earlier_version_has_deleted_is_empty(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.delete(record.id)
    assert isinstance(store, SqlStore)
    with store.write() as transaction:  # as it left it
        transaction.run("UPDATE surveys SET canonical = ? WHERE id = ?", (b"", record.id))
    assert store.statement(record.id) == b""


def test_rounds_open_one_after_the_other(store: Store) -> None:
    parent = survey_record("panel")
    with pytest.raises(MismatchError, match="not open here"):
        store.publish(round_of(parent, 1), {})
    store.publish(parent, {})
    with pytest.raises(MismatchError, match=r"round 1 .* has not been closed"):
        store.publish(round_of(parent, 2), {})
    first = store.publish(round_of(parent, 1), {})
    with pytest.raises(MismatchError, match=r"round 1 .* has not been closed"):
        store.publish(round_of(parent, 2), {})
    with pytest.raises(MismatchError, match="already asks another question"):
        store.publish(round_of(parent, 1, "again"), {})
    assert store.publish(first, {}) == first
    store.seal(first.id)
    second = store.publish(round_of(parent, 2), {})
    assert store.rounds(parent.id) == [replace(first, state="sealed"), second]
    with pytest.raises(MismatchError, match=r"round 2 .* has not been closed"):
        store.publish(round_of(parent, 3), {})


def test_rounds_of_two_surveys_do_not_mix(store: Store) -> None:
    parents = [store.publish(survey_record(name), {}) for name in "ab"]
    rounds = [store.publish(round_of(parent, 1), {}) for parent in parents]
    assert [store.rounds(parent.id) for parent in parents] == [[rounds[0]], [rounds[1]]]


def test_sealing_an_adaptive_survey_seals_its_rounds(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    first = store.publish(round_of(parent, 1), {})
    store.seal(parent.id)
    store.seal(parent.id)
    assert store.append([arrival(first, 1)]) == ["sealed"]
    with pytest.raises(MismatchError, match="not open here"):
        store.publish(round_of(parent, 2), {})


def test_sealing_a_round_leaves_its_survey_open(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    first = store.publish(round_of(parent, 1), {})
    store.seal(first.id)
    found = store.survey(parent.id)
    assert found is not None
    assert found.state == "open"


def test_deleting_removes_everything_but_the_id(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    first = store.publish(round_of(parent, 1), {"aa": b"one"})
    store.append([arrival(first, 1, 2)])
    lease = store.lease("w", 30)
    assert lease is not None
    assert store.settle(lease, store.take(lease, 10), [segment(1, 2)], Checkpoint(2, bytes(8)))
    store.append([arrival(first, 3)])
    store.delete(parent.id)
    store.delete(parent.id)
    for record in (parent, first):
        tombstone = store.survey(record.id)
        assert tombstone is not None
        assert tombstone.state == "deleted"
        assert (tombstone.canonical, tombstone.signature) == (record.canonical, b""), "what the log has an entry for"
        assert (tombstone.title, tombstone.labels) == ("", ())
        assert store.publish(record, {}).state == "deleted"
        assert store.append([arrival(record, 1)]) == ["deleted"]
        assert store.segments(record.id) == []
        assert store.snapshot(record.id).checkpoint is None
        assert store.waiting(record.id) == 0
    assert store.surveys() == []
    assert store.rounds(parent.id) == []
    assert store.lease("w", 30) is None
    store.seal(first.id)
    assert store.append([arrival(first, 1)]) == ["deleted"]


def test_a_deleted_round_keeps_its_place(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    first = store.publish(round_of(parent, 1), {})
    store.delete(first.id)
    with pytest.raises(MismatchError, match="already asks another question"):
        store.publish(round_of(parent, 1, "again"), {})
    assert store.rounds(parent.id) == []
    assert store.publish(round_of(parent, 2), {}).state == "open"


def test_tokens_are_listed_found_and_revoked(place: Place) -> None:
    store = place.open()
    first = TokenRecord("00000001", bytes(range(32)), frozenset({"read"}), "dashboard", 3)
    second = TokenRecord("00000000", bytes(32), frozenset({"admin", "ask"}), "", 4)
    store.add_token(first)
    store.add_token(second)
    with pytest.raises(StoreError):
        store.add_token(replace(second, note="another of the same id"))
    assert store.revoke_token(first.id)
    assert store.revoke_token(first.id)
    assert not store.revoke_token("ffffffff")
    store.close()
    store = place.open()
    assert store.tokens() == [replace(first, revoked=True), second]
    assert store.token(first.id) == replace(first, revoked=True)
    assert store.token("ffffffff") is None
    store.close()


def test_numbers_that_no_database_holds_are_refused(store: Store) -> None:
    with pytest.raises(StoreError):
        store.publish(survey_record("a", epoch=2**70), {})
    assert store.surveys() == []
