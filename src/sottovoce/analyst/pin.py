"""The collector's key as an analyst may pin it: the key itself, or the beginning of its fingerprint."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.errors import SignatureError
from sottovoce.signing import PUBLIC_KEY_BYTES, fingerprint, from_base64url

__all__ = ["check_key", "check_pin"]

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16,64}")


def check_pin(pin: str) -> str:
    """A public key in base64url, or the beginning of its fingerprint in hexadecimal; raises unless it is one."""
    if not isinstance(pin, str):
        raise SignatureError("key must be the collector's public key, or 16 characters or more of its fingerprint")
    if not _FINGERPRINT.fullmatch(pin):
        from_base64url(pin, PUBLIC_KEY_BYTES)
    return pin


def check_key(text: str, pin: str | None) -> bytes:
    """The collector's public key; raises unless it is the pinned one, where one is."""
    public = from_base64url(text, PUBLIC_KEY_BYTES)
    if pin is not None:
        fits = fingerprint(public).startswith(pin) if _FINGERPRINT.fullmatch(pin) else from_base64url(pin) == public
        if not fits:
            raise SignatureError(
                f"the collector has another key than the one given: its fingerprint is {fingerprint(public)[:16]}; is "
                "this the right address?"
            )
    return public
