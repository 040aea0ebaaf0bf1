"""Authorization: tokens, the session cookie, and who may do what.

A token is shown once and stored as a hash. Its id is not secret, only what follows it is: the time of a check may
reveal which ids exist.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import TokenRecord
from sottovoce.core.scopes import SCOPES, TOKEN, Scope
from sottovoce.core.signing import to_base64url
from sottovoce.service.http.request import Request
from sottovoce.service.refusal import Refusal

__all__ = [
    "COOKIE",
    "PAGE_HEADER",
    "SCOPES",
    "SECURE_COOKIE",
    "SEVERAL_COOKIES",
    "Scope",
    "allows",
    "check_token",
    "cleared_cookie",
    "comes_from_here",
    "cookie_token",
    "create_token",
    "ensure_admin",
    "has_several_cookies",
    "is_expired",
    "is_secure",
    "n_cookies",
    "no_token",
    "over_tls",
    "presented_token",
    "require",
    "set_cookie",
    "unauthorized",
]

_OPENS: Final[dict[str, frozenset[str]]] = {
    "read": frozenset({"read"}),
    "ask": frozenset({"read", "ask"}),
    "publish": frozenset({"read", "publish"}),
    "admin": frozenset(SCOPES),
}


def create_token(
    store: Store, scopes: Iterable[str], note: str, epoch: int, expires_in: int | None = None
) -> tuple[str, TokenRecord]:
    """A new token, for its holder's eyes only, and the record that is stored; it expires after `expires_in` seconds."""
    token_id = secrets.token_hex(4)
    while store.token(token_id) is not None:
        token_id = secrets.token_hex(4)
    secret = to_base64url(secrets.token_bytes(32))
    expires = None if expires_in is None else int(store.now()) + expires_in
    record = TokenRecord(token_id, _digest(secret), frozenset(scopes), note, epoch, expires=expires)
    store.add_token(record)
    return f"sv_{token_id}_{secret}", record


def check_token(store: Store, presented: str) -> TokenRecord | None:
    """What is kept of a token, if it is a known one that was not revoked and has not expired."""
    parts = TOKEN.fullmatch(presented)
    if parts is None:
        return None
    record = store.token(parts[1])
    if record is None or record.revoked or not hmac.compare_digest(_digest(parts[2]), record.digest):
        return None
    return None if is_expired(store, record) else record


def is_expired(store: Store, record: TokenRecord) -> bool:
    """Whether its time is over, by the database's clock."""
    return record.expires is not None and store.now() >= record.expires


def allows(record: TokenRecord, scope: str) -> bool:
    """Whether a token opens what needs that scope.

    Examples
    --------
    >>> publisher = TokenRecord("0" * 8, bytes(32), frozenset({"publish"}), "", 0)
    >>> allows(publisher, "read"), allows(publisher, "ask")
    (True, False)
    """
    return any(scope in _OPENS.get(held, frozenset()) for held in record.scopes)


def ensure_admin(store: Store) -> str | None:
    """A token that may do everything, for the first start, to be shown once; None if one exists already."""
    if any(
        allows(record, "admin") and not record.revoked and not is_expired(store, record) for record in store.tokens()
    ):
        return None
    return create_token(store, ("admin",), "made at the first start", 0)[0]


def _digest(secret: str) -> bytes:
    # The secret has 256 random bits: nothing is won by a slow hash.
    return hashlib.sha256(secret.encode()).digest()


COOKIE: Final = "sottovoce_session"

SECURE_COOKIE: Final = f"__Host-{COOKIE}"
"""The name it has behind TLS."""

PAGE_HEADER: Final = "X-Sottovoce-Page"
"""The header that the collector's own pages send with the value 1."""

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
    listed = list(headers)
    if not comes_from_here(method, listed):
        return None
    if method not in _READING and _values(listed, _PAGE) != [b"1"]:
        return None
    held = _held(listed, secure)
    return held[0] if len(held) == 1 else None


def n_cookies(headers: Headers, *, secure: bool = False) -> int:
    """How many session cookies a request has; more than one where another host of the domain put one there."""
    return len(_held(headers, secure))


def comes_from_here(method: str, headers: Headers) -> bool:
    """Whether a browser says that a page of this origin or its user asks; other programs say nothing."""
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


_NO_TOKEN: Final = (
    "this needs a token that is known, and neither revoked nor expired: send Authorization: Bearer sv_..., or sign in "
    "at /"
)

SEVERAL_COOKIES: Final = (
    "the browser sent several session cookies, so none of them counts: another service of this host or domain has set "
    "one; sign in again, and if that does not help remove the cookies of this host and its domain in the browser"
)


def over_tls(request: Request) -> bool:
    """Whether a browser asks over TLS."""
    return is_secure(request.scope["scheme"], request.service.settings.public_url)


def has_several_cookies(request: Request) -> bool:
    """Whether a request has several session cookies, none of which counts, and no Authorization header."""
    if request.header(b"authorization") is not None:
        return False
    return n_cookies(request.scope["headers"], secure=over_tls(request)) > 1


def presented_token(request: Request) -> str | None:
    """The token of the Authorization header if there is one, whatever it says; else that of the session cookie."""
    given = request.header(b"authorization")
    if given is None:
        return cookie_token(request.scope["method"], request.scope["headers"], secure=over_tls(request))
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def no_token(request: Request) -> Refusal:
    """The refusal of a request whose token is missing or does not count."""
    return unauthorized(SEVERAL_COOKIES if has_several_cookies(request) else _NO_TOKEN)


def unauthorized(message: str, field: str | None = None) -> Refusal:
    """The refusal of a request without a valid token."""
    challenge = {"WWW-Authenticate": 'Bearer realm="sottovoce"'}
    return Refusal(401, "unauthorized", message, field=field, headers=challenge)


def require(record: TokenRecord, *scopes: str) -> None:
    """Refuse a token that has none of these scopes."""
    if not any(allows(record, scope) for scope in scopes):
        needed = " or ".join(f"{scope} ({SCOPES[scope]})" for scope in scopes)
        raise Refusal(403, "insufficient_scope", f"this needs a token of the scope {needed}; an admin can make you one")
