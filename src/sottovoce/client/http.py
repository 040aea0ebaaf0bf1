"""Requests to a collector: one host, bounded answers, no redirects, every failure a `ServiceError`.

Used by devices, which trust no collector, and by analysts, whose token must go to nobody else.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final, final

import msgspec
import urllib3

from sottovoce.client.connections import obey_deadlines
from sottovoce.client.deadline import left, within
from sottovoce.client.problems import in_words
from sottovoce.client.text import one_line
from sottovoce.errors import ServiceError

__all__ = ["BAD_ANSWER", "LONGEST_ANSWER", "TOO_SLOW", "Http", "collector_url"]

BAD_ANSWER: Final = "bad_answer"
"""Code of an answer that no collector gives: a captive portal's page, an endless body, a redirect."""


TOO_SLOW: Final = "too_slow"
"""Code of a request whose time was over before its answer was."""

LONGEST_ANSWER: Final = 2**24
"""Bytes of an answer that are read unless a call says otherwise."""

_CHUNK: Final = 2**16
_JSON: Final = "application/json"
_LONGEST_RETRY_AFTER: Final = 86_400
_USER_AGENT: Final = "sottovoce"
"""Without a version: what software a person has updated is nobody's business."""


def collector_url(url: str, *, insecure: bool = False) -> str:
    """The one spelling of a collector's address.

    Parameters
    ----------
    insecure
        Allow plain http to other hosts than this one. A report may be read by anybody, but on plain http anybody may
        also change what arrives: the key that is trusted on first use, and an analyst's token.

    Examples
    --------
    >>> collector_url("HTTPS://Stats.Example.org:443/sottovoce/")
    'https://stats.example.org/sottovoce'
    >>> collector_url("http://stats.example.org")
    Traceback (most recent call last):
    sottovoce.errors.ServiceError: plain http is refused ...
    """
    parsed = None
    if isinstance(url, str) and url.isascii() and url.isprintable() and " " not in url:
        with contextlib.suppress(urllib3.exceptions.LocationParseError):
            parsed = urllib3.util.parse_url(url)
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise ServiceError("the collector's address must look like https://stats.example.org", "bad_address")
    if parsed.auth or parsed.query or parsed.fragment:
        raise ServiceError("the collector's address must hold no user, no ?query and no #fragment", "bad_address")
    if parsed.scheme == "http" and not insecure and not _is_loopback(parsed.host):
        raise ServiceError(
            "plain http is refused except to this very machine: on the way anybody could put another key or survey in "
            "place of the collector's; use https, or allow it with insecure=True (--insecure)",
            "bad_address",
        )
    port = None if parsed.port == {"http": 80, "https": 443}[parsed.scheme] else parsed.port
    path = (parsed.path or "").rstrip("/")
    return parsed.scheme + "://" + parsed.host.lower() + (f":{port}" if port else "") + path


