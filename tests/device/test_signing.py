"""The signing key: made once, never replaced, and its signatures good for surveys only."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from device.played import Played
from sottovoce.core.errors import SignatureError
from sottovoce.core.signing import SigningKey, check_public_key, fingerprint, from_base64url, to_base64url, verify
from sottovoce.device import Device, MemoryStore
from sottovoce.surveys.survey import Survey

PUBLIC = SigningKey(bytes(range(32))).public


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


@pytest.mark.parametrize(("public", "signature"), [(b"", bytes(64)), (bytes(31), bytes(64)), (PUBLIC, bytes(63))])
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


# --- keys under which anybody can sign -------------------------------------------------------

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P

Point = tuple[int, int]


def add(a: Point, b: Point) -> Point:
    """On the twisted Edwards curve -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032, Sec. 5.1)."""
    (x1, y1), (x2, y2) = a, b
    cross = D * x1 * x2 * y1 * y2 % P
    return (x1 * y2 + x2 * y1) * pow(1 + cross, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - cross, -1, P) % P


def at_height(y: int) -> Point | None:
    """A point with this y, if there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    for root in (x, x * pow(2, (P - 1) // 4, P) % P):
        if root * root % P == square:
            return root, y % P
    return None


def times(n: int, point: Point) -> Point:
    total = (0, 1)
    for bit in bin(n)[2:]:
        total = add(total, total)
        if bit == "1":
            total = add(total, point)
    return total


ORDER = 2**252 + 27742317777372353535851937790883648493


def small_order_points() -> set[Point]:
    """Multiples of what is left of any points once the large prime order is taken out of them."""
    found: set[Point] = set()
    for y in range(2, 20):
        point = at_height(y)
        if point is not None:
            rest = times(ORDER, point)
            found |= {times(k, rest) for k in range(8)}
    return found


def spellings(points: set[Point]) -> list[bytes]:
    """All 32 bytes that a lenient reader takes for one of these points: y or y + p, either sign where x is 0."""
    return [
        (height | sign << 255).to_bytes(32, "little")
        for x, y in sorted(points)
        for height in (y, y + P)
        if height < 2**255
        for sign in ({0, 1} if x == 0 else {x & 1})
    ]


def test_there_are_eight_points_of_small_order() -> None:
    points = small_order_points()
    assert len(points) == 8
    assert {times(8, point) for point in points} == {(0, 1)}
    assert len(spellings(points)) == 14


@pytest.mark.parametrize("public", spellings(small_order_points()), ids=bytes.hex)
def test_keys_of_small_order_are_refused(public: bytes) -> None:
    """The signature R = 1, S = 0 needs no private key, and one message in eight fits it, or all of them."""
    forged = (1).to_bytes(32, "little") + bytes(32)
    for call in (
        lambda: check_public_key(public),
        lambda: Device(MemoryStore(), key=public),
        lambda: Device(MemoryStore(), key=to_base64url(public)),
        *(lambda i=i: verify(public, b"%d" % i, forged) for i in range(64)),
    ):
        with pytest.raises(SignatureError, match=r"small order|canonical"):
            call()


def test_the_forgery_is_one() -> None:
    """Without the check it passes, so the test above can fail."""
    Ed25519PublicKey.from_public_bytes((1).to_bytes(32, "little")).verify(
        (1).to_bytes(32, "little") + bytes(32), b"any message"
    )


def test_second_spellings_are_refused() -> None:
    for height in range(P, 2**255):
        for sign in (0, 1):
            with pytest.raises(SignatureError, match="canonical"):
                check_public_key((height | sign << 255).to_bytes(32, "little"))


def test_a_small_order_key_is_never_pinned(played: Played, survey: Survey) -> None:
    def forge(envelope: dict[str, Any]) -> None:
        envelope["key"] = to_base64url((1).to_bytes(32, "little"))
        envelope["signature"] = to_base64url((1).to_bytes(32, "little") + bytes(32))

    played.change = forge
    store = MemoryStore()
    with pytest.raises(SignatureError, match="small order"):
        Device(store).answer(played.url, survey.id, 7)
    assert store.pinned(played.url) is None
    assert played.bodies == []


@pytest.mark.parametrize(
    ("private", "public", "message", "signature"),
    [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
            "655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
            "b00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28d"
            "c027beceea1ec40a",
        ),
    ],
)
def test_vectors_of_rfc_8032(private: str, public: str, message: str, signature: str) -> None:
    key = SigningKey(bytes.fromhex(private))
    assert key.public == check_public_key(bytes.fromhex(public))
    assert key._private.sign(bytes.fromhex(message)) == bytes.fromhex(signature)
    verify(key.public, bytes.fromhex(message), key.sign(bytes.fromhex(message)))
