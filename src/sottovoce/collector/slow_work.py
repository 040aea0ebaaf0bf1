"""Work that takes seconds, a few pieces at a time: what finds too many before it is refused, not made to wait.

A piece that waits is dropped when whoever asked for it leaves, and when the service stops; one that has begun is told,
and ends where it next looks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeAlias, TypeVar, final

from sottovoce.collector.failures import Refused

__all__ = ["MOST_WAITING", "Receive", "SlowWork", "left"]

MOST_WAITING: Final = 8
"""Pieces of work that may wait for a thread; those that run are not among them."""

P = TypeVar("P")

Receive: TypeAlias = Callable[[], Awaitable[Any]]
"""Where a request's events come from, the last of which is that its sender left."""


@final
class SlowWork:
    """Threads for one kind of work."""

    def __init__(self, name: str, threads: int):
        self._threads = ThreadPoolExecutor(threads, f"sottovoce-{name}")
        self._most = threads + MOST_WAITING
        self._under_way = 0
        self._stops = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many pieces run or wait."""
        return self._under_way

    async def run(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of a function that is called in a thread."""
        return await self._result(self._begin(function, *arguments))

    async def run_for(self, receive: Receive, function: Callable[..., P], *arguments: Any) -> P:
        """The same for a request whose body has been read; given up when its sender leaves."""
        work = self._begin(function, *arguments)
        working, leaving = asyncio.create_task(self._result(work)), asyncio.create_task(left(receive))
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            gone = leaving.done() and leaving.exception() is None
            if gone and not working.done():
                raise _busy("whoever asked for this went away before it was begun or done")
            return await working
        finally:
            leaving.cancel()
            working.cancel()

    def stop(self) -> None:
        """Drop what waits and begin nothing any more; what runs may go on."""
        with self._lock:
            self._stops = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop, and wait for what runs."""
        self.stop()
        self._threads.shutdown(wait=True)

    def look(self, gone: threading.Event) -> None:
        """Called by work that runs for long, from time to time: ends it when the service stops or nobody waits."""
        if self._stops or gone.is_set():
            raise _stopped()

    def _begin(self, function: Callable[..., P], *arguments: Any) -> Future[P]:
        with self._lock:
            if self._stops:
                raise _stopped()
            if self._under_way >= self._most:
                raise _busy(f"{self._under_way} such requests are worked on or wait here already; ask again later")
            self._under_way += 1
            work = self._threads.submit(function, *arguments)
        work.add_done_callback(self._ended)
        return work

    def _ended(self, _: Future[Any]) -> None:
        with self._lock:
            self._under_way -= 1

    async def _result(self, work: Future[P]) -> P:
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
        # Not this task was cancelled but the work, which happens when the service stops.
        raise _stopped()


async def left(receive: Receive) -> None:
    """Wait until a request's sender is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _stopped() -> Refused:
    return _busy("the service stops; ask again when it is back")


def _busy(message: str) -> Refused:
    return Refused(503, "busy", message)
