"""Scopes of access tokens, and the format of a token."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

__all__ = ["SCOPES", "TOKEN", "TOKEN_ID", "Scope"]

Scope: TypeAlias = Literal["read", "ask", "publish", "admin"]

SCOPES: Final[dict[str, str]] = {
    "read": "read status, aggregates, estimates and metrics",
    "ask": "open and close rounds; includes read",
    "publish": "create and seal surveys; includes read",
    "admin": "everything, including tokens, deletion, export and the log level",
}
"""What each scope allows."""

TOKEN_ID: Final = re.compile(r"[0-9a-f]{8}")
"""The part of a token that is not secret."""

TOKEN: Final = re.compile(rf"sv_({TOKEN_ID.pattern})_([0-9A-Za-z_-]{{43}})")
"""A token: its id, and 32 secret bytes in base64url."""
