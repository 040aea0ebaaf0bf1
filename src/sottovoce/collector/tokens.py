"""Analysts' tokens: shown once, stored as a hash, each with its scopes.

A token's id is no secret, only what follows it is: how long a check takes may tell which ids there are.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import TokenRecord
from sottovoce.core.scopes import SCOPES, TOKEN, Scope
from sottovoce.core.signing import to_base64url

__all__ = ["SCOPES", "Scope", "allows", "check_token", "create_token", "ensure_admin", "is_expired"]

_OPENS: Final[dict[str, frozenset[str]]] = {
    "read": frozenset({"read"}),
    "ask": frozenset({"read", "ask"}),
    "publish": frozenset({"read", "publish"}),
    "admin": frozenset(SCOPES),
}


def create_token(
    store: Store, scopes: Iterable[str], note: str, epoch: int, expires_in: int | None = None
) -> tuple[str, TokenRecord]:
    """A new token, for its holder's eyes only, and what is kept of it; it opens nothing after so many seconds."""
    token_id = secrets.token_hex(4)
    while store.token(token_id) is not None:
        token_id = secrets.token_hex(4)
    secret = to_base64url(secrets.token_bytes(32))
    expires = None if expires_in is None else int(store.now()) + expires_in
    record = TokenRecord(token_id, _digest(secret), frozenset(scopes), note, epoch, expires=expires)
    store.add_token(record)
    return f"sv_{token_id}_{secret}", record


def check_token(store: Store, presented: str) -> TokenRecord | None:
    """What is kept of a token, if it is a known one that was not revoked and has not expired."""
    parts = TOKEN.fullmatch(presented)
    if parts is None:
        return None
    record = store.token(parts[1])
    if record is None or record.revoked or not hmac.compare_digest(_digest(parts[2]), record.digest):
        return None
    return None if is_expired(store, record) else record


def is_expired(store: Store, record: TokenRecord) -> bool:
    """Whether its time is over, by the database's clock."""
    return record.expires is not None and store.now() >= record.expires


def allows(record: TokenRecord, scope: str) -> bool:
    """Whether a token opens what needs that scope.

    Examples
    --------
    >>> publisher = TokenRecord("0" * 8, bytes(32), frozenset({"publish"}), "", 0)
    >>> allows(publisher, "read"), allows(publisher, "ask")
    (True, False)
    """
    return any(scope in _OPENS.get(held, frozenset()) for held in record.scopes)


def ensure_admin(store: Store) -> str | None:
    """At the first start a token that may do everything, to be shown once; None when there is one already."""
    if any(
        allows(record, "admin") and not record.revoked and not is_expired(store, record) for record in store.tokens()
    ):
        return None
    return create_token(store, ("admin",), "made at the first start", 0)[0]


def _digest(secret: str) -> bytes:
    # The secret has 256 random bits: nothing is won by a slow hash.
    return hashlib.sha256(secret.encode()).digest()
