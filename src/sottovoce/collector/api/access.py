"""Tokens over HTTP: made, listed and revoked by admins."""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import service_of
from sottovoce.collector.api.structs import NewToken, TokenCreated, TokenEntry, TokenRevoked, Tokens
from sottovoce.collector.failures import Refused
from sottovoce.collector.store.base import TokenRecord
from sottovoce.collector.tokens import SCOPES, Scope, create_token

__all__ = ["ROUTES"]

_TOKEN_ID: Final = re.compile(r"[0-9a-f]{8}")

_new_token: Final = msgspec.json.Decoder(NewToken)

_AWAY: Final = {503: "the database is away; try again later"}


@route(
    "POST",
    "/v1/tokens",
    Operation(
        "create_token",
        "Make a token; it is shown this once.",
        {201: TokenCreated},
        {
            400: "the body is no JSON of this shape",
            408: "the body took too long, or was cut off",
            413: "the body is too long",
            415: "the body is not JSON, or compressed",
            507: "the disk is full; nothing was kept",
            **_AWAY,
        },
        scopes=("admin",),
        bodies={JSON: NewToken},
    ),
)
async def post_token(request: AnyRequest) -> Answer:
    service = service_of(request)
    settings = service.settings
    given = await read_json(request, _new_token, settings.max_body_bytes, settings.body_seconds)
    token, record = await service.ask(create_token, service.store, given.scopes, given.note, service.epoch())
    return json_answer(TokenCreated(record.id, token, _scopes(record), record.note), 201)


@route(
    "GET",
    "/v1/tokens",
    Operation("list_tokens", "All tokens, without their secrets.", {200: Tokens}, _AWAY, scopes=("admin",)),
)
async def list_tokens(request: AnyRequest) -> Answer:
    service = service_of(request)
    found = await service.ask(service.store.tokens)
    return json_answer(Tokens([TokenEntry(one.id, _scopes(one), one.note, one.revoked) for one in found]))


@route(
    "DELETE",
    "/v1/tokens/{token_id:str}",
    Operation(
        "revoke_token",
        "From now on the token opens nothing.",
        {200: TokenRevoked},
        {404: "there is no such token", 507: "the disk is full; nothing was changed", **_AWAY},
        scopes=("admin",),
    ),
)
async def revoke_token(request: AnyRequest) -> Answer:
    service, token_id = service_of(request), request.path_params["token_id"]
    if not _TOKEN_ID.fullmatch(token_id) or not await service.ask(service.store.revoke_token, token_id):
        message = "there is no token of that id: the 8 hexadecimal digits after sv_; /v1/tokens lists them"
        raise Refused(404, "unknown_token", message)
    return json_answer(TokenRevoked(token_id, True))


def _scopes(record: TokenRecord) -> list[Scope]:
    return [cast(Scope, scope) for scope in SCOPES if scope in record.scopes]


ROUTES: Final = (post_token, list_tokens, revoke_token)
