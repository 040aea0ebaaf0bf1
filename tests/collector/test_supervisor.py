"""Counting processes that cannot be started: they are tried again until they can."""

from __future__ import annotations

import asyncio
import errno
import logging
import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.context import SpawnProcess

import pytest

from sottovoce.collector.running import supervisor as module
from sottovoce.collector.running.supervisor import Supervisor


def idle() -> SpawnProcess:
    """A process that lives until it is ended."""
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(3600,), daemon=True)
    process.start()
    return process


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def short_of_files() -> SpawnProcess:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def short_of_memory() -> SpawnProcess:
    raise MemoryError


def test_a_process_that_cannot_be_started_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = iter([short_of_files, short_of_memory, idle])
    monkeypatch.setattr(module, "FIRST_DELAY", 0.001)

    async def live() -> None:
        workers = Supervisor("counting", [lambda: next(tries)()])
        assert workers.living == 0
        await until(lambda: workers.living == 1)
        await workers.stop()
        assert workers.living == 0

    with caplog.at_level(logging.ERROR, "sottovoce.serve"):
        asyncio.run(live())
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "Too many open files" in told[0]
    assert "MemoryError" in told[1]


def test_a_process_that_cannot_be_watched_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[SpawnProcess] = []
    ends = module._end_of

    def start() -> SpawnProcess:
        started.append(idle())
        return started[-1]

    async def end_of(process: SpawnProcess) -> None:
        if len(started) == 1:
            first.append(process.pid)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await ends(process)

    first: list[int | None] = []
    monkeypatch.setattr(module, "_end_of", end_of)
    monkeypatch.setattr(module, "FIRST_DELAY", 0.001)

    async def live() -> None:
        workers = Supervisor("counting", [start])
        await until(lambda: len(started) == 2 and workers.living == 1)
        (pid,) = first
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        await workers.stop()

    asyncio.run(live())


def test_stopping_does_not_wait_for_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def start(number: int) -> SpawnProcess:
        tries.append(number)
        return short_of_files()

    monkeypatch.setattr(module, "FIRST_DELAY", 3600.0)
    monkeypatch.setattr(module, "LONGEST_DELAY", 3600.0)

    async def live() -> None:
        workers = Supervisor("counting", [partial(start, 0), partial(start, 1)])
        await until(lambda: len(tries) == 2)
        async with asyncio.timeout(60):
            await workers.stop()

    asyncio.run(live())
    assert sorted(tries) == [0, 1]


def test_a_process_that_dies_for_hours_fills_no_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[int] = []

    def start() -> SpawnProcess:
        tries.append(1)
        return short_of_files()

    monkeypatch.setattr(module, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(module, "LONGEST_DELAY", 0.001)

    async def live() -> None:
        workers = Supervisor("counting", [start])
        await until(lambda: len(tries) > 35)
        await workers.stop()

    with caplog.at_level(logging.ERROR, "sottovoce.serve"):
        asyncio.run(live())
    assert 2 <= len(caplog.records) <= len(tries) / 10 + 1
