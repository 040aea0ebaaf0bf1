"""Tokens as the store keeps them."""

import hashlib
import re
from pathlib import Path

import pytest

from sottovoce.collector.store import Store, open_store
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.tokens import allows, check_token, create_token, ensure_admin


def test_only_a_hash_is_kept(tmp_path: Path) -> None:
    store = open_store("", tmp_path)
    token, record = create_token(store, ("read",), "a note", 7)
    assert re.fullmatch(r"sv_[0-9a-f]{8}_[0-9A-Za-z_-]{43}", token)
    secret = token[12:]
    assert store.token(record.id) == record
    assert record.digest == hashlib.sha256(secret.encode()).digest()
    assert (record.scopes, record.note, record.epoch, record.revoked) == (frozenset({"read"}), "a note", 7, False)
    store.close()
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()


def test_only_the_very_token_opens(store: Store) -> None:
    token, record = create_token(store, ("read",), "", 0)
    other, _ = create_token(store, ("admin",), "", 0)
    assert check_token(store, token) == record
    wrong = [
        "",
        token[:-1],
        token + "A",
        token + "\n",
        token.upper(),
        token[:12] + other[12:],
        token[:12] + ("A" if token[12] != "A" else "B") + token[13:],
        "sv_00000000_" + token[12:],
    ]
    assert [check_token(store, one) for one in wrong] == [None] * len(wrong)
    assert store.revoke_token(record.id)
    assert check_token(store, token) is None


@pytest.mark.parametrize(
    ("scope", "opened"),
    [
        ("read", {"read"}),
        ("ask", {"read", "ask"}),
        ("publish", {"read", "publish"}),
        ("admin", {"read", "ask", "publish", "admin"}),
        ("unheard of", set()),
    ],
)
def test_implications(scope: str, opened: set[str]) -> None:
    record = TokenRecord("0" * 8, bytes(32), frozenset({scope}), "", 0)
    assert {one for one in ("read", "ask", "publish", "admin") if allows(record, one)} == opened


def test_the_first_admin_is_made_once(store: Store) -> None:
    token = ensure_admin(store)
    assert token is not None
    assert ensure_admin(store) is None
    record = check_token(store, token)
    assert record is not None
    assert allows(record, "admin")
    create_token(store, ("read",), "", 0)
    store.revoke_token(record.id)
    assert ensure_admin(store) is not None
