"""What analysts read passes fast while no reports come in, and at a bounded rate while they do."""

import asyncio

import pytest

from collector.service import PATIENCE
from sottovoce.collector.running.analyst_front import Pace


async def seconds_of(pace: Pace, parts: list[int], readers: int) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def read() -> None:
        for length in parts:
            await pace.turn(length)

    await asyncio.gather(*(read() for _ in range(readers)))
    return loop.time() - began


@pytest.mark.parametrize("readers", [1, 5])
def test_all_readers_together_keep_to_the_rate(readers: int) -> None:
    reports = iter(range(10**6))
    pace = Pace(lambda: next(reports), rate=2**24)
    # Eight parts of 64 KiB at 16 MiB a second take 1/32 of a second, less what may pass at once.
    assert asyncio.run(seconds_of(pace, [2**16] * 8, readers)) >= readers / 32 - 0.006


def test_nobody_waits_where_no_reports_come() -> None:
    pace = Pace(lambda: "the same", rate=1.0)
    asyncio.run(asyncio.wait_for(seconds_of(pace, [2**16] * 8, 5), PATIENCE))  # it would take hours
