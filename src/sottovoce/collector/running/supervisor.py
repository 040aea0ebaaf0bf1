"""The other processes of a service: started, monitored, restarted when one dies, and stopped together.

They hold no promise of their own. What a counting process had leased when it was killed is counted by the next, an
analyst's unanswered request is sent again, and a child whose parent is gone ends by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final, TypeAlias

from sottovoce.collector.settings import Settings
from sottovoce.core.starting import importing

__all__ = ["COUNTING", "READING", "STOP_SECONDS", "Start", "Supervisor", "counting", "spawned"]

Start: TypeAlias = Callable[[], SpawnProcess]
"""Starts one process, or says why it cannot."""

FIRST_DELAY: Final = 0.1
LONGEST_DELAY: Final = 30.0
_SAID: Final = 10
"""Deaths at the longest delay for one that is logged: one in five minutes."""

STEADY: Final = 10.0
"""A process that lived for that many seconds is restarted as if it had never failed."""

STOP_SECONDS: Final = 10.0
"""How long a process may take to finish what it is doing; then it is killed, which loses nothing."""

_NICENESS: Final = 10
"""Niceness of counting processes: how far they give way to others on a busy machine."""

COUNTING: Final = "sottovoce-count"
READING: Final = "sottovoce-read"
"""What `ps` shows; the system takes fifteen letters."""

_log = logging.getLogger("sottovoce.serve")
_context = multiprocessing.get_context("spawn")


class Supervisor:
    """Keeps processes alive while the event loop runs; `kind` is what the log calls them."""

    def __init__(self, kind: str, starts: Sequence[Start]):
        self._kind = kind
        self._stopping = asyncio.Event()
        self._processes: dict[int, SpawnProcess] = {}
        self._tasks = [asyncio.create_task(self._keep(number, start)) for number, start in enumerate(starts)]

    @property
    def living(self) -> int:
        """How many of them there are now."""
        return len(self._processes)

    async def stop(self) -> None:
        """Ask all of them to release their leases and end; kill those that do not."""
        self._stopping.set()
        for process in self._processes.values():
            process.terminate()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            if late:
                message = "%d %s processes did not stop within %.0f s and are killed"
                _log.warning(message, len(late), self._kind, STOP_SECONDS)
                for process in self._processes.values():
                    process.kill()
                await asyncio.wait(late)

    async def _keep(self, number: int, start: Start) -> None:
        delay, slow = FIRST_DELAY, 0
        while True:
            born = time.monotonic()
            try:
                fate = await self._life(number, start)
            except Exception as error:
                # Files, memory or processes may be short just now: whatever it was, counting must come back after it.
                fate = f"not started or not watched: {getattr(error, 'strerror', None) or type(error).__name__}"
            if self._stopping.is_set():
                return
            lived = time.monotonic() - born
            delay = FIRST_DELAY if lived >= STEADY else min(2 * delay, LONGEST_DELAY)
            slow = slow + 1 if delay == LONGEST_DELAY else 0
            if slow == 0 or slow % _SAID == 1:
                message = "%s process %d ended after %.1f s (%s); another starts in %.1f s"
                _log.error(message, self._kind, number, lived, fate, delay)
            try:
                await asyncio.wait_for(self._stopping.wait(), delay)
            except TimeoutError:
                continue
            return

    async def _life(self, number: int, start: Start) -> str:
        """Start one process and wait for its end; how it ended, in words."""
        process = self._processes[number] = start()
        try:
            await _end_of(process)
            return _words(process.exitcode)
        finally:
            del self._processes[number]
            if process.is_alive():
                # Nobody would watch it any more, and its successor does the same work.
                process.kill()
                process.join()
            process.close()


def spawned(target: Callable[..., object], arguments: tuple[Any, ...], name: str) -> SpawnProcess:
    """A child that leaves Ctrl-C to its parent; the target is a function of a module."""
    words = (name, target.__module__, target.__name__, arguments)
    process = _context.Process(target=_named, args=words, name=name, daemon=True)
    # Ctrl-C in a terminal reaches the whole group; the child leaves it to its parent from the first instant. What
    # multiprocessing starts beside the first child must be there before, for that would let the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _named(name: str, module: str, target: str, arguments: tuple[Any, ...]) -> None:
    """The life of a child, which `ps` and `top` show by its name where the system allows that."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)
    with importing():
        run = getattr(import_module(module), target)
    run(*arguments)


def counting(settings: Settings) -> list[Start]:
    """What starts the counting processes that the settings ask for."""
    return [partial(spawned, _count, (settings,), COUNTING) for _ in range(settings.workers)]


async def _end_of(process: SpawnProcess) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()


def _words(status: int | None) -> str:
    """An exit status for a log line.

    Examples
    --------
    >>> _words(-9), _words(1)
    ('killed by SIGKILL', 'exit status 1')
    """
    if status is not None and status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


def _count(settings: Settings) -> None:
    """The life of a counting process; it ends on SIGTERM, and when its parent is gone."""
    with importing():
        from sottovoce.collector.counting.worker import run_worker
        from sottovoce.service.running.log import configure_logging

    configure_logging(settings.log_level, settings.log_format)
    # Counting can wait; senders of reports should not.
    os.nice(_NICENESS)
    # A name that nobody had before: what a predecessor left in the database must never pass for ours.
    run_worker(settings, holder=secrets.token_hex(8))
