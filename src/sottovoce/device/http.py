"""HTTP requests to a collector: one host, bounded responses, no redirects, retries, every failure a `ServiceError`."""

from __future__ import annotations

import contextlib
import http.client
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, final

import msgspec
import urllib3

from sottovoce.core.addresses import is_loopback
from sottovoce.core.errors import ServiceError
from sottovoce.core.text import one_line
from sottovoce.device.connections import certificate_problem, describe_failure, left, obey_deadlines, within
from sottovoce.protocol.errors import ErrorBody
from sottovoce.randomness import os_source

__all__ = [
    "BAD_ANSWER",
    "LONGEST_ANSWER",
    "Http",
    "Patience",
    "check_confirmed",
    "collector_url",
    "http_query",
    "is_transient",
    "parse_json_answer",
    "refusal_of",
]


BAD_ANSWER: Final = "bad_answer"
"""Code of a response that is not a collector's: a captive portal, an endless body, a redirect."""


_BAD_CERTIFICATE: Final = "bad_certificate"
"""Code of a server whose certificate is not trusted."""

_TOO_SLOW: Final = "too_slow"
"""Code of a request that exceeded its deadline."""

LONGEST_ANSWER: Final = 2**24
"""Default limit on the size of a response."""

_CHUNK: Final = 2**16
_JSON: Final = "application/json"
_LONGEST_RETRY_AFTER: Final = 86_400
_USER_AGENT: Final = "sottovoce"
"""The user agent, without a version, which would help to identify a device."""


def collector_url(url: str, *, insecure: bool = False, who: str = "collector") -> str:
    """The canonical form of a collector's address.

    Parameters
    ----------
    insecure
        Allow plain http to other hosts. Reports are not secret, but on plain http anybody on the way can replace the
        key that is trusted on first use, and read an analyst's token.
    who
        Whom errors name: "collector" or "relay".

    Examples
    --------
    >>> collector_url("HTTPS://Stats.Example.org:443/sottovoce/")
    'https://stats.example.org/sottovoce'
    >>> collector_url("http://stats.example.org")
    Traceback (most recent call last):
    sottovoce.core.errors.ServiceError: plain http is refused ...
    """
    parsed = None
    if isinstance(url, str) and url.isascii() and url.isprintable() and " " not in url:
        with contextlib.suppress(urllib3.exceptions.LocationParseError):
            parsed = urllib3.util.parse_url(url)
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise ServiceError(f"the {who}'s address must look like https://stats.example.org", "bad_address")
    if parsed.auth or parsed.query or parsed.fragment:
        raise ServiceError(f"the {who}'s address must not contain a user, a ?query or a #fragment", "bad_address")
    if parsed.scheme == "http" and not insecure and not is_loopback(parsed.host):
        raise ServiceError(
            "plain http is refused except to this machine: anybody on the way could replace the key or the survey; use "
            "https, or allow it with insecure=True (--insecure)",
            "bad_address",
        )
    port = None if parsed.port == {"http": 80, "https": 443}[parsed.scheme] else parsed.port
    path = (parsed.path or "").rstrip("/")
    return parsed.scheme + "://" + parsed.host.lower() + (f":{port}" if port else "") + path


