"""The status of surveys, read once a second and per survey, however many clients follow it.

A follower is woken when something changed, and finds there the latest that is known; what it was too slow for is left
out. A feed begins with its first follower and ends with its last.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from sottovoce.service.refusal import Refusal, refusal_of

__all__ = ["Feed", "Feeds", "ReadStatus"]

ReadStatus: TypeAlias = Callable[[str], Awaitable[bytes]]
"""From a survey's id to how it stands, as JSON; refuses with 404 or 410 when it is gone."""

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
        """Wake whoever follows."""
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
            found = await self._look(survey_id)
        except Refusal as refusal:
            feed.gone = refusal.status in _GONE
            if feed.gone:
                feed.tell()
        else:
            if found != feed.latest:
                feed.latest = found
                feed.tell()
