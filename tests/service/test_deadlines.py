"""Deadlines of many waits with one timer: each ends in its time, and only for that reason."""

from __future__ import annotations

import asyncio

import pytest

from sottovoce.service.http.request import Deadlines


async def waited(deadlines: Deadlines, seconds: float, body: asyncio.Event) -> str:
    deadline = deadlines.begin(seconds)
    try:
        await body.wait()
        return "there"
    except asyncio.CancelledError:
        if not deadline.is_reason():
            raise
    finally:
        deadlines.end(deadline)
    await asyncio.sleep(0)  # the task goes on as if it had never been cancelled
    return "too slow"


def test_each_wait_ends_in_its_time() -> None:
    async def scenario() -> None:
        deadlines, never, soon = Deadlines(), asyncio.Event(), asyncio.Event()
        asyncio.get_running_loop().call_later(0.01, soon.set)
        ends = await asyncio.gather(
            waited(deadlines, 0.05, never), waited(deadlines, 0.02, never), waited(deadlines, 30, soon)
        )
        assert list(ends) == ["too slow", "too slow", "there"]
        # And again, after the timer has found nothing to wait for.
        assert await waited(deadlines, 0.01, never) == "too slow"

    asyncio.run(scenario())


def test_another_reason_to_end_is_not_taken_for_the_deadline() -> None:
    async def scenario() -> None:
        deadlines = Deadlines()
        task = asyncio.create_task(waited(deadlines, 30, asyncio.Event()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
