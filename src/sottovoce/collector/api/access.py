"""Tokens over HTTP, made, listed and revoked by admins; and signing in to the dashboard and out, which makes a token a
cookie that scripts cannot read.
"""

from __future__ import annotations

import re
from typing import Final, cast

from sottovoce.collector.api import admission
from sottovoce.collector.api.admission import (
    SCOPES,
    SEVERAL_COOKIES,
    Scope,
    check_token,
    cleared_cookie,
    comes_from_here,
    has_several_cookies,
    over_tls,
    set_cookie,
    unauthorized,
)
from sottovoce.collector.api.service import Service
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.surveys.keeper import moment_of
from sottovoce.protocol.access import (
    NewToken,
    SignedIn,
    SignedOut,
    SignIn,
    TokenCreated,
    TokenEntry,
    TokenRevoked,
    Tokens,
)
from sottovoce.protocol.base import TokenId
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal

__all__ = ["ROUTES"]

_TOKEN_ID: Final = re.compile(r"[0-9a-f]{8}")


@route(
    "POST",
    "/v1/tokens",
    scopes=("admin",),
    responses={201: TokenCreated},
    errors={507: "the disk is full; nothing was stored"},
)
async def create_token(service: Service, body: NewToken) -> TokenCreated:
    """Make a token; it is shown this once."""
    token, record = await service.wait_for_store(
        admission.create_token, service.store, body.scopes, body.note, service.epoch(), body.expires_in
    )
    return TokenCreated(record.id, token, _scopes(record), record.note, _expires(record))


@route("GET", "/v1/tokens", scopes=("admin",))
async def list_tokens(service: Service) -> Tokens:
    """All tokens, without their secrets."""
    records = await service.wait_for_store(service.store.tokens)
    return Tokens(
        [TokenEntry(record.id, _scopes(record), record.note, record.revoked, _expires(record)) for record in records]
    )


@route(
    "DELETE",
    "/v1/tokens/{token_id}",
    scopes=("admin",),
    errors={404: "the token does not exist", 507: "the disk is full; nothing was changed"},
)
async def revoke_token(service: Service, token_id: TokenId) -> TokenRevoked:
    """Revoke a token."""
    if not _TOKEN_ID.fullmatch(token_id) or not await service.wait_for_store(service.store.revoke_token, token_id):
        message = "no token has that id: the 8 hexadecimal digits after sv_; /v1/tokens lists them"
        raise Refusal(404, "unknown_token", message)
    return TokenRevoked(token_id, True)


def _expires(record: TokenRecord) -> str | None:
    return None if record.expires is None else f"{moment_of(record.expires):%Y-%m-%dT%H:%M:%SZ}"


def _scopes(record: TokenRecord) -> list[Scope]:
    return [cast(Scope, scope) for scope in SCOPES if scope in record.scopes]


_PATH: Final = "/v1/session"

_SET_COOKIE: Final = "Set-Cookie"

_CLEAR: Final = {"Clear-Site-Data": '"cookies"'}
"""Has a browser forget all cookies of the host's whole domain, which no Set-Cookie of ours could name."""

_OTHER_SITE: Final = "a page of another site asked for this"


@route(
    "POST",
    _PATH,
    errors={
        401: "the token is unknown, revoked or expired, or there are several session cookies, which are then cleared",
        403: _OTHER_SITE,
        503: "the database is unavailable; try again later",
    },
    responses={200: SignedIn},
    headers={_SET_COOKIE: "the session cookie: HttpOnly, SameSite=Strict, and Secure behind TLS"},
)
async def sign_in(request: Request, body: SignIn) -> Response:
    """Store a token in a cookie, for the dashboard."""
    _refuse_other_sites(request)
    service = request.service
    record = await service.wait_for_store(check_token, service.store, body.token)
    if record is None:
        raise unauthorized("this token is unknown, was revoked or has expired; ask an admin for one", "token")
    if has_several_cookies(request):
        # Not in one response: browsers would clear the new cookie with the others.
        refusal = unauthorized(SEVERAL_COOKIES)
        refusal.headers = {**refusal.headers, **_CLEAR}
        raise refusal
    return json_response(_signed_in(record), headers={_SET_COOKIE: set_cookie(body.token, over_tls(request))})


@route("GET", _PATH, scopes=("read",))
async def get_session(token: TokenRecord) -> SignedIn:
    """The session that is signed in."""
    return _signed_in(token)


@route(
    "DELETE",
    _PATH,
    responses={200: SignedOut},
    errors={403: _OTHER_SITE},
    headers={_SET_COOKIE: "the session cookie, cleared; with Clear-Site-Data where there are several"},
)
async def sign_out(request: Request) -> Response:
    """Clear the cookie; the token itself is valid until it is revoked."""
    # Anybody may give up a cookie, also one whose token was revoked meanwhile.
    _refuse_other_sites(request)
    headers = {_SET_COOKIE: cleared_cookie(over_tls(request))}
    return json_response(SignedOut(False), headers=headers | (_CLEAR if has_several_cookies(request) else {}))


def _refuse_other_sites(request: Request) -> None:
    if not comes_from_here(request.scope["method"], request.scope["headers"]):
        raise Refusal(403, "other_site", "only the collector's own pages may sign in and out; open its dashboard, at /")


def _signed_in(record: TokenRecord) -> SignedIn:
    return SignedIn([cast(Scope, scope) for scope in SCOPES if scope in record.scopes], record.note)


ROUTES: Final = (create_token, list_tokens, revoke_token, sign_in, get_session, sign_out)
