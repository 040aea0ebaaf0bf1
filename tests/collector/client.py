"""The collector's application in this process, on a real store: asked over HTTP without a socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import sottovoce as sv
from collector.in_process import in_process
from sottovoce.collector.api.admission import create_token, ensure_admin
from sottovoce.collector.app import create_app
from sottovoce.collector.counting.aggregator import Aggregator
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store, open_store
from sottovoce.core.signing import SigningKey
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.service.http.application import SECURITY_HEADERS, Application
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

DRINKS = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
AGES = sv.Panel({"age": range(100), "smokes": ["no", "yes"]}, rounds=3, epsilon=2.0, title="Ages")

Pair = tuple[bytes, bytes]


def honest(survey: Survey, value: object, n: int) -> list[Pair]:
    """Reports of n devices with this value, each with its id."""
    return [(secrets.token_bytes(16), survey.randomize(value)) for _ in range(n)]


@dataclass
class Told:
    """A response as ASGI has it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Api:
    """An application, its store, and its admin's token."""

    app: Application
    http: httpx.Client
    store: Store
    key: SigningKey
    admin: str

    def ask(self, method: str, path: str, *, token: str | None = None, **given: Any) -> Any:
        """One request, as an admin unless another token is given; an empty one sends none."""
        headers = dict(given.pop("headers", {}))
        bearer = self.admin if token is None else token
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        response = self.http.request(method, path, headers=headers, **given)
        assert_headers(response.headers)
        if response.status_code >= 400:
            assert_error(response.json())
            assert response.headers["cache-control"] == "no-store"
        return response

    def token(self, *scopes: str) -> str:
        return create_token(self.store, scopes, "", 0)[0]

    def publish(self, survey: Survey | Panel, minimum_reports: int | None = 1) -> None:
        said = {"statement": survey.to_json(), "minimum_reports": minimum_reports}
        response = self.ask("POST", "/v1/surveys", json=said)
        assert response.status_code == 201, response.text

    def open_round(self, asked: Any, labels: Iterable[str] = ()) -> Any:
        said = {"statement": asked.to_json(), "labels": list(labels), "minimum_reports": 1}
        return self.ask("POST", f"/v1/surveys/{asked.seat.panel.id}/rounds", json=said)

    def send(self, survey: Survey, pairs: Iterable[Pair], **given: Any) -> Any:
        headers = {"Content-Type": BATCH_MEDIA_TYPE, **given.pop("headers", {})}
        content = given.pop("content", None) or encode_batch(survey.id, pairs)
        return self.ask("POST", f"/v1/surveys/{survey.id}/reports", token="", content=content, headers=headers, **given)

    def count(self) -> None:
        """Count whatever waits, as a worker does."""
        worker = Aggregator(self.store, "test")
        while worker.step():
            pass
        worker.close()

    def raw(self, method: str, path: str, headers: dict[str, str], events: AsyncIterator[dict[str, Any]]) -> Told:
        """One request whose body is sent event by event, from an address that must never be seen again."""
        return asyncio.run(self._raw(method, path, headers, events))

    async def _raw(
        self, method: str, path: str, headers: dict[str, str], events: AsyncIterator[dict[str, Any]]
    ) -> Told:
        scope: Any = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path.partition("?")[0],
            "raw_path": path.encode(),
            "query_string": path.partition("?")[2].encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": (ADDRESS, 40000),
            "server": ("127.0.0.1", 80),
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return await anext(events)

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        assert_headers(found)
        return Told(sent[0]["status"], found, b"".join(message["body"] for message in sent[1:]))


ADDRESS = "203.0.113.77"


def assert_headers(headers: Any) -> None:
    """The security headers, which whatever leaves the service has."""
    for name, value in SECURITY_HEADERS.items():
        assert headers[name.lower()] == value


def assert_error(body: Any) -> None:
    """The one error shape, maybe beside an acknowledgement's fields."""
    assert set(body) - {"accepted", "refused"} == {"error"}
    assert set(body["error"]) == {"code", "message", "field"}
    assert body["error"]["code"].replace("_", "").isalpha()
    assert len(body["error"]["message"]) > 10


@contextlib.contextmanager
def running(data: Path, *, max_bytes: int = 0, store: Store | None = None, **settings: Any) -> Iterator[Api]:
    """The application until the end of the block; on a fresh SQLite store unless one is given."""
    opened = store or open_store("", data, max_bytes=max_bytes)
    key = SigningKey.load_or_create(data / "signing.key")
    admin = ensure_admin(opened)
    assert admin is not None
    app = create_app(Settings(**{"data": data, "minimum_reports": 1, **settings}), opened, key)
    with in_process(app) as http:
        yield Api(app, http, opened, key, admin)
    if store is None:
        opened.close()
