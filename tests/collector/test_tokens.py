"""Tokens as the store keeps them."""

import argparse
import hashlib
import re
from datetime import timedelta
from pathlib import Path

import pytest

from collector.client import running
from sottovoce.cli.token import _life
from sottovoce.collector.api.admission import allows, check_token, create_token, ensure_admin
from sottovoce.collector.store import Store, open_store
from sottovoce.collector.store.records import TokenRecord


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


def test_a_token_that_expires_opens_nothing_afterwards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.7
    monkeypatch.setattr(store, "now", lambda: now)
    token, record = create_token(store, ("admin",), "", 0, expires_in=3600)
    assert record.expires == 1_003_600
    assert store.token(record.id) == record
    assert check_token(store, token) == record
    assert ensure_admin(store) is None
    now = 1_003_599.9
    assert check_token(store, token) == record
    now = 1_003_600.0
    assert check_token(store, token) is None
    assert ensure_admin(store) is not None, "or nobody could make another"


def test_tokens_that_expire_over_http(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        made = api.ask("POST", "/v1/tokens", json={"scopes": ["read"], "expires_in": 7200}).json()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["expires"])
        listed = {one["id"]: one["expires"] for one in api.ask("GET", "/v1/tokens").json()["tokens"]}
        assert sorted(listed.values(), key=str) == [made["expires"], None]
        assert api.ask("GET", "/v1/plans", token=made["token"]).status_code != 401
        for wrong in (0, 59, 10**12, "90d", 60.5):
            refused = api.ask("POST", "/v1/tokens", json={"scopes": ["read"], "expires_in": wrong})
            assert refused.status_code == 400


@pytest.mark.parametrize(("text", "days"), [("90d", 90), ("12h", 0.5), ("4w", 28)])
def test_spans_on_the_command_line(text: str, days: float) -> None:
    assert _life(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["90", "d", "0d", "-1d", "1.5d", "90m", "90 d", "999999d", ""])
def test_spans_that_are_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="such as 12h, 90d or 4w"):
        _life(text)
