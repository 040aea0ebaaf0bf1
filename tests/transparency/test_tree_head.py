"""Signed heads: what is signed is read back, and every altered byte is refused."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sottovoce.core.errors import SignatureError, TransparencyError
from sottovoce.core.signing import SigningKey, verify
from sottovoce.transparency.tree_head import TreeHead, log_origin, origin_of, read_checkpoint, sign_checkpoint

KEY = SigningKey(bytes(range(32)))
HEAD = TreeHead(21, bytes(range(100, 132)))
NOTE = sign_checkpoint(KEY, HEAD)


def test_it_is_a_signed_note_as_c2sp_describes_it() -> None:
    """Taken apart by hand, as another implementation would."""
    text, _, signatures = NOTE.partition("\n\n")
    origin, size, root = text.split("\n")
    assert (origin, int(size), base64.b64decode(root)) == (log_origin(KEY.public), HEAD.size, HEAD.root)
    dash, name, encoded = signatures.removesuffix("\n").split(" ")
    assert (dash, name) == ("\N{EM DASH}", origin)
    signature = base64.b64decode(encoded)
    assert signature[:4] == hashlib.sha256(f"{name}\n".encode() + b"\1" + KEY.public).digest()[:4]
    Ed25519PublicKey.from_public_bytes(KEY.public).verify(signature[4:], f"{text}\n".encode())


def test_it_is_read_back() -> None:
    assert read_checkpoint(NOTE, KEY.public) == HEAD
    assert sign_checkpoint(KEY, HEAD) == NOTE
    assert origin_of(NOTE) == hashlib.sha256(KEY.public).hexdigest()
    assert origin_of("anything else") == origin_of("x" * 5000) == ""


def test_every_altered_byte_is_refused() -> None:
    raw = NOTE.encode()
    for place in range(len(raw)):
        for change in (1, 2, 32, 128):
            wrong = bytes([*raw[:place], raw[place] ^ change, *raw[place + 1 :]])
            with pytest.raises(TransparencyError):
                read_checkpoint(wrong.decode(errors="replace"), KEY.public)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        NOTE[:-1],
        NOTE + "\n",
        NOTE.replace("\n21\n", "\n021\n"),
        NOTE.replace("\n21\n", "\n-21\n"),
        NOTE.replace("\n\n", "\nextension\n\n"),
        NOTE + NOTE.splitlines()[-1] + "\n",
        NOTE.replace("\n", "\r\n"),
        "x" * 5000,
    ],
)
def test_other_forms_are_refused(wrong: str) -> None:
    with pytest.raises(TransparencyError, match=r"not a checkpoint|not signed|canonical"):
        read_checkpoint(wrong, KEY.public)


def test_another_key_is_another_log() -> None:
    other = SigningKey(bytes(32))
    with pytest.raises(TransparencyError, match="of the log that key 56475aa75463474c signs, and not"):
        read_checkpoint(NOTE, other.public)


def test_no_other_signature_of_the_key_passes_for_a_checkpoint_or_the_reverse() -> None:
    text = NOTE.partition("\n\n")[0].encode() + b"\n"
    signature = base64.b64decode(NOTE.split(" ")[-1])[4:]
    with pytest.raises(SignatureError):
        verify(KEY.public, text, signature)  # as a survey
    as_survey = base64.b64encode(base64.b64decode(NOTE.split(" ")[-1])[:4] + KEY.sign(text)).decode()
    with pytest.raises(TransparencyError, match="not signed by the key"):
        read_checkpoint(NOTE.replace(NOTE.split(" ")[-1].strip(), as_survey), KEY.public)
