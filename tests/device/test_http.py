"""Requests: which addresses are taken, what is sent along, and how every failure is told."""

from __future__ import annotations

import pickle
import socket
import ssl
import threading
import time
from typing import Any

import pytest
import urllib3

from device.played import Played, as_json, refusal
from refusing import refuses
from sottovoce.core.errors import ServiceError
from sottovoce.device import Http
from sottovoce.device.connections import describe_failure
from sottovoce.device.http import collector_url


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://127.0.0.1:8470", "http://127.0.0.1:8470"),
        ("http://127.0.0.1:8470/", "http://127.0.0.1:8470"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:8470", "http://[::1]:8470"),
        ("HTTPS://STATS.example.org:443//", "https://stats.example.org"),
        ("https://stats.example.org/a/b/", "https://stats.example.org/a/b"),
    ],
)
def test_one_spelling(given: str, meant: str) -> None:
    assert collector_url(given) == meant
    assert collector_url(meant) == meant


@pytest.mark.parametrize(
    "url",
    [
        "",
        "stats.example.org",
        "ftp://stats.example.org",
        "file:///etc/passwd",
        "http://",
        "https://user:secret@stats.example.org",
        "https://stats.example.org?x=1",
        "https://stats.example.org#x",
        "https://stats.example.org/ a",
        "https://stats.example.org/\r\nHost: other",
        "https://stäts.example.org",
        "https://stats.example.org:99999",
        "http://stats.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://10.0.0.1",
        None,
        7,
    ],
)
def test_refused_addresses(url: Any) -> None:
    with pytest.raises(ServiceError) as info:
        collector_url(url)
    assert info.value.code == "bad_address"
    assert "secret" not in str(info.value)


def test_plain_http_if_it_must_be() -> None:
    assert collector_url("http://10.0.0.1:8470", insecure=True) == "http://10.0.0.1:8470"


def test_json_and_bytes(played: Played) -> None:
    sent: list[tuple[str | None, str | None]] = []

    def echo(handler: Any) -> Any:
        sent.append((handler.headers["Authorization"], handler.headers["Content-Type"]))
        return as_json(200, {"path": handler.path})

    played.twists["GET", ""] = played.twists["POST", ""] = echo
    with_token, without = Http(played.url, "sv_0011_token"), Http(played.url)
    assert without.get("/v1/key") == {"path": "/v1/key"}
    assert with_token.get("/x", {"level": 0.95, "title": "a&b", "none": None}) == {"path": "/x?level=0.95&title=a%26b"}
    assert without.get_bytes("/x") == b'{"path": "/x"}'
    assert with_token.post("/x", {"a": 1}) == {"path": "/x"}
    assert without.post("/x", body=b"abc", content_type="application/x") == {"path": "/x"}
    bearer = "Bearer sv_0011_token"
    assert sent == [(None, None), (bearer, None), (None, None), (bearer, "application/json"), (None, "application/x")]
    assert played.bodies == [b'{"a":1}', b"abc"]
    assert "token" not in repr(with_token)
    for http in (with_token, without):
        http.close()


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX: y", "ä", 7])
def test_a_token_that_is_none(token: Any) -> None:
    with refuses(ServiceError, "token"):
        Http("http://127.0.0.1:1", token)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0", 0.0), ("9" * 9, 86_400), ("-1", None), ("x", None)])
def test_the_servers_words(played: Played, header: str, seconds: float | None) -> None:
    played.twists["GET", ""] = lambda _: refusal(503, "queue_full", Retry_After=header)
    with pytest.raises(ServiceError) as info:
        Http(played.url).get("/x")
    error = info.value
    assert (str(error), error.code, error.status, error.retry_after) == ("no: queue_full", "queue_full", 503, seconds)


def test_redirects_are_not_followed(played: Played) -> None:
    """A token must go to nobody else."""
    with Played() as other:
        for status in (301, 302, 303, 307, 308):
            played.twists["GET", ""] = lambda _, status=status: (status, {"Location": other.url}, b"")
            with pytest.raises(ServiceError, match="redirects are not followed"):
                Http(played.url, "token").get("/x")
        assert other.requests == []


def test_proxies_of_the_environment_are_ignored(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    with Played() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert Http(played.url).get("/v1/surveys") == {"surveys": []}
        assert proxy.requests == []
        with pytest.raises(ServiceError):
            Http(played.url, proxy=proxy.url).get("/v1/surveys")
        assert len(proxy.requests) == 1


def test_a_body_that_trickles(played: Played) -> None:
    """Every byte arrives within the timeout, and all of them together never would."""

    def trickle(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.01)

    played.twists["GET", ""] = trickle
    with pytest.raises(ServiceError, match="too slow"):
        Http(played.url, timeout=5.0, seconds=0.1).get("/x")


def test_a_server_that_says_nothing(played: Played) -> None:
    over = threading.Event()

    def silent(_: Any) -> None:
        over.wait(60)

    played.twists["GET", ""] = silent
    try:
        with pytest.raises(ServiceError, match=r"cannot be reached: no answer within 0\.05 seconds") as info:
            Http(played.url, timeout=0.05).get("/x")
    finally:
        over.set()
    assert (info.value.code, info.value.status) == ("unreachable", 0)


def test_nobody_there() -> None:
    with Played() as gone:
        url = gone.url
    with pytest.raises(ServiceError, match="cannot be reached: the connection was refused") as info:
        Http(url, "sv_secret").post("/x", {"private": "gazpacho"})
    assert info.value.__cause__ is None
    assert info.value.__context__ is None
    assert b"gazpacho" not in pickle.dumps(info.value)


def test_a_connection_that_is_cut(played: Played) -> None:
    def cut(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    played.twists["GET", ""] = cut
    with pytest.raises(ServiceError, match="cannot be reached: the connection was cut"):
        Http(played.url).get("/x")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (urllib3.exceptions.ProtocolError("x", socket.gaierror(-2, "secret")), "the host name is unknown"),
        (urllib3.exceptions.SSLError(ssl.SSLCertVerificationError("secret")), "its certificate is not trusted"),
        (urllib3.exceptions.SSLError(ssl.SSLError("secret")), "no TLS connection could be made"),
        (urllib3.exceptions.ProtocolError("x", OSError(113, "No route to host")), "no route to host"),
        (urllib3.exceptions.ProtocolError("secret"), "the response is not HTTP"),
        (urllib3.exceptions.ProxyError("secret", TimeoutError()), "at the proxy, no answer within 1 second"),
    ],
)
def test_problems_describe_failure(error: Exception, words: str) -> None:
    assert describe_failure(error, 1.0) == words


def test_the_bound_of_an_answer(played: Played) -> None:
    played.twists["GET", ""] = lambda _: (200, {}, b"x" * 1000)
    http = Http(played.url)
    assert len(http.get_bytes("/x", most=1000)) == 1000
    with pytest.raises(ServiceError, match="longer than the limit of 999 bytes"):
        http.get_bytes("/x", most=999)
    assert len(http.get_bytes("/x", most=1000)) == 1000, "the connection that was cut is not used again"
    http.close()
