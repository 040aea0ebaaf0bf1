"""Group commit: nothing is acknowledged before it is kept, everything is answered, and the queue is bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from collector.service import until
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival, Closed, Committer

PATIENCE = 30.0
"""Seconds until a test that hangs fails; none waits for it."""


class Memory:
    """A store that keeps groups in a list; its transactions can be held up, or fail."""

    def __init__(self) -> None:
        self.groups: list[list[Arrival]] = []
        self.refusals: dict[str, Closed] = {}
        self.faults: list[BaseException | None] = []
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        self.entered.release()
        assert self.gate.wait(PATIENCE)
        if self.faults and (fault := self.faults.pop(0)):
            raise fault
        self.groups.append(list(arrivals))
        return [self.refusals.get(arrival.survey) for arrival in arrivals]

    @property
    def rows(self) -> bytes:
        return b"".join(arrival.rows for group in self.groups for arrival in group)


class Held:
    """A committer whose thread is inside a transaction that lasts until `go`."""

    def __init__(self, store: Memory, committer: Committer, first: threading.Thread) -> None:
        self.store, self.committer, self.first = store, committer, first

    def go(self) -> None:
        self.store.gate.set()
        self.first.join(PATIENCE)
        assert not self.first.is_alive()


Make = Callable[..., Committer]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[tuple[Memory, Committer]] = []

    def one(store: Memory, **limits: Any) -> Committer:
        committer = Committer(store, **limits)
        made.append((store, committer))
        return committer

    yield one
    for store, committer in made:
        store.gate.set()
        committer.close()


def hold(store: Memory, committer: Committer) -> Held:
    store.gate.clear()
    first = threading.Thread(target=committer.commit, args=(arrival(0),))
    first.start()
    assert store.entered.acquire(timeout=PATIENCE)
    return Held(store, committer, first)


def arrival(number: int, survey: str = "s", n: int = 1, epoch: int = 7) -> Arrival:
    return Arrival(survey, epoch, n, number.to_bytes(4, "little") * n)


def run(scenario: Callable[[], object]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), PATIENCE))  # type: ignore[arg-type]


def test_the_answer_comes_after_the_transaction(make: Make) -> None:
    store = Memory()
    committer = make(store)
    store.gate.clear()

    async def scenario() -> None:
        future = committer.submit(arrival(1))
        await asyncio.to_thread(store.entered.acquire, timeout=PATIENCE)
        for _ in range(20):
            await asyncio.sleep(0.001)
            assert not future.done()
        assert store.groups == []
        assert committer.depth == 1
        store.gate.set()
        assert await future is None
        assert store.groups == [[arrival(1)]]

    run(scenario)
    committer.close()
    assert committer.depth == 0


def test_what_comes_during_a_transaction_is_one_group_and_wakes_the_loop_once(make: Make) -> None:
    store = Memory()
    committer = make(store)
    held = hold(store, committer)

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        woken: list[object] = []
        original = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *args, **named: (  # type: ignore[assignment,method-assign]
            woken.append(args) or original(*args, **named)
        )
        futures = [committer.submit(arrival(number)) for number in range(1, 501)]
        store.gate.set()
        assert await asyncio.gather(*futures) == [None] * 500
        assert len(woken) == 1

    run(scenario)
    held.go()
    assert len(store.groups) == 2
    assert store.rows == b"".join(number.to_bytes(4, "little") for number in range(501))


def test_arrivals_of_one_survey_and_epoch_are_kept_as_one_and_refused_each_for_itself(make: Make) -> None:
    store = Memory()
    store.refusals = {"sealed": "sealed", "gone": "deleted"}
    committer = make(store)
    held = hold(store, committer)
    surveys = ["a", "sealed", "a", "gone", "b", "sealed", "a"]

    async def scenario() -> None:
        futures = [committer.submit(arrival(at, survey, 2)) for at, survey in enumerate(surveys)]
        other = committer.submit(arrival(9, "a", 1, epoch=8))
        store.gate.set()
        assert await asyncio.gather(*futures) == [store.refusals.get(survey) for survey in surveys]
        assert await other is None

    run(scenario)
    held.go()
    group = store.groups[1]
    assert [(one.survey, one.epoch, one.n) for one in group] == [
        ("a", 7, 6),
        ("sealed", 7, 4),
        ("gone", 7, 2),
        ("b", 7, 2),
        ("a", 8, 1),
    ]
    assert group[0].rows == b"".join(arrival(at, "a", 2).rows for at in (0, 2, 6))
    assert committer.statistics.reports == 1 + 14 + 1


@pytest.mark.parametrize("limits", [{"group_reports": 10}, {"group_bytes": 40}])
def test_groups_are_capped_and_in_order(make: Make, limits: dict[str, int]) -> None:
    store = Memory()
    committer = make(store, **limits)
    held = hold(store, committer)
    sizes = [4, 4, 4, 25, 1, 9, 1]

    async def scenario() -> None:
        futures = [committer.submit(arrival(at + 1, f"s{at}", n)) for at, n in enumerate(sizes)]
        store.gate.set()
        await asyncio.gather(*futures)

    run(scenario)
    held.go()
    assert [[one.n for one in group] for group in store.groups] == [[1], [4, 4], [4], [25], [1, 9], [1]]
    order = [one.survey for group in store.groups[1:] for one in group]
    assert order == [f"s{at}" for at in range(len(sizes))]


@pytest.mark.parametrize("limits", [{"most_waiting": 10}, {"most_bytes": 40}])
def test_the_queue_is_bounded_with_what_is_being_written(make: Make, limits: dict[str, int]) -> None:
    store = Memory()
    committer = make(store, **limits)
    held = hold(store, committer)

    async def scenario() -> None:
        futures = [committer.submit(arrival(at, n=3)) for at in range(3)]
        assert committer.depth == 10
        for n in (1, 100):
            with pytest.raises(Refusal) as caught:
                committer.submit(arrival(9, n=n))
            assert (caught.value.status, caught.value.code) == (503, "overloaded")
            assert 1 <= int(caught.value.headers["Retry-After"]) <= 60
        with pytest.raises(Refusal):
            await asyncio.to_thread(committer.commit, arrival(9))
        store.gate.set()
        await asyncio.gather(*futures)
        assert committer.depth == 0
        # Refused ones left nothing behind, and there is room again.
        assert await committer.submit(arrival(5, n=10)) is None

    run(scenario)
    held.go()
    assert store.rows.count(arrival(9).rows) == 0


def test_one_arrival_above_the_bound_is_taken_when_nothing_waits(make: Make) -> None:
    store = Memory()
    committer = make(store, most_waiting=10, most_bytes=10, group_reports=5, group_bytes=5)
    assert committer.commit(arrival(1, n=1000)) is None
    assert committer.depth == 0


def test_waiting_times_follow_the_measured_rate() -> None:
    store = Memory()
    ticks = iter([0.0, 2.0, 10.0, 12.0])
    committer = Committer(store, most_waiting=500, clock=lambda: next(ticks, 20.0))
    assert committer.drain_seconds == 1.0  # nothing is known yet
    committer.commit(arrival(1, n=100))
    committer.commit(arrival(1, n=100))
    assert committer.statistics[:3] == (2, 0, 200)
    assert committer.statistics.seconds == pytest.approx(4.0)
    held = hold(store, committer)

    async def scenario() -> None:
        # 50 reports a second so far: 400 take about 8 seconds.
        future = committer.submit(arrival(1, n=399))
        with pytest.raises(Refusal, match="400 reports are queued") as caught:
            committer.submit(arrival(1, n=200))
        assert caught.value.headers["Retry-After"] == "8"
        store.gate.set()
        await future

    run(scenario)
    held.go()
    committer.close()


def test_a_store_that_only_fails_makes_everybody_wait_long() -> None:
    store = Memory()
    store.faults = [StoreUnavailableError("away") for _ in range(3)]
    ticks = iter(range(100))
    committer = Committer(store, clock=lambda: float(next(ticks)))
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            committer.commit(arrival(1))
    assert committer.drain_seconds == 60.0
    assert committer.statistics[:3] == (3, 3, 0)
    committer.close()


@pytest.mark.parametrize("fault", [StoreFullError("full"), StoreUnavailableError("away"), StoreError("odd")])
def test_an_error_is_told_to_all_of_its_group_and_to_nobody_else(make: Make, fault: StoreError) -> None:
    store = Memory()
    store.faults = [None, fault]
    committer = make(store)
    held = hold(store, committer)

    async def scenario() -> None:
        futures = [committer.submit(arrival(at)) for at in range(1, 6)]
        store.gate.set()
        assert await asyncio.gather(*futures, return_exceptions=True) == [fault] * 5
        assert await committer.submit(arrival(6)) is None

    run(scenario)
    held.go()
    assert store.rows == arrival(0).rows + arrival(6).rows
    assert committer.depth == 0
    assert committer.statistics[:3] == (3, 1, 2)


@pytest.mark.parametrize("fault", [ValueError("bug"), StopIteration(), MemoryError(), SystemExit(1)])
def test_unforeseen_faults_become_store_errors_and_the_thread_lives(make: Make, fault: BaseException) -> None:
    store = Memory()
    store.faults = [fault]
    committer = make(store)

    async def scenario() -> None:
        with pytest.raises(StoreError, match="unforeseen") as caught:
            await committer.submit(arrival(1))
        assert caught.value.__cause__ is fault
        assert await committer.submit(arrival(2)) is None

    run(scenario)
    store.append = lambda arrivals: []  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="unforeseen"):
        committer.commit(arrival(3))


def test_a_cancelled_wait_keeps_the_reports_and_harms_nobody(make: Make) -> None:
    store = Memory()
    committer = make(store)
    held = hold(store, committer)

    async def scenario() -> None:
        futures = [committer.submit(arrival(at)) for at in range(1, 4)]
        futures[1].cancel()
        store.gate.set()
        assert await futures[0] is None
        assert await futures[2] is None

    run(scenario)
    held.go()
    assert store.rows == b"".join(arrival(at).rows for at in range(4))


def test_a_closed_loop_harms_nobody(make: Make) -> None:
    store = Memory()
    committer = make(store)
    held = hold(store, committer)
    loop = asyncio.new_event_loop()

    async def leave() -> asyncio.Future[Closed | None]:
        return committer.submit(arrival(1))

    left = loop.run_until_complete(leave())
    loop.close()
    held.go()
    assert committer.commit(arrival(2)) is None
    assert not left.done()
    assert store.rows == b"".join(arrival(at).rows for at in range(3))


def test_closing_writes_what_is_queued_and_takes_nothing_more(make: Make) -> None:
    store = Memory()
    committer = make(store, group_reports=2)
    held = hold(store, committer)

    async def scenario() -> None:
        futures = [committer.submit(arrival(at)) for at in range(1, 8)]
        closing = asyncio.create_task(asyncio.to_thread(committer.close))

        async def send_on() -> None:
            while True:
                futures.append(committer.submit(arrival(100)))
                await asyncio.sleep(0)

        with pytest.raises(Refusal, match="stopping"):
            await send_on()
        assert not closing.done()
        store.gate.set()
        await closing
        assert await asyncio.gather(*futures) == [None] * len(futures)
        assert len(store.rows) == 4 * (1 + len(futures))

    run(scenario)
    held.go()
    committer.close()
    assert committer.depth == 0
    with pytest.raises(Refusal, match="stopping"):
        committer.commit(arrival(1))


def test_closing_after_a_failure_answers_everybody(make: Make) -> None:
    store = Memory()
    store.faults = [None, StoreFullError("full"), StoreFullError("full")]
    committer = make(store, group_reports=1)
    held = hold(store, committer)

    async def scenario() -> None:
        futures = [committer.submit(arrival(at)) for at in range(1, 5)]
        closing = asyncio.create_task(asyncio.to_thread(committer.close))
        store.gate.set()
        await closing
        found = await asyncio.gather(*futures, return_exceptions=True)
        assert [type(one) for one in found] == [StoreFullError, StoreFullError, type(None), type(None)]

    run(scenario)
    held.go()
    assert store.rows == b"".join(arrival(at).rows for at in (0, 3, 4))


def test_many_threads_and_loops_lose_and_double_nothing(make: Make) -> None:
    store = Memory()
    committer = make(store, group_reports=50)
    each = 300

    def from_a_loop(worker: int) -> None:
        async def scenario() -> None:
            for start in range(0, each, 10):
                futures = [committer.submit(arrival(worker * each + start + at)) for at in range(10)]
                await asyncio.gather(*futures)

        run(scenario)

    def from_a_thread(worker: int) -> None:
        for at in range(each):
            assert committer.commit(arrival(worker * each + at)) is None

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(from_a_loop if worker % 2 else from_a_thread, worker) for worker in range(8)]
        for one in work:
            one.result(PATIENCE)
    committer.close()
    found = sorted(int.from_bytes(store.rows[at : at + 4], "little") for at in range(0, len(store.rows), 4))
    assert found == list(range(8 * each))
    statistics = committer.statistics
    assert (statistics.reports, statistics.failures, statistics.groups) == (8 * each, 0, len(store.groups))
    assert statistics.seconds > 0


def test_nobody_waits_for_ever_for_a_database_that_hangs(make: Make) -> None:
    store, now = Memory(), 0.0
    committer = make(store, patience=0.2, clock=lambda: now)
    store.gate.clear()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(committer.commit, arrival(1))
        assert store.entered.acquire(timeout=PATIENCE)
        queued = pool.submit(committer.commit, arrival(2))
        until(lambda: committer.depth == 2, "both are on their way")
        now = 0.2
        for waiting in (first, queued):
            with pytest.raises(StoreUnavailableError, match="does not answer; send these again"):
                waiting.result(PATIENCE)
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            committer.commit(arrival(3))
        store.gate.set()
        # The transaction that hung has come through: what it held is kept, and others are taken again.
        until(lambda: not committer.depth, "nothing is on its way")
        assert committer.commit(arrival(4)) is None
    assert len(store.groups) == 2
    assert committer.depth == 0
