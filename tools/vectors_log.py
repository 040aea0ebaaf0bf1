"""Vectors of the log of surveys: entries, roots, proofs, a checkpoint, what a device is sent, and what it refuses."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.protocol.log import PUBLISHED, LogEntry
from sottovoce.transparency.evidence import block_of, log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import TreeHead, sign_checkpoint

__all__ = ["log_vectors"]

KEY = SigningKey(hashlib.sha256(b"sottovoce log vectors").digest())
SIZES = (1, 2, 5, 8)


def log_vectors() -> dict[str, Any]:
    """Everything that another implementation needs to check itself; small, for a log of eight surveys."""
    surveys = [hashlib.sha256(b"survey %d" % number).hexdigest() for number in range(SIZES[-1])]
    tree = GrowingTree()
    for survey in surveys:
        tree.append(leaf_hash(LogEntry(PUBLISHED, survey).leaf))
    heads = [TreeHead(size, tree.root(size)) for size in SIZES]
    last = heads[-1].size
    pairs = [(old, new) for old in SIZES for new in SIZES if old <= new]
    note = sign_checkpoint(KEY, heads[-1])
    proof = msgspec.to_builtins(log_proof(tree, note, last, 5, block_of(2)))
    return {
        "key": to_base64url(KEY.public),
        "surveys": surveys,
        "entry": LogEntry(PUBLISHED, surveys[0]).leaf.decode(),
        "roots": [{"size": head.size, "root": to_base64url(head.root)} for head in heads],
        "inclusion": [
            {"position": position, "proof": [to_base64url(one) for one in tree.inclusion(position, last)]}
            for position in (0, 5, 7)
        ],
        "consistency": [
            {"old": old, "new": new, "proof": [to_base64url(one) for one in tree.consistency(old, new)]}
            for old, new in pairs
        ],
        "checkpoints": [sign_checkpoint(KEY, head) for head in heads],
        "bad_checkpoints": _bad(note),
        "device": {"survey": surveys[5], "remembered": sign_checkpoint(KEY, heads[1]), "answer": proof},
    }


def _bad(note: str) -> list[str]:
    other = sign_checkpoint(SigningKey(bytes(32)), TreeHead(8, bytes(32)))
    changed = [note.replace(*pair) for pair in (("\n8\n", "\n9\n"), ("\n8\n", "\n08\n"), ("\n\n", "\nx\n\n"))]
    return [note[:-1], *changed, other]
