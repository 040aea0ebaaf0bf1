"""What every device's store promises, asked of each kind of store."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sottovoce.core.errors import BudgetError, LedgerError
from sottovoce.device import DeviceStore, JoinedSurvey, MemoryStore, RecordedAnswer, SqliteDeviceStore

ANSWER = RecordedAnswer(
    question="ab" * 32,
    survey="cd" * 32,
    collector="https://stats.example.org",
    key=bytes(range(32)),
    title="Colours ' \" \0 \u202e; DROP TABLE answer; --",
    epsilon=0.1,
    delta=1e-7,
    day="2026-11-15",
    report_id=bytes(16),
    report=b"\0\xff report",
)


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DeviceStore]:
    return SqliteDeviceStore(tmp_path / "device.db") if request.param == "sqlite" else MemoryStore()


def numbered(i: int) -> RecordedAnswer:
    ids = {"question": f"{i:064x}", "survey": f"{i:063x}f", "report_id": i.to_bytes(16, "big")}
    return dataclasses.replace(ANSWER, **ids)


def test_an_answer_is_kept_as_it_is(store: DeviceStore) -> None:
    assert store.answer(ANSWER.question) is None
    assert store.answers() == []
    assert store.record(ANSWER.question, 1, lambda answers: ANSWER) == ANSWER
    assert store.answer(ANSWER.question) == ANSWER
    assert store.answers() == [ANSWER]


def test_the_first_answer_stands(store: DeviceStore) -> None:
    store.record(ANSWER.question, 1, lambda answers: ANSWER)

    def again(answers: object) -> RecordedAnswer:
        raise AssertionError("drawn twice")

    assert store.record(ANSWER.question, 1, again) == ANSWER


def test_what_was_answered_before_is_shown_to_who_draws(store: DeviceStore) -> None:
    for i in range(5):
        store.record(numbered(i).question, 1, lambda answers, i=i: numbered(i) if len(answers) == i else ANSWER)
    assert store.answers() == [numbered(i) for i in range(5)], "in the order they were given"


def test_a_draw_that_fails_changes_nothing(store: DeviceStore) -> None:
    def fail(answers: object) -> RecordedAnswer:
        raise BudgetError("no")

    with pytest.raises(BudgetError):
        store.record(ANSWER.question, 1, fail)
    assert store.answers() == []
    store.record(ANSWER.question, 1, lambda answers: ANSWER)


def test_states(store: DeviceStore) -> None:
    store.record(ANSWER.question, 1, lambda answers: ANSWER)
    for state, stands in (("refused", "refused"), ("unsent", "unsent"), ("sent", "sent"), ("unsent", "sent")):
        store.mark(ANSWER.question, 1, state)
        assert store.answers() == [dataclasses.replace(ANSWER, state=stands)]
    store.mark("ef" * 32, 1, "sent")
    assert len(store.answers()) == 1


def test_moving(store: DeviceStore) -> None:
    store.record(ANSWER.question, 1, lambda answers: ANSWER)
    store.move(ANSWER.question, "https://other.example.org")
    assert store.answers() == [dataclasses.replace(ANSWER, collector="https://other.example.org")]


def test_keys_and_the_secret_are_kept_for_ever(store: DeviceStore) -> None:
    assert store.pinned("https://a.example") is None
    assert store.pin("https://a.example", bytes(32)) == bytes(32)
    assert store.pin("https://a.example", bytes(range(32))) == bytes(32)
    assert store.pinned("https://a.example") == bytes(32)
    assert store.pinned("https://b.example") is None
    assert len(store.secret()) == 32
    assert len({store.secret() for _ in range(3)}) == 1
    assert store.drawn_seat("ab" * 32) is None


def test_every_window_has_its_own_answer(store: DeviceStore) -> None:
    second = dataclasses.replace(
        ANSWER, survey="ef" * 32, report_id=b"2" * 16, window=2, renews=True, period="May", closes="2027-05-09"
    )
    store.record(ANSWER.question, 1, lambda answers: ANSWER)
    store.record(ANSWER.question, 2, lambda answers: second if answers == [ANSWER] else ANSWER)
    assert store.record(ANSWER.question, 2, lambda answers: numbered(5)) == second
    assert [store.answer(ANSWER.question), store.answer(ANSWER.question, 2)] == [ANSWER, second]
    assert store.answer(ANSWER.question, 3) is None
    store.mark(ANSWER.question, 2, "sent")
    assert [answer.state for answer in store.answers()] == ["unsent", "sent"]
    store.move(ANSWER.question, "https://b.example")
    assert [answer.collector for answer in store.answers()] == ["https://b.example", ANSWER.collector]


def test_joined_surveys_and_refused_renewals(store: DeviceStore) -> None:
    first, second = (
        JoinedSurvey(name * 32, "https://a.example", bytes(32), b"{}", {"cd" * 32: name.encode()})
        for name in ("ab", "ba")
    )
    assert store.joined() == []
    for one in (second, first, dataclasses.replace(first, collector="https://other.example")):
        store.join(one)
    assert store.joined() == [second, first], "the first stands, in the order of joining"
    store.move(first.question, "https://b.example")
    assert store.joined() == [second, dataclasses.replace(first, collector="https://b.example")]
    store.leave(first.question)
    store.leave("ef" * 32)
    assert store.joined() == [second]
    store.join(first)
    assert store.joined() == [second, first]
    assert not store.refuses_renewals(first.question)
    for _ in range(2):
        store.set_renewals(first.question, refused=True)
        assert [store.refuses_renewals(one.question) for one in (first, second)] == [True, False]
    for _ in range(2):
        store.set_renewals(first.question, refused=False)
        assert not store.refuses_renewals(first.question)


def test_nobody_else_records_while_one_draws(store: DeviceStore) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def draw(i: int) -> RecordedAnswer:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        threading.Event().wait(0.005)
        with lock:
            inside -= 1
        return numbered(i)

    threads = [
        threading.Thread(target=lambda i=i: store.record(numbered(i % 4).question, 1, lambda answers: draw(i % 4)))
        for i in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert len(store.answers()) == 4


def test_printed_forms_hold_no_report(store: DeviceStore) -> None:
    store.record(ANSWER.question, 1, lambda answers: ANSWER)
    assert "report'" not in repr(ANSWER)
    assert len(repr(store)) < 300


def test_a_file_is_the_device(tmp_path: Path) -> None:
    """Opened by another name, it is the same one."""
    first = SqliteDeviceStore(tmp_path / "device.db")
    first.record(ANSWER.question, 1, lambda answers: ANSWER)
    (tmp_path / "link").symlink_to(tmp_path / "device.db")
    for path in (tmp_path / "device.db", tmp_path / "link", tmp_path / "." / "device.db"):
        assert SqliteDeviceStore(path).answers() == [ANSWER]


@pytest.mark.parametrize("name", ["a b", "100%", "what?mode=memory", "#1", "ä"])
def test_any_file_name(tmp_path: Path, name: str) -> None:
    SqliteDeviceStore(tmp_path / name).record(ANSWER.question, 1, lambda answers: ANSWER)
    assert SqliteDeviceStore(tmp_path / name).answers() == [ANSWER]
    assert name in {file.name for file in tmp_path.iterdir()}


def test_a_file_without_its_secret_takes_no_other_seat(tmp_path: Path) -> None:
    store = SqliteDeviceStore(tmp_path / "device.db")
    with contextlib.closing(sqlite3.connect(store.path)) as database:
        database.execute("DELETE FROM secret")
        database.commit()
    for opened in (store, SqliteDeviceStore(store.path)):
        with pytest.raises(LedgerError, match="its secret is missing"):
            opened.secret()
