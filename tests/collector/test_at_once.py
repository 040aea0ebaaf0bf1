"""What comes to the event loop in one turn is kept by the loop itself, and by nobody if that would mean waiting."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from collector.records import arrival, survey_record
from sottovoce.collector.store import DATABASE_FILE, Store, open_store
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival, Closed, Committer


class Threads:
    """A store that notes which thread kept what; `free` says whether it can be done at once."""

    def __init__(self) -> None:
        self.free = True
        self.kept: list[tuple[str, bytes]] = []
        self.seconds = 0.0
        self.now = 0.0

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        self.kept += [(threading.current_thread().name, one.rows) for one in arrivals]
        return [None] * len(arrivals)

    def append_at_once(self, one: Arrival) -> bool:
        self.now += self.seconds
        if self.free:
            self.kept.append((threading.current_thread().name, one.rows))
        return self.free


def sent(store: Threads, *turns: list[Arrival], before: Callable[[int], object] = lambda at: None) -> list[str]:
    """Who kept what, in which groups: the arrivals of one turn are submitted together."""
    committer = Committer(store, at_once=store.append_at_once, clock=lambda: store.now)

    async def scenario() -> None:
        for at, turn in enumerate(turns):
            before(at)
            assert await asyncio.gather(*(committer.submit(one) for one in turn)) == [None] * len(turn)

    asyncio.run(scenario())
    committer.close()
    everything = b"".join(one.rows for turn in turns for one in turn)
    assert sorted(b"".join(rows for _, rows in store.kept)) == sorted(everything)
    assert committer.statistics.reports == sum(one.n for turn in turns for one in turn)
    return ["thread" if name == "committer" else "loop" for name, _ in store.kept]


def some(n: int = 1, survey: str = "s", size: int = 1) -> list[Arrival]:
    return [Arrival(survey, 7, 1, bytes([at % 256]) * size) for at in range(n)]


def test_all_that_come_in_one_turn_are_one_transaction_of_the_loop() -> None:
    store = Threads()
    assert sent(store, some(1), some(5), some(64)) == ["loop"] * 3
    assert [len(rows) for _, rows in store.kept] == [1, 5, 64]


def test_more_than_fit_are_the_threads() -> None:
    assert "thread" in sent(Threads(), some(70))
    assert sent(Threads(), some(1, size=2**18)) == ["thread"]


def test_several_surveys_in_one_turn_are_the_threads() -> None:
    assert sent(Threads(), [*some(2), *some(2, "other")]) == ["thread", "thread"]


def test_who_leaves_meanwhile_does_no_harm() -> None:
    store = Threads()
    committer = Committer(store, at_once=store.append_at_once)

    async def scenario() -> None:
        futures = [committer.submit(one) for one in some(3)]
        futures[1].cancel()
        assert await asyncio.gather(futures[0], futures[2]) == [None, None]

    asyncio.run(scenario())
    committer.close()
    assert [rows for _, rows in store.kept] == [bytes([0, 1, 2])]


def test_a_committer_that_stops_in_the_middle_of_a_turn_says_so() -> None:
    store = Threads()
    committer = Committer(store, at_once=store.append_at_once)

    async def scenario() -> None:
        future = committer.submit(some()[0])
        committer.close()
        with pytest.raises(Refusal, match="stopping"):
            await future

    asyncio.run(scenario())
    assert store.kept == []


def test_what_cannot_be_kept_at_once_is_left_to_the_thread() -> None:
    store = Threads()
    store.free = False
    assert sent(store, some(), some()) == ["thread", "thread"]


def test_a_failure_at_once_is_the_threads_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Threads()

    def fail(one: Arrival) -> bool:
        raise RuntimeError("no")

    monkeypatch.setattr(store, "append_at_once", fail)
    assert sent(store, some()) == ["thread"]


def test_after_a_slow_commit_the_loop_leaves_them_to_the_thread_for_a_while() -> None:
    store = Threads()

    def before(at: int) -> None:
        store.seconds = 0.1 if at == 1 else 0.0
        store.now += 1.9 if at == 3 else 0.2 if at == 4 else 0

    assert sent(store, *[some()] * 5, before=before) == ["loop", "loop", "thread", "thread", "loop"]


def test_at_once_is_durable_and_the_same_as_any_append(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    assert store.append_at_once(arrival(record, 1, 2))
    store.close()
    store = open_store("", tmp_path)
    assert store.append([arrival(record, 3)]) == [None]
    assert store.waiting(record.id) == 3
    lease = store.lease("w", 30)
    assert lease is not None
    assert [(one.n, one.epoch, one.rows) for one in store.take(lease, 10)] == [
        (2, 7, arrival(record, 1, 2).rows),
        (1, 7, arrival(record, 3).rows),
    ]
    store.close()


def test_at_once_keeps_nothing_for_closed_unknown_and_empty_ones(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.seal(record.id)
    assert not store.append_at_once(arrival(record, 1))
    assert not store.append_at_once(arrival(survey_record("unknown"), 1))
    other = store.publish(survey_record("other"), {})
    assert not store.append_at_once(arrival(other))
    assert store.append([arrival(record, 1)]) == ["sealed"]
    assert (store.waiting(record.id), store.waiting(other.id)) == (0, 0)


def test_at_once_waits_for_no_other_writer(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    assert store.append_at_once(arrival(record, 1))
    other = sqlite3.connect(tmp_path / DATABASE_FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not store.append_at_once(arrival(record, 2))
    other.execute("ROLLBACK")
    assert store.append_at_once(arrival(record, 3))
    assert store.waiting(record.id) == 2
    other.close()
    store.close()


def test_a_quota_is_the_writers_to_keep(tmp_path: Path) -> None:
    store = open_store("", tmp_path, max_bytes=2**24)
    record = store.publish(survey_record(), {})
    assert not store.append_at_once(arrival(record, 1))
    assert store.append([arrival(record, 1)]) == [None]
    store.close()


def test_the_log_stays_short_while_all_are_kept_at_once(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    record = store.publish(survey_record(), {})
    n, log = 0, tmp_path / f"{DATABASE_FILE}-wal"
    longest = 0
    for start in range(0, 1800, 3):
        one = arrival(record, *range(start, start + 3))
        if not store.append_at_once(one):
            assert store.append([one]) == [None]
            n += 1
        longest = max(longest, log.stat().st_size)
    # One in 256 is the writer's, which writes a long log back into the database; it then begins anew.
    assert n == 2
    assert longest < 2**23
    assert store.waiting(record.id) == 1800
    store.close()