@final
class Http:
    """A connection to a collector. Safe to use from several threads.

    Parameters
    ----------
    url
        Address of the collector; see `collector_url`.
    token
        An analyst's token. Devices have none.
    timeout
        Seconds without progress after which a request is aborted.
    seconds
        Seconds after which a request is aborted in any case; less if `deadline.within` leaves less.
    ca_file
        Certificates to trust instead of the system's, which are those that the environment variable SSL_CERT_FILE
        names if it is set. Verification cannot be switched off.
    proxy
        Address of an HTTP proxy. Proxy variables of the environment are ignored: they would reveal to a third party
        when a person answers.
    keep_alive
        If False, every request has a connection of its own: one that is used again links what was sent on it.
    who
        Whom errors name: "collector" or "relay".
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
        keep_alive: bool = True,
        who: str = "collector",
    ) -> None:
        self.who = who
        self.url = collector_url(url, insecure=insecure, who=who)
        self._headers = {"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"}
        if token is not None:
            if not isinstance(token, str) or not re.fullmatch(r"[!-~]+", token):
                raise ServiceError("the token is malformed: copy it as it was printed", "bad_token").at("token")
            self._headers["Authorization"] = f"Bearer {token}"
        if not keep_alive:
            self._headers["Connection"] = "close"
        self._timeout, self._seconds = timeout, seconds
        settings: dict[str, Any] = {"timeout": urllib3.Timeout(timeout), "retries": False, "maxsize": 16}
        if ca_file is not None:
            settings["ca_certs"] = ca_file
        self._pool = urllib3.PoolManager(**settings) if proxy is None else urllib3.ProxyManager(proxy, **settings)
        obey_deadlines(self._pool, keep_alive)

    def __repr__(self) -> str:
        return f"<Http {self.url}>"

    def close(self) -> None:
        """Close idle connections."""
        self._pool.clear()

    # --- requests ---------------------------------------------------------------------------

    def get(
        self,
        path: str,
        params: Mapping[str, object] | None = None,
        *,
        most: int = LONGEST_ANSWER,
        kind: Any = Any,
    ) -> Any:
        """The JSON under a path, decoded as a value of this kind only."""
        return self._parsed(self._request("GET", path, params=params, most=most), kind)

    def get_bytes(self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER) -> bytes:
        """The bytes under a path."""
        return self._request("GET", path, params=params, most=most)

    def post(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = _JSON) -> Any:
        """Send JSON, or a body of another type; returns the response's JSON, None if it is empty."""
        sent = msgspec.json.encode(json) if body is None and json is not None else body
        return self._parsed(self._request("POST", path, body=sent, content_type=content_type))

    def put(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = _JSON) -> Any:
        """Send JSON, or a body of another type; returns the response's JSON, None if it is empty."""
        sent = msgspec.json.encode(json) if body is None else body
        return self._parsed(self._request("PUT", path, body=sent, content_type=content_type))

    def delete(self, path: str) -> Any:
        """Delete what is under a path; returns the response's JSON, None if it is empty."""
        return self._parsed(self._request("DELETE", path))

    def post_bytes(self, path: str, body: bytes, *, content_type: str, most: int = LONGEST_ANSWER) -> bytes:
        """Send a body; returns the response's bytes."""
        return self._request("POST", path, body=body, content_type=content_type, most=most)

    # --- one exchange -----------------------------------------------------------------------

    def _parsed(self, body: bytes, kind: Any = Any) -> Any:
        return parse_json_answer(body, kind, self.who)

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
            status, retry_after, content = self._exchange(method, target, headers, body, most)
        if not 200 <= status < 300:
            raise refusal_of(status, retry_after, content, self.who)
        return content

    def _exchange(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None, most: int
    ) -> tuple[int, str | None, bytes]:
        """Status, Retry-After and body of the response."""
        problem = refused = ""
        try:
            response = self._pool.request(
                method, target, body=body, headers=headers, redirect=False, preload_content=False
            )
            try:
                content = _read(response, most, self.who)
            except BaseException:
                response.close()  # the rest must not become the beginning of the next response
                raise
            response.release_conn()
            return response.status, response.headers.get("Retry-After"), content
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            if isinstance(error, ServiceError):
                raise
            problem, refused = describe_failure(error, self._timeout), certificate_problem(error)
        # Outside the except block: urllib3's errors contain the whole request.
        if refused:
            raise ServiceError(f"the {self.who} at {self.url} was sent nothing: {refused}", _BAD_CERTIFICATE)
        if left() <= 0:
            raise ServiceError(f"the {self.who} at {self.url} is too slow; the request was aborted", _TOO_SLOW)
        raise ServiceError(f"the {self.who} at {self.url} cannot be reached: {problem}; try again later")


