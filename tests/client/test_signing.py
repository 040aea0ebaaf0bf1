"""The signing key: made once, never replaced, and its signatures good for surveys only."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sottovoce.errors import SignatureError
from sottovoce.signing import SigningKey, fingerprint, from_base64url, to_base64url, verify


def test_made_once(tmp_path: Path) -> None:
    path = tmp_path / "data" / "signing.key"
    key = SigningKey.load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load_or_create(path).public == key.public
    assert [file.name for file in path.parent.iterdir()] == ["signing.key"]
    assert len(key.public) == 32
    assert len(fingerprint(key.public)) == 64


def test_made_by_many_at_once(tmp_path: Path) -> None:
    for trial in range(10):
        path = tmp_path / f"{trial}.key"
        with ThreadPoolExecutor(8) as pool:
            keys = list(pool.map(lambda _: SigningKey.load_or_create(path).public, range(8)))  # noqa: B023
        assert len(set(keys)) == 1
    assert len(list(tmp_path.iterdir())) == 10


@pytest.mark.parametrize(
    "damage", [b"", b"\n", b"AAAA", bytes(32), b"A" * 42, b"A" * 44, b"A" * 42 + b"B", b"\xff" * 43, b"A" * 10_000]
)
def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "signing.key"
    path.write_bytes(damage)
    with pytest.raises(SignatureError, match="damaged"):
        SigningKey.load_or_create(path)
    assert path.read_bytes() == damage


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "signing.key"):
        with pytest.raises(SignatureError, match="signing key"):
            SigningKey.load_or_create(path)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(SignatureError, match="No space left"):
            SigningKey.load_or_create(tmp_path / "signing.key")
    assert list(tmp_path.iterdir()) == []


def test_what_is_signed() -> None:
    """The context stands in front, so a signature of the same bytes for anything else does not pass."""
    key, plain = SigningKey(bytes(range(32))), Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    assert key.sign(b"{}") == plain.sign(b"sottovoce survey 1\0{}")
    verify(key.public, b"{}", key.sign(b"{}"))
    with pytest.raises(SignatureError):
        verify(key.public, b"{}", plain.sign(b"{}"))


def test_every_bit_counts() -> None:
    key = SigningKey(bytes(range(32)))
    canonical, signature = b'{"epsilon":1}', key.sign(b'{"epsilon":1}')
    for place in range(8 * len(signature)):
        changed = bytearray(signature)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(SignatureError):
            verify(key.public, canonical, bytes(changed))
    for place in range(8 * len(canonical)):
        text = bytearray(canonical)
        text[place // 8] ^= 1 << place % 8
        with pytest.raises(SignatureError):
            verify(key.public, bytes(text), signature)


@pytest.mark.parametrize(("public", "signature"), [(b"", bytes(64)), (bytes(31), bytes(64)), (bytes(32), bytes(63))])
def test_wrong_lengths(public: bytes, signature: bytes) -> None:
    with pytest.raises(SignatureError, match="bytes"):
        verify(public, b"{}", signature)


def test_the_private_key_is_never_shown() -> None:
    private = bytes(range(32))
    shown = repr(SigningKey(private))
    assert private.hex()[:16] not in shown
    assert to_base64url(private)[:16] not in shown
    with pytest.raises(SignatureError):
        SigningKey(private[:31])


@pytest.mark.parametrize("raw", [b"", b"\0", b"\xff\xfe", bytes(range(256))])
def test_base64url_round_trip(raw: bytes) -> None:
    text = to_base64url(raw)
    assert "=" not in text
    assert from_base64url(text, len(raw)) == raw
    assert from_base64url(text + "=" * (-len(text) % 4)) == raw


@pytest.mark.parametrize("text", ["A", "AB", "A+==", "a/bc", "AAA A", "AA\n", "é", "AA===", "=", "A=A="])
def test_base64url_has_one_spelling(text: str) -> None:
    with pytest.raises(SignatureError):
        from_base64url(text)
