"""Ed25519 signatures over a survey's canonical JSON and the like: the collector signs, devices verify.

The private key is a file of 32 bytes in base64url, readable by its owner only; an existing file is never replaced.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Final, Self, final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sottovoce.core.errors import SignatureError
from sottovoce.core.files import create_file

__all__ = [
    "PUBLIC_KEY_BYTES",
    "SIGNATURE_BYTES",
    "SigningKey",
    "check_public_key",
    "fingerprint",
    "from_base64url",
    "to_base64url",
    "verify",
]

PUBLIC_KEY_BYTES: Final = 32

SIGNATURE_BYTES: Final = 64

_PRIVATE_KEY_BYTES: Final = 32

_CONTEXT: Final = b"sottovoce survey 1\0"
"""Prefix of the signed bytes, so that a signature for anything else is never valid for a survey."""

_FILE_MODE: Final = 0o600

_FIELD: Final = 2**255 - 19

_EIGHTH: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""The y coordinate of two of the four points of order 8; the other two have -y."""

_SMALL_ORDER: Final = frozenset({0, 1, _FIELD - 1, _EIGHTH, _FIELD - _EIGHTH})
"""The y coordinates of the eight points P with 8 P = 0: order 4 at 0, 1 at 1, 2 at -1, and 8."""

_LONGEST_FILE: Final = 256


@final
class SigningKey:
    """The collector's private key; only the public key can be read from it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = SigningKey.load_or_create(Path(folder) / "signing.key")
    ...     again = SigningKey.load_or_create(Path(folder) / "signing.key")
    >>> key.public == again.public
    True
    >>> verify(key.public, b"{}", again.sign(b"{}"))
    """

    __slots__ = ("_private", "_public")

    def __init__(self, private: bytes):
        if not isinstance(private, bytes) or len(private) != _PRIVATE_KEY_BYTES:
            raise SignatureError(f"a private key is {_PRIVATE_KEY_BYTES} bytes")
        self._private = Ed25519PrivateKey.from_private_bytes(private)
        self._public = self._private.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"<SigningKey {fingerprint(self._public)[:12]}>"

    @classmethod
    def load_or_create(cls, path: Path) -> Self:
        """The key in that file; a new key in a new file of mode 0600 if there is none.

        Two processes that start together get the same key. A file without a valid key is an error: replacing it would
        lock out every device that has pinned the old key.
        """
        try:
            return cls._load(path)
        except FileNotFoundError:
            pass
        try:
            _create(path, secrets.token_bytes(_PRIVATE_KEY_BYTES))
            return cls._load(path)
        except OSError as error:
            raise SignatureError(f"the signing key cannot be written to {path}: {error.strerror or error}") from error

    @classmethod
    def _load(cls, path: Path) -> Self:
        try:
            with path.open("rb") as file:
                text = file.read(_LONGEST_FILE + 1)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SignatureError(f"the signing key {path} cannot be read: {error.strerror or error}") from error
        private = _private_bytes(text)
        if private is None:
            raise SignatureError(
                f"{path} is damaged: it must contain {_PRIVATE_KEY_BYTES} bytes in base64url and nothing else. It was "
                "not changed: devices trust only the key it contained. Restore a copy, or move it away for a new key"
            )
        return cls(private)

    @property
    def public(self) -> bytes:
        """The public key: 32 bytes that devices pin."""
        return self._public

    def sign(self, canonical: bytes, context: bytes = _CONTEXT) -> bytes:
        """The signature over a survey's canonical JSON, or over what another context says: 64 bytes."""
        return self._private.sign(context + canonical)

    def derived(self, purpose: bytes) -> bytes:
        """A secret of 32 bytes for one purpose; it reveals neither this key nor any other secret."""
        return hmac.digest(self._private.private_bytes_raw(), purpose, "sha256")


def check_public_key(public: bytes) -> bytes:
    """Return a valid public key; raises `SignatureError` for any other.

    For the eight points of small order anybody can forge signatures. A y coordinate of 2**255 - 19 or more is not
    canonical (RFC 8032, Sec. 5.1.3), and a key must have one fingerprint.

    Examples
    --------
    >>> check_public_key(bytes(32))
    Traceback (most recent call last):
    sottovoce.core.errors.SignatureError: this public key is a point of small order, ...
    """
    if not isinstance(public, bytes) or len(public) != PUBLIC_KEY_BYTES:
        raise SignatureError(f"a public key is {PUBLIC_KEY_BYTES} bytes, or the same in base64url")
    height = int.from_bytes(public, "little") % 2**255  # the highest bit is the sign of x
    if height >= _FIELD:
        raise SignatureError("this public key is not in canonical form (RFC 8032)")
    if height in _SMALL_ORDER:
        raise SignatureError("this public key is a point of small order, for which anybody can forge signatures")
    return public


def verify(public: bytes, canonical: bytes, signature: bytes, context: bytes = _CONTEXT) -> None:
    """Raise `SignatureError` unless this key signed exactly these bytes as a survey's canonical JSON.

    Or as what another context says.
    """
    check_public_key(public)
    if len(signature) != SIGNATURE_BYTES:
        raise SignatureError(f"a signature is {SIGNATURE_BYTES} bytes, not {len(signature)}")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, context + canonical)
    except (InvalidSignature, ValueError) as error:
        what = "the survey was" if context == _CONTEXT else "the collector's keys were"
        raise SignatureError(
            f"{what} not signed by the key with fingerprint {fingerprint(public)[:16]}: it was altered, or "
            "signed by somebody else"
        ) from error


def fingerprint(public: bytes) -> str:
    """SHA-256 of a public key in hexadecimal, for people to compare.

    Examples
    --------
    >>> fingerprint(bytes(32))[:16]
    '66687aadf862bd77'
    """
    return hashlib.sha256(public).hexdigest()


def to_base64url(raw: bytes) -> str:
    """Base64url without padding (RFC 4648, section 5).

    Examples
    --------
    >>> to_base64url(b"sotto voce")
    'c290dG8gdm9jZQ'
    """
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str, length: int | None = None) -> bytes:
    """Decode base64url strictly: every byte string has one encoding, with or without padding.

    Raises
    ------
    SignatureError
        If it is not base64url, not canonical, or not of `length` bytes.

    Examples
    --------
    >>> from_base64url("c290dG8gdm9jZQ")
    b'sotto voce'
    """
    bare = text.rstrip("=")
    try:
        raw = base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise SignatureError("this is not base64url: letters, digits, - and _ are allowed") from error
    if to_base64url(raw) != bare or len(text) not in (len(bare), len(bare) + -len(bare) % 4):
        raise SignatureError(
            "this base64url is not in canonical form: unused bits must be zero, and padding complete or absent"
        )
    if length is not None and len(raw) != length:
        raise SignatureError(f"expected {length} bytes in base64url, got {len(raw)}")
    return raw


def _private_bytes(text: bytes) -> bytes | None:
    """The key in a key file; None if there is no valid one."""
    try:
        return from_base64url(text.decode("ascii").strip(), _PRIVATE_KEY_BYTES)
    except (UnicodeDecodeError, SignatureError):
        return None


def _create(path: Path, private: bytes) -> None:
    """Create the key file; an existing one is left alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        create_file(path, to_base64url(private).encode() + b"\n", _FILE_MODE)