def http_query(params: Mapping[str, object]) -> str:
    """Encode parameters as a query string."""
    from urllib.parse import urlencode

    return urlencode([(name, value) for name, value in params.items() if value is not None])


def _read(response: urllib3.BaseHTTPResponse, most: int, who: str) -> bytes:
    """The body, if it is uncompressed and not too long."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ServiceError(f"the {who}'s response is compressed, which was not requested", BAD_ANSWER, response.status)
    parts, length = [], 0
    while chunk := response.read1(_CHUNK):
        length += len(chunk)
        if length > most:
            raise ServiceError(
                f"the {who}'s response is longer than the limit of {most:,} bytes", BAD_ANSWER, response.status
            )
        parts.append(chunk)
    return b"".join(parts)


def parse_json_answer(body: bytes, kind: Any = Any, who: str = "collector") -> Any:
    """The JSON of a response, decoded as a value of this kind only; None if it is empty."""
    if not body and kind is Any:
        return None
    problem = ""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        problem = f"is invalid: {one_line(str(error))}"
    except (msgspec.MsgspecError, ValueError, RecursionError):
        problem = f"is not JSON; is this the address of a {who}?"
    raise ServiceError(f"the {who}'s response {problem}", BAD_ANSWER)


def check_confirmed(answer: Any, who: str = "collector") -> None:
    """Raise unless a response confirms one report: a proxy may answer anything with status 200."""
    if not isinstance(answer, dict) or type(answer.get("accepted")) is not int or answer["accepted"] != 1:
        raise ServiceError(f"the {who}'s response does not confirm the report", BAD_ANSWER)


def refusal_of(status: int, retry_after: str | None, body: bytes, who: str = "collector") -> ServiceError:
    """The error for a response other than 2xx, with its message if there is one."""
    seconds = None
    if retry_after is not None and re.fullmatch(r"[0-9]{1,9}", retry_after):
        seconds = float(min(int(retry_after), _LONGEST_RETRY_AFTER))
    try:
        sent = parse_json_answer(body, ErrorBody).error
    except ServiceError:
        where = "; redirects are not followed" if 300 <= status < 400 else ""
        return ServiceError(f"the {who} answered with status {status}{where}", BAD_ANSWER, status, seconds)
    return ServiceError(one_line(sent.message, 500), one_line(sent.code, 60), status, seconds)


T = TypeVar("T")

_PARTS = 2**20


def is_transient(error: ServiceError) -> bool:
    """Whether a retry may succeed: no connection, too many requests, or a failure of the collector."""
    if error.code in (_TOO_SLOW, _BAD_CERTIFICATE):
        return False  # a request that used up its time is not repeated, and a certificate stays what it is
    return error.status in (0, 408, 425, 429) or error.status >= 500


@final
@dataclass(frozen=True)
class Patience:
    """How requests are retried within one call; a report that is unsent then waits for `Device.flush`.

    After attempt k, counted from 0, it waits a time uniform below first * 2**k seconds and at most `longest`, on top of
    the collector's Retry-After, so that devices do not return all at once. It gives up if Retry-After exceeds `longest`
    or the wait exceeds what `deadline.within` leaves.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def ask(self, request: Callable[[], T]) -> T:
        """The result of the request, which is repeated while its error `is_transient`."""
        for attempt in range(self.attempts - 1):
            try:
                return request()
            except ServiceError as error:
                if not is_transient(error) or (error.retry_after or 0.0) > self.longest:
                    raise
                wait = (error.retry_after or 0.0) + min(self.longest, self.first * 2**attempt) * os_source().below(
                    _PARTS
                ) / _PARTS
                if wait >= left():
                    raise
            self.sleep(wait)
        return request()
