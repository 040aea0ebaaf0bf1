"""The list of surveys comes in pages: all are followed, each survey is taken once, and never without an end."""

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from device.played import Played, as_json, refusal
from sottovoce.device import fetch
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import Http


def listed(*titles: str, pages: int | None) -> Any:
    entries = [{"id": title, "title": title, "kind": "shares", "epsilon": 1.0, "state": "open"} for title in titles]
    return as_json(200, {"surveys": entries} | ({} if pages is None else {"pages": pages}))


def titles_of(played: Played) -> list[str]:
    client = CollectorClient(Http(played.url))
    try:
        return [one.title for one in client.surveys()]
    finally:
        client.close()


def test_every_page_is_read_and_no_survey_twice() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", "b", pages=3)
        played.twists["GET", "?page=2"] = lambda _: listed("b", "c", pages=3)
        played.twists["GET", "?page=3"] = lambda _: listed("d", pages=3)
        assert titles_of(played) == ["a", "b", "c", "d"]


def test_a_collector_without_pages() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", pages=None)
        assert titles_of(played) == ["a"]
        assert len(played.requests) == 1


def test_pages_that_vanish_meanwhile() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", pages=2)
        played.twists["GET", "?page=2"] = lambda _: refusal(404, "no_such_page")
        assert titles_of(played) == ["a"]


def test_a_collector_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_MOST_PAGES", 5)

    def more(handler: BaseHTTPRequestHandler) -> Any:
        return listed(handler.path, pages=10**15)

    with Played() as played:
        played.twists["GET", ""] = more
        assert len(titles_of(played)) == 5
