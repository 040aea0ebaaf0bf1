"""vectors/log.json: read by the library, and by a second reader that is written from docs/log.md alone."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sottovoce.core.errors import TransparencyError
from sottovoce.core.signing import from_base64url, to_base64url
from sottovoce.protocol.log import LogProof
from sottovoce.transparency.evidence import check_log_proof
from sottovoce.transparency.tree import proves_consistency, proves_inclusion
from sottovoce.transparency.tree_head import read_checkpoint
from transparency import naive

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "log.json").read_text("utf-8"))
KEY = from_base64url(VECTORS["key"])
LEAVES = [f'{{"event":"published","survey":"{survey}"}}'.encode() for survey in VECTORS["surveys"]]
ROOTS = {one["size"]: from_base64url(one["root"]) for one in VECTORS["roots"]}


def test_a_second_reader_finds_the_same() -> None:
    assert LEAVES[0].decode() == VECTORS["entry"]
    assert {size: naive.root(LEAVES[:size]) for size in ROOTS} == ROOTS
    for one in VECTORS["inclusion"]:
        assert [to_base64url(each) for each in naive.inclusion(one["position"], LEAVES)] == one["proof"]
    for one in VECTORS["consistency"]:
        assert [to_base64url(each) for each in naive.consistency(one["old"], LEAVES[: one["new"]])] == one["proof"]
    for note, (size, root) in zip(VECTORS["checkpoints"], ROOTS.items(), strict=True):
        text, _, line = note.partition("\n\n")
        origin = "sottovoce/log/" + hashlib.sha256(KEY).hexdigest()
        assert text == f"{origin}\n{size}\n{base64.b64encode(root).decode()}"
        _, name, signature = line.split()
        assert name == origin
        Ed25519PublicKey.from_public_bytes(KEY).verify(base64.b64decode(signature)[4:], f"{text}\n".encode())


def test_the_library_finds_the_same() -> None:
    for note, (size, root) in zip(VECTORS["checkpoints"], ROOTS.items(), strict=True):
        head = read_checkpoint(note, KEY)
        assert (head.size, head.root) == (size, root)
    last = max(ROOTS)
    for one in VECTORS["inclusion"]:
        leaf = hashlib.sha256(b"\0" + LEAVES[one["position"]]).digest()
        assert proves_inclusion(leaf, one["position"], last, [*map(from_base64url, one["proof"])], ROOTS[last])
    for one in VECTORS["consistency"]:
        old, new = one["old"], one["new"]
        assert proves_consistency(old, new, ROOTS[old], ROOTS[new], [*map(from_base64url, one["proof"])])
    told = VECTORS["device"]
    proof = msgspec.convert(told["answer"], LogProof)
    assert check_log_proof(proof, KEY, told["survey"], read_checkpoint(told["remembered"], KEY)).size == last


@pytest.mark.parametrize("note", VECTORS["bad_checkpoints"])
def test_bad_checkpoints(note: str) -> None:
    with pytest.raises(TransparencyError):
        read_checkpoint(note, KEY)