@final
class Http:
    """A collector as HTTP sees it. Safe to use from several threads.

    Parameters
    ----------
    url
        Of the collector; see `collector_url`.
    token
        An analyst's token. Devices have none.
    timeout
        Seconds without any progress after which a request is given up.
    seconds
        Seconds after which it is given up, whatever still comes in; less where `deadline.within` leaves less.
    ca_file
        Certificates to trust in place of the system's. Checking them cannot be switched off.
    proxy
        Address of an HTTP proxy. The environment's proxy variables are ignored: whoever sets one would see when a
        person answers, without the application's knowing.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        seconds: float = 120.0,
        ca_file: str | None = None,
        proxy: str | None = None,
        insecure: bool = False,
    ) -> None:
        self.url = collector_url(url, insecure=insecure)
        self._headers = {"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"}
        if token is not None:
            if not isinstance(token, str) or not re.fullmatch(r"[!-~]+", token):
                raise ServiceError("a token is one word, as it was shown when it was made", "bad_token")
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout, self._seconds = timeout, seconds
        settings: dict[str, Any] = {"timeout": urllib3.Timeout(timeout), "retries": False, "maxsize": 16}
        if ca_file is not None:
            settings["ca_certs"] = ca_file
        self._pool = urllib3.PoolManager(**settings) if proxy is None else urllib3.ProxyManager(proxy, **settings)
        obey_deadlines(self._pool)

    def __repr__(self) -> str:
        return f"<Http {self.url}>"

    def close(self) -> None:
        """Give back idle connections."""
        self._pool.clear()

    # --- what may be asked ------------------------------------------------------------------

    def get(
        self,
        path: str,
        params: Mapping[str, object] | None = None,
        *,
        most: int = LONGEST_ANSWER,
        kind: Any = Any,
    ) -> Any:
        """The JSON under a path, as a value of this kind: nothing else in it is ever built, whatever was sent."""
        return _parsed(self._request("GET", path, params=params, most=most), kind)

    def get_bytes(self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER) -> bytes:
        """The bytes under a path."""
        return self._request("GET", path, params=params, most=most)

    def post(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = _JSON) -> Any:
        """Send JSON, or a body of another type; returns the answer's JSON, None where it is empty."""
        sent = msgspec.json.encode(json) if body is None and json is not None else body
        return _parsed(self._request("POST", path, body=sent, content_type=content_type))

    def put(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = _JSON) -> Any:
        """Send JSON, or a body of another type; returns the answer's JSON, None where it is empty."""
        sent = msgspec.json.encode(json) if body is None else body
        return _parsed(self._request("PUT", path, body=sent, content_type=content_type))

    def delete(self, path: str) -> Any:
        """Remove what stands under a path; returns the answer's JSON, None where it is empty."""
        return _parsed(self._request("DELETE", path))

    # --- how it is asked --------------------------------------------------------------------

    def _request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        body: bytes | None = None,
        content_type: str = "",
        most: int = LONGEST_ANSWER,
    ) -> bytes:
        target = self.url + path
        if params:
            target += "?" + http_query(params)
        headers = {**self._headers, "Content-Type": content_type} if body is not None else self._headers
        with within(self._seconds):
            status, retry_after, found = self._exchange(method, target, headers, body, most)
        if not 200 <= status < 300:
            raise _refusal(status, retry_after, found)
        return found

    def _exchange(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None, most: int
    ) -> tuple[int, str | None, bytes]:
        """Status, Retry-After and body of the answer."""
        problem = ""
        try:
            response = self._pool.request(
                method, target, body=body, headers=headers, redirect=False, preload_content=False
            )
            try:
                found = _read(response, most)
            except BaseException:
                response.close()  # what is still under way must not become the next answer's beginning
                raise
            response.release_conn()
            return response.status, response.headers.get("Retry-After"), found
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            if isinstance(error, ServiceError):
                raise
            problem = in_words(error, self._timeout)
        # Outside the except block: urllib3's errors hold the whole request.
        if left() <= 0:
            raise ServiceError(f"the collector at {self.url} answers too slowly; it was given up", TOO_SLOW)
        raise ServiceError(f"the collector at {self.url} cannot be reached: {problem}; try again later")


def http_query(params: Mapping[str, object]) -> str:
    """Parameters of a request as they stand behind the question mark."""
    from urllib.parse import urlencode

    return urlencode([(name, value) for name, value in params.items() if value is not None])


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _read(response: urllib3.BaseHTTPResponse, most: int) -> bytes:
    """The body, if it is plain and not too long."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ServiceError("the collector's answer is compressed, which was not asked for", BAD_ANSWER, response.status)
    parts, length = [], 0
    while chunk := response.read1(_CHUNK):
        length += len(chunk)
        if length > most:
            raise ServiceError(
                f"the collector's answer is longer than the {most:,} bytes that are read", BAD_ANSWER, response.status
            )
        parts.append(chunk)
    return b"".join(parts)


class _Error(msgspec.Struct, frozen=True):
    code: str
    message: str


class _Told(msgspec.Struct, frozen=True):
    error: _Error


def _parsed(body: bytes, kind: Any = Any) -> Any:
    if not body and kind is Any:
        return None
    problem = ""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        problem = f"is not what it must be: {one_line(str(error))}"
    except (msgspec.MsgspecError, ValueError, RecursionError):
        problem = "is not JSON; is this the address of a collector?"
    raise ServiceError(f"the collector's answer {problem}", BAD_ANSWER)


def _refusal(status: int, retry_after: str | None, body: bytes) -> ServiceError:
    """The error that an answer other than 2xx stands for; its words are the collector's if it is one."""
    seconds = None
    if retry_after is not None and re.fullmatch(r"[0-9]{1,9}", retry_after):
        seconds = float(min(int(retry_after), _LONGEST_RETRY_AFTER))
    try:
        told = _parsed(body, _Told).error
    except ServiceError:
        where = "; it leads elsewhere, and redirects are not followed" if 300 <= status < 400 else ""
        return ServiceError(f"the collector answered with status {status}{where}", BAD_ANSWER, status, seconds)
    return ServiceError(one_line(told.message, 500), one_line(told.code, 60), status, seconds)
