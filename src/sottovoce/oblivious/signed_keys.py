"""The collector's sealing keys, signed by the key that signs its surveys: devices pin that one already.

A relay that answers with keys of its own could read what devices send; a signature that it cannot make prevents that.
"""

from __future__ import annotations

from typing import Final

import msgspec

from sottovoce.core.errors import ObliviousError, SignatureError
from sottovoce.core.signing import SIGNATURE_BYTES, SigningKey, from_base64url, to_base64url, verify
from sottovoce.oblivious.key_configuration import KeyConfiguration, decode_configurations, encode_configurations

__all__ = ["SignedKeys", "read_signed_keys", "sign_keys"]

_CONTEXT: Final = b"sottovoce keys\n"
"""Prefix of the signed bytes: no signature of a survey is one of keys, and the other way round."""


class SignedKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key configurations as they are published, in base64url."""

    configurations: str
    signature: str
    key: str
    """The public key that signed them. A device trusts the one that it has pinned, not this one."""


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
