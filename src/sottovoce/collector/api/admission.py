"""Authorization: the token of a request, from its Authorization header or the session cookie, and its scopes."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.request import Request
from sottovoce.collector.api.service import Service
from sottovoce.collector.refusal import Refusal
from sottovoce.collector.session_cookie import cookie_token
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.tokens import SCOPES, Scope, allows, check_token

__all__ = ["SEVERAL_COOKIES", "admit", "require", "unauthorized"]

_NO_TOKEN: Final = (
    "this needs a token that is known, and neither revoked nor expired: send Authorization: Bearer sv_..., or sign in "
    "at /"
)

SEVERAL_COOKIES: Final = (
    "the browser sent several session cookies, of which none counts: another service of this host or domain has set "
    "one; sign in again, and if that does not help remove the cookies of this host and its domain in the browser"
)


async def admit(request: Request, scopes: tuple[Scope, ...]) -> TokenRecord:
    """The token of a request, if it opens one of these scopes."""
    token = _presented(request)
    service: Service = request.service
    record = None if token is None else await service.wait_for_store(check_token, service.store, token)
    if record is None:
        raise unauthorized(SEVERAL_COOKIES if request.has_several_cookies else _NO_TOKEN)
    require(record, *scopes)
    return record


def _presented(request: Request) -> str | None:
    """The token of the Authorization header if there is one, whatever it says; else that of the session cookie."""
    given = request.header(b"authorization")
    if given is None:
        return cookie_token(request.scope["method"], request.scope["headers"], secure=request.over_tls)
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def unauthorized(message: str, field: str | None = None) -> Refusal:
    """The refusal of a request without a valid token."""
    challenge = {"WWW-Authenticate": 'Bearer realm="sottovoce"'}
    return Refusal(401, "unauthorized", message, field=field, headers=challenge)


def require(record: TokenRecord, *scopes: Scope) -> None:
    """Refuse a token that has none of these scopes."""
    if not any(allows(record, scope) for scope in scopes):
        needed = " or ".join(f"{scope} ({SCOPES[scope]})" for scope in scopes)
        raise Refusal(403, "insufficient_scope", f"this needs a token of the scope {needed}; an admin can make you one")
