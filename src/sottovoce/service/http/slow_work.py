"""Slow work in a few threads, refused, not queued, where too much is waiting; and its results that were used last.

A piece that waits is dropped when the service stops; one that has begun ends where it next looks.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar, final

from sottovoce.service.refusal import Refusal

__all__ = ["LruCache", "SlowWork"]

K = TypeVar("K")
P = TypeVar("P")


@final
class SlowWork:
    """Threads for one kind of work; besides the pieces that run, `most` may wait."""

    def __init__(self, name: str, threads: int, most: int):
        self._threads = ThreadPoolExecutor(threads, f"sottovoce-{name}")
        self._most = threads + most
        self._under_way = 0
        self._stops = False
        self._lock = threading.Lock()
        self._once: dict[Hashable, Future[Any]] = {}

    def __len__(self) -> int:
        """How many pieces run or wait."""
        return self._under_way

    async def run(self, function: Callable[..., P], *arguments: Any) -> P:
        """The result of a function that is called in a thread."""
        return await self._result(self._begin(function, *arguments))

    async def once(self, key: Hashable, function: Callable[..., P], *arguments: Any) -> P:
        """Run work under a key: requests that come while it runs share the result. Inside one event loop."""
        work: Future[P] | None = self._once.get(key)
        if work is None:
            work = self._once[key] = self._begin(function, *arguments)
            work.add_done_callback(lambda _: self._once.pop(key, None))
        return await self._result(work)

    def stop(self) -> None:
        """Drop what waits and begin nothing any more; what runs may go on."""
        with self._lock:
            self._stops = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Stop, and wait for what runs."""
        self.stop()
        self._threads.shutdown(wait=True)

    def check_stop(self) -> None:
        """Raise if the service stops; work that runs for long calls this from time to time."""
        if self._stops:
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
            # Others may wait for the same: a client that leaves does not end it.
            return await asyncio.shield(asyncio.wrap_future(work))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
        # Not this task was cancelled but the work, which happens when the service stops.
        raise _stopped()


def _stopped() -> Refusal:
    return _busy("the service stops; ask again when it is back")


def _busy(message: str) -> Refusal:
    return Refusal(503, "busy", message)


@final
class LruCache(Generic[K, P]):
    """The results used last, up to a number and a total size; safe to use from several threads.

    Examples
    --------
    >>> cache: LruCache[str, str] = LruCache(most=3, room=10)
    >>> for name, size in (("a", 4), ("b", 4), ("c", 4), ("d", 11)):
    ...     _ = cache.put(name, name.upper(), size)
    >>> [cache.get(name) for name in "abcd"]
    [None, 'B', 'C', None]
    """

    def __init__(self, most: int, room: int = 0):
        self._most = most
        self._room = room
        self._found: OrderedDict[K, tuple[P, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, name: K) -> bool:
        return name in self._found

    def get(self, name: K) -> P | None:
        """The result of that name, if it is here."""
        with self._lock:
            if name not in self._found:
                return None
            self._found.move_to_end(name)
            return self._found[name][0]

    def put(self, name: K, result: P, size: int = 0) -> P:
        """Store a result in place of an earlier one of that name, unless it is larger than all the room.

        Those that were not used for longest are dropped for it.
        """
        with self._lock:
            self._size -= self._found.pop(name, (result, 0))[1]
            if size <= self._room:
                self._found[name] = result, size
                self._size += size
            while len(self._found) > self._most or self._size > self._room:
                self._size -= self._found.popitem(last=False)[1][1]
        return result

    def clear(self) -> None:
        """Drop all of them."""
        with self._lock:
            self._found.clear()
            self._size = 0
