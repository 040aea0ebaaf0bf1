"""What a device asks a log for, once for each survey: one response with everything it has to check.

A device remembers the latest checkpoint that it has seen. To say its exact size would tell which devices are the same:
few have last looked when the log was that long. So it says only how many whole blocks of entries it has seen; the
response holds the hashes of the block that it was in the middle of, and the device finds its own place in it.
"""

from __future__ import annotations

from typing import Final

from sottovoce.core.errors import SignatureError, TransparencyError
from sottovoce.core.signing import from_base64url, to_base64url
from sottovoce.protocol.log import PUBLISHED, LogEntry, LogProof
from sottovoce.transparency.tree import (
    HASH_BYTES,
    GrowingTree,
    leaf_hash,
    peaks,
    proves_consistency,
    proves_inclusion,
    root_from,
)
from sottovoce.transparency.tree_head import TreeHead, read_checkpoint

__all__ = ["BLOCK_ENTRIES", "block_of", "check_log_proof", "log_proof"]

BLOCK_ENTRIES: Final = 256
"""Entries of one block: 8 kB of hashes, and a log that is shorter learns nothing of what a device has seen."""


def block_of(size: int) -> int:
    """The block that a log of this size was in the middle of.

    Examples
    --------
    >>> block_of(0), block_of(255), block_of(256)
    (0, 0, 1)
    """
    return size // BLOCK_ENTRIES


def log_proof(tree: GrowingTree, checkpoint: str, size: int, position: int, block: int) -> LogProof:
    """The response about the survey at this position, for a device that was in the middle of this block."""
    start = block * BLOCK_ENTRIES
    end = min(start + BLOCK_ENTRIES, size)
    if start > size:  # the log is shorter than what the device has seen, which the checkpoint says
        return LogProof(checkpoint, position, _written(tree.inclusion(position, size)), start, [], [], [])
    return LogProof(
        checkpoint=checkpoint,
        position=position,
        inclusion=_written(tree.inclusion(position, size)),
        start=start,
        before=_written(tree.frontier(start)),
        block=_written(tree.leaves(start, end)),
        consistency=_written(tree.consistency(end, size)),
    )


def check_log_proof(proof: LogProof, public: bytes, survey: str, remembered: TreeHead | None) -> TreeHead:
    """The head of the log, if the survey is in it and it continues what is remembered of it.

    Raises
    ------
    TransparencyError
        If anything is amiss; `conflict` says whether the two heads contradict each other.
    """
    head = read_checkpoint(proof.checkpoint, public)
    try:
        _check_inclusion(proof, head, survey)
        if remembered is not None:
            _check_continues(proof, head, remembered)
    except SignatureError:
        raise TransparencyError("the log's proof is not in base64url") from None
    return head


def _check_inclusion(proof: LogProof, head: TreeHead, survey: str) -> None:
    leaf = leaf_hash(LogEntry(PUBLISHED, survey).leaf)
    if not proves_inclusion(leaf, proof.position, head.size, _read(proof.inclusion), head.root):
        raise TransparencyError(f"the log does not prove that survey {survey[:12]} is in it")


def _check_continues(proof: LogProof, head: TreeHead, remembered: TreeHead) -> None:
    if head.size < remembered.size:
        raise TransparencyError(
            f"the log has become shorter: it had {remembered.size:,} entries, and now {head.size:,}", conflict=True
        )
    start = block_of(remembered.size) * BLOCK_ENTRIES
    end = min(start + BLOCK_ENTRIES, head.size)
    before, block = _read(proof.before), _read(proof.block)
    if proof.start != start or len(before) != len(peaks(start)) or len(block) != end - start:
        raise TransparencyError("the log's proof is not about the block that was asked for")
    if root_from(start, before, block[: remembered.size - start]) != remembered.root or not proves_consistency(
        end, head.size, root_from(start, before, block), head.root, _read(proof.consistency)
    ):
        raise TransparencyError(
            f"the log does not continue the one that was shown before, of {remembered.size:,} entries", conflict=True
        )


def _written(hashes: list[bytes]) -> list[str]:
    return [to_base64url(digest) for digest in hashes]


def _read(hashes: list[str]) -> list[bytes]:
    return [from_base64url(text, HASH_BYTES) for text in hashes]
