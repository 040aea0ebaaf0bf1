"""Slow work: how much of it may wait, and when it is dropped; and that no kind of it holds up another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.client import DRINKS, Api, honest, running
from collector.readers import soon
from collector.service import PATIENCE
from sottovoce.collector.api import rendered
from sottovoce.collector.api.service import Service
from sottovoce.service.http.slow_work import SlowWork
from sottovoce.service.refusal import Refusal

MOST_WAITING = 8

TABLE = f"/v1/surveys/{DRINKS.id}/table.csv"


@pytest.fixture
def work() -> Iterator[SlowWork]:
    work = SlowWork("test", 1, MOST_WAITING)
    yield work
    work.close()


class Gate:
    """Work that runs until it is let go, and says how often it was begun."""

    def __init__(self) -> None:
        self.begun = 0
        self._open = threading.Event()

    def pass_through(self) -> str:
        self.begun += 1
        assert self._open.wait(PATIENCE)
        return "done"

    def let_go(self) -> None:
        self._open.set()


def refusal(task: asyncio.Task[Any]) -> tuple[int, str]:
    error = task.exception()
    assert isinstance(error, Refusal)
    assert error.headers["Retry-After"].isdigit()
    return error.status, error.code


async def filled(work: SlowWork, gate: Gate) -> list[asyncio.Task[str]]:
    """One piece that runs, and as many that wait as may."""
    tasks = [asyncio.create_task(work.run(gate.pass_through)) for _ in range(1 + MOST_WAITING)]
    await soon(lambda: gate.begun == 1 and len(work) == 1 + MOST_WAITING)
    return tasks


def test_only_so_much_may_wait(work: SlowWork) -> None:
    gate = Gate()

    async def test() -> None:
        tasks = await filled(work, gate)
        late = asyncio.create_task(work.run(gate.pass_through))
        await asyncio.wait((late,))
        assert refusal(late) == (503, "busy")
        gate.let_go()
        assert await asyncio.gather(*tasks) == ["done"] * (1 + MOST_WAITING)
        assert await work.run(gate.pass_through) == "done"

    asyncio.run(test())
    assert gate.begun == MOST_WAITING + 2


def test_a_request_that_is_cancelled_is_no_refusal(work: SlowWork) -> None:
    gate = Gate()

    async def test() -> None:
        tasks = await filled(work, gate)
        tasks[-1].cancel()
        await asyncio.wait((tasks[-1],))
        assert tasks[-1].cancelled()
        gate.let_go()
        await asyncio.gather(*tasks[:-1])

    asyncio.run(test())


def test_what_waits_is_refused_when_the_service_stops(work: SlowWork) -> None:
    gate = Gate()

    async def test() -> None:
        running = asyncio.create_task(work.run(gate.pass_through))
        await soon(lambda: gate.begun)
        waiting = asyncio.create_task(work.run(gate.pass_through))
        await soon(lambda: len(work) == 2)
        work.stop()
        late = asyncio.create_task(work.run(gate.pass_through))
        await asyncio.wait((waiting, late))
        assert {refusal(waiting), refusal(late)} == {(503, "busy")}
        gate.let_go()
        assert await running == "done"

    asyncio.run(test())
    assert gate.begun == 1


def test_looking_ends_work_when_the_service_stops(work: SlowWork) -> None:
    work.check_stop()
    work.stop()
    with pytest.raises(Refusal):
        work.check_stop()


# --- over HTTP ----------------------------------------------------------------------------------


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, honest(DRINKS, "tea", 5))
        api.count()
        yield api


async def sent() -> AsyncIterator[dict[str, Any]]:
    """An empty body, and then nothing."""
    yield {"type": "http.request", "body": b"", "more_body": False}
    await asyncio.Event().wait()


def gated(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Every estimate waits here until it is let go."""
    gate, estimate_of = Gate(), rendered.estimate_of

    def slowly(*given: Any) -> Any:
        gate.pass_through()
        return estimate_of(*given)

    monkeypatch.setattr(rendered, "estimate_of", slowly)
    return gate


def test_tables_hold_up_nobody(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    service: Service = api.app.service
    gate = gated(monkeypatch)
    given = {"Authorization": f"Bearer {api.admin}"}

    async def test() -> None:
        def fetch(level: float = 0.95) -> asyncio.Task[Any]:
            return asyncio.create_task(api._raw("GET", f"{TABLE}?level={level}", given, sent()))

        waiting = [fetch(0.5 + place / 100) for place in range(1 + MOST_WAITING)]
        await soon(lambda: gate.begun == 1 and len(service.tables) == 1 + MOST_WAITING)
        late = await fetch()
        assert (late.status, late.json["error"]["code"]) == (503, "busy")
        assert late.headers["retry-after"].isdigit()
        picture = await api._raw("GET", TABLE.replace("table.csv", "picture"), given, sent())
        assert picture.status == 200
        gate.let_go()
        assert {told.status for told in await asyncio.gather(*waiting)} == {200}
        again = await fetch()
        assert (again.status, again.body.count(b"\r\n")) == (200, 4)

    asyncio.run(test())


def test_all_who_ask_for_the_same_share_the_work(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = gated(monkeypatch)
    given = {"Authorization": f"Bearer {api.admin}"}

    async def test() -> None:
        asked = [asyncio.create_task(api._raw("GET", TABLE, given, sent())) for _ in range(4 * MOST_WAITING)]
        await soon(lambda: gate.begun == 1)
        await asyncio.sleep(0.05)  # time for all of them to come
        asked.pop().cancel()  # whoever leaves takes nothing from the others
        gate.let_go()
        told = await asyncio.gather(*asked)
        assert {one.status for one in told} == {200}
        assert len({one.body for one in told}) == 1
        assert gate.begun == 1

    asyncio.run(test())
