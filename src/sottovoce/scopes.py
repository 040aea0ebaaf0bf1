"""What an analyst's token may be for, and how a token is written."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

__all__ = ["SCOPES", "TOKEN", "TOKEN_ID", "Scope"]

Scope: TypeAlias = Literal["read", "ask", "publish", "admin"]

SCOPES: Final[dict[str, str]] = {
    "read": "read status, aggregates, estimates and metrics",
    "ask": "open and close rounds; all that read may",
    "publish": "create and seal surveys; all that read may",
    "admin": "everything: tokens, deleting, exporting, the log level",
}
"""What each scope is for."""

TOKEN_ID: Final = re.compile(r"[0-9a-f]{8}")
"""The part of a token that is no secret."""

TOKEN: Final = re.compile(rf"sv_({TOKEN_ID.pattern})_([0-9A-Za-z_-]{{43}})")
"""A token: its id, and 32 secret bytes in base64url."""
