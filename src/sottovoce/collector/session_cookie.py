"""The cookie of an analyst who signed in to the dashboard: when it counts, and how it is set and cleared.

It holds the token itself, out of reach of scripts, and is revoked with it. A browser sends it along with requests that
its owner knows nothing of. So it counts only for requests that the browser says come from a page of this very origin,
and, where something could be changed, only with a header that no page of another origin can send without asking first;
and whoever asks is not allowed it.

Another host of the same domain can put cookies there too. Behind TLS the name begins with ``__Host-``, and browsers
keep such a cookie only from this very host. Without TLS one that was put there cannot be told from ours: of two, none
counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = [
    "COOKIE",
    "PAGE_HEADER",
    "SECURE_COOKIE",
    "cleared_cookie",
    "comes_from_here",
    "cookie_token",
    "is_secure",
    "n_cookies",
    "set_cookie",
]

COOKIE: Final = "sottovoce_session"

SECURE_COOKIE: Final = f"__Host-{COOKIE}"
"""The name it has behind TLS."""

PAGE_HEADER: Final = "X-Sottovoce-Page"
"""Sent with the value 1 by the collector's own pages."""

_RULES: Final = "HttpOnly; SameSite=Strict; Path=/"

_SITE: Final = b"sec-fetch-site"
_PAGE: Final = PAGE_HEADER.lower().encode()

_READING: Final = ("GET", "HEAD")

Headers = Iterable[tuple[bytes, bytes]]


def is_secure(scheme: str, public_url: str) -> bool:
    """Whether browsers reach the service over TLS: at its own socket, or at the proxy before it."""
    return scheme == "https" or public_url.startswith("https:")


def cookie_token(method: str, headers: Headers, *, secure: bool = False) -> str | None:
    """What the session cookie of a request holds, if it counts; None where there is none, or more than one.

    Examples
    --------
    >>> cookie = (b"cookie", b"sottovoce_session=sv_...")
    >>> cookie_token("GET", [cookie]), cookie_token("POST", [cookie])
    ('sv_...', None)
    >>> cookie_token("POST", [cookie, (b"x-sottovoce-page", b"1"), (b"sec-fetch-site", b"same-origin")])
    'sv_...'
    >>> cookie_token("GET", [cookie, (b"sec-fetch-site", b"cross-site")])
    """
    told = list(headers)
    if not comes_from_here(method, told):
        return None
    if method not in _READING and _values(told, _PAGE) != [b"1"]:
        return None
    held = _held(told, secure)
    return held[0] if len(held) == 1 else None


def n_cookies(headers: Headers, *, secure: bool = False) -> int:
    """How many session cookies a request has; more than one where another host of the domain put one there."""
    return len(_held(headers, secure))


def comes_from_here(method: str, headers: Headers) -> bool:
    """Whether a browser says that a page of this origin asks, or its user; programs that are no browser say nothing."""
    sites = _values(headers, _SITE)
    return sites in ([], [b"same-origin"]) or (sites == [b"none"] and method == "GET")


def set_cookie(token: str, secure: bool) -> str:
    """The header that keeps a token in the browser until it is closed, or its owner signs out."""
    return f"{_name(secure)}={token}; {_RULES}" + ("; Secure" if secure else "")


def cleared_cookie(secure: bool) -> str:
    """The header that removes it."""
    return f"{_name(secure)}=; Max-Age=0; {_RULES}" + ("; Secure" if secure else "")


def _name(secure: bool) -> str:
    return SECURE_COOKIE if secure else COOKIE


def _held(headers: Headers, secure: bool) -> list[str]:
    """What the session cookies of a request hold."""
    wanted = _name(secure)
    return [value for name, value in _cookies(headers) if name == wanted]


def _values(headers: Headers, wanted: bytes) -> list[bytes]:
    return [value.strip() for name, value in headers if name == wanted]


def _cookies(headers: Headers) -> Iterable[tuple[str, str]]:
    for line in _values(headers, b"cookie"):
        for pair in line.decode("latin-1").split(";"):
            name, _, value = pair.partition("=")
            yield name.strip(), value.strip()
