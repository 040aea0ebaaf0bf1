"""Answers kept for a moment: fetched once, not when they are old, and not when fetching failed."""

import asyncio

import pytest

from sottovoce.collector.running.analyst_front import Recent


class Source:
    def __init__(self) -> None:
        self.fetched = 0
        self.go = asyncio.Event()

    async def fetch(self) -> int:
        self.fetched += 1
        found = self.fetched
        await self.go.wait()
        return found


def test_all_who_ask_at_once_share_one_fetch() -> None:
    async def all_of_them() -> list[int]:
        recent, source = Recent[int](), Source()
        asked = [asyncio.create_task(recent.get("list", source.fetch)) for _ in range(5)]
        await asyncio.sleep(0)
        asked[0].cancel()  # whoever leaves takes nothing from the others
        source.go.set()
        return [*await asyncio.gather(*asked[1:]), await recent.get("list", source.fetch)]

    assert asyncio.run(all_of_them()) == [1, 1, 1, 1, 1]


def test_what_was_fetched_before_a_change_is_not_kept() -> None:
    async def before_and_after() -> tuple[int, int]:
        recent, source = Recent[int](), Source()
        early = asyncio.create_task(recent.get("list", source.fetch))
        await asyncio.sleep(0)
        recent.clear()
        source.go.set()
        return await early, await recent.get("list", source.fetch)

    assert asyncio.run(before_and_after()) == (1, 2)


def test_old_answers_and_others_are_fetched() -> None:
    async def found() -> list[int]:
        recent, source = Recent[int](seconds=-1.0, most=2), Source()
        source.go.set()
        return [await recent.get(name, source.fetch) for name in ("a", "a", "b", "c")] + [len(recent)]

    assert asyncio.run(found()) == [1, 2, 3, 4, 1]


def test_errors_are_told_and_not_kept() -> None:
    async def failing() -> int:
        raise ConnectionError("away")

    async def told() -> int:
        recent, source = Recent[int](), Source()
        source.go.set()
        with pytest.raises(ConnectionError):
            await recent.get("list", failing)
        return await recent.get("list", source.fetch)

    assert asyncio.run(told()) == 1
