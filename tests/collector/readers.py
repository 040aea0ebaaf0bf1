"""Browsers that follow a survey: readers of streams in this process, at a pace of the test's own."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from collector.client import DRINKS, Api, assert_error
from collector.service import PATIENCE
from sottovoce.collector.api.events import streams_of
from sottovoce.collector.reading.streams import StreamPace, Streams

QUICK = StreamPace(look=0.01, check=0.02, heartbeat=600.0, longest=600.0)
"""As fast as tests want it; heartbeats and the end come where a test asks for them."""


@dataclass
class Reader:
    """A browser that follows one survey."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    text: bytes = b""
    ended: bool = False
    left: asyncio.Event = field(default_factory=asyncio.Event)
    slow: bool = False
    """Whether it stopped reading."""

    async def receive(self) -> Any:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            assert not self.status
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        assert not self.ended
        if self.slow:
            await asyncio.Event().wait()
        self.text += message["body"]
        self.ended = not message.get("more_body", False)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """All that came so far."""
        found = []
        for part in self.text.decode().split("\n\n")[:-1]:
            lines = dict(line.split(": ", 1) for line in part.split("\n"))
            if "event" in lines:
                found.append((lines["event"], json.loads(lines["data"])))
        return found

    @property
    def code(self) -> tuple[int, str]:
        body = json.loads(self.text)
        assert_error(body)
        return self.status, body["error"]["code"]


@dataclass
class Place:
    """An application whose streams go at a pace of the test's own."""

    api: Api
    streams: Streams
    looks: Counter[str]
    """How often each survey was looked at."""

    async def follow(self, survey_id: str = DRINKS.id, **headers: str) -> tuple[Reader, asyncio.Task[None]]:
        """A reader whose stream has begun, or was refused."""
        reader = Reader()
        given = headers or {"Authorization": f"Bearer {self.api.admin}"}
        path = f"/v1/surveys/{survey_id}/events"
        scope: Any = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": ("203.0.113.77", 40000),
            "server": ("127.0.0.1", 80),
        }
        send: Any = reader.send
        stream = asyncio.create_task(self.api.app(scope, reader.receive, send))
        await soon(lambda: reader.status)
        return reader, stream


async def soon(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.002)


async def over(*streams: asyncio.Task[None]) -> None:
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*streams)


def at_pace(api: Api, pace: StreamPace = QUICK) -> Place:
    service: Any = api.app.service
    streams = streams_of(service, pace)
    looks: Counter[str] = Counter()
    look: Any = streams.feeds._look

    async def counted(survey_id: str) -> bytes:
        looks[survey_id] += 1
        found: bytes = await look(survey_id)
        return found

    streams.feeds._look = counted
    service.streams = streams
    return Place(api, streams, looks)
