"""The collector's public sealing keys (application/ohttp-keys, RFC 9458, Sec. 3), and their signature.

The key that signs surveys signs them, which devices pin already. A relay that answers with keys of its own could read
what devices send; a signature that it cannot make prevents that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self, final

import msgspec

from sottovoce.core.errors import ObliviousError, SignatureError
from sottovoce.core.signing import SIGNATURE_BYTES, SigningKey, from_base64url, to_base64url, verify
from sottovoce.oblivious.hpke import AEAD_ID, KDF_ID, KEM_ID, KEY_BYTES
from sottovoce.protocol.reports import SignedKeys

__all__ = [
    "KeyConfiguration",
    "decode_configurations",
    "encode_configurations",
    "read_signed_keys",
    "sign_keys",
]


_OURS: Final = (KDF_ID, AEAD_ID)
_HEAD_BYTES: Final = 3
_SUITES_AT: Final = _HEAD_BYTES + KEY_BYTES
_SUITE_BYTES: Final = 4


@final
@dataclass(frozen=True)
class KeyConfiguration:
    """One public key, its number, and the suites it may be used with.

    Examples
    --------
    >>> KeyConfiguration(1, bytes(32)).encode().hex()
    '0100200000000000000000000000000000000000000000000000000000000000000000000400010001'
    """

    key_id: int
    public: bytes
    suites: tuple[tuple[int, int], ...] = (_OURS,)
    """Numbers of KDF and AEAD; there may be others beside the one that is used here."""

    def encode(self) -> bytes:
        """Its bytes, without the length that precedes it in a list."""
        suites = b"".join(kdf.to_bytes(2) + aead.to_bytes(2) for kdf, aead in self.suites)
        return bytes([self.key_id]) + KEM_ID.to_bytes(2) + self.public + len(suites).to_bytes(2) + suites

    @classmethod
    def decode(cls, encoded: bytes) -> Self | None:
        """Read one; None for one whose algorithms are all unknown here."""
        if len(encoded) < _HEAD_BYTES:
            raise _malformed()
        if int.from_bytes(encoded[1:_HEAD_BYTES]) != KEM_ID:
            return None  # the length of its key is unknown too
        listed = encoded[_SUITES_AT + 2 :]
        if (
            len(encoded) < _SUITES_AT + 2
            or int.from_bytes(encoded[_SUITES_AT : _SUITES_AT + 2]) != len(listed)
            or not listed
            or len(listed) % _SUITE_BYTES
        ):
            raise _malformed()
        suites = tuple(
            (int.from_bytes(listed[at : at + 2]), int.from_bytes(listed[at + 2 : at + _SUITE_BYTES]))
            for at in range(0, len(listed), _SUITE_BYTES)
        )
        return cls(encoded[0], encoded[_HEAD_BYTES:_SUITES_AT], suites) if _OURS in suites else None


def encode_configurations(configurations: Iterable[KeyConfiguration]) -> bytes:
    """A list of configurations, the preferred one first."""
    encoded = [configuration.encode() for configuration in configurations]
    return b"".join(len(block).to_bytes(2) + block for block in encoded)


def decode_configurations(encoded: bytes) -> tuple[KeyConfiguration, ...]:
    """The configurations of a list that can be used here, at least one; the first is preferred."""
    usable: list[KeyConfiguration] = []
    at = 0
    while at < len(encoded):
        start = at + 2
        at = start + int.from_bytes(encoded[at:start])
        if start > len(encoded) or at > len(encoded):
            raise _malformed()
        configuration = KeyConfiguration.decode(encoded[start:at])
        if configuration is not None:
            usable.append(configuration)
    if not usable:
        raise ObliviousError(
            "unknown_suite",
            "no key of the collector is for DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM: one of the two "
            "sides is of another version",
        )
    return tuple(usable)


def _malformed() -> ObliviousError:
    return ObliviousError("bad_keys", "the collector's key configurations are damaged; fetch them again")


_CONTEXT: Final = b"sottovoce keys\n"
"""Prefix of the signed bytes: no signature of a survey is one of keys, and the other way round."""


def sign_keys(key: SigningKey, configurations: tuple[KeyConfiguration, ...]) -> SignedKeys:
    """Sign key configurations, the preferred one first."""
    encoded = encode_configurations(configurations)
    return SignedKeys(to_base64url(encoded), to_base64url(key.sign(encoded, _CONTEXT)), to_base64url(key.public))


def read_signed_keys(body: bytes, pinned: bytes) -> tuple[KeyConfiguration, ...]:
    """The key configurations in the body of ``GET /v1/keys`` that the pinned key has signed, the preferred one first.

    Raises
    ------
    SignatureError
        If that key did not sign them.
    ObliviousError
        If the body is damaged, or no configuration can be used here.
    """
    try:
        signed = msgspec.json.decode(body, type=SignedKeys)
        encoded = from_base64url(signed.configurations)
        signature = from_base64url(signed.signature, SIGNATURE_BYTES)
    except (msgspec.MsgspecError, UnicodeDecodeError, SignatureError) as error:
        raise ObliviousError("bad_keys", "the collector's signed keys are damaged; fetch them again") from error
    verify(pinned, encoded, signature, _CONTEXT)
    return decode_configurations(encoded)
