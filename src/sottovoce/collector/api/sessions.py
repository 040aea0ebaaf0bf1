"""Signing in to the dashboard and out of it: a token becomes a cookie that the page's own scripts cannot read."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec
from litestar.handlers import HTTPRouteHandler

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.route import (
    SEVERAL_COOKIES,
    AnyRequest,
    Operation,
    behind_tls,
    has_several_cookies,
    route,
    token_of,
    unauthorized,
)
from sottovoce.collector.api.service import service_of
from sottovoce.collector.failures import Refused
from sottovoce.collector.session_cookie import cleared_cookie, comes_from_here, set_cookie
from sottovoce.collector.store.base import TokenRecord
from sottovoce.collector.tokens import SCOPES, Scope, check_token

__all__ = ["ROUTES"]

_PATH: Final = "/v1/session"

_SET_COOKIE: Final = "Set-Cookie"

_CLEAR: Final = {"Clear-Site-Data": '"cookies"'}
"""Has a browser forget all cookies of the host's whole domain, which no Set-Cookie of ours could name."""

_OTHER_SITE: Final = "a page of another site asked for this"


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token, to be kept by the browser."""

    token: str


class Session(msgspec.Struct, frozen=True):
    """Who is signed in: what the token opens, and what an admin noted beside it."""

    scopes: list[Scope]
    note: str


class SignedOut(msgspec.Struct, frozen=True):
    """Nobody is signed in any more."""

    signed_in: bool


_sign_in: Final = msgspec.json.Decoder(SignIn)


@route(
    "POST",
    _PATH,
    Operation(
        "sign_in",
        "Keep a token in a cookie, for the dashboard.",
        {200: Session},
        {
            400: "the body is no JSON of this shape",
            401: "the token is unknown or revoked, or there are several session cookies, which are then cleared",
            403: _OTHER_SITE,
            408: "the body took too long, or was cut off",
            413: "the body is too long",
            415: "the body is not JSON, or compressed",
            503: "the database is away; try again later",
        },
        bodies={JSON: SignIn},
        headers={_SET_COOKIE: "the session cookie: HttpOnly, SameSite=Strict, and Secure behind TLS"},
    ),
)
async def sign_in(request: AnyRequest) -> Answer:
    _refuse_other_sites(request)
    service = service_of(request)
    settings = service.settings
    given = await read_json(request, _sign_in, settings.max_body_bytes, settings.body_seconds)
    record = await service.ask(check_token, service.store, given.token)
    if record is None:
        raise unauthorized("this token is not known here, or was revoked; ask an admin for one", "token")
    if has_several_cookies(request):
        # Not in one answer: browsers would clear the new cookie with the others.
        refused = unauthorized(SEVERAL_COOKIES)
        refused.headers = {**refused.headers, **_CLEAR}
        raise refused
    return json_answer(_session(record), headers={_SET_COOKIE: set_cookie(given.token, behind_tls(request))})


@route(
    "GET",
    _PATH,
    Operation("get_session", "Who is signed in.", {200: Session}, scopes=("read",)),
)
async def get_session(request: AnyRequest) -> Answer:
    return json_answer(_session(token_of(request)))


@route(
    "DELETE",
    _PATH,
    Operation(
        "sign_out",
        "Forget the cookie; the token itself stays good until it is revoked.",
        {200: SignedOut},
        {403: _OTHER_SITE},
        headers={_SET_COOKIE: "the session cookie, cleared; with Clear-Site-Data where there are several"},
    ),
)
async def sign_out(request: AnyRequest) -> Answer:
    # Whoever holds a cookie may lose it, also one whose token was revoked meanwhile.
    _refuse_other_sites(request)
    cleared = {_SET_COOKIE: cleared_cookie(behind_tls(request))}
    return json_answer(SignedOut(False), headers=cleared | (_CLEAR if has_several_cookies(request) else {}))


def _refuse_other_sites(request: AnyRequest) -> None:
    scope: Any = request.scope
    if not comes_from_here(scope["method"], scope["headers"]):
        raise Refused(403, "other_site", "only the collector's own pages may sign in and out; open its dashboard, at /")


def _session(record: TokenRecord) -> Session:
    return Session([cast(Scope, scope) for scope in SCOPES if scope in record.scopes], record.note)


ROUTES: Final[tuple[HTTPRouteHandler, ...]] = (sign_in, get_session, sign_out)
