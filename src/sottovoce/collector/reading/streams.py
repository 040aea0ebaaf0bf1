"""Server-sent events: a response that lasts until its reader leaves, the service stops, or its time is over."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, TypeAlias, final

from sottovoce.core.errors import StoreError
from sottovoce.service.http.response import Receive, Send, refused
from sottovoce.service.refusal import Refusal, refusal_of

__all__ = ["EVENT_STREAM", "MOST_STREAMS", "Feed", "Feeds", "ReadStatus", "Stream", "StreamPace", "Streams"]

ReadStatus: TypeAlias = Callable[[str], Awaitable[bytes]]
"""A function from a survey's id to its status, as JSON; it refuses with 404 or 410 when it is gone."""

_GONE: Final = (404, 410)


@final
@dataclass(eq=False)
class Feed:
    """What is known of one survey."""

    latest: bytes | None = None
    """How it stands; None until the first look."""
    gone: bool = False
    """Whether the survey has been deleted."""
    followers: set[asyncio.Event] = field(default_factory=set)

    def tell(self) -> None:
        """Wake the streams that follow."""
        for follower in self.followers:
            follower.set()


@final
class Feeds:
    """The feeds of one process, all in one event loop."""

    def __init__(self, look: ReadStatus, seconds: float) -> None:
        self._look = look
        self._seconds = seconds
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}

    @contextlib.contextmanager
    def follow(self, survey_id: str) -> Iterator[tuple[Feed, asyncio.Event]]:
        """The survey's feed for the length of the block, and what is set whenever it has something new."""
        if survey_id not in self._feeds:
            feed = Feed()
            self._feeds[survey_id] = feed, asyncio.create_task(self._keep(survey_id, feed))
        feed, task = self._feeds[survey_id]
        news = asyncio.Event()
        feed.followers.add(news)
        if feed.latest is not None or feed.gone:
            news.set()
        try:
            yield feed, news
        finally:
            feed.followers.discard(news)
            if not feed.followers:
                task.cancel()
                del self._feeds[survey_id]

    def __len__(self) -> int:
        return len(self._feeds)

    async def _keep(self, survey_id: str, feed: Feed) -> None:
        """ReadStatus again and again, until the survey is gone; what fails is tried again, and logged once."""
        failing = False
        while not feed.gone:
            try:
                await self._look_once(survey_id, feed)
                failing = False
            except Exception as error:
                if not failing:
                    refusal_of(error)
                failing = True
            await asyncio.sleep(self._seconds)

    async def _look_once(self, survey_id: str, feed: Feed) -> None:
        try:
            latest = await self._look(survey_id)
        except Refusal as refusal:
            feed.gone = refusal.status in _GONE
            if feed.gone:
                feed.tell()
        else:
            if latest != feed.latest:
                feed.latest = latest
                feed.tell()


EVENT_STREAM: Final = "text/event-stream"

MOST_STREAMS: Final = 64
"""Streams that one process serves at a time."""

StillAdmitted: TypeAlias = Callable[[], Awaitable[bool]]

_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # A proxy that collects what it passes on would hold events back.
    (b"x-accel-buffering", b"no"),
)

_RETRY: Final = b"retry: 2000\n\n"
"""Milliseconds after which a browser asks again when a stream has ended."""

_HEARTBEAT: Final = b": still here\n\n"
"""A comment, which keeps proxies from hanging up."""

_LAST_SECONDS: Final = 0.5
"""How long the end of a stream waits for a reader that may have stopped reading."""


@dataclass(frozen=True)
class StreamPace:
    """Seconds between things."""

    look: float = 1.0
    """Between two looks at a survey."""
    check: float = 3.0
    """Between two looks at the reader's token."""
    heartbeat: float = 15.0
    longest: float = 300.0
    """Until a stream ends by itself."""
    send: float = 5.0
    """Until a stream is given up whose reader does not read."""


