"""Authorization: the token of a request, from its Authorization header or the session cookie, and its scopes."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.session_cookie import cookie_token, is_secure, n_cookies
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.tokens import SCOPES, allows
from sottovoce.service.http.request import Request
from sottovoce.service.refusal import Refusal

__all__ = [
    "SEVERAL_COOKIES",
    "has_several_cookies",
    "no_token",
    "over_tls",
    "presented_token",
    "require",
    "unauthorized",
]

_NO_TOKEN: Final = (
    "this needs a token that is known, and neither revoked nor expired: send Authorization: Bearer sv_..., or sign in "
    "at /"
)

SEVERAL_COOKIES: Final = (
    "the browser sent several session cookies, of which none counts: another service of this host or domain has set "
    "one; sign in again, and if that does not help remove the cookies of this host and its domain in the browser"
)


def over_tls(request: Request) -> bool:
    """Whether a browser asks over TLS."""
    return is_secure(request.scope["scheme"], request.service.settings.public_url)


def has_several_cookies(request: Request) -> bool:
    """Whether there is no Authorization header, and several session cookies, of which none counts."""
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
