"""Signed heads of the log: checkpoints as of c2sp.org/tlog-checkpoint, which are signed notes (c2sp.org/signed-note).

Three lines of text, an empty one, and a signature: the log's origin, its number of entries, and the root over them.
They are signed with the key that signs the surveys. What that key signs otherwise begins with other words than an
origin, so that no signature of one is one of the other.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final, final

from sottovoce.core.errors import SignatureError, TransparencyError
from sottovoce.core.signing import SIGNATURE_BYTES, SigningKey, fingerprint, verify
from sottovoce.transparency.tree import HASH_BYTES

__all__ = ["LONGEST_CHECKPOINT", "TreeHead", "log_origin", "origin_of", "read_checkpoint", "sign_checkpoint"]

LONGEST_CHECKPOINT: Final = 1024
"""In bytes; ours are half as long at most."""

_ORIGIN: Final = "sottovoce/log/"
_ED25519: Final = b"\1"
_KEY_ID_BYTES: Final = 4

_NOTE: Final = re.compile(
    r"(?P<text>(?P<origin>sottovoce/log/[0-9a-f]{64})\n(?P<size>0|[1-9][0-9]{0,17})\n(?P<root>[A-Za-z0-9+/]{43}=)\n)"
    "\n\u2014 (?P<name>[!-*,-~]{1,200}) (?P<signature>[A-Za-z0-9+/]{91}=)\n"
)
"""One signature, and no lines beyond the three: nothing of a checkpoint is left unread."""


@final
@dataclass(frozen=True)
class TreeHead:
    """How long a log is, and the root over all its entries."""

    size: int
    root: bytes


def log_origin(public: bytes) -> str:
    """The name of the log that this key signs. It holds the key's fingerprint: another key is another log.

    Examples
    --------
    >>> log_origin(bytes(32))[:30]
    'sottovoce/log/66687aadf862bd77'
    """
    return _ORIGIN + fingerprint(public)


def sign_checkpoint(key: SigningKey, head: TreeHead) -> str:
    """The signed note of a head; the same text each time, since it says no time."""
    origin = log_origin(key.public)
    text = f"{origin}\n{head.size}\n{base64.b64encode(head.root).decode()}\n"
    signature = _key_id(origin, key.public) + key.sign(text.encode(), b"")
    return f"{text}\n\u2014 {origin} {base64.b64encode(signature).decode()}\n"


def read_checkpoint(note: str, public: bytes) -> TreeHead:
    """The head that this key has signed.

    Raises
    ------
    TransparencyError
        If the note is malformed, of another log, or not signed with this key.
    """
    match = _NOTE.fullmatch(note) if len(note) <= LONGEST_CHECKPOINT else None
    if match is None:
        raise TransparencyError("this is not a checkpoint of a log of surveys: it must be a signed note as of C2SP")
    origin = log_origin(public)
    if match["origin"] != origin or match["name"] != origin:
        raise TransparencyError(
            f"the checkpoint is of the log that key {match['origin'].removeprefix(_ORIGIN)[:16]} signs, and not of "
            f"that of key {fingerprint(public)[:16]}"
        )
    root, signature = _decoded(match["root"], HASH_BYTES), _decoded(match["signature"], _KEY_ID_BYTES + SIGNATURE_BYTES)
    if signature[:_KEY_ID_BYTES] != _key_id(origin, public):
        raise TransparencyError("the checkpoint's signature names another key")
    try:
        verify(public, match["text"].encode(), signature[_KEY_ID_BYTES:], b"")
    except SignatureError:
        raise TransparencyError(
            f"the checkpoint was not signed by the key with fingerprint {fingerprint(public)[:16]}: it was altered"
        ) from None
    return TreeHead(int(match["size"]), root)


def origin_of(note: str) -> str:
    """The fingerprint in a checkpoint's origin, before anything is verified; empty for anything else."""
    match = _NOTE.fullmatch(note) if len(note) <= LONGEST_CHECKPOINT else None
    return "" if match is None else match["origin"].removeprefix(_ORIGIN)


def _key_id(origin: str, public: bytes) -> bytes:
    return hashlib.sha256(origin.encode() + b"\n" + _ED25519 + public).digest()[:_KEY_ID_BYTES]


def _decoded(text: str, length: int) -> bytes:
    """Decode base64 in its canonical form: a byte string has exactly one."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != length or base64.b64encode(raw).decode() != text:
        raise TransparencyError("the checkpoint's base64 is not in canonical form")
    return raw
