"""The JSON of tokens, sessions and operations."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from sottovoce.core.scopes import SCOPES, Scope
from sottovoce.protocol.base import Line, Moment, RequestStruct, ResponseStruct

__all__ = [
    "Health",
    "LogLevel",
    "NewToken",
    "SignIn",
    "SignedIn",
    "SignedOut",
    "TokenCreated",
    "TokenEntry",
    "TokenRevoked",
    "Tokens",
]


class TokenEntry(msgspec.Struct, frozen=True):
    """A token without its secret."""

    id: str
    scopes: list[Scope]
    note: str
    revoked: bool
    expires: Moment | None = None
    """The time at which it ends; None if it does not expire."""


class TokenCreated(msgspec.Struct, frozen=True):
    """A new token; `token` is shown this once and stored nowhere. `repr` leaves it out."""

    id: str
    token: str
    scopes: list[Scope]
    note: str
    expires: Moment | None = None

    def __repr__(self) -> str:
        return f"<token {self.id}: {', '.join(sorted(self.scopes))}>"


MAX_TOKEN_SECONDS: Final = 3660 * 86_400
"""Longest life of a token that expires: ten years."""


class NewToken(RequestStruct):
    """The scopes of a new token."""

    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=len(SCOPES))]
    note: Line = ""
    expires_in: Annotated[int, Meta(ge=60, le=MAX_TOKEN_SECONDS, description="seconds")] | None = None


class LogLevel(RequestStruct):
    """The least severe level that is logged."""

    level: Literal["debug", "info", "warning", "error"]


class Tokens(ResponseStruct):
    """All tokens, revoked ones too."""

    tokens: list[TokenEntry]


class TokenRevoked(ResponseStruct):
    """The token is revoked."""

    id: str
    revoked: bool


class Health(ResponseStruct):
    """The process is alive, or ready to serve."""

    status: Literal["ok"]


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token, to be kept by the browser."""

    token: str


class SignedIn(msgspec.Struct, frozen=True):
    """The session of a browser: the scopes of its token, and the note of an admin beside it."""

    scopes: list[Scope]
    note: str


class SignedOut(msgspec.Struct, frozen=True):
    """Nobody is signed in any more."""

    signed_in: bool
