"""Signing in to the dashboard and out: a token becomes a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Final, cast

from sottovoce.collector.api.admission import SEVERAL_COOKIES, has_several_cookies, over_tls, unauthorized
from sottovoce.collector.session_cookie import cleared_cookie, comes_from_here, set_cookie
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.tokens import SCOPES, Scope, check_token
from sottovoce.protocol.access import SignedIn, SignedOut, SignIn
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal

__all__ = ["ROUTES"]


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
    """Who is signed in."""
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
    # Whoever holds a cookie may lose it, also one whose token was revoked meanwhile.
    _refuse_other_sites(request)
    headers = {_SET_COOKIE: cleared_cookie(over_tls(request))}
    return json_response(SignedOut(False), headers=headers | (_CLEAR if has_several_cookies(request) else {}))


def _refuse_other_sites(request: Request) -> None:
    if not comes_from_here(request.scope["method"], request.scope["headers"]):
        raise Refusal(403, "other_site", "only the collector's own pages may sign in and out; open its dashboard, at /")


def _signed_in(record: TokenRecord) -> SignedIn:
    return SignedIn([cast(Scope, scope) for scope in SCOPES if scope in record.scopes], record.note)


ROUTES: Final = (sign_in, get_session, sign_out)
