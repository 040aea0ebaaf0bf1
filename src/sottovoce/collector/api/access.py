"""Tokens over HTTP: made, listed and revoked by admins."""

from __future__ import annotations

import re
from typing import Final, cast

from sottovoce.collector import tokens
from sottovoce.collector.api.service import Service
from sottovoce.collector.running.keeper import moment_of
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.tokens import SCOPES, Scope
from sottovoce.protocol.access import NewToken, TokenCreated, TokenEntry, TokenRevoked, Tokens
from sottovoce.protocol.base import TokenId
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
        tokens.create_token, service.store, body.scopes, body.note, service.epoch(), body.expires_in
    )
    return TokenCreated(record.id, token, _scopes(record), record.note, _expires(record))


@route("GET", "/v1/tokens", scopes=("admin",))
async def list_tokens(service: Service) -> Tokens:
    """All tokens, without their secrets."""
    records = await service.wait_for_store(service.store.tokens)
    return Tokens([TokenEntry(one.id, _scopes(one), one.note, one.revoked, _expires(one)) for one in records])


@route(
    "DELETE",
    "/v1/tokens/{token_id}",
    scopes=("admin",),
    errors={404: "there is no such token", 507: "the disk is full; nothing was changed"},
)
async def revoke_token(service: Service, token_id: TokenId) -> TokenRevoked:
    """Revoke a token."""
    if not _TOKEN_ID.fullmatch(token_id) or not await service.wait_for_store(service.store.revoke_token, token_id):
        message = "there is no token with that id: the 8 hexadecimal digits after sv_; /v1/tokens lists them"
        raise Refusal(404, "unknown_token", message)
    return TokenRevoked(token_id, True)


def _expires(record: TokenRecord) -> str | None:
    return None if record.expires is None else f"{moment_of(record.expires):%Y-%m-%dT%H:%M:%SZ}"


def _scopes(record: TokenRecord) -> list[Scope]:
    return [cast(Scope, scope) for scope in SCOPES if scope in record.scopes]


ROUTES: Final = (create_token, list_tokens, revoke_token)
