"""A pinned key of a collector: the key itself, or the beginning of its fingerprint."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.core.errors import SignatureError
from sottovoce.core.signing import PUBLIC_KEY_BYTES, fingerprint, from_base64url

__all__ = ["check_key", "check_pin"]

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16,64}")


def check_pin(pin: str) -> str:
    """A public key in base64url, or the beginning of its fingerprint in hexadecimal; raises otherwise."""
    asked = "key must be the collector's public key, or 16 characters or more of its fingerprint"
    if not isinstance(pin, str):
        raise SignatureError(asked)
    if not _FINGERPRINT.fullmatch(pin):
        try:
            from_base64url(pin, PUBLIC_KEY_BYTES)
        except SignatureError as error:
            raise SignatureError(f"{asked}; {error}") from None
    return pin


def check_key(text: str, pin: str | None) -> bytes:
    """Decode the collector's public key; raises if it is not the pinned one."""
    public = from_base64url(text, PUBLIC_KEY_BYTES)
    if pin is not None:
        matches = fingerprint(public).startswith(pin) if _FINGERPRINT.fullmatch(pin) else from_base64url(pin) == public
        if not matches:
            raise SignatureError(
                f"the collector's key is not the given one: its fingerprint is {fingerprint(public)[:16]}; check the "
                "address"
            )
    return public