@final
class Streams:
    """All streams of one process: how many there are, and that they end when the service does."""

    def __init__(self, look: ReadStatus, pace: StreamPace | None = None) -> None:
        self.pace = pace or StreamPace()
        self.feeds = Feeds(look, self.pace.look)
        self._open: set[asyncio.Task[None]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._open)

    def close(self) -> None:
        """End every stream now, and let none begin any more."""
        self._closed = True
        for task in self._open:
            task.cancel()

    def refusal_if_full(self) -> Refusal | None:
        """The refusal of a further stream; None if one can begin."""
        if not self._closed and len(self._open) < MOST_STREAMS:
            return None
        message = (
            f"{MOST_STREAMS} streams are open, the most there may be, or the service stops; ask for the status instead"
        )
        return Refusal(503, "too_many_streams", message)

    def begin(self, talk: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A stream's own task, counted until it is over."""
        task = asyncio.create_task(talk)
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        return task


@final
class Stream:
    """An ASGI application that tells one reader how one survey stands, at once and whenever that changes."""

    def __init__(self, streams: Streams, survey_id: str, still_admitted: StillAdmitted) -> None:
        self._streams = streams
        self._survey_id = survey_id
        self._still_admitted = still_admitted

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        full = self._streams.refusal_if_full()
        if full is not None:
            await refused(full)(scope, receive, send)
            return
        talking = self._streams.begin(self._talk(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((talking, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone = leaving.done()
            talking.cancel()
            leaving.cancel()
        if await _over(talking, gone):
            with contextlib.suppress(_UnreadError):
                await _sent(send, _part(b"", more=False), _LAST_SECONDS)

    async def _talk(self, to_reader: Send) -> None:
        """Send everything, until nothing is left to send."""

        async def send(message: Any) -> None:
            await _sent(to_reader, message, self._streams.pace.send)

        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
        await send(_part(_RETRY))
        pace = self._streams.pace
        now = monotonic()
        end, check, heartbeat = now + pace.longest, now + pace.check, now + pace.heartbeat
        with self._streams.feeds.follow(self._survey_id) as (feed, news):
            while now < end:
                await _wait(news, min(end, check, heartbeat) - now)
                now = monotonic()
                if now >= check:
                    check = now + pace.check
                    if not await self._admitted():
                        await send(_event(b"revoked", b"{}"))
                        return
                if feed.gone:
                    await send(_event(b"deleted", b"{}"))
                    return
                if news.is_set():
                    news.clear()
                    heartbeat = now + pace.heartbeat
                    await send(_event(b"status", feed.latest or b"{}"))
                elif now >= heartbeat:
                    heartbeat = now + pace.heartbeat
                    await send(_part(_HEARTBEAT))

    async def _admitted(self) -> bool:
        try:
            return await self._still_admitted()
        except StoreError:
            return True  # nothing is learnt from a database that is unavailable, by the reader either


class _UnreadError(Exception):
    """A reader does not read."""


async def _sent(send: Send, message: Any, seconds: float) -> None:
    """Send, in a task of its own: what the server does not take in time is left to it, whether or not it gives up."""
    sending = asyncio.ensure_future(send(message))
    try:
        await asyncio.wait((sending,), timeout=seconds)
    finally:
        taken = sending.done()
        sending.cancel()
    if not taken:
        raise _UnreadError
    sending.result()


async def _wait(news: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, seconds)):
            await news.wait()


async def _over(talking: asyncio.Task[None], gone: bool) -> bool:
    """Wait for the end of a stream's task; returns whether its reader may still be there.

    An unforeseen error is logged, unless the reader is gone.
    """
    try:
        await talking
    except asyncio.CancelledError:
        pass
    except _UnreadError:
        return False
    except Exception as error:
        if not gone:
            refusal_of(error)
    return not gone


def _event(name: bytes, data: bytes) -> dict[str, Any]:
    return _part(b"event: %s\ndata: %s\n\n" % (name, data))


def _part(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _left(receive: Receive) -> None:
    """Wait until a reader is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
