"""Hybrid public key encryption (RFC 9180), base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.

One message per key, since every request is sealed to a fresh ephemeral key: the sequence number is always 0, and the
nonce is the base nonce. What depends on the application's `info` alone is computed once.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from typing import Final, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sottovoce.core.errors import ObliviousError

__all__ = [
    "AEAD_ID",
    "AEAD_KEY_BYTES",
    "AEAD_NONCE_BYTES",
    "AEAD_TAG_BYTES",
    "KDF_ID",
    "KEM_ID",
    "KEY_BYTES",
    "HpkeContext",
    "PrivateKey",
    "expand",
    "extract",
    "set_up_recipient",
    "set_up_sender",
]

KEM_ID: Final = 0x0020
KDF_ID: Final = 0x0001
AEAD_ID: Final = 0x0001

KEY_BYTES: Final = 32
"""Length of an X25519 key, private or public, and so of an encapsulated key."""

AEAD_KEY_BYTES: Final = 16
AEAD_NONCE_BYTES: Final = 12
AEAD_TAG_BYTES: Final = 16

_HASH_BYTES: Final = 32
_VERSION: Final = b"HPKE-v1"
_KEM_SUITE: Final = b"KEM" + KEM_ID.to_bytes(2)
_SUITE: Final = b"HPKE" + KEM_ID.to_bytes(2) + KDF_ID.to_bytes(2) + AEAD_ID.to_bytes(2)
_BASE_MODE: Final = b"\0"


@final
class PrivateKey:
    """An X25519 key pair; its private half is never shown.

    Examples
    --------
    >>> PrivateKey.derive(bytes(32)).public == PrivateKey.derive(bytes(32)).public
    True
    """

    __slots__ = ("_key", "public")

    def __init__(self, private: bytes):
        if len(private) != KEY_BYTES:
            raise ObliviousError("bad_key", f"a private key is {KEY_BYTES} bytes")
        self._key = X25519PrivateKey.from_private_bytes(private)
        self.public = self._key.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"<PrivateKey {self.public.hex()[:12]}>"

    @classmethod
    def derive(cls, material: bytes) -> PrivateKey:
        """DeriveKeyPair (RFC 9180, Sec. 7.1.3): the same material always gives the same key."""
        prk = _labeled_extract(_KEM_SUITE, b"", b"dkp_prk", material)
        return cls(_labeled_expand(_KEM_SUITE, prk, b"sk", b"", KEY_BYTES))

    def private_bytes(self) -> bytes:
        """The private half, for the file that holds it."""
        return self._key.private_bytes_raw()

    def shared_with(self, public: bytes) -> bytes:
        """X25519; refuses the points of small order, for which everybody knows the result."""
        try:
            return self._key.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError as error:
            raise ObliviousError("bad_key", "this public key is no X25519 key that can be used") from error


@final
class HpkeContext:
    """What both sides share about one message: AEAD key and nonce, and the secret behind exports."""

    __slots__ = ("_schedule", "_secret", "encapsulated")

    def __init__(self, shared: bytes, info: bytes, encapsulated: bytes):
        self.encapsulated = encapsulated
        self._schedule = _key_schedule_context(info)
        self._secret = _labeled_extract(_SUITE, shared, b"secret", b"")

    def seal(self, plaintext: bytes, associated: bytes = b"") -> bytes:
        """The one message of this context, encrypted."""
        key, nonce = self._key_and_nonce()
        return AESGCM(key).encrypt(nonce, plaintext, associated)

    def open(self, ciphertext: bytes, associated: bytes = b"") -> bytes:
        """The one message of this context; refused unless all of it is as it was sealed."""
        key, nonce = self._key_and_nonce()
        try:
            return AESGCM(key).decrypt(nonce, ciphertext, associated)
        except (InvalidTag, ValueError) as error:
            raise ObliviousError(
                "cannot_open", "the message cannot be decrypted: it was altered, cut, or sealed to another key"
            ) from error

    def export(self, context: bytes, length: int) -> bytes:
        """A secret that only the two sides know (RFC 9180, Sec. 5.3)."""
        exporter = _labeled_expand(_SUITE, self._secret, b"exp", self._schedule, _HASH_BYTES)
        return _labeled_expand(_SUITE, exporter, b"sec", context, length)

    def _key_and_nonce(self) -> tuple[bytes, bytes]:
        key = _labeled_expand(_SUITE, self._secret, b"key", self._schedule, AEAD_KEY_BYTES)
        return key, _labeled_expand(_SUITE, self._secret, b"base_nonce", self._schedule, AEAD_NONCE_BYTES)


def set_up_sender(recipient: bytes, info: bytes, ephemeral: PrivateKey) -> HpkeContext:
    """SetupBaseS to a public key. An ephemeral key must never meet two different plaintexts."""
    shared = ephemeral.shared_with(recipient)
    return HpkeContext(_shared_secret(shared, ephemeral.public, recipient), info, ephemeral.public)


def set_up_recipient(encapsulated: bytes, recipient: PrivateKey, info: bytes) -> HpkeContext:
    """SetupBaseR: what the sender set up, from the encapsulated key."""
    shared = recipient.shared_with(encapsulated)
    return HpkeContext(_shared_secret(shared, encapsulated, recipient.public), info, encapsulated)


def extract(salt: bytes, material: bytes) -> bytes:
    """HKDF-Extract with SHA-256 (RFC 5869)."""
    return hmac.digest(salt or bytes(_HASH_BYTES), material, "sha256")


def expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand with SHA-256, of at most one block: nothing here is longer."""
    if length > _HASH_BYTES:
        raise ObliviousError("bad_key", f"at most {_HASH_BYTES} bytes can be exported")
    return hmac.digest(key, info + b"\x01", "sha256")[:length]


def _shared_secret(exchanged: bytes, encapsulated: bytes, recipient: bytes) -> bytes:
    """ExtractAndExpand (RFC 9180, Sec. 4.1)."""
    prk = _labeled_extract(_KEM_SUITE, b"", b"eae_prk", exchanged)
    return _labeled_expand(_KEM_SUITE, prk, b"shared_secret", encapsulated + recipient, _HASH_BYTES)


@lru_cache(maxsize=64)
def _key_schedule_context(info: bytes) -> bytes:
    named = _labeled_extract(_SUITE, b"", b"psk_id_hash", b"")
    return _BASE_MODE + named + _labeled_extract(_SUITE, b"", b"info_hash", info)


def _labeled_extract(suite: bytes, salt: bytes, label: bytes, material: bytes) -> bytes:
    return extract(salt, _VERSION + suite + label + material)


def _labeled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return expand(key, length.to_bytes(2) + _VERSION + suite + label + info, length)
